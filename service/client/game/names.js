/**
 * Numbers, tiles and places as they are said: "three five", "Sechserpasch", "on the left". Names them as the sentences of
 * the service do, for what the page says by itself. Also reads the written name of a tile, "3-5". Knows no whole
 * sentences.
 */
import { translate, words } from "../texts/text.js";

/**
 * @typedef {import("../texts/text.js").Language} Language
 *
 * What a name needs of the `board` of a view.
 * @typedef {object} NamedBoard
 * @property {{tile: string, on?: {tile: string, side: string}, end?: string}[]} tiles
 * @property {{id: string, number: number, tile: string, side: string}[]} ends
 */

/** The directions of the arms of the first tile, by the ends it opened. @type {Record<string, "left" | "right" | "up" | "down">} */
const ARMS = { left: "left", right: "right", e1: "left", e2: "right", e3: "up", e4: "down" };

/** The numbers of a tile. @param {string} name as "3-5" @returns {[number, number]} */
export function parseTile(name) {
  const [one, other] = name.split("-");
  return [Number(one), Number(other)];
}

/** A number on a tile, as a word. @param {Language} language @param {number} number */
export const numberName = (language, number) => words(language, "pips")[number] ?? String(number);

/** A tile, without an article. @param {Language} language @param {string} tile */
export function tileName(language, tile) {
  const [one, other] = parseTile(tile);
  if (one === other) return words(language, "doubles")[one] ?? tile;
  return translate(language, "tiles.halves", { first: numberName(language, one), second: numberName(language, other) });
}

/**
 * Where an end is: the direction of its arm or, behind a tile that branches, the tile it belongs to.
 * @param {Language} language
 * @param {string} id of the end
 * @param {NamedBoard} board of the view
 */
export function placeName(language, id, board) {
  const end = board.ends.find((each) => each.id === id);
  if (!end) return "";
  const direction = armOf(id, end.tile, board);
  if (direction) return translate(language, `places.${direction}`);
  const host = tileName(language, end.tile);
  const [one, other] = parseTile(end.tile);
  if (one !== other) return translate(language, "places.half", { number: words(language, "pip_nouns")[end.number], host });
  const shorts = shortSides(end.tile, board);
  if (!shorts.length) return translate(language, "places.double", { host });
  return translate(language, SIDES[shorts.indexOf(id)] ?? "places.long", { host });
}

/** The short sides of a double that branches. @type {import("../texts/text.js").Text[]} */
const SIDES = ["places.firstShort", "places.secondShort"];

/** The direction of the arm of an end, unless it is behind a tile that branches. @param {string} id @param {string} host @param {NamedBoard} board */
function armOf(id, host, board) {
  const lead = board.tiles[0]?.tile;
  while (host !== lead) {
    if (shortSides(host, board).length) return undefined;
    const tile = board.tiles.find((each) => each.tile === host);
    if (!tile?.on || !tile.end) return undefined;
    id = tile.end;
    host = tile.on.tile;
  }
  return ARMS[id];
}

/** The short sides of a tile where one may join or has joined, in the order in which they opened. @param {string} host @param {NamedBoard} board */
function shortSides(host, board) {
  const names = board.ends.filter((each) => each.tile === host && each.side === "short").map((each) => each.id);
  for (const tile of board.tiles) if (tile.on?.tile === host && tile.on.side === "short" && tile.end) names.push(tile.end);
  return names.sort((one, other) => Number(one.slice(1)) - Number(other.slice(1)));
}
