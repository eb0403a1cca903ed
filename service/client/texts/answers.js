/** Texts of what the table answers to the keys, and of the list of the keys. */
import { count } from "./table.js";

/** @import { Count } from "./table.js" */

/** @satisfies {Record<string, import("./text.js").Text>} */
export const ANSWERS = {
  numberAt: ["{number} {place}", "{number} {place}"],
  keysTitle: ["Keys", "Tasten"],
  keysIntroduction: [
    "They work while the table has the focus. The letters can be switched off in the settings.",
    "Sie gelten, solange der Fokus auf dem Tisch ist. Die Buchstaben lassen sich in den Einstellungen abschalten.",
  ],
  keysColumn: ["Key", "Taste"],
  actionColumn: ["What it does", "Was sie tut"],
  noEnds: ["No end yet.", "Noch kein Ende."],
  end: ["End: {ends}.", "Ende: {ends}."],
  ends: ["Ends: {ends}.", "Enden: {ends}."],
  endGated: ["{end}, not open yet", "{end}, noch nicht offen"],
  endClosed: ["{end}, closed", "{end}, zu"],
  sumIs: ["Sum {sum}.", "Summe {sum}."],
  standing: ["{rank}. {name}: {total}", "{rank}. {name}: {total}"],
  forfeited: ["forfeited", "kampflos verloren"],
  byForfeit: [
    "All others have forfeited. This round is not counted.",
    "Alle anderen haben kampflos verloren. Diese Runde wird nicht gezählt.",
  ],
  carried: ["{points} points are carried.", "{points} Punkte werden übertragen."],
  information: ["{variant}, round {round}.", "{variant}, Runde {round}."],
  handIs: ["{tiles}. {count}, {pips}.", "{tiles}. {count}, {pips}."],
  pips: [
    (/** @type {Count} */ { count: n }) => count(n, "pip", "pips"),
    (/** @type {Count} */ { count: n }) => count(n, "Auge", "Augen"),
  ],
  fitting: ["Fits: {tiles}.", "Es passt: {tiles}."],
  fittingNone: ["Nothing fits.", "Nichts passt."],
  rules: ["Rules", "Regeln"],
  noMoves: ["You have no moves now.", "Du kannst gerade nichts tun."],
  moveAt: ["{tile} {place}", "{tile} {place}"],
  noCount: ["No round has been counted yet.", "Noch ist keine Runde abgerechnet."],
  lastCount: ["Round {round}", "Runde {round}"],
  player: ["Player", "Name"],
  written: ["This round", "Diese Runde"],
  total: ["Total", "Gesamt"],
  countIs: ["Round {round}.", "Runde {round}."],
  unknownCommand: [
    "“{command}” is not a command. The question mark lists the keys.",
    "„{command}“ ist kein Befehl. Das Fragezeichen zeigt die Tasten.",
  ],
  notInHand: ["{tile} is not in the hand.", "{tile} ist nicht auf der Hand."],
  noLast: ["Nothing has happened yet.", "Noch ist nichts passiert."],
};

/** What the keys do, by the actions of input.js. @satisfies {Record<string, import("./text.js").Text>} */
export const KEY_HELP = {
  draw: ["draw a tile from the stock", "einen Stein aus dem Talon ziehen"],
  ends: ["the ends", "die Enden"],
  chain: ["all tiles on the table", "alle Steine auf dem Tisch"],
  right: ["lay the chosen tile on the right", "den gewählten Stein rechts anlegen"],
  left: ["lay the chosen tile on the left", "den gewählten Stein links anlegen"],
  scores: ["the scores", "der Punktestand"],
  information: ["about the game", "zum Spiel"],
  turn: ["whose turn it is", "wer dran ist"],
  choose: ["choose a tile", "einen Stein wählen"],
  lay: ["lay the chosen tile", "den gewählten Stein legen"],
  place: ["choose a place", "einen Platz wählen"],
  layDown: ["lay a double face down", "einen Pasch verdeckt legen"],
  pass: ["pass", "aussetzen"],
  done: ["end your turn", "den Zug beenden"],
  flip: ["turn the opening tile over", "den Eröffnungsstein umdrehen"],
  deal: ["deal the next round", "die nächste Runde geben"],
  hand: ["your hand", "deine Hand"],
  moves: ["your moves", "deine Möglichkeiten"],
  last: ["the last move", "der letzte Zug"],
  again: ["say it again", "noch einmal sagen"],
  count: ["the last count", "die letzte Abrechnung"],
  help: ["these keys", "diese Tasten"],
  back: ["back; choose no tile", "zurück; keinen Stein wählen"],
  drawer: ["developer drawer", "Entwicklerfenster"],
};
