/**
 * Checks the deals of a game from what `GET /v1/games/{game}/fairness` answers, by the method of docs/fairness.md.
 * docs/verify has two programs that do the same without a file of this service; all are tested with the same vectors.
 */
import { fromHex, hmac, joined, sha256, toHex } from "./sha256.js";

const METHOD = "domino-deal-1";

/**
 * A round of a fairness document; what is not revealed yet is absent.
 * @typedef {object} RoundProof
 * @property {number} round
 * @property {string} commitment
 * @property {string[]} [client_seeds]
 * @property {string} [seed]
 * @property {number} [attempt]
 * @property {string[][]} [hands]
 * @property {string[]} [stock]
 *
 * @typedef {object} FairnessDocument
 * @property {boolean} provable
 * @property {string} method
 * @property {string} game_id
 * @property {number} seats
 * @property {number} set the highest double
 * @property {string[]} [without] the tiles of the set that are not in the game
 * @property {boolean} [deals_again] whether also deals in which somebody holds a double may be dealt again
 * @property {RoundProof[]} rounds
 *
 * What is to be said of a round.
 * @typedef {object} Finding
 * @property {"holds" | "open" | "wrong"} verdict
 * @property {"dealt" | "undealt" | "hidden" | "number" | "repeated" | "order" | "incomplete" | "commitment" | "seats"
 *   | "sizes" | "attempt" | "hand" | "stock"} reason
 * @property {number} [seat] whose hand does not follow from the seed
 */

const encoder = new TextEncoder();

/** Each value as its length in 4 bytes and its bytes. @param {...(string | number | Uint8Array)} values */
function fields(...values) {
  return joined(...values.flatMap((value) => {
    const bytes = value instanceof Uint8Array ? value : encoder.encode(String(value));
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, bytes.length);
    return [length, bytes];
  }));
}

/** The commitment to a seed. @param {Uint8Array} seed */
export const commitment = (seed) => sha256(fields("domino-commitment-1", seed));

/**
 * The seed of the shuffles of a round.
 * @param {Uint8Array} seed @param {string} game @param {number} round @param {string[]} clientSeeds
 */
export const shuffleSeed = (seed, game, round, clientSeeds) =>
  hmac(seed, fields(METHOD, game, round, clientSeeds.length, ...clientSeeds));

/** Random words of 32 bits, without end. @param {Uint8Array} key @param {number} round @param {number} attempt */
function* words(key, round, attempt) {
  for (let block = 0; ; block++) {
    const view = new DataView(hmac(key, fields("domino-shuffle-1", round, attempt, block)).buffer);
    for (let at = 0; at < view.byteLength; at += 4) yield view.getUint32(at);
  }
}

/**
 * The order of these tiles in an attempt at dealing a round.
 * @param {string[]} tiles @param {Uint8Array} key @param {number} round @param {number} attempt
 */
export function shuffle(tiles, key, round, attempt) {
  const order = [...tiles];
  const random = words(key, round, attempt);
  for (let n = order.length; n > 1; n--) {
    const limit = 2 ** 32 - (2 ** 32 % n);
    let word = Infinity;
    while (word >= limit) word = /** @type {number} */ (random.next().value);
    const j = word % n;
    [order[n - 1], order[j]] = [order[j], order[n - 1]];
  }
  return order;
}

/**
 * The tiles of a set, 0-0, 0-1, …, 0-n, 1-1, …, n-n, without those that are not in the game.
 * @param {number} set @param {string[]} [without]
 */
export function tilesOf(set, without = []) {
  const tiles = [];
  for (let low = 0; low <= set; low++) for (let high = low; high <= set; high++) tiles.push(`${low}-${high}`);
  return tiles.filter((tile) => !without.includes(tile));
}

/**
 * What is to be said of every round; undefined if there is nothing to check: the deals were arranged, or this is no
 * fairness document of this method.
 * @param {unknown} document @returns {Finding[] | undefined}
 */
export const check = (document) => (isDocument(document) ? document.rounds.map((_, index) => judge(document, index)) : undefined);

/** @param {FairnessDocument} document @param {number} index @returns {Finding} */
function judge({ game_id: game, rounds, seats, set, without, deals_again: dealsAgain }, index) {
  /** @param {Finding["reason"]} reason @param {number} [seat] @returns {Finding} */
  const wrong = (reason, seat) => ({ verdict: "wrong", reason, seat });
  const entry = rounds[index];
  const later = rounds.slice(index + 1);
  const told = [entry.attempt, entry.hands, entry.stock].filter((each) => each !== undefined).length;
  if (entry.round !== index + 1) return wrong("number");
  if (rounds.slice(0, index).some((each) => each.commitment === entry.commitment)) return wrong("repeated");
  if (entry.client_seeds && !later.length) return wrong("incomplete");
  if (!entry.seed) {
    if (told) return wrong("incomplete");
    if (later.some((each) => each.client_seeds || each.seed)) return wrong("order");
    return { verdict: "open", reason: "hidden" };
  }
  const seed = fromHex(entry.seed);
  if (toHex(commitment(seed)) !== entry.commitment) return wrong("commitment");
  if (!entry.client_seeds) return told || later.length ? wrong("incomplete") : { verdict: "holds", reason: "undealt" };
  const { client_seeds: clientSeeds, attempt, hands, stock } = entry;
  if (attempt === undefined || !hands || !stock) return wrong("incomplete");
  if (clientSeeds.length !== seats || hands.length !== seats) return wrong("seats");
  const sizes = hands.map((hand) => hand.length);
  if (new Set(sizes.filter(Boolean)).size !== 1) return wrong("sizes");

  const key = shuffleSeed(seed, game, entry.round, clientSeeds);
  const dealt = sizes.reduce((sum, size) => sum + size);
  const tiles = tilesOf(set, without);
  // Nobody may have held a double in the attempts before: only then is a round dealt again, but for some games.
  for (let earlier = 0; earlier < attempt && !dealsAgain; earlier++) {
    if (shuffle(tiles, key, entry.round, earlier).slice(0, dealt).some(isDouble)) return wrong("attempt");
  }
  const order = shuffle(tiles, key, entry.round, attempt);
  const places = new Map(tiles.map((tile, place) => [tile, place]));
  for (const [seat, size] of sizes.entries()) {
    const hand = order.splice(0, size).sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
    if (!isSame(hand, hands[seat])) return wrong("hand", seat);
  }
  return isSame(order, stock) ? { verdict: "holds", reason: "dealt" } : wrong("stock");
}

/** @param {string} tile */
const isDouble = (tile) => tile.split("-")[0] === tile.split("-")[1];
/** @param {string[]} one @param {string[]} other */
const isSame = (one, other) => one.length === other.length && one.every((each, index) => each === other[index]);

// The form of a document

/** @typedef {(value: any) => boolean} Form */

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** A text that UTF-8 can say: without half a character. @type {Form} */
const isText = (value) => typeof value === "string" && !/\p{Surrogate}/u.test(value);
/** @type {Form} */
const isTexts = (value) => Array.isArray(value) && value.every(isText);
/** @type {Form} */
const isDigest = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
/** @param {number} low @param {number} high @returns {Form} */
const isNumber = (low, high) => (value) => Number.isInteger(value) && low <= value && value <= high;

/** @type {Record<string, Form>} */
const NEEDED = {
  provable: (value) => value === true,
  method: (value) => value === METHOD,
  game_id: isText,
  seats: isNumber(2, 100),
  set: isNumber(0, 100),
  rounds: (value) => Array.isArray(value) && value.length > 0 && value.every(isRound),
};
/** @type {Record<string, Form>} */
const NEEDED_OF_ROUND = { round: isNumber(1, 2 ** 31), commitment: isDigest };
/** @type {Record<string, Form>} */
const TOLD_OF_ROUND = {
  client_seeds: isTexts,
  seed: isDigest,
  attempt: isNumber(0, 1000),
  hands: (value) => Array.isArray(value) && value.every(isTexts),
  stock: isTexts,
};

/** @param {unknown} value @returns {value is FairnessDocument} */
const isDocument = (value) =>
  isObject(value) &&
  Object.entries(NEEDED).every(([key, hasForm]) => hasForm(value[key])) &&
  (!Object.hasOwn(value, "without") || isTexts(value.without)) &&
  (!Object.hasOwn(value, "deals_again") || value.deals_again === true);

/** @type {Form} */
const isRound = (value) =>
  isObject(value) &&
  Object.entries(NEEDED_OF_ROUND).every(([key, hasForm]) => hasForm(value[key])) &&
  Object.entries(TOLD_OF_ROUND).every(([key, hasForm]) => !Object.hasOwn(value, key) || hasForm(value[key]));
