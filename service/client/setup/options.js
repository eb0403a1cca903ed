/**
 * The options of a game as form fields, made of the JSON Schema that the service has for them. Knows the convention of
 * the deal table, that its columns are named like the options that decide them, that `teams` are of equal size, and no game.
 */
import { html, live, nothing } from "../vendor/lit-html.js";

/** @import { App, Schemas, Variant } from "../shell/types.js" */
/** @typedef {Schemas["OptionSchema"]} OptionSchema */
/** @typedef {Schemas["DealRow"]} DealRow */
/** @typedef {string | number | boolean} Value */
/** @typedef {Record<string, Value | undefined>} Values what was entered, by option; where that is "", it has its default */

/** The option whose values are sets of tiles, of which the deal table says for how many players they are. */
export const SET = "set";

/** The id of the field with that path, as in the causes of a problem. @param {string} path */
export const fieldId = (path) => `field-${path.replaceAll(".", "-")}`;

/**
 * The error below a field.
 * @param {Record<string, string[]>} errors by path
 * @param {string} path
 */
export const errorAt = (errors, path) =>
  errors[path] ? html`<p class="error" id=${`${fieldId(path)}-error`}>${errors[path].join(" ")}</p>` : nothing;

/**
 * The ids of what describes a field: its error, its hint.
 * @param {Record<string, string[]>} errors @param {string} path @param {boolean} [hint]
 */
export const describedBy = (errors, path, hint = false) =>
  [errors[path] && `${fieldId(path)}-error`, hint && `${fieldId(path)}-hint`].filter(Boolean).join(" ") || nothing;

/** The sets of a game, in the order of the table. @param {readonly DealRow[]} deals */
const setsOf = (deals) => [...new Set(deals.map((row) => row.set))];

/**
 * The set that is played: the chosen one, or the default one, or the first one that is for so many players.
 * @param {Variant} variant @param {Values} values @param {number} players
 */
function playedSet({ options, deals }, values, players) {
  const fits = (/** @type {unknown} */ set) => deals.some((row) => row.set === set && row.players === players);
  const sets = [values[SET], options.properties[SET]?.default, ...setsOf(deals)];
  return Number(sets.find(fits) ?? sets[1] ?? sets[2]);
}

/** Whether so many players can make so many teams; a team is more than one. @param {unknown} teams @param {number} players */
const isTeams = (teams, players) => !teams || (players % Number(teams) === 0 && players > Number(teams));

/** What is dealt. @param {Variant} variant @param {Values} values @param {number} players */
export const dealOf = (variant, values, players) =>
  variant.deals.find((row) => row.set === playedSet(variant, values, players) && row.players === players);

/**
 * What to send as `options`: the values that are not the defaults.
 * @param {Variant} variant @param {Values} values @param {number} players
 */
export function optionsOf(variant, values, players) {
  const { properties } = variant.options;
  if (!isTeams(values.teams, players)) values = { ...values, teams: undefined };
  const all = SET in properties ? { ...values, [SET]: playedSet(variant, values, players) } : values;
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => name in properties && value !== undefined && value !== "" && value !== properties[name]?.default),
  );
}

/**
 * @param {App} app
 * @param {{variant: Variant, values: Values, players: number, errors: Record<string, string[]>, change: (name: string, value: Value | undefined) => void}} form
 */
export function optionFields(app, { variant, values, players, errors, change }) {
  return Object.entries(variant.options.properties).map(([name, schema]) => {
    const form = { name, path: `options.${name}`, schema, errors, change: (/** @type {Value | undefined} */ value) => change(name, value) };
    const value = values[name] ?? schema.default;
    if (name === SET && schema.enum) return setField(app, { ...form, variant, players, value: playedSet(variant, values, players) });
    if (name === "teams" && schema.enum) form.schema = { ...schema, enum: schema.enum.filter((each) => isTeams(each, players)) };
    if (schema.enum) return choiceField({ ...form, value: isTeams(name === "teams" && value, players) ? value : schema.default });
    if (schema.type === "boolean") return switchField({ ...form, label: schema.title, hint: schema.description, value: value === true });
    const deal = dealOf(variant, values, players);
    const usual = name in (deal ?? {}) ? deal?.[/** @type {keyof DealRow} */ (name)] : undefined;
    return schema.type === "integer" ? numberField(app, { ...form, value, usual }) : textField({ ...form, value });
  });
}

/**
 * @typedef {object} Form
 * @property {string} name
 * @property {string} path
 * @property {OptionSchema} schema
 * @property {Record<string, string[]>} errors
 * @property {(value: Value | undefined) => void} change
 */

/** How many tiles there are in each hand and in the stock. @param {App["t"]} t @param {{hand: number, stock: number}} deal */
export const dealText = (t, { hand, stock }) => t("new.setDeal", { hand, count: stock });

/** @param {App} app @param {Form & {variant: Variant, players: number, value: number}} form */
function setField({ t }, { path, schema, errors, change, variant, players, value }) {
  return group({ path, schema, errors }, (schema.enum ?? []).map((set) => {
    const rows = variant.deals.filter((row) => row.set === set);
    const deal = rows.find((row) => row.players === players);
    const numbers = rows.map((row) => row.players);
    const [min, max] = [Math.min(...numbers), Math.max(...numbers)];
    const note = deal ? dealText(t, deal) : numbers.length ? t(min === max ? "new.setFitsExactly" : "new.setFits", { min, max }) : "";
    return { value: Number(set), label: t("new.setOf", { set: Number(set) }), note, disabled: !deal };
  }), value, change);
}

/** @param {Form & {value: unknown}} form */
function choiceField({ path, schema, errors, value, change }) {
  const choices = /** @type {Value[]} */ (schema.enum ?? []).map((each) => ({
    value: each, label: valueTitle(schema, each), note: "", disabled: false,
  }));
  return group({ path, schema, errors }, choices, value, change, Boolean(schema.oneOf));
}

/** What the options of a game are called in its rules. @param {App["t"]} t @param {Variant} variant @returns {Map<string, string>} */
export const namesOf = (t, { options }) => new Map([["true", t("common.yes")], ["false", t("common.no")],
  ...Object.entries(options.properties).map(([key, { title }]) => /** @type {[string, string]} */ ([key, title]))]);

/** What a value of an option is called. @param {OptionSchema} schema @param {unknown} value */
const valueTitle = ({ oneOf = [] }, value) => oneOf.find((each) => each.const === value)?.title ?? String(value);

/**
 * @param {Pick<Form, "path" | "schema" | "errors">} form
 * @param {{value: Value, label: string, note: string, disabled: boolean}[]} choices
 * @param {unknown} value @param {(value: Value) => void} change
 * @param {boolean} [isColumn] whether each choice has a line of its own
 */
function group({ path, schema, errors }, choices, value, change, isColumn = choices.some((each) => each.note)) {
  return html`<fieldset class="field" aria-describedby=${describedBy(errors, path, Boolean(schema.description))}>
    <legend>${schema.title}</legend>
    <div class=${isColumn ? "choices column" : "choices"}>
      ${choices.map((each, at) => html`<label class="choice">
        <input type="radio" name=${path} id=${at ? nothing : fieldId(path)} ?disabled=${each.disabled} .checked=${live(each.value === value)}
          aria-invalid=${errors[path] && each.value === value ? "true" : nothing} @change=${() => change(each.value)}>
        <span>${each.label}${each.note ? html` <small>${each.note}</small>` : nothing}</span></label>`)}
    </div>
    ${errorAt(errors, path)}
    ${schema.description ? html`<p class="hint" id=${`${fieldId(path)}-hint`}>${schema.description}</p>` : nothing}
  </fieldset>`;
}

/** @param {{path: string, errors: Record<string, string[]>, label: string, hint?: string, value: boolean, change: (value: boolean) => void}} form */
export function switchField({ path, errors, label, hint, value, change }) {
  return html`<div class="field">
    <label class="choice"><input type="checkbox" role="switch" id=${fieldId(path)} .checked=${live(value)}
      aria-invalid=${errors[path] ? "true" : nothing} aria-describedby=${describedBy(errors, path, Boolean(hint))}
      @change=${(/** @type {Event} */ event) => change(/** @type {HTMLInputElement} */ (event.target).checked)}><span>${label}</span></label>
    ${errorAt(errors, path)}
    ${hint ? html`<p class="hint" id=${`${fieldId(path)}-hint`}>${hint}</p>` : nothing}
  </div>`;
}

/** @param {Pick<Form, "path" | "schema" | "errors">} form @param {unknown} input */
const field = ({ path, schema, errors }, input) => html`<div class="field"><label for=${fieldId(path)}>${schema.title}</label>
  ${input} ${errorAt(errors, path)} <p class="hint" id=${`${fieldId(path)}-hint`}>${schema.description}</p></div>`;

/** @param {App} app @param {Form & {value: unknown, usual: number | undefined}} form `usual`: what it is if left empty */
export function numberField({ t }, { path, schema, errors, value, usual, change }) {
  const { minimum, maximum } = schema;
  const bounds = minimum === undefined || maximum === undefined ? "" : t("new.bounds", { minimum, maximum });
  const entered = (/** @type {Event} */ event) => {
    const { value: text } = /** @type {HTMLInputElement} */ (event.target);
    change(text && Number(text));
  };
  return field({ path, schema, errors }, html`<span class="with-note"><input type="number" inputmode="numeric" step="1" id=${fieldId(path)} min=${minimum ?? nothing} max=${maximum ?? nothing}
      .value=${live(value === undefined ? "" : String(value))} placeholder=${usual ?? nothing}
      aria-invalid=${errors[path] ? "true" : nothing} aria-describedby=${describedBy(errors, path, true)} @input=${entered}>
      <span class="soft">${[bounds, usual !== undefined && t("new.usual", { value: usual })].filter(Boolean).join(", ")}</span></span>`);
}

/** @param {Omit<Form, "name"> & {value: unknown}} form */
export function textField({ path, schema, errors, value, change }) {
  return field({ path, schema, errors }, html`<input id=${fieldId(path)} autocomplete="off" .value=${live(String(value ?? ""))} aria-invalid=${errors[path] ? "true" : nothing}
      aria-describedby=${describedBy(errors, path, true)}
      @input=${(/** @type {Event} */ event) => change(/** @type {HTMLInputElement} */ (event.target).value)}>`);
}
