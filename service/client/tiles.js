/**
 * Drawings of single tiles: the face with pips or digits, and the back. Owns their shapes in board units, in which a
 * tile is 4 × 2 and a half 2 × 2; their colours are in styles/table.css. Does not know where a tile lies, or whose it is.
 */
import { parseTile } from "./names.js";
import { html, nothing, svg } from "./vendor/lit-html.js";

export { parseTile };

/**
 * @typedef {object} TileOptions
 * @property {boolean} [faceDown]
 * @property {boolean} [colours] whether each number has a colour of its own
 * @property {boolean | number} [digits] instead of pips: all numbers, or those from this one on
 * @property {number} [rotation] by which the tile is turned, in degrees; digits stay upright
 */

/** CSS pixels from which a half has pips, and from which it also has those above 15, six in a row. */
const SMALL_HALF = 24;
const LARGE_HALF = 40;
const MOST_PIPS_IN_SMALL_HALVES = 15;

/**
 * The first number that needs digits where a half of a tile is that large; no number of any set does if it is Infinity.
 * @param {number} half in CSS pixels
 */
export const digitsFrom = (half) =>
  half < SMALL_HALF ? 0 : half < LARGE_HALF ? MOST_PIPS_IN_SMALL_HALVES + 1 : Infinity;

/**
 * A tile around the origin, lying, with its first number on the left.
 * @param {string} name
 * @param {TileOptions} [options]
 */
export function tileShape(name, { faceDown = false, colours = false, digits = false, rotation = 0 } = {}) {
  if (faceDown) return BACK;
  const first = digits === true ? 0 : digits === false ? Infinity : digits;
  const [one, other] = parseTile(name);
  return svg`<rect class="face" x="-1.94" y="-.94" width="3.88" height="1.88" rx=".32"></rect><path class="middle" d="M0-.64V.64"></path>${
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

const BACK = svg`<rect class="back" x="-1.94" y="-.94" width="3.88" height="1.88" rx=".32"></rect><path class="weave" d=${weave()}></path>`;

/** Diamonds side by side, inside a frame. */
function weave() {
  let path = "M-1.66-.66h3.32v1.32h-3.32z";
  for (let x = -1.66; x < 1.6; x += 0.83) path += `M${x.toFixed(2)} 0l.415-.66.415.66-.415.66z`;
  return path;
}

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
