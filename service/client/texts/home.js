/** Texts of the home view. */

/** @satisfies {Record<string, import("../text.js").Text>} */
export const HOME = {
  title: ["Games", "Spiele"],
  introduction: [
    "Play domino with your family: all on one device, or each on their own. Nobody needs an account.",
    "Spielt Domino mit der Familie: alle an einem Gerät oder jeder am eigenen. Niemand braucht ein Konto.",
  ],
  yourGames: ["Your games on this device", "Deine Spiele auf diesem Gerät"],
  yourTurn: ["your turn", "du bist dran"],
  turnOf: ["{name}’s turn", "{name} ist dran"],
  waiting: ["waiting for players", "wartet auf Mitspieler"],
  roundOver: ["round over", "Runde vorbei"],
  finished: ["finished", "beendet"],
  gone: ["no longer there", "nicht mehr da"],
  as: ["as {names}", "als {names}"],
  forget: ["Forget {game}", "{game} vergessen"],
  choose: ["Choose a game", "Wähle ein Spiel"],
  players: ["{min} to {max} players", "{min} bis {max} Personen"],
  playersExactly: ["{min} players", "{min} Personen"],
  rules: ["Rules", "Regeln"],
  againstComputer: ["Play against the computer", "Gegen den Computer spielen"],
  guest: ["Guest", "Gast"],
  invited: ["you may invite others", "du kannst andere einladen"],
  unread: ["could not be looked up", "ließ sich nicht nachsehen"],
  failed: ["The games cannot be shown.", "Die Spiele lassen sich nicht anzeigen."],
  more: ["Join, watch, replay", "Mitspielen, zuschauen, nachspielen"],
  joinLabel: ["Link that you were sent, or id of a game", "Link, den du bekommen hast, oder Kennung eines Spiels"],
  joinButton: ["Join", "Mitspielen"],
  noGame: ["This is neither a link nor the id of a game.", "Das ist weder ein Link noch die Kennung eines Spiels."],
  watch: ["Watch", "Zuschauen"],
  replay: ["Replay a record", "Ein Protokoll nachspielen"],
};
