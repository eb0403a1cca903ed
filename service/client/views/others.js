/**
 * Playing with others: which game, with how many, under which name; the service sits them down. Owns what all who ask
 * have in common, so that they meet: the clock, and when computer players take the free seats.
 */
import { html, live, nothing } from "../vendor/lit-html.js";
import { clockText } from "../game/durations.js";
import { easiest, offered } from "../setup/games.js";
import { entry, numberChips, usualLevel, USUAL_PLAYERS } from "../setup/opponents.js";
import { Problem } from "../shell/api.js";

/** @import { App, Bot, VariantSummary, View } from "../shell/types.js" */

const CLOCK = { turn: 60 };
/** So many seconds after the first player sat down. */
const FILLED_AFTER = 45;

/** @param {App} app @returns {View} */
export function create(app) {
  const { t, api, device } = app;
  const stop = new AbortController();
  /** @type {VariantSummary[]} */
  let variants = [];
  /** @type {Bot[]} */
  let bots = [];
  /** @type {VariantSummary | undefined} */
  let variant;
  let players = USUAL_PLAYERS;
  let name = device.lastName();
  let failure = "";
  let sending = false;

  /** @param {string} message */
  const say = (message, urgent = false) => {
    failure = message;
    app.announce(message, { urgent });
    app.update();
  };
  const load = async () => {
    failure = "";
    try {
      ({ variants, bots } = await offered(app, stop.signal));
      choose(easiest(variants));
    } catch (error) {
      if (!stop.signal.aborted) say(app.explain(error), true);
    }
  };
  /** @param {VariantSummary | undefined} next */
  const choose = (next) => {
    variant = next;
    players = Math.min(Math.max(players, next?.players.min ?? 0), next?.players.max ?? players);
    app.update();
  };
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    if (!variant || sending) return;
    sending = true;
    failure = "";
    app.announce(t("join.joining"));
    app.update();
    device.set({ name: name.trim() });
    const bot = usualLevel(bots);
    const wish = { variant: variant.id, players, name: name.trim() || t("common.guest"), clock: CLOCK, fill: bot ? { after: FILLED_AFTER, bot } : undefined };
    try {
      const { body } = await api.postOnce("v1/seeks", wish, {
        signal: stop.signal, onRetry: (seconds) => say(t("join.retrying", { seconds: Math.ceil(seconds) })),
      });
      const game = body.game.id;
      device.keep({ game, seat: body.seat, token: body.token, name: body.name, variant: body.game.variant });
      if (!stop.signal.aborted) app.go({ view: "table", game }, { replace: true });
    } catch (error) {
      sending = false;
      if (stop.signal.aborted) return;
      const fields = error instanceof Problem ? Object.values(error.fields).flat() : [];
      say(fields.join(" ") || app.explain(error), true);
      document.getElementById("name")?.focus();
    }
  };

  /** @param {VariantSummary} shown */
  const form = ({ id, summary, players: { min, max } }) => html`<form class="card" novalidate @submit=${submit}>
    <div class="field"><label for="variant">${t("new.game")}</label>
      <select id="variant" aria-describedby="summary" @change=${(/** @type {Event} */ event) =>
        choose(variants.find((each) => each.id === /** @type {HTMLSelectElement} */ (event.target).value))}>${variants.map((each) => html`<option value=${each.id}
        .selected=${live(each.id === id)}>${each.name}</option>`)}</select>
      <p class="hint" id="summary">${summary}</p></div>
    ${numberChips(t("new.number"), "players", Array.from({ length: max - min + 1 }, (_, at) => min + at), players, (number) => {
      players = number;
      app.update();
    })}
    ${entry(app, { id: "name", label: "join.name", value: name, change: (value) => (name = value), isName: true })}
    ${failure ? html`<p class=${sending ? "soft" : "error"}>${failure}</p>` : nothing}
    <div class="buttons"><button class="main large" aria-disabled=${sending}>${t(sending ? "join.joining" : "join.join")}</button></div>
  </form>`;

  void load();
  return {
    title: () => t("home.others"),
    close: () => stop.abort(),
    render: () => html`<h1 tabindex="-1">${t("home.others")}</h1>
      <p class="lead">${t("others.how", { seconds: FILLED_AFTER, clock: clockText(app, CLOCK) })}</p>
      ${variant ? form(variant) : failure ? html`<p class="error">${failure}</p><div class="buttons"><button @click=${load}>${t("common.tryAgain")}</button></div>`
      : html`<p class="to-come">${t("common.loading")}</p>`}`,
  };
}
