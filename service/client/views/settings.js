/** The settings of the page, which apply at once, and what it keeps on this device. */
import { html, live, nothing } from "../vendor/lit-html.js";
import { tileImage } from "../table/tiles.js";
import { capitalized, languages } from "../texts/text.js";

/** @import { App, Settings, Text, View } from "../shell/types.js" */

/** The name of a language in itself. @param {string} language */
const languageName = (language) => capitalized(new Intl.DisplayNames(language, { type: "language" }).of(language) ?? language);
const PREVIEW = ["6-6", "3-5", "0-4"];
/** From sets in which the colours of the numbers may be seen by default. */
const PREVIEW_OF_LARGE_SETS = ["9-12", "7-8"];

/** @param {App} app @returns {View} */
export function create(app) {
  const { t, device } = app;
  const motion = matchMedia("(prefers-reduced-motion: reduce)");
  motion.addEventListener("change", app.update);

  /**
   * @template {keyof Settings} Name
   * @param {Name} name @param {Text} label @param {{value: Settings[Name], text: string, lang?: string}[]} choices
   * @param {unknown} [hint]
   */
  const radios = (name, label, choices, hint = nothing) => html`<fieldset class="field">
    <legend>${t(label)}</legend>
    <div class="choices">${choices.map(({ value, text, lang }) => html`<label class="choice">
      <input type="radio" name=${name} .checked=${live(device.settings[name] === value)} @change=${() => device.set({ [name]: value })}>
      <span lang=${lang ?? nothing}>${text}</span></label>`)}</div>
    ${hint}
  </fieldset>`;
  /**
   * A choice among words, each with a text that is named like the setting and the word.
   * @template {"theme" | "colours" | "tiles" | "cloth" | "animation" | "takeBack" | "listening"} Name
   * @param {Name} name @param {Settings[Name][]} values @param {unknown} [hint]
   */
  const choice = (name, values, hint) => {
    const text = `settings.${name === "tiles" ? "set" : name}`;
    return radios(name, /** @type {Text} */ (text), values.map((value) => ({ value, text: t(/** @type {Text} */ (`${text}${capitalized(value)}`)) })), hint);
  };
  /** @param {"digits" | "places" | "sound" | "vibration" | "notification" | "letters"} name @param {Text} label @param {Text} [hint] */
  const toggle = (name, label, hint) => html`<div class="field">
    <label class="choice"><input type="checkbox" role="switch" .checked=${live(device.settings[name] ?? false)}
      aria-describedby=${hint ? `${name}-hint` : nothing}
      @change=${(/** @type {Event} */ event) => change(name, /** @type {HTMLInputElement} */ (event.target).checked)}>
      <span>${t(label)}</span></label>
    ${hint ? html`<p class="hint" id=${`${name}-hint`}>${t(hint)}</p>` : nothing}
  </div>`;
  /** Notifications are as the browser allows them. @param {string} name @param {boolean} isOn */
  const change = async (name, isOn) => device.set({ [name]: isOn && (name !== "notification" || (await Notification.requestPermission()) === "granted") });
  const preview = () => {
    const { colours, digits } = device.settings;
    const tiles = (/** @type {string[]} */ names, /** @type {boolean} */ coloured) =>
      names.map((name) => tileImage(name, { vertical: true, colours: coloured, digits }));
    return html`<div class="samples" role="img" aria-label=${t("settings.preview")}>
      ${tiles(PREVIEW, colours === "on")}${tiles(PREVIEW_OF_LARGE_SETS, colours !== "off")}</div>`;
  };
  const forget = async () => {
    const { confirm } = await import("../shell/dialog.js");
    if (!(await confirm(app, { title: t("settings.forgetTitle"), text: t("settings.forgetText"), action: t("settings.forgetAction") }))) return;
    device.forgetAll();
    app.announce(t("settings.forgotten"));
  };

  return {
    title: () => t("settings.title"),
    close: () => motion.removeEventListener("change", app.update),
    render: () => html`
      <h1 tabindex="-1">${t("settings.title")}</h1>
      <p class="lead">${t("settings.introduction")}</p>
      <section class="card" aria-labelledby="of-page">
        <h2 id="of-page">${t("settings.page")}</h2>
        ${radios("language", "settings.language", languages().map((value) => ({ value, text: languageName(value), lang: value })))}
        ${choice("theme", ["auto", "light", "dark"])}
        ${radios("textSize", "settings.textSize", /** @type {const} */ ([100, 125, 150]).map((value) => ({ value, text: t("settings.percent", { size: value }) })))}
      </section>
      <section class="card" aria-labelledby="of-tiles">
        <h2 id="of-tiles">${t("settings.tiles")}</h2>
        ${preview()}
        ${choice("colours", ["auto", "on", "off"])}
        ${toggle("digits", "settings.digits")}
        ${choice("tiles", ["ivory", "white", "ebony"])}
        ${choice("cloth", ["green", "blue", "red", "grey"])}
      </section>
      <section class="card" aria-labelledby="at-table">
        <h2 id="at-table">${t("settings.atTable")}</h2>
        ${choice("animation", ["none", "normal", "slow"], motion.matches ? html`<p class="hint">${t("settings.reduced")}</p>` : nothing)}
        ${choice("takeBack", ["never", "here", "always"], html`<p class="hint">${t("settings.takeBackHint")}</p>`)}
        ${toggle("places", "settings.places", "settings.placesHint")}
        ${toggle("sound", "settings.sound")}
        ${"vibrate" in navigator ? toggle("vibration", "settings.vibration") : nothing}
        ${"Notification" in window && isSecureContext ? toggle("notification", "settings.notification", "settings.notificationHint") : nothing}
        ${toggle("letters", "settings.letters", "settings.lettersHint")}
        ${choice("listening", ["atOnce", "slowly", "byKey"], html`<p class="hint">${t("settings.listeningHint")}</p>`)}
      </section>
      <section class="card" aria-labelledby="kept">
        <h2 id="kept">${t("settings.kept")}</h2>
        <p>${t("settings.keptText")}</p>
        <p>${t("settings.seats", { count: device.seats().length })}</p>
        <div class="buttons"><button class="danger" @click=${forget}>${t("settings.forget")}</button></div>
      </section>
      <section class="card" aria-labelledby="developers">
        <h2 id="developers">${t("settings.developers")}</h2>
        <div class="buttons"><button id="drawer-button" @click=${app.toggleDrawer}>${t("settings.openDrawer")}</button></div>
        <p><a href="docs/">${t("common.documentation")}</a> · <a href="openapi.yaml">${t("common.document")}</a></p>
      </section>`,
  };
}
