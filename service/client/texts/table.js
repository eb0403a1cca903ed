/** Texts of the table view. */

/** @param {number} number @param {string} one @param {string} many */
export const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;
/** @typedef {{count: number}} Count */

/** @satisfies {Record<string, import("./text.js").Text>} */
export const TABLE = {
  title: ["Table", "Tisch"],
  round: ["Round {round}", "Runde {round}"],
  stock: [
    (/** @type {Count} */ { count: n }) => `${count(n, "tile", "tiles")} in the stock`,
    (/** @type {Count} */ { count: n }) => `${count(n, "Stein", "Steine")} im Talon`,
  ],
  sum: ["Sum {sum}", "Summe {sum}"],
  carry: ["{points} points carried", "{points} Punkte übertragen"],
  options: ["Options and rules", "Regeln und Einstellungen"],
  scoreCard: ["Score card", "Spielzettel"],
  watching: ["You are watching.", "Du schaust zu."],
  lost: ["No connection. Trying again …", "Keine Verbindung. Neuer Versuch …"],
  stale: ["Meanwhile something else happened. Look again.", "Inzwischen ist etwas passiert. Schau noch einmal hin."],
  stillChosen: ["{tile} is still chosen.", "{tile} ist noch gewählt."],
  watch: ["Watch the game", "Dem Spiel zuschauen"],
  // State
  yourTurn: ["Your turn.", "Du bist dran."],
  turnOf: ["It is {name}’s turn.", "{name} ist dran."],
  waiting: ["Waiting for players.", "Es fehlen noch Mitspieler."],
  roundOver: ["The round is over.", "Die Runde ist vorbei."],
  finished: ["{names} wins the match.", "{names} gewinnt die Partie."],
  finishedSeveral: ["{names} win the match.", "{names} gewinnen die Partie."],
  and: [" and ", " und "],
  // Parts of the page
  picture: ["The tiles on the table", "Die Steine auf dem Tisch"],
  emptyTable: ["No tile lies on the table yet.", "Noch liegt kein Stein."],
  players: ["Players", "Mitspieler"],
  tiles: [
    (/** @type {Count} */ { count: n }) => count(n, "tile", "tiles"),
    (/** @type {Count} */ { count: n }) => count(n, "Stein", "Steine"),
  ],
  points: [
    (/** @type {Count} */ { count: n }) => count(n, "point", "points"),
    (/** @type {Count} */ { count: n }) => count(n, "Punkt", "Punkte"),
  ],
  you: ["you", "du"],
  bot: ["computer", "Computer"],
  openSeat: ["free seat", "freier Platz"],
  onTurn: ["on turn", "am Zug"],
  deals: ["deals", "gibt"],
  out: ["out", "ausgeschieden"],
  team: ["team {team}", "Team {team}"],
  hand: ["Your hand", "Deine Hand"],
  noTiles: ["No tiles.", "Keine Steine."],
  row: ["Row {row}", "Reihe {row}"],
  log: ["What has happened", "Verlauf"],
  drew: ["You drew {tile}.", "Du ziehst: {tile}."],
  fitsWhere: ["fits {places}", "passt {places}"],
  fitsNot: ["does not fit", "passt nicht"],
  // Places and actions
  whereTo: ["Where does {tile} go?", "Wohin mit {tile}?"],
  faceDown: ["{place}, face down", "{place}, verdeckt"],
  outside: ["{place}, the {number} outside", "{place}, {number} außen"],
  empty: ["on the table", "auf den Tisch"],
  scores: ["sum {sum}, {points}", "Summe {sum}, {points}"],
  lay: ["Lay {tile}", "{tile} legen"],
  draw: ["Draw", "Ziehen"],
  pass: ["Pass", "Aussetzen"],
  done: ["Done", "Fertig"],
  flip: ["Turn the opening tile over", "Eröffnungsstein umdrehen"],
  deal: ["Deal the next round", "Nächste Runde geben"],
  // Refusals that need no request
  notYours: ["You have no seat at this table.", "Du hast an diesem Tisch keinen Platz."],
  notYourTurn: ["It is not your turn.", "Du bist nicht dran."],
  notNow: ["That is not possible now.", "Das geht jetzt nicht."],
  chooseFirst: ["Choose a tile first.", "Wähle zuerst einen Stein."],
  fitsNowhere: ["{tile} fits nowhere.", "{tile} passt nirgends."],
  notThere: ["{tile} does not fit there.", "{tile} passt dort nicht."],
  notFaceDown: ["{tile} cannot be laid face down there.", "{tile} lässt sich dort nicht verdeckt legen."],
  noEndThere: ["There is no end on that side.", "Auf dieser Seite ist kein Ende."],
  noSides: [
    "Here the places have no side. Choose one with the arrow keys up and down.",
    "Hier haben die Plätze keine Seite. Wähle einen mit den Pfeiltasten auf und ab.",
  ],
  noSuchPlace: ["There is no place {number} for it.", "Einen Platz {number} gibt es dafür nicht."],
  leave: ["Leave the table (a computer player goes on)", "Vom Tisch aufstehen (ein Computerspieler macht weiter)"],
  // A finished match
  newGame: ["New game", "Neues Spiel"],
  rematch: ["Rematch", "Revanche"],
  replay: ["Replay", "Nachspielen"],
  // Listening
  listen: ["Listen", "Ansagen"],
  command: ["Command", "Befehl"],
  commandHint: [
    "A letter from the list of keys; a tile, such as 5-3; a tile and a place: 5-3 l, 5-3 2, 5-3 l down, 6-1 l :6.",
    "Ein Buchstabe aus der Tastenliste; ein Stein, etwa 5-3; Stein und Platz: 5-3 g, 5-3 2, 5-3 g verdeckt, 6-1 g :6.",
  ],
  send: ["Do it", "Ausführen"],
  line: ["From left to right: {tiles}.", "Von links nach rechts: {tiles}."],
  first: ["First tile: {tile}.", "Erster Stein: {tile}."],
  branch: ["{place}: {tiles}.", "{place}: {tiles}."],
  behind: ["Behind {tile}", "Hinter {tile}"],
  tileDown: ["{tile} face down", "{tile} verdeckt"],
  nothingSaid: ["Nothing to repeat.", "Nichts zu wiederholen."],
};

/** Names of keys that are not letters. @satisfies {Record<string, import("./text.js").Text>} */
export const KEY_NAMES = {
  " ": ["Space", "Leertaste"],
  Enter: ["Enter", "Eingabe"],
  "Shift+Enter": ["Shift + Enter", "Umschalt + Eingabe"],
  Home: ["Home", "Pos1"],
  End: ["End", "Ende"],
};
