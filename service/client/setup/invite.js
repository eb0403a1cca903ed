/**
 * How others come into a game, and how its players come to another device: links, the join code, and QR codes. All
 * secrets are in the fragments of the links, which a browser sends to nobody; the QR codes are made here.
 */
import { html, nothing, svg } from "../vendor/lit-html.js";
import { linkTo } from "../shell/routes.js";
import { addressForOthers } from "./addresses.js";

/** @import { App, Game, Seat } from "../shell/types.js" */
/** @import { TemplateResult } from "../vendor/lit-html.js" */

/** Light modules around a QR code, as readers need them. */
const QUIET = 4;

/** @type {typeof import("../vendor/lean-qr.js") | undefined} loaded when the first code is shown */
let leanQr;
/** @type {Promise<unknown> | undefined} */
let loading;
/** @type {Map<string, TemplateResult>} the codes made, by their text */
const codes = new Map();
/** @type {Set<string>} the games whose secret links are shown */
const opened = new Set();
/** @type {{at: string, text: string} | undefined} what happened last, and to the field of which id */
let notice;

/**
 * The invitation while seats are free, and below it what concerns the seats of this device.
 * @param {App} app @param {Game} game
 */
export function invite(app, game) {
  const free = game.players.filter((each) => each.kind === "open").length;
  return html`<div class="invite">
    ${free ? invitation(app, game, free) : nothing}
    ${app.device.seatsOf(game.id).length ? ownLinks(app, game.id) : nothing}
  </div>`;
}

/** @param {App} app @param {Game} shown @param {number} free */
function invitation(app, { id: game, spectators }, free) {
  const { t, device } = app;
  const code = device.joinCode(game);
  const address = addressForOthers(app);
  if (!code || address === undefined) return nothing;
  const link = (/** @type {import("../shell/types.js").Route} */ route) => linkTo(route, address || undefined);
  const join = link({ view: "join", game, code });
  return html`<section class="card" aria-labelledby="invite-title">
    <h2 id="invite-title">${t("invite.title")}</h2>
    <p><strong>${t("invite.freeSeats", { count: free })}</strong> ${address && t("invite.how")}</p>
    ${address ? nothing : unreachable(app)}
    <div class="with-qr">
      <div>
        ${linkField(app, { id: "join-link", label: t("invite.link"), url: join, share: Boolean(address) })}
        <p class="join-code"><span>${t("invite.code")}</span> <code aria-label=${[...code].join(" ")} role="img">${groups(code)}</code></p>
      </div>
      ${address ? qr(app, join, t("invite.link")) : nothing}
    </div>
    ${spectators === false ? nothing : linkField(app, { id: "watch-link", label: t("invite.watchLink"), hint: t("invite.watchHow"), url: link({ view: "table", game, watch: true }) })}
  </section>`;
}

/** Why no other device reaches this page, and what to do. @param {App} app */
const unreachable = ({ t }) => html`<div class="note warn" data-only-here><p><strong>${t("invite.onlyHere", { address: location.host })}</strong></p>
  <p>${t("invite.onlyHereHow")}</p></div>`;

/** @param {App} app @param {string} game */
function ownLinks(app, game) {
  const { t, device } = app;
  const toggled = (/** @type {Event} */ event) => {
    if (/** @type {HTMLDetailsElement} */ (event.target).open) opened.add(game);
    else opened.delete(game);
    app.update();
  };
  const isOpen = opened.has(game);
  const address = isOpen ? addressForOthers(app) : undefined;
  return html`<details class="fold own-links" ?open=${isOpen} @toggle=${toggled}>
    <summary>${t("invite.moveTitle")}</summary>
    <p class="note warn">${t("invite.secret")} ${t("invite.newLinkHow")}</p>
    ${isOpen && address === "" ? unreachable(app) : nothing}
    ${(isOpen && address !== undefined ? device.seatsOf(game) : []).map((seat) => {
      const url = linkTo({ view: "seat", game, token: seat.token }, address || undefined);
      const label = t("invite.seatLink", { name: seat.name });
      const id = fieldOf(seat.seat);
      return html`<div class="with-qr card">
        <div>
          ${linkField(app, { id, label, url })}
          <button aria-label=${t("invite.newLinkFor", { name: seat.name })} @click=${() => changeToken(app, seat)}>${t("invite.newLink")}</button>
        </div>
        ${address ? qr(app, url, label) : nothing}
      </div>`;
    })}
    <p><button class="danger" @click=${() => forget(app, game)}>${t("invite.forget")}</button></p>
  </details>`;
}

/**
 * A link that can be selected, and copied and shared where the browser can.
 * @param {App} app @param {{id: string, label: string, hint?: string, url: string, share?: boolean}} link
 */
function linkField(app, { id, label, hint, url, share = false }) {
  const { t } = app;
  const select = () => /** @type {HTMLInputElement | null} */ (document.getElementById(id))?.select();
  // On plain HTTP there is no clipboard but for what is selected.
  const copy = async () => {
    select();
    if (navigator.clipboard ? await navigator.clipboard.writeText(url).then(() => true, () => false) : document.execCommand("copy")) tell(app, id, t("common.copied"));
  };
  const sendOn = () => navigator.share({ text: t("invite.shareText"), url }).catch(() => undefined);
  return html`<div class="field link">
    <label for=${id}>${label}</label>
    <div class="joined">
      <input id=${id} readonly autocomplete="off" .value=${url} aria-describedby=${hint ? `${id}-hint` : nothing} @focus=${select}>
      <button type="button" aria-label=${`${t("common.copy")}: ${label}`} @click=${copy}>${t("common.copy")}</button>
      ${share && "share" in navigator ? html`<button type="button" class="main" @click=${sendOn}>${t("invite.share")}</button>` : nothing}
    </div>
    ${notice?.at === id ? html`<p class="hint">${notice.text}</p>` : nothing}
    ${hint ? html`<p class="hint" id=${`${id}-hint`}>${hint}</p>` : nothing}
  </div>`;
}

/** Says what happened, beside the field and to screen readers. @param {App} app @param {string} at @param {string} text */
function tell(app, at, text) {
  notice = { at, text };
  app.announce(text);
  app.update();
}

/** A QR code of the text; nothing until the library is there. @param {App} app @param {string} text @param {string} label */
function qr(app, text, label) {
  if (!leanQr) {
    loading ??= import("../vendor/lean-qr.js").then(
      (module) => {
        leanQr = module;
        app.update();
      },
      () => {
        loading = undefined;
      },
    );
    return html`<div class="qr"></div>`;
  }
  const path = codes.get(text) ?? draw(leanQr.generate(text, { minCorrectionLevel: leanQr.correction.M }));
  codes.set(text, path);
  return html`<div class="qr" role="img" aria-label=${app.t("invite.qrOf", { label })}>${path}</div>`;
}

/** @param {{size: number, get: (x: number, y: number) => boolean}} code */
function draw({ size, get }) {
  let path = "";
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (!get(x, y)) continue;
      const start = x;
      while (x < size && get(x, y)) x++;
      path += `M${start + QUIET} ${y + QUIET}h${x - start}v1H${start + QUIET}z`;
    }
  }
  const width = size + 2 * QUIET;
  return html`<svg viewBox=${`0 0 ${width} ${width}`} shape-rendering="crispEdges" aria-hidden="true">${
    svg`<rect width=${width} height=${width} fill="#fff"></rect><path d=${path} fill="#000"></path>`}</svg>`;
}

/** The id of the field with the link to a seat. @param {number} seat */
const fieldOf = (seat) => `seat-link-${seat}`;

/** @param {App} app @param {Seat} seat */
async function changeToken(app, { game, seat, token, name, variant }) {
  try {
    const { body } = await app.api.postOnce(`v1/games/${encodeURIComponent(game)}/players/${seat}/token`, {}, { token });
    app.device.keep({ game, seat, token: body.token, name, variant });
    tell(app, fieldOf(seat), app.t("invite.newLinkMade", { name }));
  } catch (error) {
    tell(app, fieldOf(seat), app.explain(error));
  }
}

/** Forgets the game after a question. @param {App} app @param {string} game @returns {Promise<boolean>} whether it was */
export async function askToForget(app, game) {
  const { confirm } = await import("../shell/dialog.js");
  const { t } = app;
  const yes = await confirm(app, { title: t("invite.forgetTitle"), text: t("invite.forgetText"), action: t("invite.forgetAction") });
  if (yes) app.device.forget(game);
  return yes;
}

/** @param {App} app @param {string} game */
async function forget(app, game) {
  if (await askToForget(app, game)) app.go({ view: "home" });
}

/** The code in groups of four, as people read it out. @param {string} code */
const groups = (code) => (code.match(/.{1,4}/g) ?? []).join(" ");
