/**
 * The frame of the page: it shows the view of the address, renders it after each change, and carries what all views
 * share. Owns the order of start: settings, address, first view.
 */
import { html, nothing, render, repeat } from "./vendor/lit-html.js";
import { createAnnouncer } from "./shell/announcer.js";
import { createApi, loaded, Problem, Unreachable } from "./shell/api.js";
import { createDevice } from "./shell/device.js";
import { fragmentOf, parseRoute } from "./shell/routes.js";
import { hasTexts, loadTexts, translate } from "./texts/text.js";

/** @import { App, Route, Text, View } from "./shell/types.js" */

const TABLE = () => import("./views/table.js");
/** @type {Record<string, () => Promise<{create: (app: App, route: any) => View}>>} */
const VIEWS = {
  home: () => import("./views/home.js"),
  new: () => import("./views/new.js"),
  others: () => import("./views/others.js"),
  join: () => import("./views/join.js"),
  seat: TABLE,
  table: TABLE,
  score: () => import("./views/score.js"),
  replay: () => import("./views/replay.js"),
  rules: () => import("./views/rules.js"),
  settings: () => import("./views/settings.js"),
  unknown: () => import("./views/unknown.js"),
};

const root = /** @type {HTMLElement} */ (document.getElementById("page"));
let renderIsDue = false;
let navigation = 0;
/** @type {View | undefined} */
let view;
/** @type {Route} */
let route = { view: "home" };
/** @type {View | undefined} the developer drawer, once it was opened */
let drawer;
let drawerIsOpen = false;

const region = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const announcer = createAnnouncer(region("status"), region("alert"), () => device.settings.listening);
const device = createDevice(() => {
  applySettings();
  texts().then(update, (error) => app.announce(app.explain(error), { urgent: true }));
});
const api = createApi({ language: () => device.settings.language, changed: () => drawerIsOpen && update() });

/** @type {App} */
const app = {
  api,
  device,
  t: (text, params) => translate(device.settings.language, text, params),
  go(next, { replace = false } = {}) {
    history[replace ? "replaceState" : "pushState"](null, "", fragmentOf(next));
    void show(next);
  },
  update,
  extras,
  styles,
  announce: (message, { urgent = false } = {}) => (urgent ? announcer.interrupt(message) : announcer.answer(message)),
  tell: announcer.queue,
  tellNext: announcer.next,
  forgetTold: announcer.forget,
  toggleDrawer,
  explain(error) {
    if (error instanceof Problem) return error.message;
    if (error instanceof Unreachable) return app.t("common.unreachable");
    console.error(error);
    return app.t("common.unknownError");
  },
};

function update() {
  if (renderIsDue) return;
  renderIsDue = true;
  queueMicrotask(() => {
    renderIsDue = false;
    render(frame(), root);
    document.title = `${view?.mark ?? ""}${view ? `${view.title()} · ` : ""}${app.t("common.brand")}`;
  });
}

/** Shows the view of a route. @param {Route} next */
async function show(next) {
  const current = ++navigation;
  const first = view === undefined;
  const load = VIEWS[next.view] ?? VIEWS.unknown;
  try {
    const [module] = await Promise.all([loaded(load()), load === TABLE ? texts() : extras()]);
    if (current !== navigation) return;
    leave();
    route = next;
    view = module.create(app, next);
  } catch (error) {
    if (current !== navigation) return;
    leave();
    if (!hasTexts()) return void (root.textContent = root.dataset.unreachable ?? "");
    view = failedView(app.explain(error), () => location.reload());
  }
  update();
  if (first) return;
  // As after the load of a page: from the top, and read from the heading on.
  scrollTo(0, 0);
  await Promise.resolve();
  root.querySelector("h1")?.focus();
}

function leave() {
  view?.close?.();
  announcer.clear();
  view = undefined;
  document.querySelectorAll("dialog").forEach((dialog) => dialog.close());
}

/** @type {Map<string, Promise<void>>} */
const loadedStyles = new Map();

/** Loads a style sheet, once. @param {string} name */
function styles(name) {
  const loaded = loadedStyles.get(name) ?? new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL(`./styles/${name}.css`, import.meta.url).href;
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      loadedStyles.delete(name);
      link.remove();
      resolve();
    });
    document.querySelector("link[href$='table.css']")?.before(link);
  });
  loadedStyles.set(name, loaded);
  return loaded;
}

/** @param {string} message @param {() => void} again @returns {View} */
const failedView = (message, again) => ({
  title: () => app.t("common.failedTitle"),
  render: () => html`<h1 tabindex="-1">${app.t("common.failedTitle")}</h1><p>${message}</p>
    <button @click=${again}>${app.t("common.tryAgain")}</button>`,
});

function frame() {
  const { t } = app;
  const isCompact = view?.atTable ?? false;
  const link = (/** @type {Route} */ to, /** @type {Text} */ text) => html`<a
    href=${fragmentOf(to)} aria-current=${route.view === to.view ? "page" : nothing}>${t(text)}</a>`;
  return html`
    <a class="skip" href="#main" @click=${skip}>${t("common.skip")}</a>
    <header class=${isCompact ? "bar compact" : "bar"}>
      <a class="brand" href="#/" aria-label=${t("common.brand")}>${BRAND}<span>${t("common.brand")}</span></a>
      ${isCompact ? html`<button class="plain menu-button" id="menu-button" popovertarget="menu" aria-label=${t("common.menu")}
        title=${t("common.menu")}>${MENU}</button>` : nothing}
      <nav id="menu" aria-label=${t("common.menu")} popover=${isCompact ? "auto" : nothing} @click=${closeMenu}>
        ${link({ view: "home" }, "common.home")}
        ${link({ view: "new" }, "common.newGame")}
        ${link({ view: "settings" }, "common.settings")}
        ${view?.menu?.()}
        ${view?.wide ? html`<button class="plain" id="drawer-button" aria-expanded=${drawerIsOpen} aria-label=${t("common.developer")}
          title=${t("common.developer")} @click=${toggleDrawer}>${isCompact ? t("common.developer") : "</>"}</button>` : nothing}
      </nav>
    </header>
    <main id="main" tabindex="-1" class=${view?.wide ? "wide" : "text"}>
      ${view ? repeat([view], (each) => each, (each) => each.render()) : html`<p>${t("common.loading")}</p>`}
    </main>
    ${drawerIsOpen && drawer ? html`<aside class="drawer" aria-label=${t("common.developer")}>${drawer.render()}</aside>` : nothing}
    ${!view || view.wide ? nothing : html`<footer class="text"><a href="docs/">${t("common.forDevelopers")}</a></footer>`}`;
}

const BRAND = html`<svg viewBox="0 0 40 20" width="44" height="22" aria-hidden="true" class="logo"><rect x=".75" y=".75"
  width="38.5" height="18.5" rx="4.5"></rect><path d="M20 4v12"></path><path class="pips" d="M6 5h0M14 15h0M10 10h0M26 5h0M34 5h0M26 15h0M34 15h0"></path></svg>`;

const MENU = html`<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><path d="M4 7h16M4 12h16M4 17h16"></path></svg>`;

/** The menu of a table closes with each choice. @param {Event} event */
function closeMenu({ currentTarget }) {
  const menu = /** @type {HTMLElement} */ (currentTarget);
  if (menu.popover) menu.hidePopover();
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

async function toggleDrawer() {
  try {
    const [{ create }] = await Promise.all([loaded(import("./views/developer.js")), extras()]);
    drawer ??= create(app, { close: toggleDrawer });
  } catch (error) {
    return app.announce(app.explain(error), { urgent: true });
  }
  drawerIsOpen = !drawerIsOpen;
  update();
  await Promise.resolve();
  const button = view?.atTable ? "#menu-button" : "#drawer-button";
  const found = drawerIsOpen ? root.querySelector(".drawer h2") : root.querySelector(button) ?? root.querySelector("h1");
  /** @type {HTMLElement | null} */ (found)?.focus();
}

/** The parts of the texts that are needed so far. @type {Set<import("./texts/text.js").Part>} */
const parts = new Set(["table"]);
const texts = () => loaded(Promise.all([...parts].map((part) => loadTexts(device.settings.language, part))));

/** Loads what a running game does not need, once: the style sheet and the texts of the other views. */
async function extras() {
  parts.add("views");
  await Promise.all([styles("views"), texts()]);
}

function applySettings() {
  const { language, theme, textSize, tiles, cloth, places, animation } = device.settings;
  const { documentElement } = document;
  documentElement.lang = language;
  documentElement.dataset.theme = theme;
  documentElement.dataset.textSize = String(textSize);
  Object.assign(documentElement.dataset, { tiles, cloth, animation, places: places ? "shown" : "hidden" });
}

addEventListener("hashchange", () => void show(parseRoute(location.hash)));
addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest("input, textarea, select, dialog, [contenteditable]")) return;
  if (event.key === "`") void toggleDrawer();
  else if (event.key === "Escape" && drawerIsOpen && target?.closest(".drawer")) void toggleDrawer();
  else if (!view?.key?.(event)) return;
  event.preventDefault();
});

applySettings();
document.documentElement.classList.remove("loading");
void show(parseRoute(location.hash));
