/** Texts of the new game. */

/** @satisfies {Record<string, import("./text.js").Text>} */
export const NEW = {
  title: ["New game", "Neues Spiel"],
  titleOf: ["New game: {name}", "Neues Spiel: {name}"],
  choose: ["Which game do you want to play?", "Welches Spiel möchtet ihr spielen?"],
  game: ["Game", "Spiel"],
  players: ["{min} to {max} players", "{min} bis {max} Personen"],
  playersExactly: ["{min} players", "{min} Personen"],
  rules: ["Rules", "Regeln"],
  rulesPage: ["The rules on a page of their own", "Die Regeln auf einer eigenen Seite"],
  who: ["Who plays?", "Wer spielt mit?"],
  number: ["Number of players", "Wie viele spielen mit?"],
  allHere: ["All on this device", "Alle an diesem Gerät"],
  eachOwn: ["Each on their own", "Jeder am eigenen Gerät"],
  againstComputer: ["Me against the computer", "Ich gegen den Computer"],
  order: ["The turns go in this order.", "Gespielt wird in dieser Reihenfolge."],
  kind: ["Who sits on seat {number}", "Wer auf Platz {number} sitzt"],
  here: ["On this device", "An diesem Gerät"],
  open: ["Somebody joins", "Jemand kommt dazu"],
  bot: ["Computer: {level}", "Computer: {level}"],
  name: ["Name", "Name"],
  nameOf: ["Name on seat {number}", "Name auf Platz {number}"],
  invitation: [
    "You get a link for the others in the next step.",
    "Den Link für die anderen bekommst du im nächsten Schritt.",
  ],
  deal: [
    ({ set, hand, stock }) => `Double-${set} set: ${hand} tiles each, ${stock ? `${stock} in the stock` : "no stock"}.`,
    ({ set, hand, stock }) => `Doppel-${set}-Satz: je ${hand} Steine, ${stock ? `${stock} im Talon` : "kein Talon"}.`,
  ],
  houseRules: ["House rules", "Hausregeln"],
  setOf: ["Double {set}", "Doppel-{set}"],
  setDeal: [
    ({ hand, stock }) => `${hand} tiles each, ${stock ? `${stock} in the stock` : "no stock"}`,
    ({ hand, stock }) => `je ${hand} Steine, ${stock ? `${stock} im Talon` : "kein Talon"}`,
  ],
  setFits: [
    ({ min, max }) => (min === max ? `for ${min} players` : `for ${min} to ${max} players`),
    ({ min, max }) => (min === max ? `nur für ${min} Personen` : `nur für ${min} bis ${max} Personen`),
  ],
  bounds: ["{minimum} to {maximum}", "{minimum} bis {maximum}"],
  usual: ["usual: {value}", "üblich: {value}"],
  advanced: ["More settings", "Weitere Einstellungen"],
  uniqueNames: ["Every name only once", "Jeden Namen nur einmal"],
  uniqueNamesHint: [
    "Nobody can join under a name that is taken.",
    "Niemand kann unter einem Namen mitspielen, den schon jemand hat.",
  ],
  seed: ["Seed of the deals", "Startwert fürs Mischen"],
  seedHint: [
    "The same words give the same tiles again, to try something out or to compare. Whoever knows them knows all hands. Leave it empty for a fair shuffle.",
    "Dieselben Wörter ergeben wieder dieselben Steine, zum Ausprobieren oder Vergleichen. Wer sie kennt, kennt alle Hände. Bleibt das Feld leer, wird ehrlich gemischt.",
  ],
  time: ["Time", "Zeit"],
  pace: ["Seconds before a computer player’s move", "Sekunden vor dem Zug eines Computerspielers"],
  paceHint: [
    "So that everybody can follow. Left empty, it is one second.",
    "Damit alle mitkommen. Bleibt das Feld leer, ist es eine Sekunde.",
  ],
  create: ["Start the game", "Spiel beginnen"],
  creating: ["The game is being created …", "Das Spiel wird angelegt …"],
  retrying: [
    "The service does not answer. Next try in {seconds} s.",
    "Der Dienst antwortet nicht. Nächster Versuch in {seconds} s.",
  ],
  mistakes: [
    ({ count, first }) => (count === 1 ? first : `${count} entries need another look. ${first}`),
    ({ count, first }) => (count === 1 ? first : `${count} Angaben stimmen noch nicht. ${first}`),
  ],
};
