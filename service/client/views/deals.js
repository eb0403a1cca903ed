/** The part of the score card that says of every deal whether it was fixed before its round, checked on this device. */
import { html, nothing } from "../vendor/lit-html.js";
import { check, commitment } from "../checks/fairness.js";
import { fromHex, toHex } from "../checks/sha256.js";

/** @import { Finding, RoundProof } from "../checks/fairness.js" */
/** @import { App, Text } from "../shell/types.js" */

/**
 * Checks a fairness document once; what is made of it is rendered as often as needed.
 * @param {App} app @param {any} document @param {(seat: number) => string} nameOf
 */
export function createDeals({ t }, document, nameOf) {
  const findings = check(document);

  /** @param {Finding} finding @param {RoundProof} proof */
  const sentence = ({ verdict, reason, seat }, { round }) => {
    if (verdict !== "wrong") return t(`verdicts.${verdict}`, { round });
    const why = /** @type {Text} */ (`wrongDeals.${reason}`);
    return t("deals.wrong", { round, reason: t(why, { name: seat === undefined ? "" : nameOf(seat) }) });
  };

  /** @param {Finding} finding @param {RoundProof} proof */
  const item = (finding, proof) => html`<li class=${finding.verdict}><details>
    <summary>${sentence(finding, proof)}</summary>
    <dl class="proof">
      ${entry("deals.commitment", proof.commitment)}
      ${proof.seed ? html`${entry("deals.seed", proof.seed)}${entry("deals.digest", toHex(commitment(fromHex(proof.seed))))}` : nothing}
      ${proof.client_seeds ? entry("deals.clientSeeds", bySeat(proof.client_seeds.map((each) => each || t("deals.nothingGiven")))) : nothing}
      ${proof.attempt ? entry("deals.attempt", proof.attempt) : nothing}
      ${proof.hands ? entry("deals.hands", bySeat(proof.hands.map((hand) => hand.join(" ") || t("deals.nothingGiven")))) : nothing}
      ${proof.stock ? entry("deals.stock", proof.stock.join(" ")) : nothing}
    </dl>
  </details></li>`;
  /** @param {import("../texts/text.js").Text} name @param {unknown} value */
  const entry = (name, value) => html`<dt>${t(name)}</dt><dd class="mono">${value}</dd>`;
  /** @param {string[]} values */
  const bySeat = (values) => values.map((value, seat) => html`<span class="of-seat">${nameOf(seat)}: ${value}</span>`);

  return () => html`<section class="deals" aria-labelledby="deals-title">
    <h2 id="deals-title">${t("deals.title")}</h2>
    ${findings ? html`<p>${t("deals.introduction")}</p>
      <ul>${findings.map((finding, index) => (finding.reason === "undealt" ? nothing : item(finding, document.rounds[index])))}</ul>
      <p class="soft">${t("deals.limits")}</p>` : html`<p>${t("deals.nothing")}</p>`}
  </section>`;
}
