/**
 * What screen readers are told: a queue of messages, each of which is said to its end before the next one, and beside it
 * the few that interrupt. Owns their order and pace. Knows no message, and shows none.
 */

/** @typedef {import("./types.js").Settings["listening"]} Pace */

/** How long a message stays where it can be read again, in milliseconds. */
const KEPT_MS = 20_000;
/** What hearing a message takes, in milliseconds: so much for each word, and for the pause after it. */
const WORD_MS = 400;
const PAUSE_MS = 800;

/** @typedef {ReturnType<typeof createAnnouncer>} Announcer */

/**
 * @param {object} options
 * @param {HTMLElement} options.polite a live region that is read on when something is added
 * @param {HTMLElement} options.urgent a live region that interrupts
 * @param {() => Pace} options.pace of what is queued
 */
export function createAnnouncer({ polite, urgent, pace }) {
  /** What is to be said, the next first. @type {string[]} */
  const queue = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} until the last queued message has been heard */
  let timer;

  /** @param {string} message */
  function say(message) {
    const line = document.createElement("p");
    line.textContent = message;
    polite.append(line);
    setTimeout(() => line.remove(), KEPT_MS);
  }

  /** Says the next message that is queued, and the others at the pace of the setting. */
  function goOn() {
    timer = undefined;
    const message = queue.shift();
    if (message === undefined) return;
    say(message);
    if (pace() === "slowly") timer = setTimeout(goOn, PAUSE_MS + WORD_MS * message.split(" ").length);
    else if (pace() === "atOnce") goOn();
  }

  return {
    /** An answer to what somebody did, said at once. @param {string} message */
    answer: say,
    /** What cannot wait: it interrupts. @param {string} message */
    interrupt(message) {
      // The same text is read again if it is not the same string.
      urgent.textContent = urgent.textContent === message ? `${message}\u00a0` : message;
    },
    /** What happened: said after all that happened before or, by key, when it is asked for. @param {string} message */
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
    /** Forgets what was not said, as when another view is shown. */
    clear() {
      queue.length = 0;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
