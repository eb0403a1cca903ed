/**
 * Requests to the service. Every exchange and every item of a stream is kept for the developer drawer, which can also
 * provoke faults of the network here.
 */

const MAX_EXCHANGES = 200;
const MAX_ITEMS = 200;
/** Between two tries, in seconds. */
const LONGEST_PAUSE = 30;

/** @import { Answer, Exchange, Persistent, ProblemBody, Request, StreamItem } from "./types.js" */

/** An answer with a status from 400 on: what the service says about it. */
export class Problem extends Error {
  /** @param {number} status @param {Partial<ProblemBody>} body @param {number} retryAfter seconds */
  constructor(status, body, retryAfter) {
    super(body.detail ?? body.title ?? `HTTP ${status}`);
    this.status = status;
    this.body = body;
    this.retryAfter = retryAfter;
  }

  /** What is wrong with the fields of the body: sentences by path. @returns {Record<string, string[]>} */
  get fields() {
    /** @type {Record<string, string[]>} */
    const fields = {};
    for (const { field, detail } of this.body.causes ?? []) (fields[field] ??= []).push(detail);
    return fields;
  }
}

/** There was no answer. */
export class Unreachable extends Error {}

/**
 * A module that is loaded at its first use. Throws `Unreachable`.
 * @template Module @param {Promise<Module>} loading @returns {Promise<Module>}
 */
export const loaded = (loading) => loading.catch((error) => {
  throw new Unreachable(String(error));
});

/** A key that makes a request that is sent twice have its effect once. */
export function idempotencyKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_");
}

/** @typedef {ReturnType<typeof createApi>} Api */

/**
 * @param {object} options
 * @param {() => string} options.language of the texts in answers
 * @param {() => void} options.changed called when there is a new exchange, an answer, or an item of a stream
 */
export function createApi({ language, changed }) {
  const base = new URL(".", document.baseURI);
  /** @type {Exchange[]} newest first */
  const exchanges = [];
  /** @type {StreamItem[]} newest first */
  const items = [];
  /** @type {Set<AbortController>} of the streams that are open */
  const streams = new Set();
  let lastId = 0;

  /** What the developer drawer provokes. */
  const faults = {
    /** Whether nothing can be reached. */
    offline: false,
    /** Cuts the streams, as a network does; how many there were. */
    dropStreams() {
      streams.forEach((stream) => stream.abort());
      return streams.size;
    },
  };

  /** @param {string} path relative to the page, such as "v1/games" @param {Request["query"]} [query] */
  const url = (path, query = {}) => {
    const address = new URL(path, base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) address.searchParams.set(name, String(value));
    }
    return address;
  };

  /** @type {typeof fetch} */
  const connect = (address, init) => (faults.offline ? Promise.reject(TypeError("offline")) : fetch(address, init));

  /** @param {Omit<Exchange, "id" | "at" | "status" | "ms" | "answerHeaders" | "answer">} request @returns {Exchange} */
  function keep(request) {
    const exchange = { ...request, id: ++lastId, at: Date.now(), status: 0, ms: 0, answerHeaders: [], answer: undefined };
    exchanges.unshift(exchange);
    exchanges.length = Math.min(exchanges.length, MAX_EXCHANGES);
    changed();
    return exchange;
  }

  /**
   * Sends a request once. Throws `Problem` or `Unreachable`; 304 is an answer.
   * @param {string} method @param {string} path @param {Request} [request] @returns {Promise<Answer>}
   */
  async function send(method, path, { token, body, query, headers = {}, signal } = {}) {
    const address = url(path, query);
    /** @type {Record<string, string>} */
    const sent = { Accept: "application/json", "Accept-Language": language(), ...headers };
    if (body !== undefined) sent["Content-Type"] ??= "application/json";
    const exchange = keep({ method, path: address.pathname + address.search, headers: sent, token, body });
    const started = performance.now();
    try {
      const response = await connect(address, {
        method,
        headers: token ? { ...sent, Authorization: `Bearer ${token}` } : sent,
        body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
        cache: "no-store",
        signal,
      });
      const text = await response.text();
      const answer = /\bjson\b/.test(response.headers.get("Content-Type") ?? "") && text ? JSON.parse(text) : text;
      Object.assign(exchange, { status: response.status, answerHeaders: [...response.headers], answer });
      if (response.status >= 400) {
        throw new Problem(response.status, answer || {}, Number(response.headers.get("Retry-After")));
      }
      return { status: response.status, headers: response.headers, body: answer };
    } catch (error) {
      if (error instanceof Problem || signal?.aborted) throw error;
      exchange.answer = String(error);
      throw new Unreachable(String(error));
    } finally {
      exchange.ms = Math.round(performance.now() - started);
      changed();
    }
  }

  /** Opens a stream, which `faults.dropStreams` can cut. @type {typeof fetch} */
  async function openStream(input, init = {}) {
    const { Authorization, ...headers } = /** @type {Record<string, string>} */ (init.headers ?? {});
    const { pathname, search } = new URL(String(input));
    const token = Authorization?.replace(/^Bearer /, "");
    const exchange = keep({ method: "GET", path: pathname + search, headers, token, body: undefined });
    const started = performance.now();
    const stream = new AbortController();
    streams.add(stream);
    const end = () => {
      streams.delete(stream);
      stream.abort();
    };
    init.signal?.addEventListener("abort", end, { once: true });
    try {
      const response = await connect(input, { ...init, signal: stream.signal });
      Object.assign(exchange, { status: response.status, answerHeaders: [...response.headers] });
      return response;
    } catch (error) {
      exchange.answer = String(error);
      throw error;
    } finally {
      exchange.ms = Math.round(performance.now() - started);
      changed();
    }
  }

  /**
   * Sends a request again until it is answered. Throws `Problem` for a refusal that will stay.
   * @param {string} method @param {string} path @param {Persistent} [request] @returns {Promise<Answer>}
   */
  async function sendPersistently(method, path, { onRetry, signal, ...request } = {}) {
    for (let failures = 0; ; failures++) {
      try {
        // A POST that is under way is not aborted: what it makes, such as the token of a seat, would be lost.
        return await send(method, path, method === "POST" ? request : { ...request, signal });
      } catch (error) {
        const isLasting = error instanceof Problem && error.status < 500 && error.status !== 429;
        if (isLasting || signal?.aborted) throw error;
        const asked = error instanceof Problem ? error.retryAfter : 0;
        const pause = Math.min(2 ** failures, LONGEST_PAUSE) * (0.5 + Math.random() / 2);
        const seconds = Math.max(asked, pause);
        onRetry?.(seconds);
        await sleep(seconds, signal);
        if (signal?.aborted) throw error;
      }
    }
  }

  return {
    exchanges,
    items,
    faults,
    url,
    send,
    /** @param {string} path @param {Request} [request] */
    get: (path, request) => send("GET", path, request),
    /** @param {string} path @param {unknown} body @param {Request} [request] */
    post: (path, body, request) => send("POST", path, { ...request, body }),

    /**
     * Follows a game by the reader of events.js. `onConnection` is told whether the service answers.
     * @param {string} path of the game
     * @param {import("../events.js").Options & {onConnection?: (isThere: boolean) => void}} options
     */
    async *follow(path, { onConnection, ...options }) {
      /** @type {typeof fetch} */
      const open = async (input, init) => {
        try {
          const response = await openStream(input, init);
          onConnection?.(response.status < 500);
          return response;
        } catch (error) {
          onConnection?.(false);
          throw error;
        }
      };
      const { follow } = await import("../events.js");
      try {
        for await (const item of follow(url(path).href, { ...options, fetch: open })) {
          items.unshift({ id: ++lastId, game: url(path).pathname, token: options.token, item });
          items.length = Math.min(items.length, MAX_ITEMS);
          changed();
          yield item;
        }
      } catch (/** @type {any} */ error) {
        throw error.problem ? new Problem(error.status, error.problem, 0) : error;
      }
    },

    /** Asks until there is an answer. @param {string} path @param {Persistent} [request] */
    getPersistently: (path, request) => sendPersistently("GET", path, request),
    /**
     * Sends a POST until it is answered, with one idempotency key, so that it has its effect once however often it
     * arrives.
     * @param {string} path @param {unknown} body @param {Persistent} [request]
     */
    postOnce: (path, body, request) => sendPersistently("POST", path, { ...request, body, headers: { "Idempotency-Key": idempotencyKey() } }),
  };
}

/**
 * Waits; ends early when the signal is aborted, or when the browser is online again.
 * @param {number} seconds @param {AbortSignal} [signal]
 */
export const sleep = (seconds, signal) =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal?.removeEventListener("abort", end);
      resolve(undefined);
    };
    const timer = setTimeout(end, 1000 * seconds);
    addEventListener("online", end);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
  });
