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
  more: ["Join, watch, replay", "Mitspielen, zuschauen, nachspielen"],
  join: ["Join with a code", "Mit einem Code mitspielen"],
  watchLabel: ["Watch: id or link of a game", "Zuschauen: Kennung oder Link eines Spiels"],
  watch: ["Watch", "Zuschauen"],
  replay: ["Replay a record", "Ein Protokoll nachspielen"],
};
