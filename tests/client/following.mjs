// Follows a game with the reader of events in a time of its own, for each case given as JSON on the standard input: the
// answers to its requests, in order. Prints by case what was yielded, and what was asked after which pause.
// Argument: the module.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { follow } = await import(pathToFileURL(process.argv[2]));
const settled = async () => { // no network and no file: everything that can happen now happens in a few turns
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
};

let now = 0;
let timers = [];
Math.random = () => 0.5;
Date.now = () => 1000 * now;
globalThis.setTimeout = (call, milliseconds) => {
  const timer = { call, at: now + milliseconds / 1000 };
  timers.push(timer);
  return timer;
};
globalThis.clearTimeout = (timer) => timers.splice(timers.indexOf(timer) >>> 0, 1);

/** Has this happen after so many seconds; never without a number. */
const after = (seconds, call) => {
  if (seconds === 0) call();
  else if (seconds !== null) setTimeout(call, 1000 * seconds);
};

function body({ parts, end }, signal, ended) {
  return new ReadableStream({
    start(controller) {
      const next = ([first, ...others]) => {
        if (first) {
          return after(first[0], () => {
            if (signal.aborted) return;
            controller.enqueue(new TextEncoder().encode(first[1]));
            next(others);
          });
        }
        if (end === "end") ended(), controller.close();
        if (end === "cut") after(1, () => (ended(), controller.error(new TypeError("terminated")))); // after it was read
      };
      next(parts);
      signal.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
}

async function play({ options, answers }) {
  const asked = [];
  const items = [];
  now = 0;
  timers = [];
  let quiet = 0; // since when nothing is asked
  const fetch = (url, { headers, signal }) => new Promise((resolve, reject) => {
    const query = new URL(url).searchParams;
    const kind = headers.Accept === "application/json" ? "poll" : "stream";
    const [cursor, wait, view] = ["after", "wait", "view"].map((name) => query.get(name));
    const exchange = { kind, after: cursor, wait, view, pause: now - quiet, held: null };
    const answer = answers[asked.push(exchange) - 1] ?? { head: 0, status: 410, headers: {}, parts: [], end: "end" };
    const began = now;
    const ended = () => {
      if (exchange.held !== null) return;
      exchange.held = now - began;
      quiet = now;
    };
    signal.addEventListener("abort", () => (ended(), reject(signal.reason)));
    after(answer.head, () => {
      if (answer.status) return resolve(new Response(body(answer, signal, ended), answer));
      ended();
      reject(new TypeError("fetch failed"));
    });
  });
  let end = null;
  const reading = async () => {
    for await (const item of follow("http://domino.test/v1/games/g", { ...options, fetch })) items.push(item);
  };
  reading().then(() => { end = "end"; }, (error) => { end = String(error); });
  for (await settled(); end === null; await settled()) {
    const next = timers.reduce((first, each) => (each.at < first.at ? each : first), { at: Infinity });
    if (!next.call) break;
    clearTimeout(next);
    now = Math.max(now, next.at);
    next.call();
  }
  return { items, asked, end };
}

const played = [];
for (const each of JSON.parse(readFileSync(0, "utf-8"))) played.push(await play(each));
console.log(JSON.stringify(played));
