/**
 * The hand of the shown seat, as a list from which one tile is chosen, and the players around the table. Owns roles,
 * labels and the ways to choose a tile with a pointer: a tap, or dragging it to its place.
 */
import { classMap, html, nothing, repeat } from "./vendor/lit-html.js";
import { isOnTurn } from "./answers.js";
import { tileName } from "./names.js";
import { hasColours, tileImage } from "./tiles.js";
import { TABLE } from "./texts/table.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {import("./types.js").Game} Game */

/** A pointer that moves so far, in CSS pixels, drags. */
const DRAG_FROM = 10;

/**
 * @typedef {object} Does
 * @property {string} [drawn] the tile that was just drawn
 * @property {import("./choice.js").Choice} choice
 * @property {(x: number, y: number) => void} drop a tile that was dragged to that point of the window
 */

/** @param {App} app @param {Game} game @param {Does} does */
export function handList(app, game, { choice, drop, drawn }) {
  const { t } = app;
  const { hand = [], rows } = game.you ?? {};
  if (!hand.length) return html`<p class="soft">${t(TABLE.noTiles)}</p>`;
  const onTurn = isOnTurn(game);
  const inTabOrder = choice.tile ?? hand.find((each) => choice.movesOf(each).length) ?? hand[0];
  const tile = (/** @type {string} */ each) => {
    const places = choice.placesOf(each);
    const name = tileName(app.device.settings.language, each);
    const fit = !onTurn ? "" : places.length ? t(TABLE.fitsWhere, { places: places.join(", ") }) : t(TABLE.fitsNot);
    return html`<div role="option" data-tile=${each} aria-selected=${each === choice.tile} tabindex=${each === inTabOrder ? 0 : -1}
      class=${classMap({ fits: onTurn && places.length > 0, "fits-not": onTurn && !places.length, drawn: each === drawn })}
      aria-label=${fit ? `${name}, ${fit}` : name}
      @click=${() => choice.tap(each)} @pointerdown=${(/** @type {PointerEvent} */ event) => drag(event, each, choice, drop)}>${
      tileImage(each, { vertical: true, colours: hasColours(app.device.settings, game.rules.set), digits: app.device.settings.digits })}</div>`;
  };
  const list = rows
    ? [...new Set(rows)].sort((one, other) => one - other).map((row) => html`<div role="group" class="row" aria-label=${t(TABLE.row, { row })}>
        <span class="row-name" aria-hidden="true">${row}</span>${repeat(hand.filter((_, at) => rows[at] === row), (each) => each, tile)}</div>`)
    : repeat(hand, (each) => each, tile);
  return html`<div role="listbox" class=${classMap({ hand: true, large: hand.length > 14, rows: rows !== undefined })}
    aria-orientation="horizontal" aria-label=${t(TABLE.hand)}>${list}</div>`;
}

/** The tile that is being dragged: its image follows the pointer. @param {PointerEvent} start @param {string} tile @param {Does["choice"]} choice @param {Does["drop"]} drop */
function drag(start, tile, choice, drop) {
  if (start.button !== 0) return;
  const option = /** @type {HTMLElement} */ (start.currentTarget);
  /** @type {HTMLElement | undefined} */
  let image;
  const move = (/** @type {PointerEvent} */ event) => {
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

/** The players clockwise, with what all may know of them. @param {App} app @param {Game} game @param {number[]} own the seats of this device */
export function playersList({ t }, game, own) {
  const { players, to_act: toAct, status, dealer } = game;
  return html`<ul class="players" aria-label=${t(TABLE.players)} tabindex="0">${players.map((each) => {
    const onTurn = status === "playing" && toAct.includes(each.seat);
    const tags = [
      each.kind === "bot" ? t(TABLE.bot) : "",
      each.team === undefined ? "" : t(TABLE.team, { team: each.team + 1 }),
      dealer === each.seat ? t(TABLE.deals) : "",
      each.in ? "" : t(TABLE.out),
    ].filter(Boolean);
    return html`<li class=${classMap({ player: true, mine: own.includes(each.seat), "on-turn": onTurn, out: !each.in, winner: game.winners.includes(each.seat) })}
      data-seat=${each.seat} aria-current=${onTurn ? "true" : nothing}>
      <span class="name">${each.kind === "open" ? t(TABLE.openSeat) : each.name}${
        own.includes(each.seat) ? html` <span class="you">${t(TABLE.you)}</span>` : nothing}${tags.length ? html` <span class="tags">${tags.join(", ")}</span>` : nothing}${
        onTurn ? html`<span class="hidden-text">, ${t(TABLE.onTurn)}</span>` : nothing}</span>
      <span class="count"><svg viewBox="0 0 10 20" class="back" aria-hidden="true"><rect x="1" y="1" width="8" height="18" rx="2"></rect></svg><span
        aria-hidden="true">${each.tiles}</span><span class="hidden-text">, ${t(TABLE.tiles, { count: each.tiles })}</span></span>
      <span class="total"><span aria-hidden="true">${each.total}</span><span class="hidden-text">, ${t(TABLE.points, { count: each.total })}</span></span>
    </li>`;
  })}</ul>`;
}
