/**
 * Drawings without state: single tiles, the face with pips or digits, and the back; and the marks on the picture of a
 * table, which are tiles that lie, links and ends. Owns their shapes in board units, in which a tile is 4 × 2 and a half
 * 2 × 2; blank faces and backs are symbols of index.html, and colours are in styles/base.css.
 */
import { html, nothing, svg } from "../vendor/lit-html.js";
import { parseTile } from "../game/names.js";

/** @import { Board, Settings } from "../shell/types.js" */
/** @import { Look, Spot, TileOptions } from "./types.js" */
/** @typedef {Board["tiles"][number]} BoardTile */

/**
 * Whether numbers have colours of their own, by the settings and the highest number of the set: with many they help.
 * @param {Settings} settings @param {number} [highest]
 */
export const hasColours = ({ colours }, highest = 6) => colours === "on" || (colours === "auto" && highest > 6);

/** CSS pixels from which the pips of a half can be told apart, by the highest number of the set. */
const leastHalf = (/** @type {number} */ highest) => (highest <= 6 ? 13 : highest <= 9 ? 18 : 24);
/** The same for numbers above 15, which have six pips in a row. */
const LARGE_HALF = 40;
const MAX_PIPS_IN_SMALL_HALVES = 15;

/**
 * The first number that needs digits where a half of a tile is that large; no number of any set does if it is Infinity.
 * @param {number} half in CSS pixels @param {number} highest number of the set
 */
export const digitsFrom = (half, highest) =>
  half < leastHalf(highest) ? 0 : half < LARGE_HALF ? MAX_PIPS_IN_SMALL_HALVES + 1 : Infinity;

/**
 * A tile around the origin, lying, with its first number on the left. Its blank face is a symbol of index.html, filled so
 * that the light comes from above however the tile is turned.
 * @param {string} name
 * @param {TileOptions} [options]
 */
export function tileShape(name, { faceDown = false, colours = false, digits = false, rotation = 0 } = {}) {
  if (faceDown) return svg`<use class="back" href="#tile-back"></use>`;
  const first = digits === true ? 0 : digits === false ? Infinity : digits;
  const [one, other] = parseTile(name);
  return svg`<use class="face" href="#tile-blank" fill=${`url(#bone-${rotation})`}></use>${
    one < first || other < first
      ? svg`<path class=${named("pips", one, colours)} stroke-width=${diameter(one)} transform="translate(-1)" d=${one < first ? pips(one) : ""}></path><path
        class=${named("pips", other, colours)} stroke-width=${diameter(other)} transform="translate(1)" d=${other < first ? pips(other) : ""}></path>`
      : nothing}${one < first ? nothing : digit(one, -1, colours, rotation)}${other < first ? nothing : digit(other, 1, colours, rotation)}`;
}

/**
 * A tile by itself, for a hand or a text. It is hidden from screen readers: what contains it names the tile.
 * @param {string} name
 * @param {TileOptions & {vertical?: boolean}} [options]
 */
export function tileImage(name, { vertical = false, ...options } = {}) {
  const rotation = vertical ? 90 : 0;
  return html`<svg class=${vertical ? "tile vertical" : "tile"} viewBox=${vertical ? "-1 -2 2 4" : "-2 -1 4 2"} aria-hidden="true"
    focusable="false"><g transform=${vertical ? "rotate(90)" : nothing}>${tileShape(name, { ...options, rotation })}</g></svg>`;
}

/** @param {number} number @param {number} x @param {boolean} colours @param {number} rotation */
function digit(number, x, colours, rotation) {
  // A scale instead of a font smaller than a pixel, which some browsers round.
  const size = number < 10 ? 0.15 : 0.125;
  return svg`<text class=${named("digit", number, colours)} transform=${`translate(${x})rotate(${-rotation})scale(${size})`} y="3.6">${number}</text>`;
}

/** @param {string} name of a class @param {number} number @param {boolean} colours */
const named = (name, number, colours) => (colours ? `${name} n${number}` : name);

/** @param {number} number */
const diameter = (number) => (number <= 6 ? 0.4 : number <= 9 ? 0.36 : number <= 12 ? 0.3 : number <= 15 ? 0.25 : 0.2);

/** @type {string[]} */
const paths = [];

/** The pips of a number around the origin: a point of a line without length, with round caps, for each. @param {number} number */
function pips(number) {
  return (paths[number] ??= points(number).map(([x, y]) => `M${round(x)} ${round(y)}h0`).join(""));
}

/** @param {number} number @returns {[number, number][]} */
function points(number) {
  const side = 0.55;
  if (number === 2 || number === 3) return [[-side, -side], ...(number === 3 ? points(1) : []), [side, side]];
  // Three rows along the tile: a, b, a.
  const outer = number < 4 ? 0 : number < 6 ? 2 : number < 10 ? 3 : number < 13 ? 4 : number < 16 ? 5 : 6;
  const inner = number - 2 * outer;
  const step = outer < 2 ? 0 : (outer < 4 ? 2 * side : 1.24) / (outer - 1);
  const row = (/** @type {number} */ count, /** @type {number} */ y) =>
    Array.from({ length: count }, (_, index) => /** @type {[number, number]} */ ([(index - (count - 1) / 2) * step, y]));
  return [...row(outer, -side), ...row(inner, 0), ...row(outer, side)];
}

/** @param {number} value */
const round = (value) => Math.round(value * 1000) / 1000;

// The picture of a table

/** @param {BoardTile} tile @param {Look} look @param {boolean} isLast */
export const tileOnTable = ({ tile, x, y, rotation, face_down: faceDown }, look, isLast) => svg`<g data-tile=${tile}
  transform=${`translate(${x} ${y})rotate(${rotation})`}>${isLast ? lastShadow(rotation) : nothing}${
  tileShape(tile, { faceDown, rotation, ...look })}${isLast ? lastMark(look.badges) : nothing}</g>`;

/** @param {number} size */
const lastMark = (size) => svg`<g class="last"><rect x="-2.04" y="-1.04" width="4.08" height="2.08" rx=".4"></rect><circle r=${0.2 * size}></circle></g>`;

/** The tile that was laid last moves with its shadow. @param {number} rotation */
const lastShadow = (rotation) =>
  svg`<path class="shadow" transform=${`rotate(${-rotation})translate(.06 .16)`} d=${shadowPath({ x: 0, y: 0, rotation })}></path>`;

/** @param {Spot} tile */
export function shadowPath({ x, y, rotation }) {
  const [width, height] = rotation % 180 ? [1.94, 3.88] : [3.88, 1.94];
  return `M${x - width / 2 + 0.3} ${y - height / 2}h${width - 0.6}q.3 0 .3 .3v${height - 0.6}q0 .3-.3 .3h${0.6 - width}q-.3 0-.3-.3v${0.6 - height}q0-.3 .3-.3z`;
}

/** @param {BoardTile} tile */
export const linkPath = ({ link }) => (link ? `M${link.map((point) => point.join(" ")).join("L")}` : "");

/** How far a mark at an end is from it, and how far it reaches around its middle. */
const MARK_DISTANCE = 0.62;
export const MARK = 0.4;

/** The middle of the mark at an end. @param {Pick<Board["ends"][number], "x" | "y" | "direction">} end */
export const markAt = ({ x, y, direction }) => ({
  x: x + MARK_DISTANCE * Math.cos((direction * Math.PI) / 180),
  y: y + MARK_DISTANCE * Math.sin((direction * Math.PI) / 180),
});

/** @param {Board["ends"][number]} end */
export function endMark({ state, x, y, direction }) {
  const transform = `translate(${x} ${y})rotate(${direction})translate(${MARK_DISTANCE})`;
  if (state === "closed") return svg`<path class="end closed" transform=${transform} d="M-.26-.26l.52.52M-.26.26l.52-.52"></path>`;
  return svg`<circle class=${`end ${state}`} transform=${transform} r=".32"></circle>`;
}
