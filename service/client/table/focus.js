/**
 * Where the focus goes at a table: it stays there when what had it is gone, and the log stays at its end. Looks at the
 * page after it is rendered; owns nothing of it.
 */
import { scrollToLatest } from "./parts.js";

/** What takes a focus that was lost, the first one that there is. */
const PLACES = [".curtain .main", "[data-back]", ".hand [tabindex='0']", ".actions button", "h1"];

/** @param {import("../game/match.js").Match} match @returns {() => void} to be called after each rendering */
export function createFocus(match) {
  let hadFocus = false;
  /** Whether the heading has the focus only because nothing better was there. */
  let atHeading = false;
  let isFirst = true;
  /** What was shown last: a version, and how many events. */
  let latest = 0;
  let latestEvents = 0;
  const region = () => document.querySelector("[data-table]");

  return () => {
    const active = document.activeElement;
    const isLost = !active || active === document.body || (atHeading && active.matches("h1"));
    if (isFirst && isLost && match.game) {
      // A page that was just opened is read from its heading on.
      region()?.querySelector("h1")?.focus({ preventScroll: true });
    } else if (isLost && hadFocus) {
      const next = /** @type {HTMLElement | undefined} */ (PLACES.map((each) => region()?.querySelector(each)).find(Boolean));
      next?.focus({ preventScroll: true });
      atHeading = next?.matches("h1") ?? false;
    } else atHeading = false;
    if (match.game) isFirst = false;
    hadFocus = Boolean(region()?.contains(document.activeElement));
    const { game, events } = match;
    if (game?.version === latest && events.length === latestEvents) return;
    latest = game?.version ?? 0;
    latestEvents = events.length;
    scrollToLatest();
  };
}
