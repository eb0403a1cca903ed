/**
 * Parts of the table view that only show: the heading with the facts, the last count, the log, the tools for listening
 * and commands, and what is wrong. They keep nothing; what they do is given to them.
 */
import { html, nothing, repeat } from "./vendor/lit-html.js";
import { optionTexts } from "./answers.js";
import { TELLING, keyName, showKeys } from "./keys.js";
import { fragmentOf } from "./routes.js";
import { COMMON } from "./text.js";
import { KEY_HELP, TABLE } from "./texts/table.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {import("./types.js").Game} Game */
/** @typedef {import("./types.js").Score} Score */
/** @typedef {import("./types.js").Variant} Variant */

/** @param {App} app @param {Game} game @param {Variant | undefined} variant */
export const heading = ({ t }, game, variant) => html`<header class="head">
  <h1 tabindex="-1">${variant?.name ?? game.variant}</h1>
  <p class="facts">${game.round ? html`<span>${t(TABLE.round, { round: game.round })}</span>` : nothing}
    <span>${t(TABLE.stock, { count: game.stock.tiles })}</span>
    ${game.board.ends_sum === undefined ? nothing : html`<span>${t(TABLE.sum, { sum: game.board.ends_sum })}</span>`}
    ${game.carry ? html`<span>${t(TABLE.carry, { points: game.carry })}</span>` : nothing}</p>
</header>`;

/** What the last round has written. @param {App} app @param {Game} game @param {Score | undefined} score */
export function lastCount({ t }, game, score) {
  const round = score?.rounds.at(-1);
  return html`<section class="last-count" aria-labelledby="count-title">
    <h2 id="count-title">${t(TABLE.lastCount, { round: round?.number ?? game.round })}</h2>
    ${round ? html`<table>
      <thead><tr><th scope="col">${t(TABLE.player)}</th><th scope="col" class="number">${t(TABLE.written)}</th><th scope="col" class="number">${t(TABLE.total)}</th></tr></thead>
      <tbody>${game.players.map((each) => html`<tr class=${game.winners.includes(each.seat) ? "winner" : ""}><th scope="row">${each.name}</th>
        <td class="number">${round.scores[each.seat]}</td><td class="number">${each.total}</td></tr>`)}</tbody>
    </table>` : nothing}
    ${game.carry ? html`<p>${t(TABLE.carry, { points: game.carry })}</p>` : nothing}
  </section>`;
}

/** What has happened. @param {App} app @param {import("./types.js").GameEvent[]} events */
export const log = ({ t }, events) => html`<div class="log" role="log" aria-label=${t(TABLE.log)} tabindex="0"><ol>${repeat(
  events.filter((each) => each.text), (each) => each.version, (each) => html`<li>${each.text}</li>`)}</ol></div>`;

/**
 * @param {App} app @param {Game} game @param {Variant | undefined} variant
 * @param {{tell: (action: string) => void, onCommand: (event: SubmitEvent) => void}} does
 */
export const tools = (app, game, variant, { tell, onCommand }) => html`<div class="tools">
  <details class="listen"><summary>${app.t(TABLE.listen)}</summary>
    <div class="buttons">${TELLING.map((action) => html`<button data-tell=${action} @click=${() => tell(action)}>${app.t(KEY_HELP[action])} <kbd aria-hidden="true">${keyName(app, action)}</kbd></button>`)}
      <button data-tell="help" @click=${showKeys}>${app.t(TABLE.keysTitle)} <kbd aria-hidden="true">?</kbd></button></div>
  </details>
  <form class="command inline" @submit=${onCommand}>
    <label for="command">${app.t(TABLE.command)}</label>
    <input id="command" name="command" autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="go" aria-describedby="command-hint">
    <button>${app.t(TABLE.send)}</button>
    <p class="hint soft" id="command-hint">${app.t(TABLE.commandHint)}</p>
  </form>
  <details class="about"><summary>${app.t(TABLE.options)}</summary>
    <ul>${optionTexts(app, game, variant).map((each) => html`<li>${each}</li>`)}</ul>
    <p><a href=${fragmentOf({ view: "rules", id: game.variant })}>${app.t(TABLE.rules)}</a> · <a href=${fragmentOf({ view: "score", id: game.id })}>${app.t(TABLE.scoreCard)}</a></p>
  </details>
</div>`;

/** What keeps the game from being followed, if anything does. @param {App} app @param {import("./match.js").Match} match */
export const banner = ({ t, explain }, { id, connection, failure }) => html`
  ${connection === "lost" ? html`<p class="note warn banner" role="status">${t(TABLE.lost)}</p>` : nothing}
  ${failure ? html`<div class="note warn banner"><p>${explain(failure)}</p><p><a href="#/">${t(COMMON.toHome)}</a>${
    /** @type {{status?: number}} */ (failure).status === 401
      ? html` · <a href=${fragmentOf({ view: "table", game: id, watch: true })}>${t(TABLE.watch)}</a>` : nothing}</p></div>` : nothing}`;
