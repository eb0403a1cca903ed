/**
 * The picture of the table: tiles, links and ends of a board, and the places where the chosen tile may be laid. Owns how
 * they look and that the tiles keep their elements; which part is shown is in viewport.js. Where tiles lie and where one
 * may be laid comes from the service.
 */
import { html, nothing, ref, repeat, svg } from "./vendor/lit-html.js";
import { PICTURE } from "./texts/picture.js";
import { digitsFrom, parseTile, tileShape } from "./tiles.js";
import { clamp, createViewport, distance } from "./viewport.js";

/**
 * @typedef {import("./viewport.js").Area} Area
 * @typedef {import("./viewport.js").Point} Point
 * @typedef {{x: number, y: number, rotation: number}} Spot
 * @typedef {{tile: string, x: number, y: number, rotation: number, face_down: boolean, seat: number, link?: number[][]}} BoardTile
 * @typedef {{id: string, number: number, state: string, x: number, y: number, direction: number, place: Spot, place_double: Spot}} BoardEnd
 * @typedef {{round: number, table: Area, bounds: Area, tiles: BoardTile[], ends: BoardEnd[]}} Board as the resource `board` has it
 *
 * Where the chosen tile may be laid.
 * @typedef {object} Place
 * @property {string} tile
 * @property {string} [end] the id of an end; none on an empty table
 * @property {boolean} [faceDown]
 * @property {number} [points] the points of the move
 * @property {number} [sum] the sum of the ends after the move
 * @property {string} [label] the place in words
 *
 * @typedef {object} PictureOptions
 * @property {Board} board
 * @property {Place[]} [places]
 * @property {number} [chosen] the index of a place
 * @property {(place: Place, index: number) => void} [onPlace] called when a place is clicked
 * @property {string} label of the picture
 * @property {string} [description] the whole table in words
 * @property {string} [lastTile] the tile that was laid last
 * @property {number} [highest] number of the set
 */

const ASPECTS = [0.6, 0.8, 1, 1.3, 1.6, 2, 2.4];
/** The least width and height of what can be clicked, in CSS pixels. */
const TARGET = 24;
/** With more tiles the shadows are not blurred. */
const BLURRED_SHADOWS = 60;
/** The least size of the text of a badge, in CSS pixels. */
const SMALLEST_TEXT = 11;
/** The size of what points to a place outside of the picture, in CSS pixels for the unit of a badge. */
const POINTER = 20;
/** Milliseconds in which two clicks are one double click. */
const DOUBLE_CLICK = 600;
/** Milliseconds in which a tile moves to its place. */
const MOVEMENT = { none: 0, normal: 200, slow: 500 };

/** The aspect to ask for of a board that is shown in an area of this size. @param {number} width @param {number} height */
export function aspectFor(width, height) {
  const ratio = width / Math.max(1, height);
  return ASPECTS.reduce((best, each) => (Math.abs(Math.log(each / ratio)) < Math.abs(Math.log(best / ratio)) ? each : best));
}

/** @param {import("./types.js").App} app */
export function createPicture(app) {
  const viewport = createViewport(moved);
  /** @type {Element | undefined} */
  let element;
  /** @type {Board | undefined} the board that was shown last */
  let shown;
  /** @type {{place: Place, spot: Spot}[]} */
  let ghosts = [];
  /** @type {Spot | undefined} the place that is chosen, once it was made visible */
  let revealed;
  /** @type {Look} */
  let look = { colours: false, digits: Infinity, badges: 1 };
  let isRendering = false;
  let playedAt = 0;

  /** @param {number} highest number of the set @returns {Look} */
  function lookNow(highest) {
    const { colours, digits } = app.device.settings;
    return {
      colours: colours === "on" || (colours === "auto" && highest > 6),
      digits: digits ? 0 : digitsFrom(2 * viewport.scale),
      badges: Math.max(1, Math.round((10 * SMALLEST_TEXT) / viewport.scale) / 10),
    };
  }

  /** Another part of the table is to be seen. */
  function moved() {
    const { digits, badges } = lookNow(0);
    if (!isRendering && (digits !== look.digits || badges !== look.badges)) app.update();
    drawPointers();
  }

  /** @param {Board} board @param {string} [lastTile] */
  function show(board, lastTile) {
    if (board === shown) return;
    const before = shown;
    shown = board;
    const focus = board.tiles.find((each) => each.tile === lastTile) ?? board.tiles.at(-1) ?? { x: 0, y: 0 };
    viewport.show({ table: board.table, bounds: board.bounds, focus });
    if (before && before.round !== board.round) viewport.reset();
    if (before?.round !== board.round || board.tiles.length !== before.tiles.length + 1) return;
    const added = /** @type {BoardTile} */ (board.tiles.at(-1));
    if (!ghosts.length) viewport.reveal(added);
    queueMicrotask(() => moveIn(added));
  }

  /** A tile moves from the lower edge to its place. @param {BoardTile} tile */
  function moveIn({ tile, x, y, rotation }) {
    const duration = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : MOVEMENT[app.device.settings.animation];
    if (!duration) return;
    const seen = viewport.visible();
    const from = `translate(${seen.x + seen.width / 2}px, ${seen.y + seen.height}px)`;
    element?.querySelector(`[data-tile="${tile}"]`)?.animate(
      [
        { transform: `${from} rotate(${rotation}deg)`, opacity: 0 },
        { opacity: 1, offset: 0.3 },
        { transform: `translate(${x}px, ${y}px) rotate(${rotation}deg)`, opacity: 1 },
      ],
      { duration, easing: "cubic-bezier(.2, .7, .3, 1)" },
    );
  }

  /** The index of the place at a point of the window: of those in reach, the one with the nearest centre. @param {number} clientX @param {number} clientY */
  function placeAt(clientX, clientY) {
    const point = viewport.boardPoint(clientX, clientY);
    const least = TARGET / 2 / viewport.scale;
    /** @type {number | undefined} */
    let best;
    for (const [index, { spot }] of ghosts.entries()) {
      const [width, height] = spot.rotation % 180 ? [1, 2] : [2, 1];
      const inside =
        Math.abs(point.x - spot.x) <= Math.max(width, least) && Math.abs(point.y - spot.y) <= Math.max(height, least);
      if (inside && (best === undefined || distance(point, spot) < distance(point, ghosts[best].spot))) best = index;
    }
    return best;
  }

  /** Places outside of what is to be seen have their number at the edge. */
  function drawPointers() {
    const seen = viewport.visible();
    const size = POINTER / viewport.scale;
    const inset = size * 1.35;
    for (const [index, pointer] of (element?.querySelectorAll(".pointer") ?? []).entries()) {
      const spot = ghosts[index]?.spot;
      if (!spot) continue;
      const x = clamp(spot.x, seen.x + inset, seen.x + seen.width - inset);
      const y = clamp(spot.y, seen.y + inset, seen.y + seen.height - inset);
      pointer.toggleAttribute("data-away", distance(spot, { x, y }) > 1);
      pointer.setAttribute("transform", `translate(${x} ${y})scale(${size})`);
      const angle = (Math.atan2(spot.y - y, spot.x - x) * 180) / Math.PI;
      pointer.firstElementChild?.setAttribute("transform", `rotate(${angle.toFixed()})`);
    }
  }

  /** @param {PictureOptions} options */
  function render({ board, places = [], chosen, onPlace, label, description, lastTile, highest = 6 }) {
    isRendering = true;
    ghosts = places.map((place) => ({ place, spot: spotOf(place, board) }));
    show(board, lastTile);
    const target = chosen === undefined ? undefined : ghosts[chosen]?.spot;
    if (target && (target.x !== revealed?.x || target.y !== revealed.y)) viewport.reveal(target);
    revealed = target;
    look = lookNow(highest);
    isRendering = false;
    queueMicrotask(drawPointers);

    const taken = new Set(places.map((each) => each.end));
    const last = board.tiles.find((each) => each.tile === lastTile);
    const click = (/** @type {MouseEvent} */ event) => {
      const index = viewport.wasDragged ? undefined : placeAt(event.clientX, event.clientY);
      if (index === undefined) return;
      playedAt = event.timeStamp;
      onPlace?.(places[index], index);
    };
    return html`<div class="picture" @keydown=${arrows}>
      <svg class="cloth" role="img" aria-label=${label} @click=${click} @dblclick=${zoomThere} ${ref(attach)}>
        ${description ? svg`<desc>${description}</desc>` : nothing}
        <path class="links" d=${board.tiles.map(linkPath).join("")}></path>
        <path class=${board.tiles.length > BLURRED_SHADOWS ? "shadows" : "shadows blurred"} d=${
          board.tiles.map((each) => (each === last ? "" : shadowPath(each))).join("")}></path>
        <g class="ends">${board.ends.map((end) => (taken.has(end.id) ? nothing : endMark(end)))}</g>
        <g class="tiles">${repeat(board.tiles, tileName, (/** @type {BoardTile} */ each) => tileOnTable(each, look, each === last))}</g>
        <g class="places">${ghosts.map(({ place, spot }, index) => ghost(place, spot, index, index === chosen, look))}</g>
        <g class="pointers">${ghosts.map(({ spot }, index) => svg`<g class=${index === chosen ? "chosen pointer" : "pointer"} @click=${() => viewport.reveal(spot)}><path
          d="M.1-.72L1.2 0L.1.72z"></path>${badge("badge", `${index + 1}`, 0, 0, 1)}</g>`)}</g>
      </svg>
      <div class="picture-tools" role="group" aria-label=${app.t(PICTURE.tools)}>
        ${tool("all", PICTURE.fitAll, viewport.fitAll)}${tool("out", PICTURE.zoomOut, viewport.zoomOut)}${tool("in", PICTURE.zoomIn, viewport.zoomIn)}
      </div>
    </div>`;
  }

  /** @param {keyof typeof ICONS} icon @param {import("./text.js").Text} text @param {() => void} action */
  const tool = (icon, text, action) => html`<button type="button" aria-label=${app.t(text)} title=${app.t(text)} @click=${action}><svg
    viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d=${ICONS[icon]}></path></svg></button>`;

  /** @param {Element} [next] */
  function attach(next) {
    element = next;
    viewport.attach(next);
  }

  /** @param {MouseEvent} event */
  function zoomThere({ clientX, clientY, timeStamp }) {
    if (timeStamp - playedAt > DOUBLE_CLICK) viewport.zoom(1.7, viewport.boardPoint(clientX, clientY));
  }

  /** The arrow keys move the picture while the focus is on one of its buttons. @param {KeyboardEvent} event */
  function arrows(event) {
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!direction || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    viewport.pan(80 * direction[0], 80 * direction[1]);
  }

  return {
    render,
    placeAt,
    /** As the picture fits itself: everything or, where that is too small to be read, the last tile. */
    center: viewport.reset,
    /** Everything there is, however small. */
    fitAll: viewport.fitAll,
    /** @param {number} factor */
    zoom: (factor) => viewport.zoom(factor),
    /** Zooms with + and −, and fits with 0. @param {KeyboardEvent} event */
    key({ key }) {
      if (key === "+" || key === "=") viewport.zoomIn();
      else if (key === "-" || key === "−") viewport.zoomOut();
      else if (key === "0") viewport.reset();
      else return false;
      return true;
    },
  };
}

const ICONS = {
  in: "M12 5v14M5 12h14",
  out: "M5 12h14",
  all: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
};

/**
 * @typedef {object} Look
 * @property {boolean} colours of the numbers
 * @property {number} digits the first number that is a digit
 * @property {number} badges how many times larger than on a large picture
 */

/** @param {BoardTile} tile */
const tileName = ({ tile }) => tile;

/** @param {BoardTile} tile @param {Look} look @param {boolean} isLast */
const tileOnTable = ({ tile, x, y, rotation, face_down: faceDown }, look, isLast) => svg`<g data-tile=${tile}
  transform=${`translate(${x} ${y})rotate(${rotation})`}>${isLast ? lastShadow(rotation) : nothing}${
  tileShape(tile, { faceDown, rotation, ...look })}${isLast ? lastMark(look.badges) : nothing}</g>`;

/** @param {number} size */
const lastMark = (size) => svg`<g class="last"><rect x="-2.04" y="-1.04" width="4.08" height="2.08" rx=".4"></rect><circle r=${0.22 * size}></circle></g>`;

/** The tile that was laid last moves with its shadow. @param {number} rotation */
const lastShadow = (rotation) =>
  svg`<path class="shadow" transform=${`rotate(${-rotation})translate(.06 .16)`} d=${shadowPath({ x: 0, y: 0, rotation })}></path>`;

/** @param {Spot} tile */
function shadowPath({ x, y, rotation }) {
  const [width, height] = rotation % 180 ? [1.94, 3.88] : [3.88, 1.94];
  return `M${x - width / 2 + 0.3} ${y - height / 2}h${width - 0.6}q.3 0 .3 .3v${height - 0.6}q0 .3-.3 .3h${0.6 - width}q-.3 0-.3-.3v${0.6 - height}q0-.3 .3-.3z`;
}

/** @param {BoardTile} tile */
const linkPath = ({ link }) => (link ? `M${link.map((point) => point.join(" ")).join("L")}` : "");

/** @param {BoardEnd} end */
function endMark({ state, x, y, direction }) {
  const transform = `translate(${x} ${y})rotate(${direction})translate(.62)`;
  if (state === "closed") return svg`<path class="end closed" transform=${transform} d="M-.26-.26l.52.52M-.26.26l.52-.52"></path>`;
  return svg`<circle class=${`end ${state}`} transform=${transform} r=".32"></circle>`;
}

/** Where the tile of a place would lie, its numbers in the right order. @param {Place} place @param {Board} board @returns {Spot} */
function spotOf({ tile, end: id }, board) {
  const [one, other] = parseTile(tile);
  const end = board.ends.find((each) => each.id === id);
  if (!end) return { x: 0, y: 0, rotation: one === other ? 90 : 0 };
  if (one === other) return end.place_double;
  return { ...end.place, rotation: (end.place.rotation + (one === end.number ? 0 : 180)) % 360 };
}

/** @param {Place} place @param {Spot} spot @param {number} index @param {boolean} isChosen @param {Look} look */
function ghost({ tile, faceDown, points, sum, label }, { x, y, rotation }, index, isChosen, look) {
  // Where badges are larger than halves, there is no room for a second one.
  const value = look.badges > 1.4 ? "" : points ? `+${points}` : `${sum ?? ""}`;
  const [dx, dy] = !value ? [0, 0] : rotation % 180 ? [0, 1] : [1, 0];
  return svg`<g class=${isChosen ? "place chosen" : "place"} transform=${`translate(${x} ${y})`}>
    ${label ? svg`<title>${label}</title>` : nothing}
    <g transform=${`rotate(${rotation})`}><g class="preview">${tileShape(tile, { faceDown, rotation, ...look })}</g><rect class="outline" x="-1.94" y="-.94"
      width="3.88" height="1.88" rx=".32"></rect></g>
    ${badge("badge", `${index + 1}`, -dx, -dy, look.badges)}${value ? badge(points ? "value points" : "value", value, dx, dy, look.badges) : nothing}
  </g>`;
}

/** @param {string} name @param {string} text @param {number} x @param {number} y @param {number} size */
function badge(name, text, x, y, size) {
  const width = text.length > 1 ? 1.9 : 1.44;
  const font = text.length > 2 ? 0.08 : 0.1;
  return svg`<g class=${name} transform=${`translate(${x} ${y})scale(${size})`}><rect x=${-width / 2} y="-.72" width=${width} height="1.44"
    rx=".72"></rect><text transform=${`scale(${font})`} y="3.6">${text}</text></g>`;
}
