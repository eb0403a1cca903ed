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
 * The places as they are drawn. Where a tile can be laid in two ways at one end, each has one half of it.
 * @param {Place[]} places
 * @param {Board} board
 * @returns {Ghost[]}
 */
export function ghostsOf(places, board) {
  const spots = places.map((place) => spotOf(place, board));
  return places.map((place, index) => {
    const spot = spots[index];
    const shared = places.flatMap((each, other) => (each.end === place.end ? [other] : []));
    const shift = shared.length > 1 ? (shared[0] === index ? -1 : 1) : 0;
    const [dx, dy] = along(spot, shift);
    return { place, spot, shift, x: spot.x + dx, y: spot.y + dy };
  });
}

/** Where the tile of a place would lie, its numbers in the right order. @param {Place} place @param {Board} board @returns {Spot} */
function spotOf({ tile, end: id, outer }, board) {
  const [one, other] = parseTile(tile);
  const end = board.ends.find((each) => each.id === id);
  if (!end) return { x: 0, y: 0, rotation: one === other ? 90 : 0 };
  if (one === other) return end.place_double;
  const touchesByFirst = outer === undefined ? one === end.number : outer === other;
  return { ...end.place, rotation: (end.place.rotation + (touchesByFirst ? 0 : 180)) % 360 };
}

/** A distance along a tile. @param {Spot} spot @param {number} by @returns {[number, number]} */
const along = ({ rotation }, by) => (rotation % 180 ? [0, by] : [by, 0]);

/** @param {Ghost} ghost @param {number} index @param {boolean} isChosen @param {Look} look @param {boolean} isOnly needs no number */
export function ghostMark({ place, spot, shift }, index, isChosen, look, isOnly) {
  const { tile, faceDown, points, sum, label } = place;
  // Where badges are larger than halves, or the other half has one, there is no room for a second one.
  const value = look.badges > 1.4 || shift ? "" : points ? `+${points}` : `${sum ?? ""}`;
  const [dx, dy] = along(spot, shift || (value ? -1 : 0));
  const isSeen = shift < 1 || isChosen;
  return svg`<g class=${isChosen ? "place chosen" : "place"} transform=${`translate(${spot.x} ${spot.y})`}>
    ${label ? svg`<title>${label}</title>` : nothing}
    <g transform=${`rotate(${spot.rotation})`}>${isSeen ? svg`<g class="preview">${tileShape(tile, { faceDown, ...look, rotation: spot.rotation })}</g>
      <rect class="outline" x="-1.94" y="-.94" width="3.88" height="1.88" rx=".32"></rect>` : nothing}</g>
    ${isOnly ? nothing : badge(faceDown ? "badge down" : "badge", `${index + 1}`, dx, dy, look.badges)}${
      value ? badge(points ? "value points" : "value", value, -dx, -dy, look.badges) : nothing}
  </g>`;
}

/** Points to a place outside of the picture. @param {Ghost} ghost @param {number} index @param {boolean} isChosen @param {() => void} click */
export const pointer = ({ place }, index, isChosen, click) => svg`<g class=${isChosen ? "pointer chosen" : "pointer"} @click=${click}><path
  d="M.1-.72L1.2 0L.1.72z"></path>${badge(place.faceDown ? "badge down" : "badge", `${index + 1}`, 0, 0, 1)}</g>`;

/** @param {string} name @param {string} text @param {number} x @param {number} y @param {number} size */
function badge(name, text, x, y, size) {
  const width = text.length > 1 ? 1.9 : 1.44;
  const font = text.length > 2 ? 0.08 : 0.1;
  return svg`<g class=${name} transform=${`translate(${x} ${y})scale(${size})`}><rect x=${-width / 2} y="-.72" width=${width} height="1.44"
    rx=".72"></rect><text transform=${`scale(${font})`} y="3.6">${text}</text></g>`;
}
