/** Texts of the score card and of the check of the deals. */

/** @import { Text } from "./text.js" */

/** @satisfies {Record<string, Text>} */
export const SCORE = {
  title: ["Score card", "Spielzettel"],
  toTable: ["To the table", "Zum Tisch"],
  replay: ["Replay the match", "Partie nachspielen"],
  print: ["Print", "Drucken"],
  wins: [
    ({ names, number }) => (number === 1 ? `${names} wins` : `${names} win`),
    ({ names, number }) => (number === 1 ? `${names} gewinnt` : `${names} gewinnen`),
  ],
  winsAfter: [
    ({ rounds, points }) => `${points} ${after(rounds, "round", "rounds")}`,
    ({ rounds, points }) => `${points} ${after(rounds, "Runde", "Runden", "nach")}`,
  ],
  points: [
    ({ number, shown }) => `${shown} ${Math.abs(number) === 1 ? "point" : "points"}`,
    ({ number, shown }) => `${shown} ${Math.abs(number) === 1 ? "Punkt" : "Punkte"}`,
  ],
  lowestWins: ["The lowest total wins.", "Die niedrigste Summe gewinnt."],
  highestWins: ["The highest total wins.", "Die höchste Summe gewinnt."],
  noRounds: ["No round is over yet.", "Noch ist keine Runde vorbei."],
  lastCount: ["The last count: round {round}", "Die letzte Abrechnung: Runde {round}"],
  round: ["Round {round}", "Runde {round}"],
  hands: ["Tiles left, round {round}", "Reststeine, Runde {round}"],
  counts: ["Points of round {round}", "Punkte der Runde {round}"],
  player: ["Player", "Name"],
  team: ["Team", "Team"],
  tilesLeft: ["Tiles left", "Reststeine"],
  none: ["none", "keine"],
  value: ["Value", "Wert"],
  roundPoints: ["Points", "Punkte"],
  how: ["How", "Rechnung"],
  rule: ["Rule", "Regel"],
  ruleLink: ["Rule {rule}", "Regel {rule}"],
  carried: [
    ({ points }) => `${points} carried over.`,
    ({ points }) => `Übertrag: ${points}.`,
  ],
  carry: [
    ({ points }) => `${points} wait for the next count.`,
    ({ points }) => `Offen für die nächste Abrechnung: ${points}.`,
  ],
  standings: ["Standings", "Stand"],
  rank: ["Rank", "Platz"],
  total: ["Total", "Summe"],
  out: ["out", "ausgeschieden"],
  forfeited: ["forfeited", "kampflos verloren"],
  byForfeit: ["All others have forfeited.", "Alle anderen haben kampflos verloren."],
  settlement: ["Settlement", "Ausgleich"],
  pays: ["{from} pays {to} {amount}.", "{from} zahlt {amount} an {to}."],
  noPayments: ["Nobody pays anything.", "Niemand zahlt etwas."],
  balance: ["Balance", "Saldo"],
  allRounds: ["All rounds", "Alle Runden"],
  allRoundsHint: ["The points of the round, and the total after it.", "Die Punkte der Runde und die Summe danach."],
  earlier: ["The counts before", "Frühere Abrechnungen"],
  endedOut: ["{name} has laid the last tile.", "{name} hat den letzten Stein gelegt."],
  endedOutNobody: ["Somebody has laid the last tile.", "Jemand hat den letzten Stein gelegt."],
  endedBlocked: ["Nobody could play any more.", "Niemand konnte mehr legen."],
  endedClosed: ["All ends are closed.", "Alle Enden sind geschlossen."],
  endedFlip: ["The opening tile was turned over.", "Der Eröffnungsstein wurde umgedreht."],
  endedTarget: ["{name} has reached the target.", "{name} hat das Ziel erreicht."],
  wonRound: ["{name} wins the round.", "{name} gewinnt die Runde."],
  lostRound: ["{name} loses the round.", "{name} verliert die Runde."],
};

/** @satisfies {Record<string, Text>} */
export const DEALS = {
  title: ["Were the deals fair?", "Wurde ehrlich gegeben?"],
  introduction: [
    "Before each round the server publishes the fingerprint of a secret number. When the round is over it publishes the number itself. From it and from the words of the players, this device has now worked out every deal again.",
    "Vor jeder Runde veröffentlicht der Server den Fingerabdruck einer geheimen Zahl, nach der Runde die Zahl selbst. Aus ihr und aus den Wörtern der Spieler hat dieses Gerät gerade jede Verteilung der Steine nachgerechnet.",
  ],
  limits: [
    "This does not prove that the server showed the tiles to nobody. Whoever noted a commitment before the round can compare it with the one here.",
    "Das beweist nicht, dass der Server die Steine niemandem gezeigt hat. Wer vor der Runde eine Festlegung notiert hat, kann sie mit der hier vergleichen.",
  ],
  nothing: [
    "There is nothing to check: the deals of this game were arranged.",
    "Hier gibt es nichts zu prüfen: Die Steine wurden nach Vorgabe verteilt.",
  ],
  holds: [
    "The deal of round {round} was fixed before it began.",
    "Die Verteilung der Steine in Runde {round} stand fest, bevor die Runde begann.",
  ],
  open: [
    "The deal of round {round} can be checked when the round is over.",
    "Die Verteilung der Steine in Runde {round} lässt sich prüfen, wenn die Runde vorbei ist.",
  ],
  wrong: ["The deal of round {round} does not hold: {reason}", "Die Verteilung der Steine in Runde {round} stimmt nicht: {reason}"],
  commitment: ["Commitment, published before the deal", "Festlegung, vor dem Geben veröffentlicht"],
  digest: ["SHA-256 of the seed, worked out here", "SHA-256 der Zufallszahl, hier berechnet"],
  seed: ["Seed, published after the round", "Zufallszahl, nach der Runde veröffentlicht"],
  clientSeeds: ["Client seeds of the players", "Beiträge der Spieler zum Zufall"],
  attempt: ["Deals before it that were repeated", "Zuvor verworfene Verteilungen"],
  hands: ["Hands as dealt", "Verteilte Steine"],
  stock: ["Stock, in the order of drawing", "Talon, in der Reihenfolge des Ziehens"],
  nothingGiven: ["(none)", "(nichts)"],
};

/** Why a deal does not hold. @satisfies {Record<string, Text>} */
export const WRONG_DEALS = {
  number: ["the rounds are not counted one by one.", "die Runden sind nicht fortlaufend gezählt."],
  repeated: ["it has the commitment of an earlier round.", "es ist die Festlegung einer früheren Runde."],
  order: ["a later round was revealed before it.", "eine spätere Runde wurde vor ihr aufgedeckt."],
  incomplete: ["part of it is not published.", "ein Teil davon ist nicht veröffentlicht."],
  commitment: ["the seed does not fit the commitment.", "die Zufallszahl passt nicht zur Festlegung."],
  seats: ["it is not a deal to the seats of this game.", "sie passt nicht zu den Plätzen dieses Spiels."],
  sizes: ["the hands are of different sizes.", "nicht alle haben gleich viele Steine bekommen."],
  attempt: ["it was repeated without need.", "es wurde ohne Grund neu gegeben."],
  hand: ["the tiles of {name} do not follow from the seed.", "die Steine von {name} folgen nicht aus der Zufallszahl."],
  stock: ["the stock does not follow from the seed.", "der Talon folgt nicht aus der Zufallszahl."],
};

/** @param {number} rounds @param {string} one @param {string} many @param {string} [word] */
const after = (rounds, one, many, word = "after") => `${word} ${rounds} ${rounds === 1 ? one : many}`;
