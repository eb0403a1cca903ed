/**
 * Numbers, tiles and places as they are said, in English and German: "three five", "Sechserpasch", "on the left". Owns
 * the same words as the sentences of the service, for what the page says by itself. Also reads the written name of a
 * tile, "3-5". Knows no whole sentences.
 */
import { capitalized } from "../texts/text.js";

/**
 * @typedef {import("../texts/text.js").Language} Language
 *
 * What a name needs of the `board` of a view.
 * @typedef {object} NamedBoard
 * @property {{tile: string, on?: {tile: string, side: string}, end?: string}[]} tiles
 * @property {{id: string, number: number, tile: string, side: string}[]} ends
 */

/** @type {Record<Language, string[]>} */
const WORDS = {
  en: [
    "blank", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
  ],
  de: [
    "blank", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
    "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn",
  ],
};

/** German words whose doubles are not the word with "er". @type {Record<string, string>} */
const DOUBLES = { blank: "Blank", eins: "Einer", sieben: "Siebener" };

/** The directions of the arms of the first tile, by the ends it opened. @type {Record<string, keyof typeof DIRECTIONS>} */
const ARMS = { left: "left", right: "right", e1: "left", e2: "right", e3: "up", e4: "down" };
const DIRECTIONS = {
  left: { en: "on the left", de: "links" },
  right: { en: "on the right", de: "rechts" },
  up: { en: "upwards", de: "oben" },
  down: { en: "downwards", de: "unten" },
};

/** The numbers of a tile. @param {string} name as "3-5" @returns {[number, number]} */
export function parseTile(name) {
  const [one, other] = name.split("-");
  return [Number(one), Number(other)];
}

/** A number on a tile, as a word. @param {Language} language @param {number} number */
export const numberName = (language, number) => WORDS[language][number] ?? String(number);

/** A tile, without an article. @param {Language} language @param {string} tile */
export function tileName(language, tile) {
  const [one, other] = parseTile(tile);
  const word = numberName(language, one);
  if (one !== other) return `${word} ${numberName(language, other)}`;
  return language === "de" ? `${DOUBLES[word] ?? capitalized(`${word}er`)}pasch` : `double ${word}`;
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
  if (direction) return DIRECTIONS[direction][language];
  const host = tileName(language, end.tile);
  const [one, other] = parseTile(end.tile);
  if (one !== other) return HALF[language](numberName(language, end.number), host);
  const shorts = shortSides(end.tile, board);
  if (!shorts.length) return language === "de" ? `an den ${host}` : `on ${host}`;
  return SIDE[language](shorts.indexOf(id), host);
}

const HALF = {
  en: (/** @type {string} */ number, /** @type {string} */ host) => `on the ${number} of ${host}`,
  de: (/** @type {string} */ number, /** @type {string} */ host) =>
    `an die ${number === "blank" ? "blanke Hälfte" : capitalized(number)} von ${host}`,
};

/** A side of a double that branches: which of its short sides or, for -1, its long side. */
const SIDE = {
  en: (/** @type {number} */ short, /** @type {string} */ host) =>
    `on the ${["first short", "second short"][short] ?? "long"} side of ${host}`,
  de: (/** @type {number} */ short, /** @type {string} */ host) =>
    `an die ${["erste kurze", "zweite kurze"][short] ?? "lange"} Seite des ${host}s`,
};

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
