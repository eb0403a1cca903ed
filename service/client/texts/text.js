/**
 * The texts of the page in the language of its reader. The service has two files of them in each language,
 * `texts/en/table.json` and `texts/en/views.json`; a text is named by its place in one, `"table.draw"`. Owns which languages
 * there are, how a text gets its values, and which of its forms goes with a number. Knows no text itself.
 */

/** @typedef {string} Language as in `lang`: `en` */
/** @typedef {Record<string, string | number>} Params */
/** @typedef {import("texts").Texts} Texts */
/** @typedef {{[Area in keyof Texts]: `${Area}.${keyof Texts[Area] & string}`}[keyof Texts]} Text the name of a text */
/** @typedef {"pips" | "pip_nouns" | "doubles"} Words lists of words, by numbers */
/** @typedef {"table" | "views"} Part */

/** The texts that have arrived, by area and name. @type {Map<Language, any>} */
const catalogues = new Map();
/** Those that succeeded or are under way. @type {Map<string, Promise<void>>} */
const requests = new Map();

/** The languages that there are, the default one first. @returns {Language[]} */
export const languages = () => (document.documentElement.dataset.languages ?? "en").split(" ");

/** The language that the browser prefers of those that there are. */
export const browserLanguage = () =>
  navigator.languages.map((each) => each.split("-")[0]).find((each) => languages().includes(each)) ?? languages()[0];

/**
 * Gets a part of the texts of a language, once: `table` is what a running game needs, `views` all else.
 * @param {Language} language
 * @param {Part} part
 */
export function loadTexts(language, part) {
  const address = new URL(`./${languages().includes(language) ? language : languages()[0]}/${part}.json`, import.meta.url).href;
  const loading = requests.get(address) ?? fetch(address).then(async (answer) => {
    if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
    keepTexts(language, await answer.json());
  });
  requests.set(address, loading);
  loading.catch(() => requests.delete(address));
  return loading;
}

/** Whether there are any, of whatever language. */
export const hasTexts = () => catalogues.size > 0;

/** @param {Language} language @param {object} texts by area, as its files have them */
export const keepTexts = (language, texts) => void catalogues.set(language, { ...catalogues.get(language), ...texts });

/** What that language has of an area or, until that has arrived, another one. @param {Language} language @param {string} area */
const textsIn = (language, area) =>
  [catalogues.get(language), ...catalogues.values()].find((each) => each?.[area])?.[area] ?? {};

/** The text as the beginning of a sentence. @param {string} text */
export const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A list of words, by numbers. @param {Language} language @param {Words} name @returns {string[]} */
export const words = (language, name) => textsIn(language, "tiles")[name] ?? [];

/**
 * The text in that language with its values, each in the place of its `{name}`. Of a text that depends on a number it is
 * the form that goes with `count`.
 * @param {Language} language
 * @param {Text} text
 * @param {Params} [params]
 */
export function translate(language, text, params = {}) {
  const [area, name] = text.split(".");
  const found = textsIn(language, area)[name] ?? text;
  return (typeof found === "string" ? found : formOf(found, language, Number(params.count)))
    .replace(/\{(\w+)\}/g, (_, value) => String(params[value] ?? ""));
}

/** @param {Record<string, string>} forms by the plural categories of the language, or by a number: `=0` @param {Language} language @param {number} count */
const formOf = (forms, language, count) => forms[`=${count}`] ?? forms[pluralRules(language).select(count)] ?? forms.other;

/** @type {Map<string, Intl.PluralRules>} */
const rules = new Map();

/** Made once, as that takes a while. @param {Language} language */
function pluralRules(language) {
  const known = rules.get(language) ?? new Intl.PluralRules(language);
  rules.set(language, known);
  return known;
}
