/**
 * The pace at which screen readers are told what happened, for who wants it slower than it happens. Owns what was not said
 * yet. Loaded when such a pace is chosen.
 */

/** What hearing a word and the pause after a message take, in milliseconds. */
const WORD_MS = 400;
const PAUSE_MS = 800;

/** @param {(message: string) => void} say @param {() => import("./types.js").Settings["listening"]} pace */
export function createPacing(say, pace) {
  /** What is to be said, the next first. @type {string[]} */
  const queue = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} until the last message has been heard */
  let timer;

  function goOn() {
    timer = undefined;
    const message = queue.shift();
    if (message === undefined) return;
    say(message);
    if (pace() === "slowly") timer = setTimeout(goOn, PAUSE_MS + WORD_MS * message.split(" ").length);
    else if (pace() === "atOnce") goOn();
  }

  return {
    /** Says what happened, after all that happened before; by key only when it is asked for. @param {string} message */
    queue(message) {
      queue.push(message);
      if (pace() !== "byKey" && !timer) goOn();
    },
    /** Says the next message that was not said yet; whether there was one. */
    next() {
      const isWaiting = queue.length > 0;
      clearTimeout(timer);
      goOn();
      return isWaiting;
    },
    /** Forgets what was not said. */
    clear() {
      queue.length = 0;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
