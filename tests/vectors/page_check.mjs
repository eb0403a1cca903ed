// Checks the published vectors, and texts given as JSON, with the modules of the page.
// Arguments: the folder of the modules, a file of vectors. On the standard input: a list of pairs of a key and a text,
// in hexadecimal digits, whose SHA-256 and HMAC are printed.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, vectorsFile] = process.argv.slice(2);
const module = (name) => import(pathToFileURL(`${folder}/${name}`));
const { sha256, hmac, toHex, fromHex } = await module("sha256.js");
const { commitment, shuffleSeed, shuffle, tilesOf, check } = await module("fairness.js");

const vectors = JSON.parse(readFileSync(vectorsFile));
const pairs = JSON.parse(readFileSync(0));
const documents = vectors.documents.map(({ document }) => check(document) ?? []);
console.log(JSON.stringify({
  digests: pairs.map(([, text]) => toHex(sha256(fromHex(text)))),
  codes: pairs.map(([key, text]) => toHex(hmac(fromHex(key), fromHex(text)))),
  commitments: vectors.commitments.map((v) => toHex(commitment(fromHex(v.seed)))),
  shuffle_seeds: vectors.shuffle_seeds.map((v) => toHex(shuffleSeed(fromHex(v.seed), v.game_id, v.round, v.client_seeds))),
  orders: vectors.orders.map((v) => shuffle(tilesOf(v.set), fromHex(v.shuffle_seed), v.round, v.attempt).join(" ")),
  documents,
}));
