/**
 * A move that can be taken back: it is shown as made, and held back for a moment before it is sent. Only where all seats
 * are of this device or of computer players, so that nobody else waits and nothing is revealed meanwhile. Owns which move
 * is held, until when, and how the table looks with it. The service knows nothing of it: a move that was not sent was not
 * made, also after a reload.
 */
import { html, nothing } from "../vendor/lit-html.js";
import { tileName } from "../game/names.js";
import { capitalized } from "../texts/text.js";
import { ghostsOf } from "./ghosts.js";
import { keyName } from "./input.js";
import { stateText } from "./parts.js";

/** @import { Choice, Say } from "./input.js" */
/** @import { App, Board, Game, Move } from "../shell/types.js" */
/** @import { Place } from "./types.js" */

/** For so long, in milliseconds, a move is held back; for who is told slowly, or by key, what happened: until it was heard. */
const HELD_MS = 2000;
const HELD_WHILE_HEARD_MS = 8000;
/** So much of the time for a turn is left at least when it is sent. */
const LEAST_LEFT_MS = 5000;
/** For so long the tap that laid the tile, or a second one that was meant for it, sends nothing. */
const SAME_TAP_MS = 400;

/** @typedef {ReturnType<typeof createTakeBack>} TakeBack */

/**
 * @param {App} app @param {import("../game/match.js").Match} match
 * @param {object} does
 * @param {(move: Move) => Promise<unknown>} does.send
 * @param {Say} does.say
 * @param {() => number | undefined} does.timeLeft milliseconds for the turn; none without a clock
 * @param {() => void} does.held called when a move is held, before it is drawn
 * @param {() => Choice} choice
 */
export function createTakeBack(app, match, { send, say, timeLeft, held: onHeld }, choice) {
  const { t, api, device } = app;
  /** @typedef {{move: Move, place: Place, game: Game, text: string, since: number, isSent: boolean}} Held */
  /** @type {Held | undefined} */
  let held;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let listening = new AbortController();
  /** The board with the tile that is held: the same one for the same board. @type {{of: Board, held: Held, board: Board} | undefined} */
  let drawn;

  const duration = () => (device.settings.listening === "atOnce" ? HELD_MS : HELD_WHILE_HEARD_MS);

  /** Whether a move is held back: one that was chosen among several, where nobody else waits for it. @param {Move} move */
  function isHeldBack({ action }) {
    const { game, seats } = match;
    const { takeBack } = device.settings;
    if (!game || action !== "play" || game.legal_moves.length < 2 || match.pending) return false;
    if (takeBack !== "always" && !(takeBack === "here" && seats.length > 1)) return false;
    return game.players.every((each) => each.kind === "bot" || seats.includes(each.seat))
      && (timeLeft() ?? Infinity) > duration() + LEAST_LEFT_MS;
  }

  /** @param {Move} move */
  function hold(move) {
    const game = /** @type {Game} */ (match.game);
    const all = choice().places();
    const at = choice().moves().indexOf(move);
    const place = all[at] ?? { tile: move.tile ?? "", end: move.end, faceDown: move.face_down, outer: move.outer };
    const text = `${capitalized(tileName(device.settings.language, place.tile))}: ${choice().placeOf(move)}.`;
    held = { move, place, game, text, since: performance.now(), isSent: false };
    timer = setTimeout(sendNow, duration());
    listening = new AbortController();
    const options = { capture: true, signal: listening.signal };
    for (const type of ["pointerdown", "click"]) document.addEventListener(type, elsewhere, options);
    document.addEventListener("visibilitychange", () => document.hidden && sendNow(), options);
    addEventListener("pagehide", forget, options);
    onHeld();
    choice().choose(undefined);
    app.announce(`${text} ${t("table.takeBackWith", { key: keyName(app, "takeBack") })}`);
    app.update();
  }

  /** A tap or click beside what is offered sends the move. @param {Event} event */
  function elsewhere({ target }) {
    const isOwn = target instanceof Element && target.closest("[data-take-back]");
    if (held && !isOwn && performance.now() - held.since > SAME_TAP_MS) void sendNow();
  }

  function stop() {
    clearTimeout(timer);
    listening.abort();
  }
  function forget() {
    stop();
    held = undefined;
    app.update();
  }

  async function sendNow() {
    if (!held || held.isSent) return;
    stop();
    const sent = held;
    sent.isSent = true;
    await send(sent.move);
    // Refused: the tile is in the hand.
    if (held === sent && !match.game?.board.tiles.some((each) => each.tile === sent.move.tile)) forget();
  }

  function undo() {
    if (!held || held.isSent) return say(t("table.nothingToTakeBack"), { urgent: true });
    if (performance.now() - held.since < SAME_TAP_MS / 2) return undefined;
    const { game } = held;
    forget();
    app.announce(`${t("table.takenBack")} ${stateText(app, match.game ?? game)}`);
  }

  const isHeld = () => held !== undefined && !held.isSent;
  const buttonOf = (/** @type {string} */ name) => html`<button class=${name} data-take-back ?disabled=${!isHeld()} @click=${undo}>${
    t("table.takeBack")} <kbd aria-hidden="true">${keyName(app, "takeBack")}</kbd></button>`;

  return {
    /** Whether a move can be taken back now. */
    isHeld,
    /** Makes a move: at once, or so that it can be taken back. @param {Move} move */
    send(move) {
      if (isHeld()) void sendNow();
      else if (isHeldBack(move)) hold(move);
      else void send(move);
    },
    sendNow,
    undo,
    /** Forgets a move that can no longer be made, as something else happened. */
    check() {
      if (!isHeld() || !match.game || match.game.version === held?.game.version) return;
      forget();
      say(t("table.stale"), { urgent: true });
    },
    /** The view as it is with the move. @param {Game} game @returns {Game} */
    shown(game) {
      if (!held || !game.you || game.version !== held.game.version) return game;
      const { move, text } = held;
      const { you } = game;
      const kept = you.hand.map((each) => each !== move.tile);
      const hand = you.hand.filter((_, at) => kept[at]);
      const rows = you.rows?.filter((_, at) => kept[at]);
      const players = game.players.map((each) => (each.seat === you.seat ? { ...each, tiles: hand.length } : each));
      return { ...game, you: { ...you, hand, ...(rows ? { rows } : {}) }, players, text, legal_moves: [], to_act: [] };
    },
    /** The board with the tile, until the service has sent it. @param {Board | undefined} board */
    board(board) {
      if (!held || !board || board.round !== held.game.round || board.tiles.some((each) => each.tile === held?.place.tile)) return board;
      if (drawn?.of !== board || drawn.held !== held) drawn = { of: board, held, board: withTile(board, held) };
      return drawn.board;
    },
    /** The button, beside the hand. */
    button: () => (isHeld() ? buttonOf("") : nothing),
    /** In place of the hand, where the next player must not see it. @param {Game} game */
    panel: (game) => (held && game.version === held.game.version ? html`<section class="curtain" aria-label=${held.text}><div class="buttons">
      <button class="main" ?disabled=${!isHeld()} @click=${sendNow}>${t("table.goOn")}</button>${buttonOf("")}</div></section>` : undefined),
    /** The table is left: the move is made. */
    leave() {
      if (!held || !isHeld()) return;
      stop();
      const token = device.seatsOf(match.id).find((each) => each.seat === match.seat)?.token;
      held.isSent = true;
      api.postOnce(`v1/games/${encodeURIComponent(match.id)}/moves`, held.move, { token }).catch(() => undefined);
    },
  };
}

/** A board with one more tile, as it will lie; its new ends are for the service to say. @param {Board} board @param {{place: Place, game: Game}} held @returns {Board} */
function withTile(board, { place, game }) {
  const [{ spot }] = ghostsOf([place], board);
  const tile = { tile: place.tile, ...spot, face_down: place.faceDown ?? false, seat: game.you?.seat ?? 0 };
  return { ...board, tiles: [...board.tiles, tile], ends: board.ends.filter((each) => each.id !== place.end) };
}
