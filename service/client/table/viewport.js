/**
 * Which part of a table a picture shows, and how large: everything, however small, until somebody zooms or drags; takes
 * the gestures for that. Knows areas and points, no tiles.
 */

/** @import { Area, Point, Subject } from "./types.js" */

/** Around what is shown, in board units. */
const MARGIN = 0.8;
/** CSS pixels for one board unit; a half has two. In steps, so that the picture stays as it is for some tiles. */
const STEPS = [20, 16, 14, 12, 11, 10, 9, 8, 7, 6.5];
/** The smallest that a zoom out reaches where all there is would be larger, and the largest that is not asked for. */
const SMALLEST = 8;
const LARGEST = 28;
const LARGEST_ZOOM = 48;
const ZOOM_STEP = 1.3;
/** The middle of what points to something outside is so far from the edge. */
const EDGE = 28;
/** Movements below this many CSS pixels are a click. */
const CLICK = 6;

/** @typedef {ReturnType<typeof createViewport>} Viewport */

/** @param {() => void} changed called when another part is shown, or in another size */
export function createViewport(changed) {
  /** @type {SVGSVGElement | undefined} */
  let element;
  /** @type {AbortController | undefined} ends listening to the element */
  let listening;
  let width = 0;
  let height = 0;
  let scale = 16;
  /** @type {Point} */
  let centre = { x: 0, y: 0 };
  /** Whether somebody has zoomed or dragged; else everything is to be seen. */
  let isFree = false;
  let wasDragged = false;
  /** @type {Subject} */
  let subject = { table: { x: -8, y: -5, width: 16, height: 10 }, bounds: { x: -2, y: -2, width: 4, height: 4 } };
  /** @type {Map<number, Point>} */
  const pointers = new Map();

  /** The largest scale at which the area fits. @param {Area} area */
  const scaleFor = (area) => Math.min(width / (area.width + 2 * MARGIN), height / (area.height + 2 * MARGIN));

  function fit() {
    if (!width || !height) return;
    if (!isFree) choose();
    draw();
  }

  /**
   * Chooses the scale and the centre at which everything is to be seen: with the planned table, or larger as long as few
   * tiles lie.
   */
  function choose() {
    const { table, bounds } = subject;
    const all = united(table, bounds);
    const forAll = Math.min(scaleFor(all), LARGEST);
    const forBounds = Math.min(scaleFor(bounds), LARGEST);
    const step = STEPS.find((each) => each <= forBounds) ?? forBounds;
    scale = Math.max(forAll, step);
    centre = middle(scale === forAll ? all : table);
    if (!contains(visible(scale, centre), bounds)) centre = middle(bounds);
  }

  function draw() {
    if (!element || !width || !height) return;
    element.setAttribute("viewBox", viewBox(visible(scale, centre)));
    element.classList.toggle("movable", isFree);
    changed();
  }

  /** @param {number} s @param {Point} around @returns {Area} */
  const visible = (s, around) => ({ x: around.x - width / s / 2, y: around.y - height / s / 2, width: width / s, height: height / s });

  /** @param {Point} to */
  function moveTo({ x, y }) {
    const all = united(subject.table, subject.bounds);
    isFree = true;
    centre = { x: clamp(x, all.x, all.x + all.width), y: clamp(y, all.y, all.y + all.height) };
    draw();
  }

  /** Zooms so that what is under a point stays there. @param {number} factor @param {Point} [around] on the board */
  function zoom(factor, around = centre) {
    const smallest = Math.min(scaleFor(united(subject.table, subject.bounds)), scaleFor(subject.bounds), SMALLEST);
    const next = clamp(scale * factor, smallest, LARGEST_ZOOM);
    const ratio = scale / next;
    scale = next;
    moveTo({ x: around.x + (centre.x - around.x) * ratio, y: around.y + (centre.y - around.y) * ratio });
  }

  /** The point of the board under a point of the window. @param {number} clientX @param {number} clientY @returns {Point} */
  function boardPoint(clientX, clientY) {
    const box = element?.getBoundingClientRect() ?? new DOMRect();
    return { x: centre.x + (clientX - box.x - box.width / 2) / scale, y: centre.y + (clientY - box.y - box.height / 2) / scale };
  }

  /** @param {PointerEvent} event */
  function down(event) {
    if (event.button !== 0) return;
    if (!pointers.size) wasDragged = false;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  /** @param {PointerEvent} event */
  function move(event) {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    // Where everything is to be seen, a finger scrolls the page.
    const scrolls = event.pointerType === "touch" && !isFree;
    if (!other && (scrolls || (!wasDragged && distance(before, now) < CLICK))) return;
    if (!wasDragged) element?.setPointerCapture(event.pointerId);
    wasDragged = true;
    pointers.set(event.pointerId, now);
    if (other) zoom(distance(now, other) / Math.max(1, distance(before, other)), boardPoint((now.x + other.x) / 2, (now.y + other.y) / 2));
    moveTo({ x: centre.x - (now.x - before.x) / scale / pointers.size, y: centre.y - (now.y - before.y) / scale / pointers.size });
  }

  /** @param {WheelEvent} event */
  function wheel(event) {
    // Where the page can be scrolled, the wheel does that, unless it is asked to zoom.
    const page = document.documentElement;
    if (!event.ctrlKey && page.scrollHeight > page.clientHeight + 1) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
    zoom(Math.exp(clamp(-event.deltaY * lines, -200, 200) / (event.ctrlKey ? 150 : 500)), boardPoint(event.clientX, event.clientY));
  }

  const sizes = new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === width && contentRect.height === height) return;
    ({ width, height } = contentRect);
    fit();
  });

  return {
    /** The element of the picture, or nothing when it is gone. @param {Element} [next] */
    attach(next) {
      if (next === element) return;
      listening?.abort();
      sizes.disconnect();
      pointers.clear();
      element = /** @type {SVGSVGElement | undefined} */ (next);
      if (!element) return;
      listening = new AbortController();
      const { signal } = listening;
      element.addEventListener("pointerdown", down, { signal });
      element.addEventListener("pointermove", move, { signal });
      for (const end of /** @type {const} */ (["pointerup", "pointercancel"])) {
        element.addEventListener(end, ({ pointerId }) => pointers.delete(pointerId), { signal });
      }
      element.addEventListener("wheel", wheel, { signal, passive: false });
      addEventListener("beforeprint", () => element?.setAttribute("viewBox", viewBox(subject.bounds)), { signal });
      addEventListener("afterprint", draw, { signal });
      sizes.observe(element);
    },
    /** @param {Subject} next */
    show(next) {
      subject = next;
      fit();
    },
    /** Shows a point that a zoom has moved out of sight. @param {Point} point */
    reveal({ x, y }) {
      if (!isFree) return;
      const seen = visible(scale, centre);
      const inset = 3;
      const dx = Math.min(0, x - seen.x - inset) + Math.max(0, x - seen.x - seen.width + inset);
      const dy = Math.min(0, y - seen.y - inset) + Math.max(0, y - seen.y - seen.height + inset);
      if ((dx || dy) && width) moveTo({ x: centre.x + dx, y: centre.y + dy });
    },
    /** Shows everything again. */
    fitAll() {
      isFree = false;
      fit();
    },
    zoomIn: () => zoom(ZOOM_STEP),
    zoomOut: () => zoom(1 / ZOOM_STEP),
    zoom,
    /** @param {number} dx @param {number} dy in CSS pixels */
    pan: (dx, dy) => moveTo({ x: centre.x + dx / scale, y: centre.y + dy / scale }),
    boardPoint,
    /**
     * For each point that is not to be seen one at the edge of the picture, apart from each other.
     * @param {Point[]} points
     */
    atEdge(points) {
      const seen = visible(scale, centre);
      const inset = EDGE / scale;
      /** @type {Point[]} */
      const taken = [];
      return points.map((point) => {
        const x = clamp(point.x, seen.x + inset, seen.x + seen.width - inset);
        let y = clamp(point.y, seen.y + inset, seen.y + seen.height - inset);
        if (distance(point, { x, y }) <= 1) return undefined;
        const step = y > centre.y ? -inset : inset;
        while (taken.some((each) => distance(each, { x, y }) < inset)) y += step * 1.2;
        taken.push({ x, y });
        return { x, y };
      });
    },
    /** What is to be seen, in board units. */
    visible: () => visible(scale, centre),
    /** CSS pixels for one board unit. */
    get scale() {
      return scale;
    },
    /** Whether the click that comes now is the end of a drag. */
    get wasDragged() {
      return wasDragged;
    },
  };
}

/** @param {number} value @param {number} least @param {number} most */
const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

/** @param {Point} one @param {Point} other */
export const distance = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);

/** @param {Area} area */
const viewBox = ({ x, y, width, height }) => [x, y, width, height].map((each) => each.toFixed(3)).join(" ");

/** @param {Area} area @returns {Point} */
const middle = (area) => ({ x: area.x + area.width / 2, y: area.y + area.height / 2 });

/** The area around others. @param {...Area} areas @returns {Area} */
export function united(...areas) {
  const x = Math.min(...areas.map((each) => each.x));
  const y = Math.min(...areas.map((each) => each.y));
  const right = Math.max(...areas.map((each) => each.x + each.width));
  return { x, y, width: right - x, height: Math.max(...areas.map((each) => each.y + each.height)) - y };
}

/** @param {Area} outer @param {Area} inner */
const contains = (outer, inner) => {
  const both = united(outer, inner);
  return both.width <= outer.width + 1e-6 && both.height <= outer.height + 1e-6;
};
