/**
 * What is to be seen at each step of a replayed round: the table, and the open hands. The service gives the last table of
 * the round, in which no tile has moved, and the deal; everything before follows from them and the steps.
 */

/** @import { Board, Schemas } from "../shell/types.js" */
/** @typedef {Schemas["Replay"]} Replay */
/** @typedef {Schemas["ReplayRound"]} ReplayRound */
/** @typedef {Schemas["ReplayStep"]} Step */

/**
 * The match after a step.
 * @typedef {object} Frame
 * @property {Step} step
 * @property {Board} board
 * @property {string[][]} hands by seat
 */

/** The length of a tile in board units. */
const TILE = 4;

/** The frames of a round, one for each step. @param {ReplayRound} round @returns {Frame[]} */
export function framesOf({ board, hands: dealt, steps }) {
  /** @type {Frame["hands"]} */
  let hands = [];
  for (const { seat, tiles } of dealt) hands[seat] = tiles ?? [];
  const flip = steps.findIndex((step) => step.type === "flipped");
  return steps.map((step, index) => {
    hands = after(step, hands);
    const tiles = board.tiles.slice(0, step.tiles);
    // The opening tile is the only one that is turned over later.
    if (tiles[0] && index < flip) tiles[0] = { ...tiles[0], face_down: false };
    const isLast = step.tiles === board.tiles.length;
    return { step, board: { ...board, tiles, bounds: boundsOf(tiles, board.bounds), ends: isLast ? board.ends : [] }, hands };
  });
}

/**
 * The area of the tiles and of the places at their ends, so that a picture is as large as it can be at each step.
 * @param {Board["tiles"]} tiles @param {Board["bounds"]} whole after the last step
 */
function boundsOf(tiles, whole) {
  const sides = tiles.map(({ x, y, rotation }) => {
    const [dx, dy] = rotation % 180 ? [1, 2] : [2, 1];
    return { left: x - dx, right: x + dx, top: y - dy, bottom: y + dy };
  });
  const x = Math.max(whole.x, Math.min(0, ...sides.map((each) => each.left)) - TILE);
  const y = Math.max(whole.y, Math.min(0, ...sides.map((each) => each.top)) - TILE);
  const right = Math.min(whole.x + whole.width, Math.max(0, ...sides.map((each) => each.right)) + TILE);
  const bottom = Math.min(whole.y + whole.height, Math.max(0, ...sides.map((each) => each.bottom)) + TILE);
  return { x, y, width: right - x, height: bottom - y };
}

/** @param {Step} step @param {Frame["hands"]} hands @returns {Frame["hands"]} */
function after({ type, seat, tile }, hands) {
  if (seat === undefined || (type !== "played" && type !== "drew")) return hands;
  const hand = hands[seat] ?? [];
  return hands.map((each, index) => {
    if (index !== seat || tile === undefined) return each;
    return type === "drew" ? [...hand, tile] : hand.filter((other) => other !== tile);
  });
}
