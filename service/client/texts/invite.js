/** Texts of the invitation to a game, and of the links to the seats of this device. */

/** @satisfies {Record<string, import("./text.js").Text>} */
export const INVITE = {
  title: ["Invite others", "Lade andere ein"],
  freeSeats: [
    ({ count }) => (count === 1 ? "One seat is still free." : `${count} seats are still free.`),
    ({ count }) => (count === 1 ? "Ein Platz ist noch frei." : `${count} Plätze sind noch frei.`),
  ],
  how: [
    "Send this link, or let the others scan the picture. Whoever has it can take a free seat.",
    "Schick diesen Link, oder lass die anderen das Bild scannen. Wer ihn hat, kann einen freien Platz nehmen.",
  ],
  link: ["Link to join", "Link zum Mitspielen"],
  code: ["Join code", "Beitrittscode"],
  noCode: [
    "The join code is not on this device. Whoever created the game can invite others.",
    "Der Beitrittscode ist nicht auf diesem Gerät. Einladen kann, wer das Spiel angelegt hat.",
  ],
  share: ["Share", "Teilen"],
  shareText: ["Play domino with me!", "Spiel mit mir Domino!"],
  qrOf: ["QR code: {label}", "QR-Code: {label}"],
  watchLink: ["Link to watch", "Link zum Zuschauen"],
  watchHow: ["It shows the table, but no hand.", "Er zeigt den Tisch, aber keine Hand."],
  moveTitle: ["Continue on another device", "Auf einem anderen Gerät weiterspielen"],
  secret: [
    "These links are secret: whoever has one plays on that seat. Open it only on a device of your own.",
    "Diese Links sind geheim: Wer einen hat, spielt auf diesem Platz. Öffne ihn nur auf einem eigenen Gerät.",
  ],
  seatLink: ["Secret link for {name}", "Geheimer Link für {name}"],
  newLink: ["New link", "Neuer Link"],
  newLinkHow: [
    "A new link makes the old one useless, everywhere else.",
    "Ein neuer Link macht den alten ungültig, auf allen anderen Geräten.",
  ],
  newLinkFor: ["New link for {name}", "Neuer Link für {name}"],
  newLinkMade: ["{name} has a new link. The old one no longer works.", "{name} hat einen neuen Link. Der alte gilt nicht mehr."],
  forget: ["Forget this game on this device", "Dieses Spiel auf diesem Gerät vergessen"],
  forgetTitle: ["Forget this game?", "Dieses Spiel vergessen?"],
  forgetText: [
    "The game goes on. But without its secret link nobody can go on playing on a seat of this device.",
    "Das Spiel geht weiter. Aber ohne den geheimen Link kann niemand auf einem Platz dieses Geräts weiterspielen.",
  ],
  forgetAction: ["Forget", "Vergessen"],
};
