/**
 * What follows a round: its count, and the ways on from there and from the end of the match, with the rematch. Reads the
 * view and the score card. Loaded when a round is over.
 */
import { html, nothing } from "../vendor/lit-html.js";
import { fragmentOf } from "../shell/routes.js";
import { hasColours, tileImage } from "./tiles.js";

/** @import { App, Game, Score } from "../shell/types.js" */

/** Points with their sign. @param {number} points */
const signed = (points) => (points < 0 ? `−${-points}` : points ? `+${points}` : "0");

/** The tiles that a seat kept, turned up, their sum, and what the round wrote. @param {App} app @param {Game} game @param {Score} card @param {number} seat */
export function counted({ t, device }, game, { rounds, best }, seat) {
  const { hands, scores } = /** @type {Score["rounds"][number]} */ (rounds.find((each) => each.number === game.round));
  const hand = hands.find((each) => each.seat === seat);
  const options = { vertical: true, colours: hasColours(device.settings, game.options.set), digits: device.settings.digits };
  const points = scores[seat];
  return html`<span class="kept" aria-hidden="true">${hand?.tiles.length ? html`<span class="kept-tiles">${hand.tiles.map((each) => tileImage(each, options))}</span>
    <span class="kept-sum">${t("ended.kept", { sum: hand.value })}</span>` : nothing}${
    points ? html`<span class=${points > 0 === (best === "highest") ? "written" : "written against"}>${signed(points)}</span>` : nothing}</span>`;
}

/** What the last round has written. @param {App} app @param {Game} game @param {Score | undefined} score */
export function lastCount({ t }, game, score) {
  const round = score?.rounds.find((each) => each.number === game.round);
  // A match can end by forfeits, in a round that is never counted.
  if (score && !round && game.status === "finished") {
    return html`<section class="last-count"><p>${t("answers.byForfeit")}</p></section>`;
  }
  return html`<section class="last-count" aria-labelledby="count-title">
    <h2 id="count-title">${t("answers.lastCount", { round: game.round })}</h2>
    ${round ? html`<table>
      <thead><tr><th scope="col">${t("answers.player")}</th><th scope="col" class="number">${t("answers.written")}</th><th scope="col" class="number">${t("answers.total")}</th></tr></thead>
      <tbody>${game.players.map((each) => html`<tr class=${(game.winners.length ? game.winners : [round.winner]).includes(each.seat) ? "winner" : ""}><th scope="row">${each.name}</th>
        <td class="number">${signed(round.scores[each.seat])}</td><td class="number">${`${each.total}`.replace("-", "−")}</td></tr>`)}</tbody>
    </table>` : nothing}
    ${game.carry ? html`<p>${game.unit === "wins" ? t("table.drawn", { count: game.carry }) : t("table.carry", { points: game.carry })}</p>` : nothing}
  </section>`;
}

/** Asks, until it is answered, whether tiles are to be heard. @param {App} app */
export const soundQuestion = ({ t, device }) => (device.settings.sound === undefined ? html`<div class="ask" role="group" aria-label=${t("ended.soundAsk")}>
  <p>${t("ended.soundAsk")}</p><button data-sound="on" @click=${() => device.set({ sound: true })}>${t("ended.soundOn")}</button><button
  data-sound="off" @click=${() => device.set({ sound: false })}>${t("ended.soundOff")}</button></div>` : nothing);

/**
 * The ways on: after the match a rematch for those who played it, the score card, and then a new game and the replay.
 * @param {App} app @param {Game} game @param {Score | undefined} score @param {((error: unknown) => void) | false} failed called with a refusal; false for who has no seat
 */
export const waysOn = (app, game, score, failed, { t } = app) => html`
  ${game.status === "finished" && failed ? html`<button class="main" data-rematch @click=${() => takeSeatsAgain(app, game.id).catch(failed)}>${t("ended.rematch")}</button>` : nothing}
  ${score?.rounds.length && game.status !== "playing" ? html`<a class="button" href=${fragmentOf({ view: "score", id: game.id })}>${t("ended.scoreCard")}</a>` : nothing}
  ${game.status === "finished" ? html`<a class="button" href=${fragmentOf({ view: "new", variant: game.variant })}>${t("ended.newGame")}</a>
    <a class="button" href=${fragmentOf({ view: "replay", game: game.id })}>${t("ended.replay")}</a>` : nothing}`;

/**
 * Takes the seats of this device in the next match of the same players, which begins with the first of them, and shows it.
 * @param {App} app @param {string} id of the game
 */
async function takeSeatsAgain({ api, device, go }, id) {
  let next = id;
  for (const { token } of device.seatsOf(id)) {
    const { body } = await api.postOnce(`v1/games/${encodeURIComponent(id)}/rematch`, {}, { token });
    next = body.game.id;
    device.keep({ game: next, seat: body.seat, token: body.token, name: body.name, variant: body.game.variant });
  }
  if (document.querySelector("[data-rematch]")) go({ view: "table", game: next });
}
