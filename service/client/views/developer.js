/**
 * The developer drawer: every request with its answer and as a curl line, what streams bring, and faults to provoke.
 * Tokens and join codes are nowhere in it unless it is told to show them.
 */
import { html, nothing, repeat } from "../vendor/lit-html.js";
import { Problem } from "../shell/api.js";
import { curlLine, gamePath, masked, withoutSecrets } from "../shell/exposure.js";
import { createFaults } from "../shell/faults.js";

/** @import { Text } from "../texts/text.js" */
/** @import { App, Exchange, StreamItem, View } from "../shell/types.js" */

/** How much of a body is shown. */
const MAX_CHARACTERS = 20_000;
const PARTS = /** @type {const} */ (["requests", "stream", "faults"]);

/** @param {App} app @param {{close: () => void}} frame @returns {View} */
export function create(app, { close }) {
  const { t, api, device, update, announce } = app;
  const faults = createFaults(app);
  /** @type {typeof PARTS[number]} */
  let part = "requests";
  let filter = "";
  let showsSecrets = false;
  let outcome = "";
  /** What came of the last copy, and of which exchange. */
  let copied = { id: 0, text: "" };
  /** The exchanges and items whose contents are shown; those of the others are not in the page. @type {Set<number>} */
  const opened = new Set();

  /** Whether an answer to that token has one of several hands on this device. @param {string} path @param {string | undefined} token */
  const hasHandOfMany = (path, token) =>
    !showsSecrets && token !== undefined && device.seatsOf(decodeURIComponent(gamePath(path)?.split("/").at(-1) ?? "")).length > 1;
  /** @param {unknown} body */
  const json = (body) => (typeof body === "string" ? body : JSON.stringify(showsSecrets ? body : masked(body), null, 2) ?? "");
  /** @param {Exchange} exchange */
  const shown = (exchange) => (showsSecrets ? exchange : withoutSecrets(exchange));
  /** @param {Exchange} exchange */
  const answerOf = ({ path, token, answer }) => (hasHandOfMany(path, token) ? t("developer.hiddenHands") : json(answer));
  /** @param {StreamItem} entry */
  const itemText = ({ game, token, item }) => (hasHandOfMany(game, token) ? t("developer.hiddenHands") : json(item));

  /** @param {string} text */
  const bounded = (text) => (text.length <= MAX_CHARACTERS ? text
    : `${text.slice(0, MAX_CHARACTERS)}\n${t("developer.shortened", { number: text.length - MAX_CHARACTERS })}`);
  /** @param {...string} texts */
  const fits = (...texts) => filter === "" || texts.some((each) => each.toLowerCase().includes(filter));
  /** @param {[string, string][]} headers */
  const headerLines = (headers) => headers.map(([name, value]) => `${name}: ${value}`).join("\n");

  /** @param {number} id @param {unknown} summary @param {() => unknown} contents */
  const disclosure = (id, summary, contents) => html`<li><details .open=${opened.has(id)} @toggle=${(/** @type {Event} */ event) => {
    const { open } = /** @type {HTMLDetailsElement} */ (event.target);
    if (open === opened.has(id)) return;
    opened[open ? "add" : "delete"](id);
    update();
  }}><summary>${summary}</summary>${opened.has(id) ? contents() : nothing}</details></li>`;
  /** @param {Text} title @param {string} text */
  const block = (title, text) => (text ? html`<h4>${t(title)}</h4><pre tabindex="0" role="group" aria-label=${t(title)}>${bounded(text)}</pre>` : nothing);

  /** @param {Exchange} exchange */
  const request = (exchange) => {
    const { id, method, path, status, ms } = exchange;
    const state = status || (exchange.answer === undefined ? t("developer.waiting") : t("developer.unanswered"));
    return disclosure(id, html`<b>${method}</b> <span class="path">${path}</span>
      <span class=${status >= 400 || exchange.answer !== undefined && !status ? "error" : "soft"}>${state}${ms ? ` · ${t("developer.ms", { ms })}` : nothing}</span>`,
    () => {
      const { headers, token, body, answerHeaders } = shown(exchange);
      const sent = [...Object.entries(headers), .../** @type {[string, string][]} */ (token ? [["Authorization", `Bearer ${token}`]] : [])];
      const field = `curl-${id}`;
      return html`<label for=${field}>${t("developer.curl")}</label>
        <textarea id=${field} class="curl" readonly rows="3" spellcheck="false" .value=${curlLine(shown(exchange), { showToken: showsSecrets })}></textarea>
        <button @click=${() => copy(id, field)}>${t("developer.copyCurl")}</button>
        ${copied.id === id ? html`<span class="soft">${copied.text}</span>` : nothing}
        ${block("developer.requestHeaders", headerLines(sent))}
        ${block("developer.requestBody", body === undefined ? "" : json(body))}
        ${block("developer.answerHeaders", headerLines(answerHeaders))}
        ${block("developer.answerBody", exchange.answer === undefined ? "" : answerOf(exchange))}`;
    });
  };

  /** @param {StreamItem} entry */
  const streamItem = (entry) => {
    const { item } = entry;
    const text = hasHandOfMany(entry.game, entry.token) ? "" : item.text ?? "";
    return disclosure(entry.id, html`<b>${item.version ?? ""}</b> ${item.type} <span class="soft">${text}</span>`,
      () => html`<pre tabindex="0" role="group" aria-label=${item.type}>${bounded(itemText(entry))}</pre>`);
  };

  /** @param {number} id @param {string} field */
  async function copy(id, field) {
    const area = /** @type {HTMLTextAreaElement} */ (document.getElementById(field));
    area.select();
    // Only where the page was loaded by https, or from this device.
    const isCopied = await navigator.clipboard?.writeText(area.value).then(() => true, () => false);
    copied = { id, text: t(isCopied ? "common.copied" : "developer.select") };
    announce(copied.text);
    update();
  }

  /** Says what came of a fault. @param {Promise<{status: number} | undefined> | undefined} answer @param {Text} missing */
  async function provoke(answer, missing) {
    try {
      const found = await answer;
      if (!found) say(t(missing));
      else if (found instanceof Problem) say(t("developer.answered", { status: found.status, detail: found.message }));
      else {
        const isReplay = api.exchanges[0]?.answerHeaders.some(([name]) => name === "idempotent-replayed");
        say(t("developer.answered", { status: found.status, detail: t(isReplay ? "developer.replayed" : "developer.accepted") }));
      }
    } catch (error) {
      say(app.explain(error));
    }
  }
  /** @param {string} text */
  function say(text) {
    outcome = text;
    announce(text);
    update();
  }

  /** @param {Text} name @param {Text} hint @param {() => void} act @param {boolean} [isPossible] */
  const fault = (name, hint, act, isPossible = true) => html`<li><button ?disabled=${!isPossible} @click=${act}>${t(name)}</button>
    <span class="soft">${t(hint)}</span></li>`;
  const faultList = () => {
    const hasMove = faults.lastMove() !== undefined;
    const state = faults.secondsLeft ? t("developer.isOffline", { seconds: faults.secondsLeft }) : outcome;
    return html`${state ? html`<p class="note">${state}</p>` : nothing}
      <ul class="faults">
      ${fault("developer.drop", "developer.dropHint", () => say(t("developer.dropped", { count: faults.dropStream() })))}
      ${fault("developer.offline", "developer.offlineHint", () => { outcome = t("developer.online"); faults.goOffline(); }, !faults.secondsLeft)}
      ${fault("developer.twice", "developer.twiceHint", () => provoke(faults.sendTwice(), "developer.noMove"), hasMove)}
      ${fault("developer.stale", "developer.staleHint", () => provoke(faults.sendStale(), "developer.noMove"), hasMove)}
      ${fault("developer.other", "developer.otherHint", () => provoke(faults.sendAsOther(), "developer.noGame"), faults.lastGame() !== undefined)}
    </ul>`;
  };

  /** The version and the ETag of the last game that was looked at. */
  const state = () => {
    const found = api.exchanges.find(({ answer }) => /** @type {any} */ (answer)?.legal_moves && /** @type {any} */ (answer).version);
    const etag = found?.answerHeaders.find(([name]) => name === "etag")?.[1];
    return found && etag ? html`<p class="soft mono">${t("developer.state", { version: /** @type {any} */ (found.answer).version, etag })}</p>` : nothing;
  };

  const requests = () => {
    const fitting = api.exchanges.filter((each) => {
      const { body } = shown(each);
      return fits(`${each.method} ${each.path} ${each.status}`, filter && body !== undefined ? json(body) : "", filter && each.answer !== undefined ? answerOf(each) : "");
    });
    return html`${fitting.length ? html`<ol class="entries">${repeat(fitting, (each) => each.id, request)}</ol>` : html`<p>${t("developer.nothingFits")}</p>`}`;
  };
  const stream = () => {
    const fitting = api.items.filter((each) => fits(filter && itemText(each)));
    return fitting.length ? html`<ol class="entries">${repeat(fitting, (each) => each.id, streamItem)}</ol>`
      : html`<p>${t(api.items.length ? "developer.nothingFits" : "developer.noItems")}</p>`;
  };

  return {
    title: () => t("developer.title"),
    render: () => html`<div class="developer">
      <header><h2 tabindex="-1">${t("developer.title")}</h2>
        <button class="plain" aria-label=${t("developer.close")} title=${t("developer.close")} @click=${close}>×</button></header>
      ${state()}
      <div class="parts" role="group" aria-label=${t("developer.parts")}>${PARTS.map((each) => html`<button
        aria-pressed=${part === each} @click=${() => { part = each; update(); }}>${t(`drawerParts.${each}`)}</button>`)}</div>
      ${part === "faults" ? html`<h3 class="hidden-text">${t("drawerParts.faults")}</h3>${faultList()}` : html`
        <h3 class="hidden-text">${t(`drawerParts.${part}`)}</h3>
        <div class="search">
          <label for="developer-filter">${t("developer.filter")}</label>
          <input id="developer-filter" type="search" autocomplete="off" spellcheck="false" .value=${filter} @input=${(/** @type {InputEvent} */ event) => {
            filter = /** @type {HTMLInputElement} */ (event.target).value.trim().toLowerCase();
            update();
          }}>
          <label class="choice"><input type="checkbox" .checked=${showsSecrets} @change=${() => { showsSecrets = !showsSecrets; update(); }}>
            ${t("developer.secrets")}</label>
        </div>
        ${part === "requests" ? requests() : stream()}`}
    </div>`,
  };
}
