// Follows a game with the reader of the service, and prints each item as a line of JSON, then how it ended.
// Arguments: the module, the address of the game, the options as JSON, and how much faster than usual timers run.
// A line on the standard input aborts it.
import { pathToFileURL } from "node:url";

const [module, game, options, speed] = process.argv.slice(2);
const { follow } = await import(pathToFileURL(module));
const delay = globalThis.setTimeout;
Math.random = () => 0.02; // the part of its longest pause that the reader waits
globalThis.setTimeout = (call, milliseconds) => delay(call, milliseconds / Number(speed));
const abort = new AbortController();
process.stdin.once("data", () => abort.abort()).unref();
const print = (item) => console.log(JSON.stringify(item));
try {
  for await (const item of follow(game, { ...JSON.parse(options), signal: abort.signal })) print(item);
  print({ type: "end" });
} catch (error) {
  print({ type: "thrown", status: error.status, code: error.problem?.code });
}
