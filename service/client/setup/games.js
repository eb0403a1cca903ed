/**
 * The games to choose from: their order, from what is easy to begin with to what is not, and the small picture of a table
 * of each. Knows no game: both come from the list of variants.
 */
import { html, svg } from "../vendor/lit-html.js";
import { tileShape } from "../table/tiles.js";

/** @import { VariantSummary } from "../shell/types.js" */

/** The levels of difficulty, as the service numbers them. */
export const LEVELS = /** @type {const} */ ([1, 2, 3]);

/** Around the tiles of a picture, in board units. */
const MARGIN = 1.5;
/** The width of a picture over its height. */
const ASPECT = 1.3;

/** The easiest games first; of equally easy ones the shortest. @param {VariantSummary[]} variants */
export const inOrder = (variants) =>
  [...variants].sort((one, other) => one.difficulty - other.difficulty || one.minutes - other.minutes);

/** The game that is proposed to whoever has chosen none. @param {VariantSummary[]} variants */
export const easiest = (variants) => inOrder(variants)[0];

/** A table of the game, drawn small. What contains it names the game. @param {VariantSummary} variant */
export function smallTable({ example }) {
  const spots = example.map(({ tile, x, y, rotation, face_down: faceDown }) => {
    const [width, height] = rotation % 180 ? [1, 2] : [2, 1];
    return { tile, x, y, rotation, faceDown, left: x - width, right: x + width, top: y - height, bottom: y + height };
  });
  const [left, right] = [Math.min(...spots.map((each) => each.left)), Math.max(...spots.map((each) => each.right))];
  const [top, bottom] = [Math.min(...spots.map((each) => each.top)), Math.max(...spots.map((each) => each.bottom))];
  const width = Math.max(right - left + 2 * MARGIN, (bottom - top + 2 * MARGIN) * ASPECT);
  const height = width / ASPECT;
  const view = [(left + right - width) / 2, (top + bottom - height) / 2, width, height];
  return html`<svg class="small-table" viewBox=${view.join(" ")} aria-hidden="true" focusable="false">${spots.map((each) =>
    svg`<g transform=${`translate(${each.x} ${each.y})rotate(${each.rotation})`}>${tileShape(each.tile, { faceDown: each.faceDown })}</g>`)}</svg>`;
}
