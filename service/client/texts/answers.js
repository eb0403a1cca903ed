/** Texts of what the table answers to the keys, and of the list of the keys. */
import { count } from "./table.js";

/** @typedef {import("./table.js").Count} Count */

/** @satisfies {Record<string, import("../text.js").Text>} */
export const ANSWERS = {
  numberAt: ["{number} {place}", "{number} {place}"],
  keysIntroduction: [
    "They work while the table has the focus. The letters can be switched off in the settings.",
    "Sie gelten, solange der Fokus auf dem Tisch ist. Die Buchstaben lassen sich in den Einstellungen abschalten.",
  ],
  keysColumn: ["Key", "Taste"],
  actionColumn: ["What it does", "Was sie tut"],
  noEnds: ["No end yet.", "Noch kein Ende."],
  ends: ["Ends: {ends}.", "Enden: {ends}."],
  endGated: ["{end}, not open yet", "{end}, noch nicht offen"],
  endClosed: ["{end}, closed", "{end}, zu"],
  sumIs: ["Sum {sum}.", "Summe {sum}."],
  standing: ["{rank}. {name}: {total}", "{rank}. {name}: {total}"],
  carried: ["{points} points are carried.", "{points} Punkte werden übertragen."],
  information: ["{variant}, round {round}.", "{variant}, Runde {round}."],
  handIs: ["{tiles}. {count}, {pips}.", "{tiles}. {count}, {pips}."],
  pips: [
    (/** @type {Count} */ { count: n }) => count(n, "pip", "pips"),
    (/** @type {Count} */ { count: n }) => count(n, "Auge", "Augen"),
  ],
  fitting: ["Fits: {tiles}.", "Es passt: {tiles}."],
  fittingNone: ["Nothing fits.", "Nichts passt."],
  noMoves: ["You have no moves now.", "Du kannst gerade nichts tun."],
  moveAt: ["{tile} {place}", "{tile} {place}"],
  noCount: ["No round has been counted yet.", "Noch ist keine Runde abgerechnet."],
  countIs: ["Round {round}.", "Runde {round}."],
};
