/**
 * The texts of the page in two languages. They stand side by side in texts/, one module for each view, as pairs of
 * English and German; a text with `{name}` takes a value, one that depends on a number is a function of the values.
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
