/**
 * The picture of the table: tiles, links and ends of a board, and the places where the chosen tile may be laid. Owns how
 * they look, that the tiles keep their elements, and when a new one has come; which part is shown is in viewport.js.
 * Where tiles lie and where one may be laid comes from the service.
 */
import { html, nothing, ref, repeat, svg } from "../vendor/lit-html.js";
import { MARK, digitsFrom, endMark, hasColours, linkPath, markAt, shadowPath, tileOnTable } from "./tiles.js";
import { createViewport, distance, united } from "./viewport.js";

/** @import { App, Board } from "../shell/types.js" */
/** @import { Area, Ghost, Look, PictureOptions, Spot, Target } from "./types.js" */

const ASPECTS = [0.6, 0.8, 1, 1.3, 1.6, 2, 2.4];
/** The least width and height of what can be clicked, in CSS pixels. */
const TARGET = 24;
/** The least size of the text of a badge, in CSS pixels. */
const SMALLEST_TEXT = 11;
/** The size of what points to a place outside of the picture, in CSS pixels for the unit of a badge. */
const POINTER = 20;
/** Milliseconds in which two clicks are one double click. */
const DOUBLE_CLICK = 600;
/** A table before the service has sent one. @type {Board} */
const EMPTY = { round: 0, table: { x: -8, y: -5, width: 16, height: 10 }, bounds: { x: -2, y: -1, width: 4, height: 2 }, tiles: [], ends: [] };

/** The aspect to ask for of a board that is shown in an area of this size. @param {number} width @param {number} height */
export function aspectFor(width, height) {
  const ratio = width / Math.max(1, height);
  return ASPECTS.reduce((best, each) => (Math.abs(Math.log(each / ratio)) < Math.abs(Math.log(best / ratio)) ? each : best));
}

/**
 * @param {App} app
 * @param {(tile: Board["tiles"][number], target: Target) => void} [arrived] called when a tile was laid, after it is drawn
 */
export function createPicture(app, arrived = () => {}) {
  const viewport = createViewport(moved);
  /** @type {Element | undefined} */
  let element;
  /** @type {Board | undefined} the board that was shown last */
  let shown;
  /** @type {Ghost[]} */
  let ghosts = [];
  /** @type {Spot | undefined} the place that is chosen, once it was made visible */
  let revealed;
  /** @type {Look} */
  let look = { colours: false, digits: Infinity, badges: 1 };
  let highest = 6;
  let isRendering = false;
  let playedAt = 0;

  /** @returns {Look} */
  function lookNow() {
    const { settings } = app.device;
    return {
      colours: hasColours(settings, highest),
      digits: settings.digits ? 0 : digitsFrom(2 * viewport.scale, highest),
      badges: Math.max(1, Math.round((10 * SMALLEST_TEXT) / viewport.scale) / 10),
    };
  }

  /** Another part of the table is to be seen. */
  function moved() {
    const { digits, badges } = lookNow();
    if (!isRendering && (digits !== look.digits || badges !== look.badges)) app.update();
    drawPointers();
  }

  /** @param {Board} board */
  function show(board) {
    if (board === shown) return;
    const before = shown;
    shown = board;
    viewport.show({ table: board.table, bounds: withMarks(board) });
    if (before && before.round !== board.round) viewport.fitAll();
    if (before?.round !== board.round || board.tiles.length !== before.tiles.length + 1) return;
    const added = /** @type {Board["tiles"][number]} */ (board.tiles.at(-1));
    if (!ghosts.length) viewport.reveal(added);
    queueMicrotask(() => {
      const target = element?.querySelector(`[data-tile="${added.tile}"]`);
      if (target) arrived(added, { element: target, rotation: added.rotation, length: 4 * viewport.scale, look });
    });
  }

  /** The index of the place at a point of the window: of those in reach, the one with the nearest centre. @param {number} clientX @param {number} clientY */
  function placeAt(clientX, clientY) {
    const point = viewport.boardPoint(clientX, clientY);
    const least = TARGET / 2 / viewport.scale;
    /** @type {number | undefined} */
    let best;
    for (const [index, ghost] of ghosts.entries()) {
      const { spot } = ghost;
      const [width, height] = spot.rotation % 180 ? [1, 2] : [2, 1];
      const inside =
        Math.abs(point.x - spot.x) <= Math.max(width, least) && Math.abs(point.y - spot.y) <= Math.max(height, least);
      if (inside && (best === undefined || distance(point, spot) < distance(point, ghosts[best].spot))) best = index;
    }
    return best;
  }

  /** Places outside of what is to be seen have their number at the edge. */
  function drawPointers() {
    const size = POINTER / viewport.scale;
    const points = viewport.atEdge(ghosts.map((each) => each.spot));
    for (const [index, pointer] of (element?.querySelectorAll(".pointer") ?? []).entries()) {
      const at = points[index];
      pointer.toggleAttribute("data-away", Boolean(at));
      if (!at) continue;
      const { x, y } = ghosts[index].spot;
      const angle = (Math.atan2(y - at.y, x - at.x) * 180) / Math.PI;
      pointer.setAttribute("transform", `translate(${at.x.toFixed(2)} ${at.y.toFixed(2)})scale(${size})`);
      pointer.firstElementChild?.setAttribute("transform", `rotate(${angle.toFixed()})`);
    }
  }

  /** @param {PictureOptions} options */
  function render({ board = EMPTY, places = [], marks, chosen, onPlace, label, description, lastTile, highest: most = 6 }) {
    isRendering = true;
    highest = most;
    ghosts = marks?.ghostsOf(places, board) ?? [];
    show(board);
    const target = chosen === undefined ? undefined : ghosts[chosen]?.spot;
    if (target && (target.x !== revealed?.x || target.y !== revealed.y)) viewport.reveal(target);
    revealed = target;
    look = lookNow();
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
        <path class="shadows" d=${
          board.tiles.map((each) => (each === last ? "" : shadowPath(each))).join("")}></path>
        <g class="ends">${board.ends.map((end) => (taken.has(end.id) ? nothing : endMark(end)))}</g>
        <g class="tiles">${repeat(board.tiles, (each) => each.tile, (each) => tileOnTable(each, look, each === last))}</g>
        <g class="places">${ghosts.map((each, index) => marks?.ghostMark(each, index === chosen, look, ghosts.length === 1))}</g>
        <g class="pointers">${ghosts.map((each, index) => marks?.pointer(each, index === chosen, () => viewport.reveal(each.spot)))}</g>
      </svg>
      <div class="picture-tools" role="group" aria-label=${app.t("common.pictureTools")}>
        ${tool("all", "common.fitAll", viewport.fitAll)}${tool("out", "common.zoomOut", viewport.zoomOut)}${tool("in", "common.zoomIn", viewport.zoomIn)}
      </div>
    </div>`;
  }

  /** @param {keyof typeof ICONS} icon @param {import("../texts/text.js").Text} text @param {() => void} action */
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
    /** Ends listening to the element. */
    close: () => attach(undefined),
    render,
    placeAt,
    fitAll: viewport.fitAll,
    /** Zooms with + and −, and fits with 0. @param {KeyboardEvent} event */
    key({ key }) {
      if (key === "+" || key === "=") viewport.zoomIn();
      else if (key === "-" || key === "−") viewport.zoomOut();
      else if (key === "0") viewport.fitAll();
      else return false;
      return true;
    },
  };
}

/** The bounds of a board, and of the marks at its ends. @param {Board} board @returns {Area} */
function withMarks({ bounds, ends }) {
  return united(bounds, ...ends.map(markAt).map(({ x, y }) => ({ x: x - MARK, y: y - MARK, width: 2 * MARK, height: 2 * MARK })));
}

const ICONS = {
  in: "M12 5v14M5 12h14",
  out: "M5 12h14",
  all: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
};
