/** The rules of a game, as the service has them: its page, its scoring, and its deals. One rule can be pointed to. */
import { html, nothing } from "../vendor/lit-html.js";
import { headingOf, markdown, ruleId } from "../shell/markdown.js";
import { fragmentOf } from "../shell/routes.js";
import { RULES } from "../texts/rules.js";
import { COMMON } from "../texts/text.js";

/** @import { App, Variant, View } from "../shell/types.js" */

/** @param {App} app @param {{id: string, rule?: string}} route @returns {View} */
export function create(app, { id, rule }) {
  const { t, api } = app;
  const stop = new AbortController();
  /** @type {Variant | undefined} */
  let variant;
  let failure = "";
  let pointed = rule;

  const load = async () => {
    failure = "";
    try {
      variant = (await api.get(`v1/variants/${encodeURIComponent(id)}`, { signal: stop.signal })).body;
    } catch (error) {
      if (stop.signal.aborted) return;
      failure = app.explain(error);
      app.announce(failure, { urgent: true });
    }
    app.update();
    // After the update, and after the frame has moved to the top of the page.
    setTimeout(() => pointed && variant && pointTo(pointed));
  };
  /** Moves to a rule. @param {string} number */
  const pointTo = (number) => {
    const element = document.getElementById(ruleId(number));
    if (!element) return app.announce(t(RULES.noSuchRule, { rule: number }));
    element.scrollIntoView({ block: "center" });
    element.focus({ preventScroll: true });
  };
  /** A link to a rule of this page moves there, without a new view. @param {MouseEvent} event */
  const follow = (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const number = link?.hash.startsWith(`${fragmentOf({ view: "rules", id })}/`) && link.textContent;
    if (!number || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    pointed = number;
    history.replaceState(null, "", fragmentOf({ view: "rules", id, rule: number }));
    pointTo(number);
  };
  /** @param {Variant} shown */
  const summary = ({ players, scoring }) => html`<div class="note">
    <h2>${t(RULES.inShort)}</h2>
    <p>${t(players.min === players.max ? RULES.playersExactly : RULES.players, players)}.
      ${t(scoring.best === "highest" ? RULES.highestWins : RULES.lowestWins)}</p>
    <p>${scoring.text}</p>
  </div>`;
  /** @param {Variant} shown */
  const deals = ({ deals: rows }) => {
    // A stock of which all may be drawn needs no column for that.
    const partly = rows.some((row) => row.drawable !== row.stock);
    return html`<details class="fold"><summary><h2>${t(RULES.deals)}</h2></summary>
      <div class="scroll" tabindex="0" role="group" aria-label=${t(RULES.deals)}><table class="figures">
        <caption class="hidden-text">${t(RULES.dealsCaption)}</caption>
        <thead><tr><th scope="col">${t(RULES.set)}</th><th scope="col" class="number">${t(RULES.seats)}</th>
          <th scope="col" class="number">${t(RULES.hand)}</th><th scope="col" class="number">${t(RULES.stock)}</th>
          ${partly ? html`<th scope="col" class="number">${t(RULES.drawable)}</th>` : nothing}</tr></thead>
        <tbody>${rows.map((row) => html`<tr><th scope="row">${t(RULES.setOf, { set: row.set })}</th>
          <td class="number">${row.players}</td><td class="number">${row.hand}</td><td class="number">${row.stock}</td>
          ${partly ? html`<td class="number">${row.drawable}</td>` : nothing}</tr>`)}</tbody>
      </table></div></details>`;
  };

  void load();
  return {
    title: () => (variant ? `${t(RULES.title)}: ${headingOf(variant.rules) || variant.name}` : t(RULES.title)),
    close: () => stop.abort(),
    render: () => {
      if (!variant) {
        return html`<h1 tabindex="-1">${t(RULES.title)}</h1>
          ${failure ? html`<p class="error">${failure}</p><div class="buttons"><button @click=${load}>${t(COMMON.tryAgain)}</button>
            <a class="button" href="#/">${t(COMMON.toHome)}</a></div>` : html`<p>${t(COMMON.loading)}</p>`}`;
      }
      const [title, ...text] = markdown(variant.rules, { address: (number) => fragmentOf({ view: "rules", id, rule: number }) });
      return html`<article class="rules" @click=${follow}>
        ${title} ${summary(variant)}
        <div class="buttons"><a class="button main" href=${fragmentOf({ view: "new", variant: id })}>${t(RULES.play)}</a>
          <button @click=${() => print()}>${t(RULES.print)}</button></div>
        ${text}
        ${deals(variant)}
      </article>`;
    },
  };
}
