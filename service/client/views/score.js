/** The score card: the last count explained, the standings, what is to be paid, every round, and the check of the deals. */
import { html, nothing } from "../vendor/lit-html.js";
import { parseTile, tileName } from "../game/names.js";
import { fragmentOf } from "../shell/routes.js";
import { hasColours, tileImage } from "../table/tiles.js";
import { createDeals } from "./deals.js";

/** @import { Text } from "../texts/text.js" */
/** @import { App, Score, Variant, View } from "../shell/types.js" */
/** @typedef {Score["rounds"][number]} Round */

/** How many events are read to find the end of a match. */
const EVENTS_AT_END = 50;

/** @param {App} app @param {{id: string}} route @returns {View} */
export function create(app, { id }) {
  const { t, api, device } = app;
  const stop = new AbortController();
  const path = `v1/games/${encodeURIComponent(id)}`;
  /** @type {Score | undefined} */
  let score;
  /** @type {Variant | undefined} */
  let variant;
  /** @type {(() => unknown) | undefined} */
  let deals;
  /** Whether the match ended because all others had forfeited. */
  let endedByForfeit = false;
  let failure = "";

  const load = async () => {
    const request = { token: device.seatsOf(id)[0]?.token, signal: stop.signal };
    const [card, game] = await Promise.all([api.get(`${path}/score`, request), api.get(path, request)]);
    score = card.body;
    variant = (await api.get(`v1/variants/${encodeURIComponent(game.body.variant)}`, request)).body;
    if (card.body.winners.length && card.body.standings.some((/** @type {{forfeited?: boolean}} */ each) => each.forfeited)) {
      // After the end there may be a rematch, and other events that change no result.
      const query = { after: Math.max(card.body.version - EVENTS_AT_END, 0) };
      const { events } = (await api.get(`${path}/events`, { ...request, query })).body;
      endedByForfeit = events.some((/** @type {{data: {ended_by?: string}}} */ each) => each.data.ended_by === "forfeit");
    }
    app.update();
    if (!card.body.rounds.length) return;
    const fairness = await api.get(`${path}/fairness`, request);
    deals = createDeals(app, fairness.body, nameOf);
    app.update();
  };

  /** @param {number} seat */
  const nameOf = (seat) => score?.standings.find((each) => each.seat === seat)?.name ?? String(seat + 1);
  /** The arithmetic of a line with names in place of the seats. @param {string} text */
  const named = (text) => text.replace(/\bseat (\d+)\b/g, (_, seat) => nameOf(Number(seat)));
  /** @param {number} value */
  const number = (value) =>
    new Intl.NumberFormat(device.settings.language, { maximumFractionDigits: 2 }).format(value).replace("-", "−");
  /** @param {number} value */
  const points = (value) => t(inWins() ? "score.winsOf" : "score.points", { count: Math.abs(value), shown: number(value) });
  /** Whether totals are rounds won, and not points. */
  const inWins = () => score?.unit === "wins";
  /** @param {string[]} names */
  const list = (names) => new Intl.ListFormat(device.settings.language).format(names);

  /** @param {Score} card */
  const winner = (card) => {
    if (!card.winners.length) return nothing;
    const best = card.standings.find((each) => card.winners.includes(each.seat));
    return html`<div class="winner">
      <p>${t("score.wins", { names: list(card.winners.map(nameOf)), count: card.winners.length })}</p>
      ${endedByForfeit ? html`<p>${t("score.byForfeit")}</p>` : nothing}
      ${card.rounds.length ? html`<p class="soft">${
        t("score.winsAfter", { points: points(best?.total ?? 0), count: card.rounds.length })}</p>` : nothing}
    </div>`;
  };

  /** @param {Round} round */
  const ending = ({ ended_by: endedBy, winner: first, loser }) => {
    /** @type {Record<string, Text>} */
    const texts = { out: "score.endedOut", blocked: "score.endedBlocked", closed: "score.endedClosed", flip: "score.endedFlip", target: "score.endedTarget" };
    const sentences = [];
    if (endedBy === "out" && first === undefined) sentences.push(t("score.endedOutNobody"));
    else if (texts[endedBy]) sentences.push(t(texts[endedBy], { name: nameOf(first ?? 0) }));
    if (!["out", "target"].includes(endedBy) && first !== undefined) sentences.push(t("score.wonRound", { name: nameOf(first) }));
    if (loser !== undefined) sentences.push(t("score.lostRound", { name: nameOf(loser) }));
    return sentences.join(" ");
  };

  const colours = () => {
    const numbers = (score?.rounds ?? []).flatMap(({ hands }) => hands.flatMap(({ tiles }) => tiles.flatMap(parseTile)));
    return hasColours(device.settings, Math.max(...numbers));
  };
  /** @param {string[]} tiles */
  const left = (tiles) => html`<span class="left">${tiles.map((each) => tileImage(each, { colours: colours(), digits: device.settings.digits }))}</span>
    <span class="hidden-text">${tiles.map((each) => tileName(device.settings.language, each)).join(", ")}</span>`;

  /** The stars after a round, and how the manche ended. @param {NonNullable<Round["manche"]>} manche */
  const manche = ({ number: which, stars, ended }) => html`
    <p>${t("table.manche", { number: which })}: ${stars.map((count, seat) => html`${seat ? "; " : ""}${nameOf(seat)} ${t("table.stars", { count })}`)}.</p>
    ${ended ? html`<p>${t(ended === "won" ? "score.mancheWon" : "score.chiree")}</p>` : nothing}`;

  /** @param {Round} round */
  const count = (round) => html`
    <p>${ending(round)}</p>
    <table class="hands">
      <caption>${t("score.hands", { round: round.number })}</caption>
      <thead><tr><th scope="col">${t("score.player")}</th><th scope="col">${t("score.tilesLeft")}</th>
        <th scope="col" class="number">${t(inWins() ? "score.pips" : "score.value")}</th></tr></thead>
      <tbody>${round.hands.map((hand) => html`<tr><th scope="row">${nameOf(hand.seat)}</th>
        <td>${hand.tiles.length ? left(hand.tiles) : html`<span class="soft">${t("score.none")}</span>`}</td>
        <td class="number">${number(hand.value)}</td></tr>`)}</tbody>
    </table>
    ${round.lines.length ? html`<table class="lines">
      <caption>${t(inWins() ? "score.winsOfRound" : "score.counts", { round: round.number })}</caption>
      <thead><tr><th scope="col">${t("score.player")}</th><th scope="col">${t("score.how")}</th>
        <th scope="col">${t("score.rule")}</th><th scope="col" class="number">${t(inWins() ? "score.roundWins" : "score.roundPoints")}</th></tr></thead>
      <tbody>${round.lines.map((line) => html`<tr><th scope="row">${nameOf(line.seat)}</th><td>${named(line.text)}</td>
        <td><a href=${fragmentOf({ view: "rules", id: variant?.id ?? "", rule: line.rule })}
          aria-label=${t("score.ruleLink", { rule: line.rule })}>${line.rule}</a></td>
        <td class="number">${number(line.points)}</td></tr>`)}</tbody>
    </table>` : nothing}
    ${(variant?.scoring.words ?? []).filter(({ word }) => round.lines.some(({ text }) => text.startsWith(`${word} `))).map(({ word, text }) =>
      html`<p class="soft"><b>${word}</b>: ${text}</p>`)}
    ${round.manche ? manche(round.manche) : nothing}
    ${!round.carried ? nothing : html`<p>${inWins() ? t("score.drawn") : t("score.carried", { points: points(round.carried) })}</p>`}`;

  /** @param {Score} card */
  const standings = ({ standings: all, winners, best, carry }) => {
    const inTeams = all.some((each) => each.team !== undefined);
    return html`<h2>${t("score.standings")}</h2>
      <table>
        <thead><tr><th scope="col">${t("score.rank")}</th><th scope="col">${t("score.player")}</th>
          ${inTeams ? html`<th scope="col">${t("score.team")}</th>` : nothing}<th scope="col" class="number">${t("score.total")}</th></tr></thead>
        <tbody>${all.map((each) => html`<tr class=${winners.includes(each.seat) ? "first" : nothing}>
          <td>${each.rank}</td>
          <th scope="row">${each.name ?? "…"} ${each.active ? nothing : html`<span class="tag">${t("score.out")}</span>`}
            ${each.forfeited ? html`<span class="tag">${t("score.forfeited")}</span>` : nothing}</th>
          ${inTeams ? html`<td>${(each.team ?? 0) + 1}</td>` : nothing}
          <td class="number">${number(each.total)}</td></tr>`)}</tbody>
      </table>
      <p class="soft">${t(best === "lowest" ? "score.lowestWins" : "score.highestWins")}
        ${carry ? inWins() ? t("table.drawn", { count: carry }) : t("score.carry", { points: points(carry) }) : nothing}</p>`;
  };

  /** @param {NonNullable<Score["settlement"]>} settlement */
  const settled = ({ amounts, payments }) => html`<h2>${t("score.settlement")}</h2>
    ${payments.length ? html`<ul class="payments">${payments.map((each) => html`<li>${t("score.pays", {
      from: nameOf(each.from), to: nameOf(each.to), amount: money(each) })}</li>`)}</ul>` : html`<p>${t("score.noPayments")}</p>`}
    <table>
      <thead><tr><th scope="col">${t("score.player")}</th><th scope="col" class="number">${t("score.balance")}</th></tr></thead>
      <tbody>${amounts.map((each) => html`<tr><th scope="row">${nameOf(each.seat)}</th><td class="number">${money(each)}</td></tr>`)}</tbody>
    </table>`;
  /** @param {{amount: number, exact: string}} sum */
  const money = ({ amount, exact }) => (exact.includes("/") ? `${number(amount)} (${exact.replace("-", "−")})` : number(amount));

  /** As on paper: a column for each player, a line for each round. @param {Score} card */
  const paper = ({ rounds, standings: all }) => {
    const seats = all.map((each) => each.seat).sort((one, other) => one - other);
    const totals = seats.map(() => 0);
    return html`<h2 id="all-rounds">${t("score.allRounds")}</h2>
      <p class="soft">${t(inWins() ? "score.allRoundsWins" : "score.allRoundsHint")}</p>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="all-rounds"><table class="paper">
        <thead><tr><td></td>${seats.map((seat) => html`<th scope="col" class="number">${nameOf(seat)}</th>`)}</tr></thead>
        <tbody>${rounds.map((round) => html`<tr><th scope="row">${round.number}</th>${seats.map((seat, column) => {
          totals[column] += round.scores[seat] ?? 0;
          return html`<td class="number"><small>${number(round.scores[seat] ?? 0)}</small> <b>${number(totals[column])}</b></td>`;
        })}</tr>`)}</tbody>
      </table></div>`;
  };

  /** @param {Score} card */
  const whole = (card) => {
    const [last, ...earlier] = [...card.rounds].reverse();
    return html`
      ${winner(card)}
      <div class="buttons">
        <a class="button main" href=${fragmentOf({ view: "table", game: id })}>${t("score.toTable")}</a>
        ${last ? html`<a class="button" href=${fragmentOf({ view: "replay", game: id })}>${t("score.replay")}</a>` : nothing}
        <button @click=${() => print()}>${t("score.print")}</button>
      </div>
      ${last ? html`<h2>${t("score.lastCount", { round: last.number })}</h2>${count(last)}` : card.winners.length ? nothing : html`<p>${t("score.noRounds")}</p>`}
      ${standings(card)}
      ${card.settlement ? settled(card.settlement) : nothing}
      ${last ? paper(card) : nothing}
      ${earlier.length ? html`<h2>${t("score.earlier")}</h2>${earlier.map((round) => html`<details>
        <summary>${t("score.round", { round: round.number })}</summary>${count(round)}</details>`)}` : nothing}
      ${deals?.() ?? nothing}`;
  };

  // On paper nothing can be opened.
  const open = () => document.querySelectorAll("main details").forEach((each) => each.setAttribute("open", ""));
  addEventListener("beforeprint", open, { signal: stop.signal });
  load().catch((error) => {
    if (stop.signal.aborted) return;
    failure = app.explain(error);
    app.announce(failure, { urgent: true });
    app.update();
  });
  return {
    title: () => t("score.title"),
    close: () => stop.abort(),
    render: () => html`<article class="score">
      <p class="soft over">${variant?.name}</p>
      <h1 tabindex="-1">${t("score.title")}</h1>
      ${score ? whole(score) : html`<p>${failure || t("common.loading")}</p>`}
      ${score && failure ? html`<p class="error">${failure}</p>` : nothing}
    </article>`,
  };
}
