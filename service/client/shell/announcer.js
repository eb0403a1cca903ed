/** What screen readers are told, in its order, and the few messages that interrupt. */

/** For so long, in milliseconds, a message can be read again. */
const KEPT_MS = 20_000;

/**
 * @param {HTMLElement} polite a live region that is read on when something is added
 * @param {HTMLElement} urgent a live region that interrupts
 * @param {() => import("./types.js").Settings["listening"]} pace
 */
export function createAnnouncer(polite, urgent, pace) {
  /** @type {Promise<ReturnType<typeof import("./pacing.js").createPacing>> | undefined} loaded for another pace than at once */
  let pacing;
  const paced = () => (pacing ??= import("./pacing.js").then(({ createPacing }) => createPacing(answer, pace)));

  /** @param {string} message */
  function answer(message) {
    const line = document.createElement("p");
    line.textContent = message;
    polite.append(line);
    setTimeout(() => line.remove(), KEPT_MS);
  }

  const clear = () => void pacing?.then((each) => each.clear());

  return {
    answer,
    /** @param {string} message */
    interrupt(message) {
      // The same text is read again if it is not the same string.
      urgent.textContent = urgent.textContent === message ? `${message}\u00a0` : message;
    },
    /** @param {string} message */
    queue: (message) => void (pacing || pace() !== "atOnce" ? paced().then(({ queue }) => queue(message)) : answer(message)),
    next: async () => (await pacing)?.next() ?? false,
    clear,
    /** Also removes what was said, as somebody else may read it now. */
    forget() {
      clear();
      polite.replaceChildren();
      urgent.textContent = "";
    },
  };
}
