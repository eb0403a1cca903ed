/** Who plays in a new game: how many, the seats as they are sent, and which computer players are proposed. */
import { html, live, nothing } from "../vendor/lit-html.js";
import { idempotencyKey } from "../shell/api.js";

/** @import { App, Bot, SeatChoice } from "../shell/types.js" */

/** The number of players that is proposed where the game allows it and none was chosen before. */
export const USUAL_PLAYERS = 4;

/** The level that is proposed: the one before the strongest. @param {Bot[]} bots from weak to strong */
export const usualLevel = (bots) => (bots.at(-2) ?? bots[0])?.id ?? "";

/**
 * The name of the player on a seat: the one that was entered, or what the page calls whoever enters none.
 * @param {App["t"]} t @param {SeatChoice[]} seats @param {number} seat
 */
export const nameAt = (t, seats, seat) => seats[seat]?.name.trim()
  || (seats.filter((each) => each.kind === "here").length > 1 ? t("new.player", { number: seat + 1 }) : t("common.guest"));

/**
 * A field for a name, a code or a link.
 * @param {App} app @param {{id: string, label: import("../shell/types.js").Text, value: string, change: (value: string) => void, error?: string, isName?: boolean}} field
 */
export const entry = ({ t }, { id, label, value, change, error, isName = false }) => html`<div class="field"><label for=${id}>${t(label)}</label>
  <input id=${id} class=${id === "code" ? "mono" : nothing} dir=${isName ? "auto" : nothing} autocomplete="off" placeholder=${isName ? t("common.guest") : nothing}
    autocapitalize=${isName ? "words" : "off"} spellcheck="false" .value=${live(value)} aria-invalid=${error ? "true" : nothing}
    aria-describedby=${error ? `${id}-error` : isName ? `${id}-hint` : nothing}
    @input=${(/** @type {Event} */ event) => change(/** @type {HTMLInputElement} */ (event.target).value)}>
  ${error ? html`<p class="error" id=${`${id}-error`}>${error}</p>` : nothing}
  ${isName ? html`<p class="hint" id=${`${id}-hint`}>${t("join.nameHint")}</p>` : nothing}</div>`;

/**
 * Numbers, one of which is chosen.
 * @param {string} legend @param {string} name @param {number[]} numbers @param {number} chosen
 * @param {(number: number) => void} change @param {(number: number) => unknown} [label]
 */
export const numberChips = (legend, name, numbers, chosen, change, label = String) => html`<fieldset class="field"><legend>${legend}</legend><div class="chips">
  ${numbers.map((each) => html`<label class="chip"><input type="radio" name=${name} .checked=${live(each === chosen)} @change=${() => change(each)}><span>${label(each)}</span></label>`)}
</div></fieldset>`;

/** What to send as `players`. @param {SeatChoice[]} seats @param {string} [seed] of deals that are to be foreseen */
export const playersOf = (seats, seed) => seats.map(({ kind, name, level }) => {
  if (kind === "open") return { open: true };
  if (kind === "bot") return { bot: level };
  // Chance that the service could not have foreseen.
  return seed ? { name } : { name, client_seed: idempotencyKey() };
});
