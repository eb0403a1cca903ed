/**
 * Parts of the table view, and the sentences that it always has: the heading with the facts, the stock, the log, the
 * tools for listening and commands, what is wrong, and where the focus goes when what had it is gone. What they do is
 * given to them.
 */
import { html, nothing, repeat } from "../vendor/lit-html.js";
import { tileName } from "../game/names.js";
import { fragmentOf } from "../shell/routes.js";

/** @import { Match } from "../game/match.js" */
/** @import { App, Game, GameEvent, Variant } from "../shell/types.js" */

/** @typedef {ReturnType<typeof import("./presence.js").createPresence>} Presence */

/** @param {App} app @param {Game} game @param {Variant | undefined} variant @param {unknown} scores of the teams */
export const heading = ({ t }, game, variant, scores) => html`<header class="head">
  <h1 tabindex="-1">${variant?.name ?? t("table.title")}</h1>
  <p class="facts">${game.round ? html`<span>${t("table.round", { round: game.round })}</span>` : nothing}
    ${variant?.scoring.best === "lowest" ? html`<span>${t("table.lowWins")}</span>` : nothing}
    ${typeof game.options.target === "number" && !game.manche ? html`<span>${t(game.unit === "wins" ? "table.upToWins" : "table.upTo", { points: game.options.target })}</span>` : nothing}
    ${game.board.ends_sum === undefined ? nothing : html`<span>${t("table.sum", { sum: game.board.ends_sum })}</span>`}
    ${game.manche ? html`<span>${t("table.manche", { number: game.manche.number })}</span>` : nothing}
    ${game.carry ? html`<span>${game.unit === "wins" ? t("table.drawn", { count: game.carry }) : t("table.carry", { points: game.carry })}</span>` : nothing}</p>
  ${scores}
  <button type="button" class="plain to-log" aria-label=${t("table.toLog")} title=${t("table.toLog")} @click=${toLog}><svg viewBox="0 0 24 24"
    width="22" height="22" aria-hidden="true"><path d="M12 5v14M6 13l6 6 6-6"></path></svg></button>
</header>`;

/** Where the log is below the first screen. */
function toLog() {
  const log = /** @type {HTMLElement | null} */ (document.querySelector(".log"));
  log?.scrollIntoView({ block: "center" });
  log?.focus({ preventScroll: true });
}

/** The stock as it lies on the table. @param {App} app @param {Game} game */
export const stockPile = ({ t }, { round, stock }) => (round ? html`<p class="stock" data-empty=${stock.tiles ? nothing : "true"}><svg
  viewBox="0 0 34 26" width="34" height="26" aria-hidden="true"><rect x="1" y="9" width="26" height="14" rx="3"></rect><rect x="4"
  y="5" width="26" height="14" rx="3"></rect><rect x="7" y="1" width="26" height="14" rx="3"></rect></svg><span aria-hidden="true">${
  stock.tiles}</span><span class="hidden-text">${t("table.stock", { count: stock.tiles })}</span></p>` : nothing);

/** What has happened. @param {App} app @param {GameEvent[]} events */
export const log = ({ t }, events) => html`<div class="log" role="log" aria-live="off" aria-label=${t("table.log")} tabindex="0"><ol>${repeat(
  events.filter((each) => each.text), (each) => each.version, (each) => html`<li>${each.text}</li>`)}</ol></div>`;

/**
 * @param {App} app @param {Game} game @param {Variant | undefined} variant
 * @param {object} does
 * @param {typeof import("./answers.js") | undefined} does.answers once they are loaded
 * @param {() => void} does.load loads the answers
 * @param {(action: string) => void} does.tell
 * @param {(line: string) => Promise<void>} does.command
 * @param {Presence} [does.presence]
 */
export const tools = (app, game, variant, { answers, load, tell, command, presence }) => html`<div class="tools">
  <details class="listen" @toggle=${load}><summary>${app.t("table.listen")}</summary>${answers?.listening(app, tell, command)}</details>
  <details class="about" @toggle=${load}><summary>${app.t("table.options")}</summary>
    ${answers?.about(app, game, variant)}${presence?.about(game)}
  </details>
</div>`;

/** What keeps the game from being followed, if anything does. @param {App} app @param {Match} match */
export const banner = ({ t, explain }, { id, connection, failure }) => html`
  ${connection === "lost" ? html`<p class="note warn banner" role="status">${t("table.lost")}</p>` : nothing}
  ${failure ? html`<div class="note warn banner"><p>${/** @type {{status?: number}} */ (failure).status === 401 ? t("table.noSeatHere") : explain(failure)}</p><p><a href="#/">${t("common.toHome")}</a>${
    /** @type {{status?: number}} */ (failure).status === 401
      ? html` · <a href=${fragmentOf({ view: "table", game: id, watch: true })}>${t("table.watch")}</a>` : nothing}</p></div>` : nothing}`;

// Where the focus goes

/** What takes a focus that was lost, the first one that there is. */
const PLACES = [".curtain .main", "[data-back]", ".hand [tabindex='0']", ".actions button:not([data-take-back], :disabled)", "h1"];

/** @param {import("../game/match.js").Match} match @returns {() => void} to be called after each rendering */
export function createFocus(match) {
  let hadFocus = false;
  /** Whether the heading has the focus only because nothing better was there. */
  let atHeading = false;
  let isFirst = true;
  /** What was shown last: the version, how many events, and whether a hand, which may be loaded later. */
  let latest = "";
  const region = () => document.querySelector("[data-table]");

  return () => {
    const active = document.activeElement;
    const isLost = !active || active === document.body || (atHeading && active.matches("h1"));
    if (isFirst && isLost && match.game) {
      // A page that was just opened is read from its heading on.
      region()?.querySelector("h1")?.focus({ preventScroll: true });
    } else if (isLost && hadFocus) {
      const next = /** @type {HTMLElement | undefined} */ (PLACES.map((each) => region()?.querySelector(each)).find(Boolean));
      next?.focus({ preventScroll: true });
      atHeading = next?.matches("h1") ?? false;
    } else atHeading = false;
    if (match.game) isFirst = false;
    hadFocus = Boolean(region()?.contains(document.activeElement)) || (hadFocus && document.activeElement === document.body);
    const { game, events } = match;
    const shown = [game?.version, events.length, !region()?.querySelector(".hand")].join();
    if (shown === latest) return;
    latest = shown;
    // With the next frame, which knows the layout anyway.
    requestAnimationFrame(scrollToLatest);
  };
}

/** Scrolls the log to its end, and a long hand to the first tile that fits. */
function scrollToLatest() {
  const [events, hand, tile] = [".log", ".hand", ".hand .fits"].map((each) => document.querySelector(each));
  events?.scrollTo(0, events.scrollHeight);
  if (!hand || !tile) return;
  const [all, one] = [hand, tile].map((each) => each.getBoundingClientRect());
  if (one.left < all.left || one.right > all.right) hand.scrollBy(one.left + one.width / 2 - all.left - all.width / 2, 0);
}

// What is always said of a game

/** The state of the game: the sentence of the service or, without one, a short one. @param {App} app @param {Game} game */
export function stateText({ t }, game) {
  const { status, text } = game;
  if (text) return text;
  if (status === "waiting") return t("table.waiting");
  if (status === "round_over") return t("table.roundOver");
  if (status === "finished") {
    const names = game.winners.map((seat) => nameOf(game, seat)).join(t("table.and"));
    return t(game.winners.length > 1 ? "table.finishedSeveral" : "table.finished", { names });
  }
  const seat = game.turn?.seat ?? -1;
  return seat === game.you?.seat ? t("table.yourTurn") : t("table.turnOf", { name: nameOf(game, seat) });
}

/** All tiles of the table: from left to right or, where they branch, line by line. @param {App} app @param {Game} game */
export function chainText({ t, device }, { board }) {
  const { language } = device.settings;
  const { tiles } = board;
  const [first] = tiles;
  if (!first) return t("table.emptyTable");
  const name = (/** @type {typeof first} */ each) =>
    each.face_down ? t("table.tileDown", { tile: tileName(language, each.tile) }) : tileName(language, each.tile);
  if (board.ends.every((each) => each.id === "left" || each.id === "right")) {
    const line = [...tiles.filter((each) => each.end === "left").reverse(), first, ...tiles.filter((each) => each.end === "right")];
    return t("table.line", { tiles: line.map(name).join(", ") });
  }
  const sentences = [t("table.first", { tile: name(first) })];
  const behind = (/** @type {string} */ host) => tiles.filter((each) => each.on?.tile === host);
  for (const starts = behind(first.tile); starts.length;) {
    const line = [/** @type {typeof first} */ (starts.shift())];
    for (let next = behind(line[0].tile); next.length; next = behind(next[0].tile)) {
      if (next.length > 1) {
        starts.unshift(...next);
        break;
      }
      line.push(next[0]);
    }
    const place = t("table.behind", { tile: tileName(language, line[0].on?.tile ?? first.tile) });
    sentences.push(t("table.branch", { place, tiles: line.map(name).join(", ") }));
  }
  return sentences.join(" ");
}

/** The name of a seat's player; where the seat is free, its number. @param {Game} game @param {number} seat */
export const nameOf = (game, seat) => game.players[seat]?.name ?? String(seat + 1);

/** Whether the viewer may act in the running round. @param {Game} game */
export const isOnTurn = ({ status, you, to_act, players }) => status === "playing" && you !== undefined && to_act.includes(you.seat) && !players[you.seat].forfeited;
