/** Durations and clocks in words: "3 days", "5 minutes for the match + 10 s a turn". */

/** @import { App, Game, Text } from "../shell/types.js" */

export const UNITS = /** @type {const} */ ({ seconds: 1, minutes: 60, hours: 3600, days: 86_400 });
/** @typedef {keyof typeof UNITS} Unit */

/** In the largest unit of which it is a whole number. @param {App} app @param {number} seconds */
function durationText({ t }, seconds) {
  const units = /** @type {Unit[]} */ (Object.keys(UNITS));
  const unit = units.findLast((each) => seconds % UNITS[each] === 0) ?? "seconds";
  return t(`durations.${unit}`, { count: seconds / UNITS[unit] });
}

/** @param {App} app @param {Game["clock"]} clock */
export function clockText(app, clock) {
  const { turn, bank = 0, increment = 0 } = clock ?? {};
  if (!clock) return app.t("time.none");
  if (turn !== undefined) return app.t("time.turn", { time: durationText(app, turn) });
  return app.t(increment ? "time.bankAndIncrement" : "time.bank", { time: durationText(app, bank), seconds: increment });
}

/** The clock of a game and what happens at a deadline, in sentences. @param {App} app @param {Game} game */
export const timeText = (app, { clock, absence }) => `${clockText(app, clock)}. ${app.t("time.then")}: ${absenceText(app, absence)}`;

/** What happens when the time of a player is over. @param {App} app @param {Game["absence"]} absence */
export function absenceText({ t }, absence) {
  /** @type {Record<string, Text>} */
  const texts = { bot: "time.bot", move: "time.move", claim: "time.claim", forfeit: "time.forfeit" };
  return t(texts[absence?.then ?? ""] ?? "time.bot");
}
