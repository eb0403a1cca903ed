/** A new game: who plays and by which house rules, of whatever games the service offers. */
import { html, live, nothing } from "../vendor/lit-html.js";
import { clockText } from "../game/durations.js";
import { easiest, offered } from "../setup/games.js";
import { nameAt, numberChips, playersOf, usualLevel, USUAL_PLAYERS } from "../setup/opponents.js";
import { SET, dealOf, dealText, describedBy, errorAt, fieldId, namesOf, numberField as pauseField, optionFields, optionsOf, switchField, textField } from "../setup/options.js";
import { noClock, timeFields, timeOf } from "../setup/timefields.js";
import { Problem } from "../shell/api.js";
import { fragmentOf } from "../shell/routes.js";

/** @import { App, Bot, SeatChoice, Variant, VariantSummary, View } from "../shell/types.js" */

/** @param {App} app @param {{variant?: string, how?: "here" | "friends"}} route @returns {View} */
export function create(app, { variant: asked, how }) {
  const { t, api, device } = app;
  const stop = new AbortController();
  /** @type {VariantSummary[]} */
  let variants = [];
  /** @type {Bot[]} */
  let bots = [];
  /** @type {Variant | undefined} */
  let variant;
  /** @type {SeatChoice[]} of as many seats as were ever asked for; the first `players` of them play */
  let seats = device.lastSeats();
  let players = seats.length || USUAL_PLAYERS;
  /** @type {import("../setup/options.js").Values} */
  let values = {};
  let uniqueNames = false;
  let seed = "";
  let time = noClock();
  /** Seconds before the move of a computer player; the service decides where it is "". @type {number | ""} */
  let pace = device.pace() ?? "";
  /** @type {Record<string, string[]>} */
  let errors = {};
  let failure = "";
  let sending = false;
  let rulesAreOpen = false;
  /** @type {typeof import("../shell/markdown.js").markdown | undefined} */
  let markdown;

  const load = async () => {
    failure = "";
    try {
      ({ variants, bots } = await offered(app, stop.signal));
      if (how) asked ??= easiest(variants)?.id;
      if (asked) await choose(asked);
      if (how) setOthers(how === "here" ? "here" : "open");
    } catch (error) {
      fail(error);
    }
    app.update();
  };
  /** @param {unknown} error */
  const fail = (error) => {
    if (stop.signal.aborted) return;
    failure = app.explain(error);
    app.announce(failure, { urgent: true });
  };
  /** @param {string} id */
  const choose = async (id) => {
    const { body } = await api.get(`v1/variants/${encodeURIComponent(id)}`, { signal: stop.signal });
    // Meanwhile another one may have been chosen.
    if (id !== asked) return;
    variant = body;
    values = {};
    errors = {};
    setPlayers(players);
  };
  /** @param {Event} event */
  const chooseOther = async (event) => {
    asked = /** @type {HTMLSelectElement} */ (event.target).value;
    history.replaceState(null, "", fragmentOf({ view: "new", variant: asked, how }));
    await choose(asked).catch(fail);
    app.update();
  };
  /** A change of what was entered, and then another form. @type {<Values extends any[]>(change: (...values: Values) => void) => (...values: Values) => void} */
  const updating = (change) => (...entered) => {
    change(...entered);
    app.update();
  };
  /** Sets the number of players, as near to it as the game allows. @param {number} number */
  const setPlayers = (number) => {
    const { min, max } = variant?.players ?? { min: number, max: number };
    players = Math.min(Math.max(number, min), max);
    while (seats.length < players) seats.push({ kind: seats.length ? "open" : "here", name: "", level: "" });
    // A level that the service no longer has.
    seats = seats.map((each) => (each.kind === "bot" && !bots.some(({ id }) => id === each.level) ? { ...each, kind: "open" } : each));
    errors = {};
    app.update();
  };
  const setSeat = updating((/** @type {number} */ seat, /** @type {Partial<SeatChoice>} */ change) => {
    seats = seats.map((each, at) => (at === seat ? { ...each, ...change } : each));
  });
  /** Seats one person here, and all others so. */
  const setOthers = updating((/** @type {SeatChoice["kind"]} */ others) => {
    const level = others === "bot" ? usualLevel(bots) : "";
    seats = seats.map((each, at) => (at ? { ...each, kind: others, level } : { ...each, kind: "here", level: "" }));
  });
  const preset = (/** @type {SeatChoice["kind"]} */ others, /** @type {string} */ label) => html`<button type="button"
    aria-pressed=${seats.slice(0, players).every(({ kind }, at) => kind === (at ? others : "here"))} @click=${() => setOthers(others)}>${label}</button>`;

  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    if (!variant || sending) return;
    sending = true;
    failure = "";
    app.announce(t("new.creating"));
    app.update();
    const chosen = seats.slice(0, players);
    try {
      const { body } = await api.postOnce("v1/games", {
        variant: variant.id,
        players: playersOf(chosen.map((each, at) => ({ ...each, name: nameAt(t, chosen, at) })), seed),
        options: optionsOf(variant, values, players),
        unique_names: uniqueNames || undefined,
        auto: true,
        seed: seed || undefined,
        pace: pace === "" ? undefined : pace,
        ...timeOf(time),
      }, { signal: stop.signal, onRetry: waiting });
      device.keepLastSeats(chosen);
      // The seat that is kept last is the first one of its game.
      for (const seat of [...body.seats].reverse()) device.keep({ game: body.game.id, ...seat, variant: body.game.variant });
      if (body.join_code) device.invite({ game: body.game.id, joinCode: body.join_code });
      if (!stop.signal.aborted) app.go({ view: "table", game: body.game.id });
    } catch (error) {
      sending = false;
      refused(error);
    }
  };
  /** @param {number} seconds */
  const waiting = (seconds) => {
    failure = t("new.retrying", { seconds: Math.ceil(seconds) });
    app.announce(failure);
    app.update();
  };
  /** Shows what is wrong at its fields. @param {unknown} error */
  const refused = async (error) => {
    errors = error instanceof Problem ? error.fields : {};
    const count = Object.keys(errors).length;
    if (!count) fail(error);
    app.update();
    await Promise.resolve();
    const invalid = /** @type {HTMLElement | null} */ (document.querySelector("main [aria-invalid=true]"));
    const folded = invalid?.closest("details");
    if (folded) folded.open = true;
    invalid?.focus();
    if (!count) return;
    const messages = Object.entries(errors).map(([path, texts]) => [fieldId(path), texts.join(" ")]);
    const first = messages.find(([id]) => id === invalid?.id)?.[1] ?? messages[0]?.[1] ?? "";
    app.announce(t("new.mistakes", { count, first }), { urgent: true });
    // What belongs to no field of the form.
    failure = messages.filter(([id]) => !document.getElementById(id ?? "")).map(([, text]) => text).join(" ");
    app.update();
  };

  /** @param {VariantSummary} each */
  const card = (each) => html`<li class="card variant">
    <h2><a href=${fragmentOf({ view: "new", variant: each.id })}>${each.name}</a></h2>
    <p>${each.summary}</p>
    <p class="soft">${numberOf(each)} · <a href=${fragmentOf({ view: "rules", id: each.id })}
      aria-label=${`${t("new.rules")}: ${each.name}`}>${t("new.rules")}</a></p>
  </li>`;
  /** @param {VariantSummary} each */
  const numberOf = ({ players: { min, max } }) => t(min === max ? "new.playersExactly" : "new.players", { min, max });

  /** @param {Variant} shown */
  const numberField = ({ players: { min, max } }) => min === max
    ? html`<p>${t("new.playersExactly", { min })}</p>`
    : numberChips(t("new.number"), "players", Array.from({ length: max - min + 1 }, (_, at) => min + at), players, setPlayers);
  /** @param {SeatChoice} seat @param {number} at */
  const seatField = ({ kind, name, level }, at) => {
    const path = `players.${at}.name`;
    const number = at + 1;
    const chosen = (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLSelectElement} */ (event.target);
      if (value === "here" || value === "open") setSeat(at, { kind: value, level: "" });
      else setSeat(at, { kind: "bot", level: value.slice("bot ".length) });
    };
    const option = (/** @type {string} */ value, /** @type {string} */ label) =>
      html`<option value=${value} .selected=${live(value === (kind === "bot" ? `bot ${level}` : kind))}>${label}</option>`;
    return html`<li class="seat-choice">
      <span class="seat-number" aria-hidden="true">${number}</span>
      <select aria-label=${t("new.kind", { number })} aria-describedby=${kind === "bot" ? `level-${level}` : nothing} @change=${chosen}>
        ${option("here", t("new.here"))} ${option("open", t("new.open"))}
        ${bots.map(({ id, name: each }) => option(`bot ${id}`, t("new.bot", { level: each })))}
      </select>
      ${kind === "here" ? html`<input id=${fieldId(path)} aria-label=${t("new.nameOf", { number })} placeholder=${nameAt(t, seats.slice(0, players).map((each) => ({ ...each, name: "" })), at)} autocomplete="off" dir="auto"
          .value=${live(name)} aria-invalid=${errors[path] ? "true" : nothing} aria-describedby=${describedBy(errors, path)}
          @input=${(/** @type {Event} */ event) => setSeat(at, { name: /** @type {HTMLInputElement} */ (event.target).value })}>` : nothing}
      ${errorAt(errors, path)}
    </li>`;
  };
  /** What a level of computer players does, and how strong it is in this game. @param {Bot} level */
  const levelText = ({ id, name, summary }) => html`<details class="soft" id=${`level-${id}`}><summary><b>${name}</b>: ${summary}</summary>
    ${variant?.bots.find((each) => each.id === id)?.strength}</details>`;
  /** @param {Variant} shown */
  const form = (shown) => {
    const playing = seats.slice(0, players);
    const deal = dealOf(shown, values, players);
    const fields = optionFields(app, {
      variant: shown, values, players, errors,
      change: updating((name, value) => (values = { ...values, [name]: value })),
    });
    return html`<form class="setup" novalidate @submit=${submit}>
      <div class="field"><label for="variant">${t("new.game")}</label>
        <select id="variant" aria-describedby="summary" @change=${chooseOther}>${variants.map((each) => html`<option value=${each.id}
          .selected=${live(each.id === shown.id)}>${each.name}</option>`)}</select></div>
      <p id="summary">${shown.summary}</p>
      <section class="card" aria-labelledby="who">
        <h2 id="who">${t("new.who")}</h2>
        ${numberField(shown)}
        <div class="buttons">${preset("here", t("new.allHere"))}${preset("open", t("new.eachOwn"))}${bots.length ? preset("bot", t("new.againstComputer")) : nothing}</div>
        <ol class="seat-choices">${playing.map(seatField)}</ol>
        ${errorAt(errors, "players")}
        ${bots.filter(({ id }) => playing.some((each) => each.level === id)).map(levelText)}
        <p class="soft">${t("new.order")} ${playing.some((each) => each.kind === "open") ? t("new.invitation") : nothing}</p>
        ${deal && !(SET in shown.options.properties) ? html`<p class="soft">${t("new.deal", { set: deal.set, deal: dealText(t, deal) })}</p>` : nothing}
      </section>
      ${fields.length ? html`<details class="fold card"><summary><h2>${t("new.houseRules")}</h2></summary>${fields}</details>` : nothing}
      <details class="fold card"><summary><h2>${t("new.time")}</h2> <span class="soft">${clockText(app, timeOf(time).clock)}</span></summary>
        ${timeFields(app, { choice: time, errors, change: updating((choice) => (time = choice)) })}</details>
      <details class="fold card"><summary><h2>${t("new.advanced")}</h2></summary>
        ${switchField({ path: "unique_names", errors, label: t("new.uniqueNames"), hint: t("new.uniqueNamesHint"), value: uniqueNames, change: updating((value) => (uniqueNames = value)) })}
        ${textField({ path: "seed", errors, schema: { title: t("new.seed"), description: t("new.seedHint"), type: "string" }, value: seed, change: updating((value) => (seed = String(value))) })}
        ${playing.some((each) => each.kind === "bot") ? pauseField(app, { name: "pace", path: "pace", errors, value: pace, usual: undefined,
          schema: { title: t("new.pace"), description: t("new.paceHint"), type: "number", minimum: 0, maximum: 10 }, change: updating((value) => (pace = value === undefined || value === "" ? "" : Number(value))) }) : nothing}
      </details>
      <details class="fold card" @toggle=${openRules}><summary><h2>${t("new.rules")}</h2></summary>
        ${rulesAreOpen && markdown ? html`<div class="rules">${markdown(shown.rules, { level: 2, names: namesOf(t, shown) }).slice(1)}</div>` : nothing}
        <p><a href=${fragmentOf({ view: "rules", id: shown.id })}>${t("new.rulesPage")}</a></p></details>
      <div class="start">${failure ? html`<p class="error">${failure}</p>` : nothing}
        <button class="main large" aria-disabled=${sending}>${t(sending ? "new.creating" : "new.create")}</button></div>
    </form>`;
  };
  /** @param {Event} event */
  const openRules = async (event) => {
    rulesAreOpen = /** @type {HTMLDetailsElement} */ (event.target).open;
    if (rulesAreOpen) ({ markdown } = await import("../shell/markdown.js"));
    app.update();
  };

  void load();
  return {
    title: () => (variant ? t("new.titleOf", { name: variant.name }) : t("new.title")),
    close: () => stop.abort(),
    render: () => html`<h1 tabindex="-1">${t("new.title")}</h1>
      ${variant ? form(variant) : failure ? html`<p class="error">${failure}</p>
        <div class="buttons"><button @click=${load}>${t("common.tryAgain")}</button></div>`
      : asked || how || !variants.length ? html`<p class="to-come">${t("common.loading")}</p>`
      : html`<p class="lead">${t("new.choose")}</p><ul class="cards">${variants.map(card)}</ul>`}`,
  };
}
