/**
 * What is to be seen at each step of a replayed round: the table, and the open hands. The service gives the last table of
 * the round, in which no tile has moved, and the deal; everything before follows from them and the steps.
 */

/** @typedef {import("./picture.js").Board} Board */

/** The length of a tile in board units. */
const TILE = 4;

/**
 * What `POST /v1/replays` answers.
 * @typedef {object} Replay
 * @property {string} variant
 * @property {{seat: number, name?: string}[]} players
 * @property {ReplayRound[]} rounds
 * @property {{text: string, line?: number}} [fault] why the replay ends before the record
 *
 * @typedef {object} ReplayRound
 * @property {number} round
 * @property {Omit<Board, "round">} board after the last step
 * @property {{seat: number, count: number, tiles?: string[]}[]} hands as they were dealt; without tiles where they are hidden
 * @property {Step[]} steps
 *
 * @typedef {object} Step
 * @property {number} version
 * @property {string} type
 * @property {number} [seat]
 * @property {number} tiles on the table after it
 * @property {string} [tile] that was laid or drawn
 * @property {string} text
 *
 * The match after a step.
 * @typedef {object} Frame
 * @property {Step} step
 * @property {Board} board
 * @property {(string | undefined)[][]} hands by seat; undefined for a hidden tile
 */

/** The frames of a round, one for each step. @param {ReplayRound} round @returns {Frame[]} */
export function framesOf({ round, board, hands: dealt, steps }) {
  /** @type {Frame["hands"]} */
  let hands = [];
  for (const { seat, count, tiles } of dealt) hands[seat] = tiles ?? Array(count).fill(undefined);
  const flip = steps.findIndex((step) => step.type === "flipped");
  return steps.map((step, index) => {
    hands = after(step, hands);
    const tiles = board.tiles.slice(0, step.tiles);
    // The opening tile is the only one that is turned over later.
    if (tiles[0] && index < flip) tiles[0] = { ...tiles[0], face_down: false };
    const isLast = step.tiles === board.tiles.length;
    return { step, board: { ...board, round, tiles, bounds: boundsOf(tiles, board.bounds), ends: isLast ? board.ends : [] }, hands };
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
  const place = hand.includes(tile) ? hand.indexOf(tile) : hand.indexOf(undefined);
  return hands.map((each, index) => {
    if (index !== seat) return each;
    return type === "drew" ? [...hand, tile] : hand.filter((_, at) => at !== place);
  });
}
