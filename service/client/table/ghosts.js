/**
 * Drawings without state of the places where the chosen tile may be laid, on the picture of a table: the tile as it would
 * lie there, its number and points, and what points to a place outside. Loaded for who has a seat.
 */
import { nothing, svg } from "../vendor/lit-html.js";
import { parseTile } from "../game/names.js";
import { tileShape } from "./tiles.js";

/** @import { Board } from "../shell/types.js" */
/** @import { Ghost, Look, Place, Spot } from "./types.js" */

/**
 * The places as they are drawn. Where a tile can be laid in several ways at one end, the first one stands for all.
 * @param {Place[]} places
 * @param {Board} board
 * @returns {Ghost[]}
 */
export const ghostsOf = (places, board) => places.map((place) => {
  const shared = places.flatMap((each, other) => (each.end === place.end ? [other + 1] : []));
  return { place, spot: spotOf(place, board), numbers: shared.join("/"), isFirst: places[shared[0] - 1] === place };
});

/** Where the tile of a place would lie, its numbers in the right order. @param {Place} place @param {Board} board @returns {Spot} */
function spotOf({ tile, end: id, outer }, board) {
  const [one, other] = parseTile(tile);
  const end = board.ends.find((each) => each.id === id);
  if (!end) return { x: 0, y: 0, rotation: one === other ? 90 : 0 };
  if (one === other) return end.place_double;
  const touchesByFirst = outer === undefined ? one === end.number : outer === other;
  return { ...end.place, rotation: (end.place.rotation + (touchesByFirst ? 0 : 180)) % 360 };
}

/** @param {Ghost} ghost @param {boolean} isChosen @param {Look} look @param {boolean} isOnly needs no number */
export function ghostMark({ place, spot, numbers, isFirst }, isChosen, look, isOnly) {
  const { tile, faceDown, points, sum, label } = place;
  // Where badges are larger than halves there is no room for a second one.
  const value = look.badges > 1.4 ? "" : points ? `+${points}` : `${sum ?? ""}`;
  const [dx, dy] = !value ? [0, 0] : spot.rotation % 180 ? [0, 1] : [1, 0];
  if (!isFirst && !isChosen) return nothing;
  return svg`<g class=${isChosen ? "place chosen" : "place"} transform=${`translate(${spot.x} ${spot.y})`}>
    ${label ? svg`<title>${label}</title>` : nothing}
    <g transform=${`rotate(${spot.rotation})`}><g class="preview">${tileShape(tile, { faceDown, ...look, rotation: spot.rotation })}</g>
      <rect class="outline" x="-1.94" y="-.94" width="3.88" height="1.88" rx=".32"></rect></g>
    ${isOnly || !isFirst ? nothing : badge("badge", numbers, -dx, -dy, look.badges)}${
      value && isFirst ? badge(points ? "value points" : "value", value, dx, dy, look.badges) : nothing}
  </g>`;
}

/** Points to a place outside of the picture. @param {Ghost} ghost @param {boolean} isChosen @param {() => void} click */
export const pointer = ({ numbers }, isChosen, click) => svg`<g class=${isChosen ? "pointer chosen" : "pointer"} @click=${click}><path
  d="M.1-.72L1.2 0L.1.72z"></path>${badge("badge", numbers, 0, 0, 1)}</g>`;

/** @param {string} name @param {string} text @param {number} x @param {number} y @param {number} size */
function badge(name, text, x, y, size) {
  const width = text.length > 1 ? 1.9 : 1.44;
  const font = text.length > 2 ? 0.08 : 0.1;
  return svg`<g class=${name} transform=${`translate(${x} ${y})scale(${size})`}><rect x=${-width / 2} y="-.72" width=${width} height="1.44"
    rx=".72"></rect><text transform=${`scale(${font})`} y="3.6">${text}</text></g>`;
}
