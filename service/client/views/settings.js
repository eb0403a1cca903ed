/** The settings of the page, which apply at once, and what it keeps on this device. */
import { html, live, nothing } from "../vendor/lit-html.js";
import { tileImage } from "../table/tiles.js";
import { SETTINGS } from "../texts/settings.js";
import { LANGUAGES } from "../texts/text.js";

/** @import { App, Settings, Text, View } from "../shell/types.js" */

/** @type {Record<Settings["language"], string>} each in itself */
const LANGUAGE_NAMES = { en: "English", de: "Deutsch" };
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
  const choice = (name, label, choices, hint = nothing) => html`<fieldset class="field">
    <legend>${t(label)}</legend>
    <div class="choices">${choices.map(({ value, text, lang }) => html`<label class="choice">
      <input type="radio" name=${name} .checked=${live(device.settings[name] === value)} @change=${() => device.set({ [name]: value })}>
      <span lang=${lang ?? nothing}>${text}</span></label>`)}</div>
    ${hint}
  </fieldset>`;
  /** @param {"digits" | "sound" | "vibration" | "letters"} name @param {Text} label @param {Text} [hint] */
  const toggle = (name, label, hint) => html`<div class="field">
    <label class="choice"><input type="checkbox" role="switch" .checked=${live(device.settings[name])}
      aria-describedby=${hint ? `${name}-hint` : nothing}
      @change=${(/** @type {Event} */ event) => device.set({ [name]: /** @type {HTMLInputElement} */ (event.target).checked })}>
      <span>${t(label)}</span></label>
    ${hint ? html`<p class="hint" id=${`${name}-hint`}>${t(hint)}</p>` : nothing}
  </div>`;
  const preview = () => {
    const { colours, digits } = device.settings;
    const tiles = (/** @type {string[]} */ names, /** @type {boolean} */ coloured) =>
      names.map((name) => tileImage(name, { vertical: true, colours: coloured, digits }));
    return html`<div class="samples" role="img" aria-label=${t(SETTINGS.preview)}>
      ${tiles(PREVIEW, colours === "on")}${tiles(PREVIEW_OF_LARGE_SETS, colours !== "off")}</div>`;
  };
  const forget = async () => {
    const { confirm } = await import("../shell/dialog.js");
    if (!(await confirm(app, { title: t(SETTINGS.forgetTitle), text: t(SETTINGS.forgetText), action: t(SETTINGS.forgetAction) }))) return;
    device.forgetAll();
    app.announce(t(SETTINGS.forgotten));
  };

  return {
    title: () => t(SETTINGS.title),
    close: () => motion.removeEventListener("change", app.update),
    render: () => html`
      <h1 tabindex="-1">${t(SETTINGS.title)}</h1>
      <p class="lead">${t(SETTINGS.introduction)}</p>
      <section class="card" aria-labelledby="of-page">
        <h2 id="of-page">${t(SETTINGS.page)}</h2>
        ${choice("language", SETTINGS.language, LANGUAGES.map((value) => ({ value, text: LANGUAGE_NAMES[value], lang: value })))}
        ${choice("theme", SETTINGS.theme, [
          { value: "auto", text: t(SETTINGS.themeAuto) },
          { value: "light", text: t(SETTINGS.themeLight) },
          { value: "dark", text: t(SETTINGS.themeDark) },
        ])}
        ${choice("textSize", SETTINGS.textSize, /** @type {const} */ ([100, 125, 150]).map((value) => ({ value, text: t(SETTINGS.percent, { size: value }) })))}
      </section>
      <section class="card" aria-labelledby="of-tiles">
        <h2 id="of-tiles">${t(SETTINGS.tiles)}</h2>
        ${preview()}
        ${choice("colours", SETTINGS.colours, [
          { value: "auto", text: t(SETTINGS.coloursAuto) },
          { value: "on", text: t(SETTINGS.coloursOn) },
          { value: "off", text: t(SETTINGS.coloursOff) },
        ])}
        ${toggle("digits", SETTINGS.digits)}
      </section>
      <section class="card" aria-labelledby="at-table">
        <h2 id="at-table">${t(SETTINGS.atTable)}</h2>
        ${choice("animation", SETTINGS.animation, [
          { value: "none", text: t(SETTINGS.animationNone) },
          { value: "normal", text: t(SETTINGS.animationNormal) },
          { value: "slow", text: t(SETTINGS.animationSlow) },
        ], motion.matches ? html`<p class="hint">${t(SETTINGS.reduced)}</p>` : nothing)}
        ${toggle("sound", SETTINGS.sound)}
        ${"vibrate" in navigator ? toggle("vibration", SETTINGS.vibration) : nothing}
        ${toggle("letters", SETTINGS.letters, SETTINGS.lettersHint)}
      </section>
      <section class="card" aria-labelledby="kept">
        <h2 id="kept">${t(SETTINGS.kept)}</h2>
        <p>${t(SETTINGS.keptText)}</p>
        <p>${t(SETTINGS.seats, { count: device.seats().length })}</p>
        <div class="buttons"><button class="danger" @click=${forget}>${t(SETTINGS.forget)}</button></div>
      </section>`,
  };
}
