/**
 * Tiles that fly across the table: one that is laid, and those that are dealt. Owns how they move, over the table and by
 * transform and opacity alone, so that nothing is laid out or painted again meanwhile; where they come from is given.
 * Nothing moves where the device or the settings ask for less motion.
 */
import { render } from "../vendor/lit-html.js";
import { tileImage } from "./tiles.js";

/** @import { Settings } from "../shell/types.js" */
/** @import { Source, Target, TileOptions } from "./types.js" */

/** Milliseconds of the flight of a tile. */
const FLIGHT = { none: 0, normal: 300, slow: 700 };
/** Milliseconds of a deal, however many tiles are dealt, and how many are shown at most. */
const DEAL = { none: 0, normal: 600, slow: 1200 };
const MAX_DEALT = 42;

/** Whether nothing moves. @param {Pick<Settings, "animation">} settings */
export const isStill = ({ animation }) => animation === "none" || matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The middle of an element in the window, as the source of a tile of this length. @param {Element} element @param {number} [length] @param {number} [rotation] @returns {Source} */
export function middleOf(element, length = 32, rotation = 0) {
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x: x + width / 2, y: y + height / 2, length, rotation };
}

/**
 * A tile flies to where it lies; the element that lies there is hidden meanwhile.
 * @param {{tile: string, face_down?: boolean}} laid
 * @param {Source} from
 * @param {Target} to
 * @param {Pick<Settings, "animation">} settings
 * @param {() => void} [landed]
 */
export function fly({ tile, face_down: faceDown }, from, { element, rotation, length, look }, settings, landed = () => {}) {
  const target = /** @type {SVGElement} */ (element);
  const { x, y } = middleOf(target);
  const flying = piece({ x, y, length, rotation }, tile, { faceDown, ...look });
  target.style.visibility = "hidden";
  const turn = ((((from.rotation - rotation) % 360) + 540) % 360) - 180;
  const motion = flying.animate(
    [
      { transform: `translate(${from.x - x}px, ${from.y - y}px) rotate(${rotation + turn}deg) scale(${from.length / length})`, opacity: from.rotation ? 1 : 0.3 },
      { opacity: 1, offset: 0.25 },
      { transform: `translate(0, 0) rotate(${rotation}deg) scale(1.12)`, offset: 0.82 },
      { transform: `translate(0, 0) rotate(${rotation}deg) scale(1)`, opacity: 1 },
    ],
    { duration: FLIGHT[settings.animation], easing: "cubic-bezier(.3, .6, .4, 1)", fill: "backwards" },
  );
  const end = () => {
    flying.remove();
    target.style.visibility = "";
    landed();
  };
  motion.finished.then(end, end);
}

/**
 * Backs fly from the middle of the table to who gets them, one after the other.
 * @param {Source} from
 * @param {{element: Element, tiles: number}[]} hands in the order of the deal
 * @param {Pick<Settings, "animation">} settings
 */
export function deal(from, hands, settings) {
  const all = hands.reduce((sum, each) => sum + each.tiles, 0);
  const most = Math.max(...hands.map((each) => each.tiles));
  const share = Math.min(1, MAX_DEALT / Math.max(1, all));
  const places = hands.map((each) => middleOf(each.element));
  const order = Array.from({ length: Math.max(1, Math.round(most * share)) }, (_, at) => hands.flatMap((each, hand) => (each.tiles * share > at ? [hand] : []))).flat();
  const total = DEAL[settings.animation];
  const duration = total * 0.45;
  for (const [at, hand] of order.entries()) {
    const back = piece(from, "0-0", { faceDown: true });
    const { x, y } = places[hand];
    const move = `translate(${x - from.x}px, ${y - from.y}px)`;
    const motion = back.animate(
      [
        { transform: "translate(0, 0) rotate(0)", opacity: 0 },
        { opacity: 1, offset: 0.15 },
        { transform: `${move} rotate(270deg) scale(.7)`, opacity: 1, offset: 0.9 },
        { transform: `${move} rotate(270deg) scale(.5)`, opacity: 0 },
      ],
      { duration, delay: ((total - duration) * at) / order.length, easing: "cubic-bezier(.2, .7, .4, 1)", fill: "both" },
    );
    const end = () => back.remove();
    motion.finished.then(end, end);
  }
}

/** Light for who has won: pips rise from an element, and fall. @param {Element} element @param {Pick<Settings, "animation">} settings */
export function celebrate(element, settings) {
  const { x, y } = middleOf(element);
  for (let at = 0; at < 26; at++) {
    const pip = document.createElement("div");
    pip.className = `spark spark-${at % 4}`;
    pip.setAttribute("aria-hidden", "true");
    pip.style.left = `${x}px`;
    pip.style.top = `${y}px`;
    document.body.append(pip);
    const angle = (at / 26) * 2 * Math.PI;
    const reach = 60 + 70 * ((at * 7) % 5) / 4;
    const [dx, dy] = [Math.cos(angle) * reach, Math.sin(angle) * reach];
    const motion = pip.animate(
      [
        { transform: "translate(0, 0) scale(.3)", opacity: 1 },
        { transform: `translate(${dx}px, ${dy - 30}px) scale(1)`, opacity: 1, offset: 0.5 },
        { transform: `translate(${dx * 1.2}px, ${dy + 70}px) scale(.8)`, opacity: 0 },
      ],
      { duration: FLIGHT[settings.animation] * 4, delay: (at % 5) * 30, easing: "cubic-bezier(.2, .7, .5, 1)", fill: "both" },
    );
    const end = () => pip.remove();
    motion.finished.then(end, end);
  }
}

/** A tile above everything, at a place of the window. @param {Source} at @param {string} tile @param {TileOptions} options */
function piece({ x, y, length }, tile, options) {
  const element = document.createElement("div");
  element.className = "flying";
  element.setAttribute("aria-hidden", "true");
  for (const [name, value] of [["left", x - length / 2], ["top", y - length / 4], ["width", length], ["height", length / 2]]) {
    element.style.setProperty(/** @type {string} */ (name), `${value}px`);
  }
  render(tileImage(tile, options), element);
  document.body.append(element);
  return element;
}
