/** Several seats of one device: what is shown in place of a hand, with the button that shows it, and above a hand. */
import { html } from "../vendor/lit-html.js";
import { nameOf } from "./parts.js";

/** @import { App, Game } from "../shell/types.js" */

/**
 * @param {App} app @param {Game} game
 * @param {object} device
 * @param {number[]} device.seats
 * @param {number | undefined} device.next the one that is to act
 * @param {(seat: number) => void} device.show shows the hand of a seat
 */
export function curtain({ t }, game, { seats, next, show }) {
  const button = (/** @type {number} */ seat) => html`<button class=${seat === next ? "main" : ""} data-show=${seat}
    @click=${() => show(seat)}>${t("curtain.showHand", { name: nameOf(game, seat) })}</button>`;
  return html`<section class="curtain" aria-labelledby="curtain-title">
    <h2 id="curtain-title">${next === undefined ? t("curtain.hidden") : t("curtain.passTo", { name: nameOf(game, next) })}</h2>
    <div class="buttons">${next === undefined ? seats.map(button) : button(next)}</div>
  </section>`;
}

/** Whose hand is shown. @param {App} app @param {string} name @param {() => void} hide */
export const whose = ({ t }, name, hide) => html`<div class="whose"><h2>${t("curtain.handOf", { name })}</h2>
  <button class="plain" @click=${hide}>${t("curtain.hideHand")}</button></div>`;
