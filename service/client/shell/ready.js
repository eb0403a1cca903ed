/** What the service works out first: asked for again until it is there. */
import { sleep, Unreachable } from "./api.js";

/** How often it is asked for. */
const MAX_LOOKS = 600;

/**
 * The body of an answer. Until the service has it, it says 202, and when to ask again.
 * @param {import("./api.js").Api} api @param {string} path
 * @param {import("./types.js").Request & {signal: AbortSignal}} request
 * @returns {Promise<any>}
 */
export async function whenReady(api, path, request) {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const { status, headers, body } = await api.get(path, request);
    if (status !== 202) return body;
    await sleep(Number(headers.get("Retry-After")) || 1, request.signal);
  }
  throw new Unreachable(path);
}
