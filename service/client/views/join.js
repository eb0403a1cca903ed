/**
 * Joining a game by its code alone, or by a link. The code is taken out of the address before anything is asked. A game
 * that has no spectators shows nothing to who has no seat yet, but may be joined.
 */
import { html, nothing } from "../vendor/lit-html.js";
import { timeText } from "../game/durations.js";
import { entry } from "../setup/opponents.js";
import { idempotencyKey, Problem } from "../shell/api.js";
import { fragmentOf, parseRoute } from "../shell/routes.js";

/** @import { App, Game, Text, View } from "../shell/types.js" */
/** @import { TemplateResult } from "../vendor/lit-html.js" */

/** @param {App} app @param {{game?: string, code?: string}} route @returns {View} */
export function create(app, { game: id = "", code: givenCode = "" }) {
  const { t, api, device } = app;
  if (givenCode) history.replaceState(null, "", fragmentOf({ view: "join", game: id }));
  const stop = new AbortController();
  const forgets = device.forgets();
  let entered = id;
  let code = codeOf(givenCode);
  let name = device.lastName();
  /** @type {Game | undefined} */
  let game;
  let variantName = "";
  /** Whether nothing is shown of a game for which there is a code: it may have no spectators. */
  let isHidden = false;
  /** Whether no seed can be given, as the service has said. */
  let isArranged = false;
  let loading = false;
  let sending = false;
  let failure = "";
  /** @type {{game?: string, code?: string, name?: string}} */
  let errors = {};

  const look = async () => {
    loading = true;
    isHidden = false;
    errors = {};
    failure = "";
    app.update();
    try {
      const path = `v1/games/${encodeURIComponent(id)}`;
      const own = device.seatsOf(id)[0]?.token;
      game = (await api.get(path, { signal: stop.signal }).catch((error) => {
        if (!own || !isMissing(error)) throw error;
        return api.get(path, { token: own, signal: stop.signal });
      })).body;
      isArranged = game?.arranged ?? false;
      variantName = game?.variant ?? "";
      const { variants } = (await api.get("v1/variants", { signal: stop.signal })).body;
      variantName = variants.find((/** @type {{id: string}} */ each) => each.id === game?.variant)?.name ?? variantName;
    } catch (error) {
      if (stop.signal.aborted) return;
      isHidden = isMissing(error) && code !== "";
      if (isHidden) app.announce(t("join.hidden"));
      else if (isMissing(error)) refuse({ game: error.message });
      else fail(error);
    }
    loading = false;
    app.update();
  };
  /** @param {unknown} error */
  const fail = (error) => {
    failure = app.explain(error);
    app.announce(failure, { urgent: true });
  };
  /** Shows what is wrong at its fields, and moves to the first. @param {typeof errors} found */
  const refuse = async (found) => {
    errors = found;
    app.announce(Object.values(found).filter(Boolean).join(" "), { urgent: true });
    app.update();
    await Promise.resolve();
    /** @type {HTMLElement | null} */ (document.querySelector("main [aria-invalid=true]"))?.focus();
  };
  /** @param {SubmitEvent} event */
  const submitGame = (event) => {
    event.preventDefault();
    const text = entered.trim();
    if (JOIN_CODE.test(codeOf(text))) {
      code = codeOf(text);
      if (!sending) void join();
      return;
    }
    const link = text.includes("#") ? parseRoute(text.slice(text.indexOf("#"))) : undefined;
    if (link?.view === "seat") return app.go(link);
    const found = !link ? text : "game" in link ? link.game : undefined;
    if (!found || /[\s/]|^\.\.?$/.test(found)) return void refuse({ game: t("join.noGame") });
    if (link?.view === "join" && link.code) code = codeOf(link.code);
    id = entered = found;
    void look();
  };
  /** @param {SubmitEvent} event */
  const submitName = (event) => {
    event.preventDefault();
    if (!sending) void join();
  };
  const join = async () => {
    sending = true;
    failure = "";
    errors = {};
    app.announce(t("join.joining"));
    app.update();
    try {
      const own = { name: name.trim() || t("common.guest"), join_code: code, ...(isArranged ? {} : { client_seed: idempotencyKey() }) };
      // A code alone finds its game.
      const { body } = await api.postOnce(id ? `v1/games/${encodeURIComponent(id)}/players` : "v1/seats", own, {
        signal: stop.signal,
        onRetry(seconds) {
          failure = t("join.retrying", { seconds: Math.ceil(seconds) });
          app.announce(failure);
          app.update();
        },
      });
      const game = body.game.id;
      device.keep({ game, seat: body.seat, token: body.token, name: body.name, variant: body.game.variant });
      device.invite({ game, joinCode: code });
      if (!stop.signal.aborted) app.go({ view: "table", game }, { replace: true });
    } catch (error) {
      sending = false;
      refused(error);
    }
  };
  /** @param {unknown} error */
  const refused = (error) => {
    if (stop.signal.aborted) return;
    const fields = error instanceof Problem ? error.fields : {};
    if (fields.client_seed && !isArranged) {
      isArranged = true;
      return void join();
    }
    if (fields.name || fields.join_code) return void refuse({ name: fields.name?.join(" "), code: fields.join_code?.join(" ") });
    if (!id && error instanceof Problem && error.status === 403) return void refuse({ game: error.message });
    if (error instanceof Problem && error.body.reason === "wrong_join_code") {
      return void refuse({ code: t("join.wrongCode", { detail: error.message }) });
    }
    if (isHidden && isMissing(error)) return void refuse({ code: t("join.noSuchGame") });
    fail(error);
    if (!id) return app.update();
    // Somebody may have been faster: the table as it is now.
    const said = failure;
    void look().then(() => {
      failure ||= said;
      app.update();
    });
  };
  const another = () => {
    game = undefined;
    isHidden = false;
    entered = code = "";
    app.go({ view: "join" });
  };

  /** @param {"game" | "code" | "name"} own @param {Text} label @param {string} value @param {(value: string) => void} change */
  const field = (own, label, value, change) => entry(app, { id: own, label, value, change, error: errors[own], isName: own === "name" });
  const gameForm = () => html`<p class="lead">${t("join.introduction")}</p>
    <form class="card" novalidate @submit=${submitGame}>
      ${field("game", "join.game", entered, (value) => (entered = value))}
      ${field("name", "join.name", name, (value) => (name = value))}
      ${failure ? html`<p class="error">${failure}</p>` : nothing}
      <div class="buttons"><button class="main" aria-disabled=${sending}>${t(sending ? "join.joining" : "join.look")}</button></div>
    </form>`;
  /** @param {TemplateResult | typeof nothing} watch the way to watch the game, if there is one */
  const nameForm = (watch = nothing) => html`<form novalidate @submit=${submitName}>
    ${givenCode && code === codeOf(givenCode) && !errors.code ? nothing : field("code", "join.code", code, (value) => (code = codeOf(value)))}
    ${field("name", "join.name", name, (value) => (name = value))}
    ${failure ? html`<p class="error">${failure}</p>` : nothing}
    <div class="buttons"><button class="main large" aria-disabled=${sending}>${t(sending ? "join.joining" : "join.join")}</button>
      ${watch}
      <button type="button" class="plain" @click=${another}>${t("join.another")}</button></div>
  </form>`;
  const hidden = () => html`<p class="lead">${t("join.hidden")}</p>${nameForm()}`;
  /** @param {Game} shown */
  const table = (shown) => {
    const free = shown.players.filter((each) => each.kind === "open").length;
    const own = device.seatsOf(shown.id);
    const isWatched = shown.spectators !== false;
    const watch = (look = "button") => (isWatched
      ? html`<a class=${look} href=${fragmentOf({ view: "table", game: shown.id, watch: true })}>${t("join.watch")}</a>` : nothing);
    return html`<section class="card" aria-labelledby="at-the-table">
        <h2 id="at-the-table">${variantName}</h2>
        <p>${free ? t("join.freeSeats", { count: free }) : isWatched ? t("join.full") : nothing} <a href=${fragmentOf({ view: "rules", id: shown.variant })}>${t("join.rules")}</a></p>
        <ol class="at-table" aria-label=${t("join.players")}>${shown.players.map((each) => html`<li class=${each.kind === "open" ? "soft" : nothing}>
          <bdi>${each.name ?? (each.kind === "open" ? t("join.free") : t("join.computer"))}</bdi>
          ${own.some((seat) => seat.seat === each.seat) ? html`<span class="tag">${t("join.you")}</span>` : nothing}
          ${each.kind === "bot" ? html`<span class="tag">${t("join.computer")}</span>` : nothing}</li>`)}</ol>
        ${shown.clock ? html`<p class="soft">${timeText(app, shown)}</p>` : nothing}
      </section>
      ${own.length ? html`<p class="note">${t("join.already", { names: own.map((each) => each.name).join(", ") })}
        <a href=${fragmentOf({ view: "table", game: shown.id })}>${t("join.toTable")}</a></p>` : nothing}
      ${free ? nameForm(watch()) : html`${failure ? html`<p class="error">${failure}</p>` : nothing}
        <div class="buttons">${watch("button main")}
          <button class="plain" @click=${another}>${t("join.another")}</button></div>`}`;
  };

  if (id) void look();
  return {
    title: () => t("join.title"),
    close: () => stop.abort(),
    render: () => html`<h1 tabindex="-1">${t("join.title")}</h1>
      ${forgets ? html`<p class="note warn">${t("home.forgets")}</p>` : nothing}
      ${game ? table(game) : loading ? html`<p>${t("common.loading")}</p>` : isHidden ? hidden() : gameForm()}`,
  };
}

/** A join code, without blanks and hyphens. */
const JOIN_CODE = /^[0-9A-Z]{8}$/;

/** Whether there is no such game, or none for who asks. @param {unknown} error @returns {error is Problem} */
const isMissing = (error) => error instanceof Problem && error.status === 404;

/** A code as it was made: people write it in groups, and in small letters. @param {string} text */
const codeOf = (text) => text.replace(/[\s-]/g, "").toUpperCase();
