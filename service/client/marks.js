/**
 * The marks on the picture of a table, as drawings without state: tiles that lie, links, ends, and the places where the
 * chosen tile may be laid. Sizes are in board units.
 */
import { nothing, svg } from "./vendor/lit-html.js";
import { parseTile, tileShape } from "./tiles.js";

/**
 * @typedef {import("./picture.js").Board} Board
 * @typedef {import("./picture.js").BoardEnd} BoardEnd
 * @typedef {import("./picture.js").BoardTile} BoardTile
 * @typedef {import("./picture.js").Place} Place
 * @typedef {import("./picture.js").Spot} Spot
 *
 * A place as it is drawn: where the tile would lie; the centre of what is clicked, and by how much that is apart.
 * @typedef {{place: Place, spot: Spot, shift: number, x: number, y: number}} Ghost
 *
 * @typedef {object} Look
 * @property {boolean} colours of the numbers
 * @property {number} digits the first number that is a digit
 * @property {number} badges how many times larger than on a large picture
 */

/** @param {BoardTile} tile @param {Look} look @param {boolean} isLast */
export const tileOnTable = ({ tile, x, y, rotation, face_down: faceDown }, look, isLast) => svg`<g data-tile=${tile}
  transform=${`translate(${x} ${y})rotate(${rotation})`}>${isLast ? lastShadow(rotation) : nothing}${
  tileShape(tile, { faceDown, rotation, ...look })}${isLast ? lastMark(look.badges) : nothing}</g>`;

/** @param {number} size */
const lastMark = (size) => svg`<g class="last"><rect x="-2.04" y="-1.04" width="4.08" height="2.08" rx=".4"></rect><circle r=${0.22 * size}></circle></g>`;

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

/** @param {BoardEnd} end */
export function endMark({ state, x, y, direction }) {
  const transform = `translate(${x} ${y})rotate(${direction})translate(.62)`;
  if (state === "closed") return svg`<path class="end closed" transform=${transform} d="M-.26-.26l.52.52M-.26.26l.52-.52"></path>`;
  return svg`<circle class=${`end ${state}`} transform=${transform} r=".32"></circle>`;
}

/**
 * The places as they are drawn. Where a double can be laid in two ways at one end, each has one half of it.
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
function spotOf({ tile, end: id }, board) {
  const [one, other] = parseTile(tile);
  const end = board.ends.find((each) => each.id === id);
  if (!end) return { x: 0, y: 0, rotation: one === other ? 90 : 0 };
  if (one === other) return end.place_double;
  return { ...end.place, rotation: (end.place.rotation + (one === end.number ? 0 : 180)) % 360 };
}

/** A distance along a tile. @param {Spot} spot @param {number} by @returns {[number, number]} */
const along = ({ rotation }, by) => (rotation % 180 ? [0, by] : [by, 0]);

/** @param {Ghost} ghost @param {number} index @param {boolean} isChosen @param {Look} look */
export function ghostMark({ place, spot, shift }, index, isChosen, look) {
  const { tile, faceDown, points, sum, label } = place;
  // Where badges are larger than halves, or the other half has one, there is no room for a second one.
  const value = look.badges > 1.4 || shift ? "" : points ? `+${points}` : `${sum ?? ""}`;
  const [dx, dy] = along(spot, shift || (value ? -1 : 0));
  const isSeen = shift < 1 || isChosen;
  return svg`<g class=${isChosen ? "place chosen" : "place"} transform=${`translate(${spot.x} ${spot.y})`}>
    ${label ? svg`<title>${label}</title>` : nothing}
    <g transform=${`rotate(${spot.rotation})`}>${isSeen ? svg`<g class="preview">${tileShape(tile, { faceDown, ...look, rotation: spot.rotation })}</g>
      <rect class="outline" x="-1.94" y="-.94" width="3.88" height="1.88" rx=".32"></rect>` : nothing}</g>
    ${badge(faceDown ? "badge down" : "badge", `${index + 1}`, dx, dy, look.badges)}${
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
