/** Texts of the clock, of players who are away, and of what the others can do then. */
import { count } from "./table.js";

/** @import { Count } from "./table.js" */

/** @satisfies {Record<string, import("./text.js").Text>} */
export const PRESENCE = {
  timeLeft: ["Time left:", "Restzeit:"],
  timeToDeal: ["Next round in:", "Nächste Runde in:"],
  bank: ["time left: {time}", "Restzeit: {time}"],
  over: ["Time is up", "Die Zeit ist um"],
  days: ["{days} d {hours} h", "{days} T. {hours} Std."],
  hours: ["{hours} h {minutes} min", "{hours} Std. {minutes} Min."],
  secondsLeft: [
    (/** @type {Count} */ { count: n }) => `${count(n, "second", "seconds")} left.`,
    (/** @type {Count} */ { count: n }) => `Noch ${count(n, "Sekunde", "Sekunden")}.`,
  ],
  away: ["away", "abwesend"],
  forfeited: ["forfeited", "kampflos verloren"],
  youAreAway: [
    "A computer player plays for you, until you are back or make a move.",
    "Für dich spielt ein Computerspieler, bis du wieder da bist oder einen Zug machst.",
  ],
  sleeps: [
    "Nobody is here, so the game waits until somebody is back or makes a move.",
    "Niemand ist da. Das Spiel wartet, bis jemand wieder da ist oder einen Zug macht.",
  ],
  isAway: ["A computer player plays for {name}.", "Für {name} spielt ein Computerspieler."],
  back: ["I am back", "Ich bin wieder da"],
  isBack: ["{name} is back", "{name} ist wieder da"],
  claim: ["Let a computer player go on for {name}", "Einen Computerspieler für {name} weitermachen lassen"],
};
