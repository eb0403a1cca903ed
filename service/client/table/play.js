/**
 * What a seat needs to play: its hand with the ways to choose a tile with a pointer, the buttons for moves, and what is
 * chosen and done, from input.js. Loaded for who has a seat, and when something is asked; who only watches needs none.
 */
import { classMap, html, nothing, repeat } from "../vendor/lit-html.js";
import { tileName } from "../game/names.js";
import { capitalized } from "../texts/text.js";
import { createHint } from "./hint.js";
import { actionText, createActions, createChoice, keyName, mayResign, otherMoves } from "./input.js";
import { isOnTurn } from "./parts.js";
import { createTakeBack } from "./takeback.js";
import { hasColours, tileImage } from "./tiles.js";

export * as ghosts from "./ghosts.js";

/** @import { Choice } from "./input.js" */
/** @import { Match } from "../game/match.js" */
/** @import { App, Game, Move } from "../shell/types.js" */

/** A pointer that moves so far, in CSS pixels, drags. */
const DRAG_FROM = 10;

/**
 * What is chosen, how a move is made, and what keys and commands do.
 * @param {App} app @param {Match} match
 * @param {Omit<Parameters<typeof createTakeBack>[2], "send"> & Omit<Parameters<typeof createActions>[3], "hint" | "send" | "takeBack"> & {signal: AbortSignal, chosen: () => void, placeAt: (x: number, y: number) => number | undefined, dropped: (tile: string, x: number, y: number) => void}} does
 */
export function createPlay(app, match, does) {
  /** @type {Choice} */
  const choice = createChoice(app, match, { ...does, send: (move) => takeBack.send(move) });
  const takeBack = createTakeBack(app, match, { ...does, send: make }, () => choice);
  /** @param {Move} move */
  async function make(move) {
    does.chosen();
    const refusal = await match.move(move);
    if (!refusal) return;
    const isStale = /** @type {{body?: {code?: string}}} */ (refusal).body?.code === "stale_version";
    const tile = choice.tile && capitalized(tileName(app.device.settings.language, choice.tile));
    const stale = tile ? `${app.t("table.stale")} ${app.t("table.stillChosen", { tile })}` : app.t("table.stale");
    does.say(isStale ? stale : app.explain(refusal), { urgent: true });
  }
  const { send } = takeBack;
  const hint = createHint(app, match, choice, does);
  /** A dragged tile is dropped: at the place that is nearest or, with only one, anywhere on the table. @param {number} x @param {number} y */
  function drop(x, y) {
    if (!document.elementFromPoint(x, y)?.closest(".table-area")) return;
    const moves = choice.moves();
    const at = moves.length === 1 || choice.ways().length ? 0 : does.placeAt(x, y) ?? -1;
    if (!moves[at]) return;
    does.dropped(moves[at].tile ?? "", x, y);
    choice.layAt(at);
  }
  return { drop, choice, hint, takeBack, send, ...createActions(app, match, choice, { ...does, send, takeBack, hint: hint.ask }) };
}

/**
 * @typedef {object} Does
 * @property {string[]} drawn the tiles that were just drawn
 * @property {Choice} choice
 * @property {(x: number, y: number) => void} drop a tile that was dragged to that point of the window
 */

/** @param {App} app @param {Game} game @param {Does} does */
export function handList(app, game, { choice, drop, drawn }) {
  const { t } = app;
  const { hand = [], rows } = game.you ?? {};
  if (!hand.length) return html`<div class="hand"><p class="soft">${t("table.noTiles")}</p></div>`;
  const onTurn = isOnTurn(game);
  const inTabOrder = choice.tile ?? hand.find((each) => choice.movesOf(each).length) ?? hand[0];
  const tile = (/** @type {string} */ each) => {
    const places = choice.placesOf(each);
    const name = tileName(app.device.settings.language, each);
    const fit = !onTurn ? "" : places.length ? t("table.fitsWhere", { places: places.join(", ") }) : t("table.fitsNot");
    return html`<div role="option" data-tile=${each} aria-selected=${each === choice.tile} tabindex=${each === inTabOrder ? 0 : -1}
      class=${classMap({ fits: onTurn && places.length > 0, "fits-not": onTurn && !places.length, drawn: drawn.includes(each) })}
      aria-label=${fit ? `${name}, ${fit}` : name}
      @click=${() => choice.tap(each)} @pointerdown=${(/** @type {PointerEvent} */ event) => drag(event, each, choice, drop)}>${
      tileImage(each, { vertical: true, colours: hasColours(app.device.settings, game.options.set), digits: app.device.settings.digits })}</div>`;
  };
  const list = rows
    ? [...new Set(rows)].sort((one, other) => one - other).map((row) => html`<div role="group" class="row" aria-label=${t("table.row", { row })}>
        <span class="row-name" aria-hidden="true">${row}</span>${repeat(hand.filter((_, at) => rows[at] === row), (each) => each, tile)}</div>`)
    : repeat(hand, (each) => each, tile);
  return html`<div role="listbox" class=${rows ? "hand rows" : "hand"}
    aria-orientation="horizontal" aria-label=${t("table.hand")}>${list}</div>`;
}

/** In the menu: to leave, if others wait, and to give up. @param {App} app @param {Game} game @param {(how: "leave" | "resign") => void} goAway */
export function waysOut({ t }, game, goAway) {
  const { players, to_act: toAct, you } = game;
  const own = players[you?.seat ?? -1];
  const isAwaited = toAct.length > 0 && own?.active && !own.away && players.some((each) => each !== own && each.active && each.kind === "human");
  return html`${isAwaited ? html`<button class="plain" data-leave @click=${() => goAway("leave")}>${t("table.leave")}</button>` : nothing}
    ${mayResign(game) ? html`<button class="plain" data-resign @click=${() => goAway("resign")}>${t("table.resign")}</button>` : nothing}`;
}

/** What to do with the chosen tile; nothing where none is chosen that fits. @param {App} app @param {Choice} choice */
export function prompt({ t }, choice) {
  const count = choice.moves().length;
  return choice.ways().length ? t("table.whichWay") : count ? t("table.tapPlace", { count }) : "";
}

/** What was just drawn; nothing without any. @param {App} app @param {"table.drew" | "table.drewTiles"} text @param {string[]} drawn */
export const drewText = ({ t, device }, text, drawn) =>
  (drawn.length ? t(text, { count: drawn.length, tiles: drawn.map((each) => tileName(device.settings.language, each)).join(", ") }) : "");

/** The tile that is being dragged: its image follows the pointer. @param {PointerEvent} start @param {string} tile @param {Choice} choice @param {Does["drop"]} drop */
function drag(start, tile, choice, drop) {
  if (start.button !== 0) return;
  const option = /** @type {HTMLElement} */ (start.currentTarget);
  /** @type {HTMLElement | undefined} */
  let image;
  const move = (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== start.pointerId) return;
    const [x, y] = [event.clientX - start.clientX, event.clientY - start.clientY];
    if (!image && Math.hypot(x, y) < DRAG_FROM) return;
    if (!image) {
      image = /** @type {HTMLElement} */ (option.cloneNode(true));
      image.removeAttribute("role");
      image.removeAttribute("data-tile");
      image.setAttribute("aria-hidden", "true");
      image.className = "dragged";
      document.body.append(image);
      choice.choose(tile);
    }
    image.style.left = `${event.clientX}px`;
    image.style.top = `${event.clientY}px`;
  };
  const end = (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== start.pointerId) return;
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
    removeEventListener("pointercancel", end);
    if (!image) return;
    image.remove();
    // The click that follows, if one does, is no tap.
    const ignore = (/** @type {Event} */ click) => click.stopPropagation();
    addEventListener("click", ignore, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", ignore, { capture: true }));
    if (event.type === "pointerup") drop(event.clientX, event.clientY);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
}

/**
 * Buttons for what is possible with the chosen tile, and for the moves that lay none; or to take back what was done.
 * @param {App} app @param {Match} match @param {Pick<ReturnType<typeof createPlay>, "choice" | "send" | "takeBack">} does
 */
export function moveButtons(app, match, { choice, send, takeBack }) {
  const { t } = app;
  if (takeBack.isHeld()) return match.seats.length > 1 ? nothing : takeBack.button();
  const { pending } = match;
  const rest = otherMoves(match);
  const moves = choice.moves();
  const ways = choice.ways();
  const [only, ...others] = moves;
  const name = choice.tile ? tileName(app.device.settings.language, choice.tile) : "";
  return html`
    ${others.length ? html`<h2 id="where-to">${t("table.whereTo", { tile: name })}</h2>
      <ol class=${ways.length ? "places asked" : "places"} aria-labelledby="where-to">${moves.map((move, at) => html`<li class=${ways.includes(move) ? "" : "other"}><button
        class=${at === choice.index ? "main" : ""} data-place=${move.end ?? ""} data-face-down=${move.face_down ? "true" : nothing}
        ?disabled=${pending} @click=${() => send(move)}><kbd aria-hidden="true">${at + 1}</kbd> ${place(choice, move, ways.length === moves.length)}</button></li>`)}</ol>` : nothing}
    ${only && !others.length ? html`<button class="main" data-action="lay" ?disabled=${pending} @click=${() => send(only)}>${
      capitalized(t("table.lay", { tile: name }))}<span class="hidden-text"> ${choice.placeText(only)}</span> <kbd aria-hidden="true">${keyName(app, "lay")}</kbd></button>` : nothing}
    ${rest.map((move) => html`<button class=${rest.length === 1 && !moves.length ? "main" : ""} data-action=${move.action}
      ?disabled=${pending} @click=${() => send(move)}>${actionText(t, move.action)} <kbd aria-hidden="true">${keyName(app, move.action)}</kbd></button>`)}`;
}

/** A place in words, or only the way where there is one place, and what laying the chosen tile there scores. @param {Choice} choice @param {Move} move @param {boolean} isOnly */
const place = (choice, move, isOnly) => html`<span>${capitalized(isOnly ? choice.wayOf(move) : choice.placeOf(move))}</span>${move.points === undefined ? nothing : html`${
  move.points || move.ends_sum !== undefined ? html`<span class=${move.points ? "tag turn" : "tag"} aria-hidden="true">${
    move.points ? `+${move.points}` : `Σ ${move.ends_sum}`}</span>` : nothing}<span class="hidden-text">, ${choice.scoreText(move)}</span>`}`;
