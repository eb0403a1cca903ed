/**
 * The keys of the table, in one table: key, action, help. Owns what the key list shows, which key does what, and what a
 * line in the command field means. The letters are the same in all languages. Does nothing by itself.
 */
import { html } from "./vendor/lit-html.js";
import { COMMON } from "./text.js";
import { KEY_HELP, KEY_NAMES, TABLE } from "./texts/table.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {keyof typeof KEY_HELP} Action */
/**
 * @typedef {object} Command
 * @property {Action} action
 * @property {string} [tile]
 * @property {number} [place] from 1
 * @property {boolean} [faceDown]
 */

/**
 * Keys as `KeyboardEvent.key` has them, letters in lower case, and the action; in the order of the list.
 * @type {{keys: string[], action: Action}[]}
 */
const KEYS = [
  { keys: [" "], action: "draw" },
  { keys: ["c"], action: "ends" },
  { keys: ["v"], action: "chain" },
  { keys: ["d"], action: "right" },
  { keys: ["g"], action: "left" },
  { keys: ["s"], action: "scores" },
  { keys: ["e"], action: "information" },
  { keys: ["t"], action: "turn" },
  { keys: ["ArrowLeft", "ArrowRight", "Home", "End"], action: "choose" },
  { keys: ["Enter"], action: "lay" },
  { keys: ["ArrowUp", "ArrowDown", ..."123456789"], action: "place" },
  { keys: ["Shift+Enter"], action: "layDown" },
  { keys: ["p"], action: "pass" },
  { keys: ["f"], action: "done" },
  { keys: ["u"], action: "flip" },
  { keys: ["n"], action: "deal" },
  { keys: ["h", "w"], action: "hand" },
  { keys: ["m"], action: "moves" },
  { keys: ["l"], action: "last" },
  { keys: ["r"], action: "again" },
  { keys: ["x"], action: "count" },
  { keys: ["?"], action: "help" },
  { keys: ["Escape"], action: "back" },
  { keys: ["`"], action: "drawer" },
];

/** The actions that only tell something, as the menu has them. @type {Action[]} */
export const TELLING = ["turn", "hand", "moves", "ends", "chain", "last", "scores", "information", "count", "again"];

/** The name of the first key of an action, if it has one. @param {App} app @param {string} action */
export function keyName({ t }, action) {
  const key = KEYS.find((each) => each.action === action)?.keys[0];
  return key === undefined ? "" : shown(t, key);
}

/** @param {KeyboardEvent} event @param {boolean} letters whether letters are commands @returns {Action | undefined} */
export function actionOf(event, letters) {
  const key = event.shiftKey && event.key === "Enter" ? "Shift+Enter" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!letters && /^[a-z]$/.test(key)) return undefined;
  return KEYS.find((each) => each.keys.includes(key))?.action;
}

/** Words for actions, beside the letters of the keys; in both languages, whichever the page has. @type {Record<string, Action>} */
const WORDS = {
  draw: "draw", buy: "draw", ziehen: "draw", kaufen: "draw", pass: "pass", passen: "pass", aussetzen: "pass",
  done: "done", fertig: "done", flip: "flip", umdrehen: "flip", deal: "deal", geben: "deal", help: "help", hilfe: "help",
};
/** @type {Record<string, Action>} */
const SIDES = { l: "left", left: "left", g: "left", links: "left", r: "right", right: "right", d: "right", rechts: "right" };
const FACE_DOWN = ["down", "verdeckt", "x"];

/**
 * What a line means: a letter or word; or a tile with, before or after it, a side or the number of a place, and
 * whether face down. `undefined`: nothing.
 * @param {string} line @returns {Command | undefined}
 */
export function parseCommand(line) {
  const words = line.trim().toLowerCase().split(/\s+/);
  const tileAt = words.findIndex((each) => /^\d+[-/:|]\d+$/.test(each));
  if (tileAt < 0) {
    const [word = "", ...more] = words;
    if (more.length || !word) return undefined;
    const action = WORDS[word] ?? (word.length === 1 ? KEYS.find((each) => each.keys.includes(word))?.action : undefined);
    return action && { action, place: /^[1-9]$/.test(word) ? Number(word) : undefined };
  }
  const numbers = (words[tileAt] ?? "").split(/[-/:|]/).map(Number).sort((one, other) => one - other);
  /** @type {Command} */
  const command = { action: "choose", tile: numbers.join("-") };
  for (const word of words.filter((_, index) => index !== tileAt)) {
    const side = SIDES[word];
    if (side) command.action = side;
    else if (/^[1-9]\d?$/.test(word)) Object.assign(command, { action: "place", place: Number(word) });
    else if (FACE_DOWN.includes(word)) command.faceDown = true;
    else return undefined;
  }
  if (command.faceDown && command.action === "choose") command.action = "layDown";
  return command;
}

/** @type {Record<string, string | import("./text.js").Text>} */
const SHOWN = {
  " ": KEY_NAMES.space, Enter: KEY_NAMES.enter, "Shift+Enter": KEY_NAMES.shiftEnter, Home: KEY_NAMES.home, End: KEY_NAMES.end,
  Escape: KEY_NAMES.escape, ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓",
};

/** The list of the keys, closed until `showKeys`. @param {App} app */
export const keysDialog = ({ t }) => html`<dialog class="keys" aria-labelledby="keys-title" @click=${closeOutside}>
  <div class="keys-inside">
    <div class="keys-head"><h2 id="keys-title">${t(TABLE.keysTitle)}</h2><form method="dialog"><button>${t(COMMON.close)}</button></form></div>
    <p class="soft">${t(TABLE.keysIntroduction)}</p>
    <table>
      <thead><tr><th scope="col">${t(TABLE.keysColumn)}</th><th scope="col">${t(TABLE.actionColumn)}</th></tr></thead>
      <tbody>${KEYS.map(({ keys, action }) => html`<tr>
        <th scope="row">${(keys.length > 4 ? [...keys.slice(0, 2), "1–9"] : keys).map((key) => html`<kbd>${shown(t, key)}</kbd> `)}</th>
        <td>${t(KEY_HELP[action])}</td>
      </tr>`)}</tbody>
    </table>
  </div>
</dialog>`;

/** @param {App["t"]} t @param {string} key */
function shown(t, key) {
  const name = SHOWN[key];
  return typeof name === "object" ? t(name) : name ?? key.toUpperCase();
}

export const showKeys = () => /** @type {HTMLDialogElement | null} */ (document.querySelector("dialog.keys"))?.showModal();

/** @param {MouseEvent} event */
function closeOutside(event) {
  if (event.target === event.currentTarget) /** @type {HTMLDialogElement} */ (event.currentTarget).close();
}
