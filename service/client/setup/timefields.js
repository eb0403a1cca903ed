/**
 * The clock of a new game as form fields: one of some usual clocks or another one, and what happens when the time of a
 * player is over. Owns the usual clocks, and what is sent for them.
 */
import { html, live, nothing } from "../vendor/lit-html.js";
import { absenceText, clockText, UNITS } from "../game/durations.js";
import { describedBy, errorAt, fieldId } from "./options.js";

/** @import { App } from "../shell/types.js" */
/** @typedef {import("../texts/text.js").Text} Text */
/** @typedef {"" | "turn" | "bank"} Form no clock, a time for each turn, or a bank for the match */
/** @typedef {import("../game/durations.js").Unit} Unit */

/**
 * What was entered.
 * @typedef {object} TimeChoice
 * @property {number} usual the index of one of the usual clocks; −1 with a form of one's own
 * @property {Form} form
 * @property {number | ""} amount of the time for a turn, or of the bank
 * @property {Unit} unit of the amount
 * @property {number | ""} increment in seconds
 * @property {typeof THEN[number]} then
 */

const THEN = /** @type {const} */ (["bot", "move", "claim", "forfeit"]);
/** No clock, then clocks from short to long. @type {{form: Form, amount: number, unit: Unit, increment: number}[]} */
const USUAL = [
  { form: "", amount: 1, unit: "minutes", increment: 0 },
  { form: "turn", amount: 30, unit: "seconds", increment: 0 },
  { form: "turn", amount: 1, unit: "minutes", increment: 0 },
  { form: "bank", amount: 5, unit: "minutes", increment: 10 },
  { form: "bank", amount: 15, unit: "minutes", increment: 10 },
  { form: "turn", amount: 1, unit: "days", increment: 0 },
  { form: "turn", amount: 3, unit: "days", increment: 0 },
];

/** What a clock of one's own begins with. */
const OWN = {
  turn: /** @type {const} */ ({ form: "turn", amount: 2, unit: "minutes", increment: 0 }),
  bank: /** @type {const} */ ({ form: "bank", amount: 10, unit: "minutes", increment: 10 }),
};

/** @returns {TimeChoice} */
export const noClock = () => ({ usual: 0, ...USUAL[0], then: "bot" });

/** What to send as `clock` and `absence`. @param {Omit<TimeChoice, "usual">} choice */
export function timeOf({ form, amount, unit, increment, then }) {
  if (!form) return {};
  const seconds = Math.round(Number(amount) * UNITS[unit]);
  return { clock: form === "turn" ? { turn: seconds } : { bank: seconds, increment: Number(increment) }, absence: { then } };
}

/**
 * @param {App} app
 * @param {{choice: TimeChoice, errors: Record<string, string[]>, change: (choice: TimeChoice) => void}} form
 */
export function timeFields(app, { choice, errors, change }) {
  const { t } = app;
  const { usual, form, unit, then } = choice;
  /** @param {Event} event */
  const choose = ({ target }) => {
    const { value } = /** @type {HTMLSelectElement} */ (target);
    const known = USUAL[Number(value)];
    change({ ...choice, ...(known ?? OWN[/** @type {keyof typeof OWN} */ (value)]), usual: known ? Number(value) : -1 });
  };
  /** @param {"amount" | "increment"} name @param {string} path @param {Text} label @param {string} id of what else describes it */
  const number = (name, path, label, id) => html`<input type="number" inputmode="decimal" min="0" step="any" id=${fieldId(path)} aria-label=${t(label)}
    .value=${live(String(choice[name]))} aria-invalid=${errors[path] ? "true" : nothing}
    aria-describedby=${[errors[path] && `${fieldId(path)}-error`, id].filter(Boolean).join(" ")}
    @input=${(/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLInputElement} */ (event.target);
      change({ ...choice, [name]: value && Number(value) });
    }}>`;
  const amountPath = `clock.${form}`;
  const own = () => html`<div class="field own-clock">
    <span class="with-note">${number("amount", amountPath, form === "turn" ? "time.turnLabel" : "time.bankLabel", "clock-bounds")}
      <select aria-label=${t("time.unit")} @change=${(/** @type {Event} */ event) =>
        change({ ...choice, unit: /** @type {Unit} */ (/** @type {HTMLSelectElement} */ (event.target).value) })}>${
        /** @type {Unit[]} */ (Object.keys(UNITS)).map((each) => html`<option value=${each} .selected=${live(each === unit)}>${t(`unitNames.${each}`)}</option>`)}</select>
      ${form === "bank" ? html`<span>+</span> ${number("increment", "clock.increment", "time.incrementLabel", "clock-bounds")} <span>${t("time.perTurn")}</span>` : nothing}</span>
    ${errorAt(errors, amountPath)} ${form === "bank" ? errorAt(errors, "clock.increment") : nothing}
    <p class="hint" id="clock-bounds">${t(form === "turn" ? "time.turnBounds" : "time.bankBounds")}</p>
  </div>`;
  return html`
    <div class="field"><label for="field-clock">${t("time.clock")}</label>
      <select id="field-clock" aria-describedby=${describedBy(errors, "clock")} @change=${choose}>
        ${USUAL.map((each, at) => html`<option value=${at} .selected=${live(at === usual)}>${clockText(app, timeOf({ ...each, then }).clock)}</option>`)}
        <option value="turn" .selected=${live(usual < 0 && form === "turn")}>${t("time.otherTurn")}</option>
        <option value="bank" .selected=${live(usual < 0 && form === "bank")}>${t("time.otherBank")}</option>
      </select>${errorAt(errors, "clock")}</div>
    ${usual < 0 ? own() : nothing}
    ${form ? html`<fieldset class="field"><legend>${t("time.then")}</legend><div class="choices column">${THEN.map((each) => html`<label class="choice">
      <input type="radio" name="then" .checked=${live(each === then)} @change=${() => change({ ...choice, then: each })}>
      <span>${absenceText(app, { then: each })}</span></label>`)}</div></fieldset>` : nothing}`;
}
