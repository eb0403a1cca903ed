// Check the deals of a domino game, without trusting the server: node verify.mjs [FILE …]
//
// A file is what GET /v1/games/{game}/fairness answers; without one, or for -, it comes from the standard input.
// --vectors FILE checks this program against the published vectors instead. fairness.md has the method.
// Nothing is needed but Node 18 or newer; nothing here is shared with the service.
//
// Exits with 0 if every published deal holds, 1 if one does not, 2 if there was nothing to check or to read.

import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

// The method

/** Each value as its length in 4 bytes and its bytes; a number is written in decimal, a text in UTF-8. */
function fields(...values) {
  return Buffer.concat(
    values.flatMap((value) => {
      const data = Buffer.isBuffer(value) ? value : Buffer.from(String(value), "utf8");
      const length = Buffer.alloc(4);
      length.writeUInt32BE(data.length);
      return [length, data];
    }),
  );
}

const hmac = (key, data) => createHmac("sha256", key).update(data).digest();

/** The commitment to a seed, published before the deal. */
const commitment = (seed) => createHash("sha256").update(fields("domino-commitment-1", seed)).digest();

/** The seed of the shuffles of a round, from its seed and every client seed. */
const shuffleSeed = (seed, game, number, clientSeeds) =>
  hmac(seed, fields("domino-deal-1", game, number, clientSeeds.length, ...clientSeeds));

/** The words of a shuffle, 32 bits each, without end. */
function* stream(key, number, attempt) {
  for (let block = 0; ; block++) {
    const data = hmac(key, fields("domino-shuffle-1", number, attempt, block));
    for (let at = 0; at < 32; at += 4) yield data.readUInt32BE(at);
  }
}

/** The order of these tiles in this attempt at dealing this round. */
function shuffle(tiles, key, number, attempt) {
  const order = [...tiles];
  const words = stream(key, number, attempt);
  for (let n = order.length; n > 1; n--) {
    let word = words.next().value;
    while (word >= 2 ** 32 - (2 ** 32 % n)) word = words.next().value;
    const j = word % n;
    [order[n - 1], order[j]] = [order[j], order[n - 1]];
  }
  return order;
}

/** The set in its order, 0-0, 0-1, …, 0-n, 1-1, …, n-n, without the tiles that are not in the game. */
function tilesOf(highest, without) {
  const set = [];
  for (let low = 0; low <= highest; low++) for (let high = low; high <= highest; high++) set.push(`${low}-${high}`);
  return set.filter((tile) => !without.includes(tile));
}

/** The hands, from the front of the order, and the stock. */
function cut(order, sizes) {
  let start = 0;
  const hands = sizes.map((size) => order.slice(start, (start += size)));
  return [hands, order.slice(start)];
}

// A fairness document

/** What was given is no fairness document. */
class Unreadable extends Error {}

const same = (a, b) => a.length === b.length && a.every((each, index) => each === b[index]);

/** Whether a round "holds", is "open" or "wrong", and why. */
function judge(document, index) {
  const { game_id: game, rounds, seats, set } = document;
  const number = index + 1;
  const entry = rounds[index];
  const later = rounds.slice(number);
  const has = (each, key) => Object.hasOwn(each, key);
  const deal = ["attempt", "hands", "stock"].map((key) => has(entry, key));
  if (entry.round !== number) return ["wrong", "it has another number"];
  if (rounds.slice(0, index).some((each) => each.commitment === entry.commitment))
    return ["wrong", "it has the commitment of an earlier round"];
  if (has(entry, "client_seeds") && !later.length)
    return ["wrong", "it is dealt, but the commitment to the next round is not revealed"];
  if (!has(entry, "seed")) {
    if (deal.some(Boolean)) return ["wrong", "the deal is revealed, but not the seed"];
    if (later.some((each) => has(each, "client_seeds") || has(each, "seed")))
      return ["wrong", "the seed is not revealed, but that of a later round is, or it is dealt"];
    return ["open", "the seed is not revealed yet"];
  }
  const seed = Buffer.from(entry.seed, "hex");
  if (commitment(seed).toString("hex") !== entry.commitment) return ["wrong", "the seed does not fit the commitment"];
  if (!has(entry, "client_seeds")) {
    if (deal.some(Boolean) || later.length) return ["wrong", "it is dealt, but the client seeds are not revealed"];
    return ["holds", "the seed fits the commitment; the round was not dealt"];
  }
  if (!deal.every(Boolean)) return ["wrong", "the seed is revealed, but not the whole deal"];
  if (entry.client_seeds.length !== seats || entry.hands.length !== seats)
    return ["wrong", "it is not dealt to the seats of the game"];
  const sizes = entry.hands.map((hand) => hand.length);
  if (new Set(sizes.filter(Boolean)).size !== 1) return ["wrong", "the hands are of different sizes"];
  const key = shuffleSeed(seed, game, number, entry.client_seeds);
  const tiles = tilesOf(set, document.without ?? []);
  let hands, stock;
  for (let attempt = 0; attempt <= entry.attempt; attempt++) {
    [hands, stock] = cut(shuffle(tiles, key, number, attempt), sizes);
    const doubles = hands.flat().filter((tile) => tile.split("-")[0] === tile.split("-")[1]);
    if (doubles.length && attempt < entry.attempt && !document.deals_again)
      return ["wrong", `attempt ${attempt} was dealt again, though somebody held a double`];
  }
  const places = new Map(tiles.map((tile, place) => [tile, place]));
  for (const [seat, hand] of hands.entries()) {
    hand.sort((a, b) => places.get(a) - places.get(b));
    if (!same(entry.hands[seat], hand)) return ["wrong", `the hand of seat ${seat} does not follow from the seed`];
  }
  if (!same(entry.stock, stock)) return ["wrong", "the stock does not follow from the seed"];
  return ["holds", "the seed fits the commitment, and the deal follows from the seed"];
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** A text that UTF-8 can say: without half a character. */
const isText = (value) => typeof value === "string" && !/\p{Surrogate}/u.test(value);
const isTexts = (value) => Array.isArray(value) && value.every(isText);
const isDigest = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isNumber = (low, high) => (value) => Number.isInteger(value) && low <= value && value <= high;

const NEEDED = {
  game_id: isText,
  seats: isNumber(2, 100),
  set: isNumber(0, 100),
  rounds: (value) => Array.isArray(value) && value.length > 0 && value.every(isObject),
};
const TOLD = { without: isTexts, deals_again: (value) => value === true };
const NEEDED_OF_ROUND = { round: isNumber(1, 2 ** 31), commitment: isDigest };
const TOLD_OF_ROUND = {
  client_seeds: isTexts,
  seed: isDigest,
  attempt: isNumber(0, 1000),
  hands: (value) => Array.isArray(value) && value.every(isTexts),
  stock: isTexts,
};

/** Throw Unreadable for what has not the form of a fairness document of this method. */
function checkForm(document) {
  if (!isObject(document) || typeof document.provable !== "boolean")
    throw new Unreadable("this is not a fairness document");
  if (!document.provable)
    throw new Unreadable("there is nothing to check: the deals of this game were arranged, or not committed to");
  if (document.method !== "domino-deal-1") throw new Unreadable("this program knows the method domino-deal-1 only");
  for (const [key, hasForm] of Object.entries(NEEDED))
    if (!hasForm(document[key])) throw new Unreadable(`"${key}" is missing or has not its form`);
  for (const [key, hasForm] of Object.entries(TOLD))
    if (Object.hasOwn(document, key) && !hasForm(document[key])) throw new Unreadable(`"${key}" has not its form`);
  for (const [index, entry] of document.rounds.entries())
    for (const [key, hasForm] of Object.entries({ ...NEEDED_OF_ROUND, ...TOLD_OF_ROUND }))
      if (Object.hasOwn(entry, key) ? !hasForm(entry[key]) : key in NEEDED_OF_ROUND)
        throw new Unreadable(`"${key}" in rounds[${index}] is missing or has not its form`);
}

/** A text in quotes and in ASCII. */
const quoted = (text) =>
  JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Say of every round of a fairness document whether it holds. */
function report(document) {
  checkForm(document);
  console.log(`game ${quoted(document.game_id)}, ${document.seats} seats, set up to double-${document.set}`);
  const found = { holds: 0, open: 0, wrong: 0 };
  for (const [index, entry] of document.rounds.entries()) {
    const [word, why] = judge(document, index);
    found[word]++;
    console.log(`round ${index + 1}: ${word}: ${why}`);
    console.log(`  commitment ${entry.commitment}`);
    if (entry.client_seeds) console.log(["  client seeds", ...entry.client_seeds.map(quoted)].join(" "));
  }
  console.log(`${found.holds} hold, ${found.open} open, ${found.wrong} wrong`);
  return found.wrong ? 1 : found.holds ? 0 : 2;
}

// The published vectors

/** The word of every round; none for what cannot be read. */
function verdicts(document) {
  try {
    checkForm(document);
  } catch (error) {
    if (error instanceof Unreadable) return [];
    throw error;
  }
  return document.rounds.map((_, index) => judge(document, index)[0]);
}

const bytes = (hex) => Buffer.from(hex, "hex");
const VECTORS = {
  commitments: (v) => commitment(bytes(v.seed)).equals(bytes(v.commitment)),
  shuffle_seeds: (v) => shuffleSeed(bytes(v.seed), v.game_id, v.round, v.client_seeds).equals(bytes(v.shuffle_seed)),
  orders: (v) => same(shuffle(tilesOf(v.set, []), bytes(v.shuffle_seed), v.round, v.attempt), v.order.split(" ")),
  documents: (v) => same(verdicts(v.document), v.says),
};

/** Say of every kind of vectors how many hold, and of each that does not its place. */
function reportVectors(vectors) {
  const found = {};
  try {
    for (const [kind, holds] of Object.entries(VECTORS)) found[kind] = vectors[kind].map((vector) => holds(vector));
  } catch (error) {
    if (error instanceof TypeError) throw new Unreadable("this is not a file of vectors");
    throw error;
  }
  for (const [kind, held] of Object.entries(found)) {
    console.log(`${kind}: ${held.filter(Boolean).length} of ${held.length} hold`);
    for (const [index, each] of held.entries()) if (!each) console.log(`  ${kind}[${index}] does not`);
  }
  return Object.values(found).flat().every(Boolean) ? 0 : 1;
}

// The command

/** The JSON in a file. */
function read(name) {
  let data;
  try {
    data = readFileSync(name === "-" ? 0 : name);
  } catch {
    throw new Unreadable("this file cannot be read");
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data));
  } catch {
    throw new Unreadable("this is not JSON");
  }
}

/** Check every file, or the vectors. */
function main(names) {
  const ofVectors = names[0] === "--vectors";
  if (ofVectors) names = names.length === 2 ? names.slice(1) : ["--"];
  if (names.some((name) => name.startsWith("-") && name !== "-")) {
    console.error("usage: verify.mjs [FILE …], or verify.mjs --vectors FILE");
    return 2;
  }
  const left = (names.length ? names : ["-"]).map((name) => {
    try {
      return (ofVectors ? reportVectors : report)(read(name));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      console.error(`${name}: ${error.message}`);
      return 2;
    }
  });
  return left.includes(1) ? 1 : Math.max(...left);
}

process.exitCode = main(process.argv.slice(2));
