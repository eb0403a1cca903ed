/**
 * Faults that the developer drawer provokes, to show how the service and the page take them. None can change a game:
 * each is refused, or repeats what was done.
 */
import { idempotencyKey, Problem } from "./api.js";
import { gamePath } from "./exposure.js";

/** @import { App } from "./types.js" */

const OFFLINE_SECONDS = 10;

/** @typedef {ReturnType<typeof createFaults>} Faults */

/** @param {App} app */
export function createFaults({ api, device, update }) {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  let secondsLeft = 0;

  const lastMove = () => api.exchanges.find((each) => each.method === "POST" && /\/moves$/.test(each.path) && each.token);
  const lastGame = () => api.exchanges.map((each) => gamePath(each.path)).find((each) => each !== undefined);
  /** Posts a move, and gives the answer, also if it is a refusal. @param {string} path @param {any} body @param {string} [token] @param {string} [key] */
  const post = async (path, body, token, key = idempotencyKey()) => {
    try {
      return await api.post(path, body, { token, headers: { "Idempotency-Key": key } });
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  };

  return {
    lastMove,
    lastGame,
    /** Seconds for which nothing can be reached; 0 otherwise. */
    get secondsLeft() {
      return secondsLeft;
    },
    /** Cuts the streams; how many there were. */
    dropStream: () => api.faults.dropStreams(),
    goOffline() {
      clearInterval(timer);
      secondsLeft = OFFLINE_SECONDS;
      api.faults.offline = true;
      api.faults.dropStreams();
      timer = setInterval(() => {
        if (--secondsLeft === 0) {
          clearInterval(timer);
          api.faults.offline = false;
          dispatchEvent(new Event("online"));
        }
        update();
      }, 1000);
      update();
    },
    /** Sends the last move again with its key. */
    sendTwice() {
      const move = lastMove();
      return move && post(move.path, move.body, move.token, move.headers["Idempotency-Key"]);
    },
    /** Sends the last move for a version that is over. */
    sendStale() {
      const move = lastMove();
      const body = /** @type {{version?: number} | undefined} */ (move?.body);
      return move && post(move.path, { ...body, version: Math.max(1, (body?.version ?? 2) - 1) }, move.token);
    },
    /** Sends a move by a seat of this device that is not to act, or else without a token. */
    async sendAsOther() {
      const path = lastGame();
      if (!path) return undefined;
      const id = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
      const { body: game } = await api.get(path, { token: device.seatsOf(id)[0]?.token });
      const other = device.seatsOf(game.id).find((each) => !game.to_act.includes(each.seat));
      return post(`${path}/moves`, { action: "pass", version: game.version }, other?.token);
    },
  };
}
