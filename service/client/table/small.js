/** The table of a game as a small picture, from the example in the list of variants. Owns how much of it is shown. */
import { html, svg } from "../vendor/lit-html.js";
import { tileShape } from "./tiles.js";

/** @import { VariantSummary } from "../shell/types.js" */

/** Around the tiles of a picture, in board units. */
const MARGIN = 1.5;
/** The width of a picture over its height. */
const ASPECT = 1.3;

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
