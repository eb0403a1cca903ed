/** Texts of the rules view. */

/** @satisfies {Record<string, import("./text.js").Text>} */
export const RULES = {
  title: ["Rules", "Regeln"],
  players: ["{min} to {max} players", "{min} bis {max} Personen"],
  playersExactly: ["{min} players", "{min} Personen"],
  highestWins: ["Most points wins.", "Die meisten Punkte gewinnen."],
  lowestWins: ["Fewest points wins.", "Die wenigsten Punkte gewinnen."],
  play: ["Play this game", "Dieses Spiel spielen"],
  print: ["Print", "Drucken"],
  inShort: ["In short", "Kurz gesagt"],
  deals: ["How the tiles are dealt", "Wie viele Steine jede Hand bekommt"],
  dealsCaption: [
    "Tiles in each hand and in the stock, by set and number of players",
    "Steine je Hand und im Talon, nach Satz und Zahl der Personen",
  ],
  set: ["Set", "Satz"],
  setOf: ["double {set}", "Doppel-{set}"],
  seats: ["Players", "Personen"],
  hand: ["Hand", "Hand"],
  stock: ["Stock", "Talon"],
  drawable: ["may be drawn", "davon ziehbar"],
  noSuchRule: ["There is no rule {rule} on this page.", "Eine Regel {rule} gibt es auf dieser Seite nicht."],
};
