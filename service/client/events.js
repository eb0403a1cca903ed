/** Follows a game: yields each event once and in order, until the match is finished, the game deleted or `signal` aborted.
 *   for await (const item of follow("https://…/v1/games/…", { token, view: true, signal }))
 *     if (item.type === "view") show(item.game);
 * With `view`, events are followed by an item `{type: "view", version, game}`: what the bearer of the `token` may know
 * of the game then; with `text`, both say it in the `language`. `after` is the version after which to begin. A lost
 * connection is resumed; a service that is away is asked again after random, growing pauses; where no stream comes
 * through, it polls. Throws an Error with `status` and `problem` for a refusal that will stay, such as 401 or 404.
 * @typedef {import("document").components["schemas"]} Schemas of the OpenAPI document
 * @typedef {Partial<Schemas["GameEvent"]> & { type: string, version: number, game?: Schemas["Game"] }} Item
 * @typedef {{ token?: string, after?: number, view?: boolean, text?: boolean, language?: string }} Reading
 * @typedef {Reading & { signal?: AbortSignal, fetch?: typeof globalThis.fetch }} Options
 * @param {string} game @param {Options} options `fetch` takes the place of the browser's
 * @returns {AsyncGenerator<Item>} */
export async function* follow(game, { token, after = 0, view, text, language, signal, fetch = globalThis.fetch } = {}) {
  let seen = after, cursor = after, polling = false, failures = 0;
  while (!signal?.aborted) {
    const request = new AbortController(), stop = () => request.abort();
    let timer = 0, retryAfter = 0, received = false, silent = false, atOnce = polling;
    const giveUp = () => { silent = true; stop(); };
    const expect = (seconds = 30) => { clearTimeout(timer); timer = setTimeout(giveUp, 1000 * seconds); };
    signal?.addEventListener("abort", stop, { signal: request.signal });
    try {
      expect(polling ? 60 : 5); // a stream begins at once, unless a proxy holds it back
      const ask = `after=${cursor}&${polling ? "view=true&limit=1000&wait=25" : `view=${!!view}`}${text ? "&text=true" : ""}`;
      const who = { ...(token && { Authorization: `Bearer ${token}` }), ...(language && { "Accept-Language": language }) };
      const headers = { Accept: polling ? "application/json" : "application/x-ndjson", ...who };
      const answer = await fetch(`${game}/events?${ask}`, { headers, signal: request.signal, cache: "no-store" });
      const { status, ok } = answer, read = () => answer.json();
      if (status === 204) return; // the match is finished, and nothing is new
      retryAfter = Number(answer.headers.get("Retry-After"));
      if (!ok) throw Object.assign(Error(`status ${status}`), { status, problem: await read().catch(() => ({})) });
      failures = 0;
      silent = !answer.body?.pipeThrough; // a platform without streams
      const onBytes = () => { received = true; expect(); };
      for await (const item of polling ? page(await read()) : silent ? [] : lines(answer, onBytes)) {
        if (signal?.aborted) return;
        const isView = item.type === "view";
        const isNew = item.type === "reset" || (item.version > seen && item.type !== "closing");
        if (isView || !view) cursor = item.version; // events that lost their view are asked for again
        if (isNew) seen = item.version;
        if (isView ? view : isNew) yield item;
        if (item.type === "deleted" || (isView ? item.game.status === "finished" : !view && item.type === "finished")) return;
      }
    } catch (/** @type {any} */ error) {
      if (error.status < 500 && error.status !== 429) throw error;
      atOnce = false;
    } finally { clearTimeout(timer); stop(); }
    if (silent && !received) polling = true;
    else if (!atOnce) await pause(retryAfter + Math.random() * Math.min(30, 2 ** failures++), signal);
  }
}
const pause = (/** @type {number} */ seconds, /** @type {AbortSignal=} */ signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, signal?.aborted ? 0 : 1000 * seconds);
  signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(undefined); }, { once: true });
});
const page = (/** @type {Schemas["EventPage"]} */ { events, version, more, game }) =>
  events.length || (game?.status === "finished" && !more) ? [...events, { type: "view", version, game }] : events;
async function* lines(/** @type {Response} */ { body }, /** @type {() => void} */ onBytes) {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = "", part; reader && !(part = await reader.read()).done;) {
    onBytes();
    const complete = (text + part.value).split("\n");
    text = complete.pop() ?? "";
    for (const line of complete) if (line) yield JSON.parse(line);
  }
}
