/** The rules of a game, as the service has them: its page, its scoring, and its deals. One rule can be pointed to. */
import { html, nothing } from "../vendor/lit-html.js";
import { namesOf } from "../setup/options.js";
import { headingOf, markdown, ruleId } from "../shell/markdown.js";
import { fragmentOf } from "../shell/routes.js";

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
    if (!element) return app.announce(t("rules.noSuchRule", { rule: number }));
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
  const summary = ({ players, scoring, also_known_as: names }) => html`<div class="note">
    <h2>${t("rules.inShort")}</h2>
    <p>${t(players.min === players.max ? "rules.playersExactly" : "rules.players", players)}.
      ${t(scoring.best === "highest" ? "rules.highestWins" : "rules.lowestWins")}</p>
    <p>${scoring.text}</p>
    ${names.length ? html`<p class="soft">${t("rules.alsoKnownAs")} ${names.map(({ name, language, region }, at) =>
      html`${at ? ", " : ""}<span lang=${language}>${name}</span> (${region})`)}</p>` : nothing}
  </div>`;
  /** @param {Variant} shown */
  const deals = ({ deals: rows }) => {
    // A stock of which all may be drawn needs no column for that.
    const partly = rows.some((row) => row.drawable !== row.stock);
    return html`<details class="fold"><summary><h2>${t("rules.deals")}</h2></summary>
      <div class="scroll" tabindex="0" role="group" aria-label=${t("rules.deals")}><table class="figures">
        <caption class="hidden-text">${t("rules.dealsCaption")}</caption>
        <thead><tr><th scope="col">${t("rules.set")}</th><th scope="col" class="number">${t("rules.seats")}</th>
          <th scope="col" class="number">${t("rules.hand")}</th><th scope="col" class="number">${t("rules.stock")}</th>
          ${partly ? html`<th scope="col" class="number">${t("rules.drawable")}</th>` : nothing}</tr></thead>
        <tbody>${rows.map((row) => html`<tr><th scope="row">${t("rules.setOf", { set: row.set })}</th>
          <td class="number">${row.players}</td><td class="number">${row.hand}</td><td class="number">${row.stock}</td>
          ${partly ? html`<td class="number">${row.drawable}</td>` : nothing}</tr>`)}</tbody>
      </table></div></details>`;
  };

  void load();
  return {
    title: () => (variant ? `${t("rules.title")}: ${headingOf(variant.rules) || variant.name}` : t("rules.title")),
    close: () => stop.abort(),
    render: () => {
      if (!variant) {
        return html`<h1 tabindex="-1">${t("rules.title")}</h1>
          ${failure ? html`<p class="error">${failure}</p><div class="buttons"><button @click=${load}>${t("common.tryAgain")}</button>
            <a class="button" href="#/">${t("common.toHome")}</a></div>` : html`<p>${t("common.loading")}</p>`}`;
      }
      const [title, ...text] = markdown(variant.rules, { address: (number) => fragmentOf({ view: "rules", id, rule: number }), names: namesOf(t, variant) });
      return html`<article class="rules" translate="yes" @click=${follow}>
        ${title} ${summary(variant)}
        <div class="buttons"><a class="button main" href=${fragmentOf({ view: "new", variant: id })}>${t("rules.play")}</a>
          <button @click=${() => print()}>${t("rules.print")}</button></div>
        ${text}
        ${deals(variant)}
      </article>`;
    },
  };
}
