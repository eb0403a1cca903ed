/** Texts of the frame around all views, and of errors. */

/** @satisfies {Record<string, import("../text.js").Text>} */
export const COMMON = {
  brand: ["Domino", "Domino"],
  skip: ["Skip to the content", "Zum Inhalt springen"],
  menu: ["Main menu", "Hauptmenü"],
  home: ["Games", "Spiele"],
  newGame: ["New game", "Neues Spiel"],
  settings: ["Settings", "Einstellungen"],
  developer: ["Developer drawer", "Entwicklerfenster"],
  documentation: ["API documentation", "API-Dokumentation"],
  document: ["OpenAPI document", "OpenAPI-Dokument"],
  loading: ["Loading …", "Wird geladen …"],
  notFoundTitle: ["Nothing here", "Hier ist nichts"],
  notFound: ["There is no view with this address.", "Unter dieser Adresse gibt es keine Ansicht."],
  toHome: ["Back to the games", "Zurück zu den Spielen"],
  failedTitle: ["This did not work", "Das hat nicht geklappt"],
  unreachable: ["The service cannot be reached.", "Der Dienst ist nicht erreichbar."],
  unknownError: ["Something is wrong with this page.", "Mit dieser Seite stimmt etwas nicht."],
  tryAgain: ["Try again", "Noch einmal versuchen"],
  cancel: ["Cancel", "Abbrechen"],
  close: ["Close", "Schließen"],
  copy: ["Copy", "Kopieren"],
  copied: ["Copied.", "Kopiert."],
  yes: ["yes", "ja"],
  no: ["no", "nein"],
};
