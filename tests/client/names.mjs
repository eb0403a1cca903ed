// Prints the names of tiles and places, as the page says them, as a line of JSON.
// Arguments: the modules of names and of texts. On the standard input as JSON: the texts of the page in each language,
// the tiles, and the boards with the ends to name.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { placeName, tileName } = await import(pathToFileURL(process.argv[2]));
const { keepTexts } = await import(pathToFileURL(process.argv[3]));
const { texts, tiles, boards } = JSON.parse(readFileSync(0, "utf-8"));
const named = (language) => ({
  tiles: tiles.map((tile) => tileName(language, tile)),
  places: boards.map((board) => board.ends.map((end) => placeName(language, end.id, board))),
});
for (const [language, each] of Object.entries(texts)) keepTexts(language, each);
console.log(JSON.stringify(Object.fromEntries(Object.keys(texts).map((language) => [language, named(language)]))));
