/**
 * The countdown of a running game: how much of the time for the turn or the deal is left by the clock of the service,
 * and when that is told. Owns the estimate of that clock; not what follows at a deadline. Loaded in games with a clock.
 */

/** @import { App, Exchange, Game } from "../shell/types.js" */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** So long after a deadline the service lets something follow from it. */
const GRACE = SECOND;
/** So long after a deadline something has followed, unless an outage has postponed it. */
const OVERDUE = 3 * SECOND;
/** The last of the time, which is stressed. */
const SHORT = 10 * SECOND;
/** When the player on turn is told what is left, in seconds. */
const TOLD = [10, 30];
/** How many of the last answers the clock of the service is read from. */
const ANSWERS = 20;

/** @typedef {ReturnType<typeof createCountdown>} Countdown */

/** @param {App} app @param {() => unknown} look asks for the view again: it has a later deadline after an outage */
export function createCountdown({ t, api, update, announce }, look) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Game | undefined} */
  let game;
  /** What was left, and until when, at the last look. */
  let before = { left: 0, deadline: 0 };
  /** The deadline after which the view was asked for again. */
  let lookedAfter = 0;

  const now = () => Date.now() + offset(api.exchanges);
  /** When the running time is over, or the free seats are filled, in milliseconds since 1970. */
  const deadline = () => Date.parse(game?.turn?.deadline ?? game?.deal?.deadline ?? game?.fills_at ?? "") || undefined;

  /** Tells the player on turn, or who waits, when little is left, and looks again when something else is to be shown. */
  function tick() {
    clearTimeout(timer);
    const end = deadline();
    if (end === undefined) return;
    const left = Math.max(0, end - now());
    const isOwn = game?.you !== undefined && (game.turn ? game.turn.seat === game.you.seat : game.fills_at !== undefined);
    const due = TOLD.find((each) => left <= each * SECOND);
    if (isOwn && due && left && before.deadline === end && before.left > due * SECOND) announce(t("presence.secondsLeft", { count: due }));
    before = { left, deadline: end };
    const shown = left > HOUR ? MINUTE : SECOND;
    if (left) timer = setTimeout(changed, (left % shown || shown) + 5);
    else if (now() < end + GRACE) timer = setTimeout(changed, end + GRACE - now() + 5);
    else if (now() < end + OVERDUE) timer = setTimeout(changed, end + OVERDUE - now() + 5);
    else if (lookedAfter !== end) {
      lookedAfter = end;
      look();
    }
  }
  function changed() {
    tick();
    update();
  }

  return {
    /** Counts down for this view from now on. @param {Game} next */
    follow(next) {
      game = next;
      tick();
    },
    /** Milliseconds until the deadline, never less than 0; none while no time runs. */
    left() {
      const end = deadline();
      return end === undefined ? undefined : Math.max(0, end - now());
    },
    /** Whether the deadline has passed for the service, too. */
    isOver: () => now() >= (deadline() ?? Infinity) + GRACE,
    /** Whether little is left. @param {number} left in milliseconds */
    isShort: (left) => left <= SHORT,
    /** A time as "2 d 3 h", "1 h 5 min" or "4:09". @param {number} ms */
    text(ms) {
      const seconds = Math.ceil(ms / SECOND);
      const whole = (/** @type {number} */ unit) => Math.floor((seconds * SECOND) / unit);
      if (whole(DAY)) return t("presence.days", { days: whole(DAY), hours: whole(HOUR) % 24 });
      if (whole(HOUR)) return t("presence.hours", { hours: whole(HOUR), minutes: whole(MINUTE) % 60 });
      return `${whole(MINUTE)}:${String(seconds % 60).padStart(2, "0")}`;
    },
    close: () => clearTimeout(timer),
  };
}

/**
 * How far the clock of the service is ahead of the one here, in milliseconds. Each answer has the second in which it
 * was made, which lies between its request and its arrival; several narrow that down.
 * @param {Exchange[]} exchanges newest first
 */
function offset(exchanges) {
  let [least, most] = [-Infinity, Infinity];
  for (const { at, ms, answerHeaders } of exchanges.slice(0, ANSWERS)) {
    const date = Date.parse(new Map(answerHeaders).get("date") ?? "");
    if (Number.isNaN(date)) continue;
    const [from, to] = [date - (at + ms), date + SECOND - at];
    // One of the clocks was set in between.
    if (from > most || to < least) break;
    [least, most] = [Math.max(least, from), Math.min(most, to)];
  }
  return Number.isFinite(least) ? (least + most) / 2 : 0;
}
