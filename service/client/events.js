/** Follows a game: yields each event once and in order, until the match is finished, the game deleted or `signal` aborted.
 *   for await (const item of follow("https://…/v1/games/…", { token, view: true, signal }))
 *     if (item.type === "view") show(item.game);
 * With `view`, events are followed by an item `{type: "view", version, game}`: what the bearer of the `token` may know
 * of the game then; with `text`, both say it in the `language`. `after` is the version after which to begin. A lost
 * connection is resumed; a service that is away is asked again after random, growing pauses. Where no stream comes
 * through, it polls, and tries a stream every five minutes; with `poll`, it only polls. Throws an Error with `status`
 * and `problem` for a refusal that will stay, such as 401 or 404.
 * @typedef {import("document").components["schemas"]} Schemas of the OpenAPI document
 * @typedef {Partial<Schemas["GameEvent"]> & { type: string, version: number, game?: Schemas["Game"] }} Item
 * @typedef {{ token?: string, after?: number, view?: boolean, text?: boolean, language?: string }} Reading
 * @typedef {Reading & { poll?: boolean, signal?: AbortSignal, fetch?: typeof globalThis.fetch }} Options
 * @param {string} game @param {Options} options `fetch` takes the place of the browser's
 * @returns {AsyncGenerator<Item>} */
export async function* follow(game, options = {}) {
  const { token, after = 0, view, text, language, poll, signal, fetch = globalThis.fetch } = options;
  let seen = after, cursor = after, failures = 0, full = false, pollUntil = poll ? Infinity : 0;
  let chances = 0; // as many streams may be silent before it polls: one where streams have come through
  while (!signal?.aborted) {
    const polling = full || Date.now() < pollUntil, accept = polling ? "application/json" : "application/x-ndjson";
    const request = new AbortController(), stop = () => request.abort();
    let timer = 0, retryAfter = 0, received = false, silent = false, atOnce = false;
    const giveUp = () => { silent = true; stop(); };
    const expect = (seconds = 30) => { clearTimeout(timer); timer = setTimeout(giveUp, 1000 * seconds); };
    signal?.addEventListener("abort", stop, { signal: request.signal });
    try {
      expect(polling ? 60 : chances < 0 ? 5 : 15); // a stream begins at once, unless a proxy holds it back
      const how = polling ? `view=true&limit=1000&wait=${full ? 0 : 25}` : `view=${!!view}`;
      const who = { ...(token && { Authorization: `Bearer ${token}` }), ...(language && { "Accept-Language": language }) };
      const ask = `${game}/events?after=${cursor}&${how}${text ? "&text=true" : ""}`, sent = { Accept: accept, ...who };
      const answer = await fetch(ask, { headers: sent, signal: request.signal, cache: "no-store" });
      const { status, ok, headers } = answer, read = () => answer.json();
      if (status === 204) return; // the match is finished, and nothing is new
      retryAfter = Math.min(300, Number(headers.get("Retry-After")) || 0); // a proxy may send a date
      if (!ok) throw Object.assign(Error(`status ${status}`), { status, problem: await read().catch(() => ({})) });
      if (!headers.get("Content-Type")?.startsWith(accept)) throw Error("an answer of something else than the service");
      silent = !polling && !answer.body?.pipeThrough; // a platform without streams
      const onBytes = () => { failures = received ? 0 : failures; received = true; chances = 1; expect(); };
      const items = polling ? page(await read()) : silent ? [] : lines(answer, onBytes);
      failures = polling ? 0 : failures;
      full = false;
      for await (const item of items) {
        if (signal?.aborted) return;
        const isView = item.type === "view";
        const isNew = item.type === "reset" || (item.version > seen && item.type !== "closing");
        failures = 0;
        atOnce ||= polling && isNew;
        if (isView || !view) cursor = item.version; // events that lost their view are asked for again
        if (isNew) seen = item.version;
        if (isView ? view : isNew) yield item;
        if (item.type === "deleted" || (isView ? item.game.status === "finished" : !view && item.type === "finished")) return;
      }
    } catch (/** @type {any} */ error) {
      if (error.status < 500 && error.status !== 429) throw error;
      full = error.problem?.code === "too_many_streams"; // then a page, which does not wait, brings the news
    } finally { clearTimeout(timer); stop(); }
    if (silent && !polling && --chances < 0) pollUntil = Date.now() + 300_000;
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
