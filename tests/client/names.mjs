// Prints the names of tiles and places, as the page says them, as a line of JSON.
// Arguments: the module of names. On the standard input as JSON: the tiles, and the boards with the ends to name.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { placeName, tileName } = await import(pathToFileURL(process.argv[2]));
const { tiles, boards } = JSON.parse(readFileSync(0, "utf-8"));
const named = (language) => ({
  tiles: tiles.map((tile) => tileName(language, tile)),
  places: boards.map((board) => board.ends.map((end) => placeName(language, end.id, board))),
});
console.log(JSON.stringify({ en: named("en"), de: named("de") }));
