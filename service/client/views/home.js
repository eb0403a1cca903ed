/**
 * Home: how to play, at once, together or with friends; the games on this device and whose turn it is; the games that
 * can be played, the easy ones first; and the ways into others.
 */
import { html, nothing, repeat, svg } from "../vendor/lit-html.js";
import { easiest, LEVELS, offered } from "../setup/games.js";
import { numberChips, playersOf, usualLevel, USUAL_PLAYERS } from "../setup/opponents.js";
import { Problem } from "../shell/api.js";
import { fragmentOf } from "../shell/routes.js";
import { smallTable } from "../table/small.js";
import { tileShape } from "../table/tiles.js";

/** @import { App, Bot, Game, SeatChoice, VariantSummary, View } from "../shell/types.js" */

/** How many of the games on this device are looked up. */
const SHOWN = 20;
/** From this number of players on, games are shown together. */
const LARGE = 5;
/** The number of computer players of a game that is begun without any choice. */
const OPPONENTS = 2;

const EASIEST = "…";

/** @param {App} app @returns {View} */
export function create(app) {
  const { t, api, device } = app;
  const stop = new AbortController();
  const forgets = device.forgets();
  /** @type {VariantSummary[]} */
  let variants = [];
  /** @type {Bot[]} */
  let bots = [];
  /** @type {Map<string, Game | "gone" | "unread">} */
  const games = new Map();
  let failure = "";
  /** Why no game against computer players could be begun. */
  let refusal = "";
  /** The game that is being begun, until its table is shown: its id, or a sign for the easiest one. */
  let starting = "";
  /** What the list of games waits for. @type {Promise<void>} */
  let loading;
  /** For how many players games are shown; 0: for any number. */
  let number = 0;

  const load = async () => {
    failure = "";
    app.update();
    void Promise.all(gameIds().map(look));
    try {
      ({ variants, bots } = await offered(app, stop.signal));
    } catch (error) {
      if (stop.signal.aborted) return;
      failure = app.explain(error);
      app.announce(failure, { urgent: true });
    }
    app.update();
    // So that a table is there at once.
    (globalThis.requestIdleCallback ?? setTimeout)(() => void Promise.all([import("./table.js"), import("../table/play.js"), app.styles("hand")]).catch(() => undefined));
  };
  /** @param {string} id */
  const look = async (id) => {
    const token = device.seatsOf(id)[0]?.token;
    try {
      games.set(id, (await api.get(`v1/games/${encodeURIComponent(id)}`, { token, signal: stop.signal })).body);
    } catch (error) {
      if (stop.signal.aborted) return;
      const gone = error instanceof Problem && [401, 404, 410].includes(error.status);
      games.set(id, gone ? "gone" : "unread");
    }
    app.update();
  };
  /** The games on this device, the one that was shown last first; then those of which it only has the join code. */
  const gameIds = () => [...new Set([...device.seats(), ...device.invitations()].map((each) => each.game))].slice(0, SHOWN);
  /** The same, those that wait for this device first. */
  const sortedIds = () => gameIds().sort((one, other) => Number(stateOf(other)?.turn ?? false) - Number(stateOf(one)?.turn ?? false));

  /** The game to go on with: one that waits for this device, else the last one that is not over. */
  const current = () => sortedIds().find((id) => {
    const game = games.get(id);
    return device.seatsOf(id).length && game !== "gone" && !(typeof game === "object" && game.status === "finished");
  });

  /** @param {string} id */
  const gameCard = (id) => {
    const seats = device.seatsOf(id);
    const game = games.get(id);
    const name = nameOfGame(id);
    const tag = stateOf(id);
    return html`<li class="card game">
      <h3><a href=${fragmentOf({ view: "table", game: id })}>${name || "…"}</a></h3>
      ${tag ? html`<span class=${tag.turn ? "tag turn" : "tag"}>${tag.text}</span>` : nothing}
      ${typeof game === "object" ? html`<p>${namesOf(game.players.map((each) => each.name ?? "…"))}</p>` : nothing}
      ${!seats.length ? html`<p class="soft">${t("home.invited")}</p>`
        : typeof game === "object" && game.players.length === seats.length ? nothing
        : html`<p class="soft">${t("home.as", { names: seats.map((each) => each.name).join(", ") })}</p>`}
      <button class="plain" aria-label=${t("home.forget", { game: name })} @click=${() => forget(id)}>×</button>
    </li>`;
  };
  /** Names of people, each in the direction of its own writing. @param {string[]} names */
  const namesOf = (names) => names.map((name, at) => html`${at ? ", " : ""}<bdi>${name}</bdi>`);
  /** @param {string} id @returns {{text: string, turn?: boolean} | undefined} */
  const stateOf = (id) => {
    const game = games.get(id);
    if (!game) return undefined;
    if (game === "gone") return { text: t("home.gone") };
    if (game === "unread") return { text: t("home.unread") };
    if (game.status === "waiting") return { text: t("home.waiting") };
    if (game.status === "finished") return { text: t("home.finished") };
    const own = device.seatsOf(id).map((each) => each.seat);
    if (game.status === "round_over") return { text: t("home.roundOver"), turn: own.some((seat) => game.to_act.includes(seat)) };
    const seat = game.turn?.seat ?? -1;
    if (own.includes(seat)) return { text: t("home.yourTurn"), turn: true };
    return { text: t("home.turnOf", { name: game.players[seat]?.name ?? "" }) };
  };
  /** What the variant of a game on this device is called; its id until that is known. @param {string} id */
  const nameOfGame = (id) => {
    const game = games.get(id);
    const variant = typeof game === "object" ? game.variant : (device.seatsOf(id)[0]?.variant ?? "");
    return variants.length ? variants.find((each) => each.id === variant)?.name ?? variant : "";
  };
  /** A game that is over or gone is forgotten at once; of another the secret links would be lost. @param {string} id */
  const forget = async (id) => {
    const game = games.get(id);
    if (game === "gone" || (typeof game === "object" && game.status === "finished")) return device.forget(id);
    const { askToForget } = await import("../setup/invite.js");
    await askToForget(app, id);
  };

  /** The games that so many can play. */
  const shownVariants = () => variants.filter(({ players: { min, max } }) =>
    !number || (number < LARGE ? min <= number && number <= max : max >= LARGE));
  const numberField = () => numberChips(t("home.number"), "number", [0, 2, 3, 4, LARGE], number, (each) => {
    number = each;
    app.update();
  }, (each) => (!each ? t("home.anyNumber") : each < LARGE ? each : t("home.andMore", { number: each })));

  /** Begins the easiest game, once it is known which one that is. */
  const playNow = async () => {
    if (starting) return;
    starting = EASIEST;
    app.update();
    await loading;
    const variant = easiest(variants);
    starting = "";
    if (variant) await playAgainstComputer(variant, OPPONENTS + 1, EASIEST);
    app.update();
  };
  /** Begins a game of one person and computer players, with the usual rules. @param {VariantSummary} variant @param {number} [players] @param {string} [by] which button */
  const playAgainstComputer = async ({ id, players: { min, max } }, players = USUAL_PLAYERS, by = id) => {
    if (starting) return;
    starting = by;
    app.update();
    const name = device.lastName() || t("common.guest");
    const others = Math.min(Math.max(players, min), max) - 1;
    /** @type {SeatChoice[]} */
    const seats = [{ kind: "here", name, level: "" }, ...Array(others).fill({ kind: "bot", name: "", level: usualLevel(bots) })];
    try {
      const { body } = await api.postOnce("v1/games", { variant: id, players: playersOf(seats), pace: device.pace(), auto: true }, { signal: stop.signal });
      for (const seat of body.seats) device.keep({ game: body.game.id, ...seat, variant: id });
      if (!stop.signal.aborted) app.go({ view: "table", game: body.game.id });
    } catch (error) {
      if (stop.signal.aborted) return;
      starting = "";
      app.announce((refusal = app.explain(error)), { urgent: true });
      app.update();
    }
  };

  loading = load();
  /** @param {VariantSummary} variant */
  const variantCard = (variant) => html`<li class="card variant">
    ${smallTable(variant)}
    <div>
      <h4><a href=${fragmentOf({ view: "new", variant: variant.id })}>${variant.name}</a></h4>
      <p>${variant.summary}</p>
      <p class="soft">${t(variant.players.min === variant.players.max ? "home.playersExactly" : "home.players", variant.players)}&nbsp;·
        ${t("home.minutes", { minutes: variant.minutes })}&nbsp;·
        <a href=${fragmentOf({ view: "rules", id: variant.id })} aria-label=${`${t("home.rules")}: ${variant.name}`}>${t("home.rules")}</a></p>
      ${bots.length ? html`<button aria-label=${`${variant.name}: ${t("home.againstComputer")}`} aria-disabled=${starting !== ""} @click=${() => playAgainstComputer(variant)}>${
        t(starting === variant.id ? "home.dealing" : "home.play")}</button>` : nothing}
    </div>
  </li>`;
  /** @param {typeof LEVELS[number]} level @param {VariantSummary[]} shown */
  const levelOf = (level, shown) => shown.length ? html`<section aria-labelledby=${`level-${level}`}>
    <h3 id=${`level-${level}`}>${t(`difficulty.${level}`)}</h3>
    <ul class="games">${repeat(shown, ({ id }) => id, variantCard)}</ul></section>` : nothing;
  const goOn = () => {
    const id = current();
    if (!id) return nothing;
    const game = games.get(id);
    const own = device.seatsOf(id).map((each) => each.seat);
    const others = typeof game === "object" ? game.players.filter((each) => each.name && !own.includes(each.seat)).map((each) => each.name ?? "") : [];
    const tag = stateOf(id);
    return html`<li><a class="way" href=${fragmentOf({ view: "table", game: id })}><b>${t("home.goOn", { game: nameOfGame(id) || "…" })}</b>
      <small>${others.length ? html`${t("home.with")} ${namesOf(others)} · ` : nothing}${
      tag ? html`<span class=${tag.turn ? "tag turn" : ""}>${tag.text}</span>` : "…"}</small></a></li>`;
  };
  const proposed = () => easiest(variants);

  return {
    title: () => t("home.title"),
    close: () => stop.abort(),
    render: () => html`
      <div class="welcome">${DECORATION}<h1 tabindex="-1">${t("home.title")}</h1></div>
      ${forgets ? html`<p class="note warn" data-forgets>${t("home.forgets")}</p>` : nothing}
      <ul class="ways">
        <li><button class="way main" aria-disabled=${starting !== ""} @click=${playNow}><b>${t("home.playNow")}</b>
          <small>${starting === EASIEST ? t("home.dealing") : proposed() ? t("home.playNowHow", { game: proposed().name }) : "…"}</small></button></li>
        <li><a class="way" href="#/others"><b>${t("home.others")}</b><small>${t("home.othersHow")}</small></a></li>
        <li><a class="way" href=${fragmentOf({ view: "new", how: "here" })}><b>${t("home.together")}</b><small>${t("home.togetherHow")}</small></a></li>
        <li><a class="way" href=${fragmentOf({ view: "new", how: "friends" })}><b>${t("home.friends")}</b><small>${t("home.friendsHow")}</small></a></li>
        <li><a class="way" href="#/join"><b>${t("home.code")}</b><small>${t("home.codeHow")}</small></a></li>
        ${goOn()}
      </ul>
      ${refusal ? html`<p class="error">${refusal}</p>` : nothing}
      ${gameIds().length ? html`<details class="fold"><summary><h2>${t("home.yourGames", { count: gameIds().length })}</h2></summary>
        <ul class="cards">${repeat(sortedIds(), (id) => id, gameCard)}</ul></details>` : nothing}
      <h2>${t("home.choose")}</h2>
      ${failure ? html`<p class="error">${t("home.failed")} ${failure}</p><button @click=${() => (loading = load())}>${t("common.tryAgain")}</button>` : nothing}
      ${variants.length ? html`${numberField()} ${LEVELS.map((level) => levelOf(level, shownVariants().filter((each) => each.difficulty === level)))}`
        : failure ? nothing : html`<p class="to-come">${t("common.loading")}</p>`}
      ${variants.length || failure ? html`<p><a class="button" href="#/replay">${t("home.replay")}</a></p>` : nothing}`,
  };
}

/** Some tiles as they stand on a rack. */
const DECORATION = html`<svg class="decoration" viewBox="-6 -2.6 12 5.2" aria-hidden="true" focusable="false">
  ${[["6-6", "translate(-3.4 .3) rotate(84)"], ["3-5", "translate(0 -.2) rotate(90)"], ["1-4", "translate(3.4 .3) rotate(96)"]].map(([name = "", place = ""]) =>
    svg`<g transform=${place}>${tileShape(name)}</g>`)}
</svg>`;
