/** Texts of the clock of a new game. */
import { count } from "./table.js";

/** @import { Count } from "./table.js" */
/** @import { Text } from "./text.js" */

/** @param {string} one @param {string} many @param {string} einer @param {string} viele @returns {Text} */
const amount = (one, many, einer, viele) => [
  (/** @type {Count} */ { count: n }) => count(n, one, many),
  (/** @type {Count} */ { count: n }) => count(n, einer, viele),
];

/** @satisfies {Record<string, Text>} */
export const TIME = {
  clock: ["Clock", "Uhr"],
  none: ["No clock", "Ohne Uhr"],
  turn: ["{time} a turn", "{time} pro Zug"],
  bank: ["{time} for the match", "{time} für die Partie"],
  bankAndIncrement: ["{time} for the match + {seconds} s a turn", "{time} für die Partie + {seconds} s pro Zug"],
  otherTurn: ["Another time for each turn …", "Andere Zeit pro Zug …"],
  otherBank: ["Another time for the match …", "Andere Zeit für die Partie …"],
  turnLabel: ["Time for each turn", "Zeit pro Zug"],
  bankLabel: ["Time of each player for the match", "Zeit jeder Person für die Partie"],
  incrementLabel: ["Seconds that each turn adds", "Sekunden, die jeder Zug dazugibt"],
  perTurn: ["s a turn", "s pro Zug"],
  unit: ["Unit", "Einheit"],
  turnBounds: ["From 5 seconds to 14 days.", "Von 5 Sekunden bis 14 Tage."],
  bankBounds: [
    "From 10 seconds to 24 hours for the match, and up to 3600 seconds for each turn, but never more than at the start.",
    "Von 10 Sekunden bis 24 Stunden für die Partie, und bis 3600 Sekunden pro Zug, aber nie mehr als am Anfang.",
  ],
  then: ["When a player’s time is up", "Wenn jemandes Zeit um ist"],
  bot: [
    "A computer player goes on, until the player is back.",
    "Ein Computerspieler macht weiter, bis die Person wieder da ist.",
  ],
  move: ["A computer player makes this one turn.", "Ein Computerspieler macht diesen einen Zug."],
  claim: [
    "The others decide whether a computer player goes on.",
    "Die anderen entscheiden, ob ein Computerspieler weitermacht.",
  ],
  forfeit: [
    "The player forfeits the match; a computer player goes on.",
    "Die Person verliert die Partie kampflos; ein Computerspieler macht weiter.",
  ],
  seconds: amount("second", "seconds", "Sekunde", "Sekunden"),
  minutes: amount("minute", "minutes", "Minute", "Minuten"),
  hours: amount("hour", "hours", "Stunde", "Stunden"),
  days: amount("day", "days", "Tag", "Tage"),
};

/** @satisfies {Record<string, Text>} */
export const UNIT_NAMES = {
  seconds: ["seconds", "Sekunden"],
  minutes: ["minutes", "Minuten"],
  hours: ["hours", "Stunden"],
  days: ["days", "Tage"],
};
