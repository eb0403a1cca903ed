/** Texts of joining a game. */

/** @satisfies {Record<string, import("./text.js").Text>} */
export const JOIN = {
  title: ["Join a game", "Mitspielen"],
  introduction: [
    "Paste the link that you were sent, or enter the game and its code.",
    "Füge den Link ein, den du bekommen hast, oder gib Spiel und Code ein.",
  ],
  game: ["Link or id of the game", "Link oder Kennung des Spiels"],
  code: ["Join code", "Beitrittscode"],
  look: ["Look at the game", "Spiel ansehen"],
  noGame: ["This is neither a link nor the id of a game.", "Das ist weder ein Link noch die Kennung eines Spiels."],
  hidden: [
    "Only its players can see this game, or there is no such game. With the code you can take a seat.",
    "Dieses Spiel sehen nur, die mitspielen, oder es gibt kein solches Spiel. Mit dem Code kannst du Platz nehmen.",
  ],
  noSuchGame: [
    "There is no game with this id and this code. Compare both with the link that you were sent, or ask for a new one.",
    "Es gibt kein Spiel mit dieser Kennung und diesem Code. Vergleiche beide mit dem Link, den du bekommen hast, oder frag nach einem neuen.",
  ],
  players: ["At the table", "Am Tisch"],
  you: ["this device", "dieses Gerät"],
  computer: ["computer", "Computer"],
  free: ["free", "frei"],
  freeSeats: [
    ({ count }) => (count === 1 ? "One seat is free." : `${count} seats are free.`),
    ({ count }) => (count === 1 ? "Ein Platz ist frei." : `${count} Plätze sind frei.`),
  ],
  full: ["All seats are taken, but you may watch.", "Alle Plätze sind besetzt, aber du kannst zuschauen."],
  name: ["Your name", "Dein Name"],
  nameHint: ["The others at the table see it.", "Die anderen am Tisch sehen ihn."],
  join: ["Sit down", "Mitspielen"],
  joining: ["You are taking your seat …", "Du nimmst Platz …"],
  retrying: [
    "The service does not answer. Next try in {seconds} s.",
    "Der Dienst antwortet nicht. Nächster Versuch in {seconds} s.",
  ],
  wrongCode: [
    "{detail} Compare it with the link that you were sent, or ask for a new one.",
    "{detail} Vergleiche ihn mit dem Link, den du bekommen hast, oder frag nach einem neuen.",
  ],
  already: ["From this device plays here already: {names}.", "Von diesem Gerät spielt hier schon mit: {names}."],
  toTable: ["To the table", "Zum Tisch"],
  watch: ["Watch", "Zuschauen"],
  rules: ["Rules", "Regeln"],
  another: ["Another game", "Ein anderes Spiel"],
};
