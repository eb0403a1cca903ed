/**
 * The texts of the page in two languages. They stand side by side, as pairs of English and German, one module for each
 * view, and here what several views have. A text with `{name}` takes a value; one that depends on a number is a
 * function of the values.
 */

export const LANGUAGES = /** @type {const} */ (["en", "de"]);

/** @typedef {typeof LANGUAGES[number]} Language */
/** @typedef {Record<string, string | number>} Params */
/** @typedef {string | ((params: any) => string)} Wording */
/** @typedef {readonly [Wording, Wording]} Text English, German */

/** The language that the browser prefers of those that there are. @returns {Language} */
export const browserLanguage = () =>
  /** @type {Language | undefined} */ (
    navigator.languages.map((each) => each.split("-")[0]).find((each) => LANGUAGES.some((known) => known === each))
  ) ?? "en";

/** The text as the beginning of a sentence. @param {string} text */
export const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * The text in that language, with its values.
 * @param {Language} language
 * @param {Text} text
 * @param {Params} [params]
 */
export function translate(language, text, params = {}) {
  const wording = text[LANGUAGES.indexOf(language)];
  if (typeof wording === "function") return wording(params);
  return wording.replace(/\{(\w+)\}/g, (_, name) => String(params[name] ?? ""));
}

/** Texts of the frame around all views, of errors, and of what several views show. @satisfies {Record<string, Text>} */
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
  // The picture of the table
  pictureTools: ["Size of the picture", "Größe des Bilds"],
  fitAll: ["Show all", "Alles zeigen"],
  zoomIn: ["Zoom in", "Vergrößern"],
  zoomOut: ["Zoom out", "Verkleinern"],
};
