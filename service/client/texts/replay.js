/** Texts of the replay. */

/** @satisfies {Record<string, import("../text.js").Text>} */
export const REPLAY = {
  title: ["Replay", "Nachspielen"],
  introduction: [
    "A match step by step, with all hands open. Its record comes from a game, from a file, or from wherever you have it.",
    "Eine Partie Schritt für Schritt, mit offenen Händen. Ihr Protokoll kommt aus einem Spiel, aus einer Datei oder von dort, wo du es hast.",
  ],
  ofGame: ["The record of a game", "Das Protokoll eines Spiels"],
  game: ["Id or link of a game", "Kennung oder Link eines Spiels"],
  getRecord: ["Get the record", "Protokoll holen"],
  ofText: ["A record as text", "Ein Protokoll als Text"],
  record: ["Record", "Protokoll"],
  file: ["From a file", "Aus einer Datei"],
  fileUnreadable: ["This file cannot be read.", "Diese Datei lässt sich nicht lesen."],
  start: ["Replay", "Nachspielen"],
  noRounds: ["This record has no round yet.", "In diesem Protokoll gibt es noch keine Runde."],
  round: ["Round", "Runde"],
  roundOf: ["Round {round} of {number}", "Runde {round} von {number}"],
  table: ["The table after step {step}", "Der Tisch nach Schritt {step}"],
  step: ["Step", "Schritt"],
  stepOf: ["Step {step} of {number}", "Schritt {step} von {number}"],
  first: ["First step", "Erster Schritt"],
  previous: ["Previous step", "Ein Schritt zurück"],
  next: ["Next step", "Ein Schritt weiter"],
  last: ["Last step", "Letzter Schritt"],
  play: ["Play", "Abspielen"],
  pause: ["Pause", "Anhalten"],
  hands: ["Hands", "Hände"],
  noTiles: ["no tiles", "keine Steine"],
  hiddenTiles: [
    ({ number }) => (number === 1 ? "1 hidden tile" : `${number} hidden tiles`),
    ({ number }) => (number === 1 ? "1 verdeckter Stein" : `${number} verdeckte Steine`),
  ],
  steps: ["Steps", "Schritte"],
  keys: ["← and → step, Home and End jump.", "← und → gehen einen Schritt, Pos1 und Ende springen."],
  playOn: ["Play on from here", "Von hier aus weiterspielen"],
  playOnHint: [
    "A new game that begins with this table; all its seats are on this device.",
    "Ein neues Spiel, das mit diesem Tisch beginnt; alle Plätze sind auf diesem Gerät.",
  ],
  another: ["Another record", "Ein anderes Protokoll"],
};
