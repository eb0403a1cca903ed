/** The form of the replay that asks for a record: of a game, as a text, or from a file. */
import { html, nothing } from "../vendor/lit-html.js";
import { parseRoute } from "../shell/routes.js";

/** @import { App } from "../shell/types.js" */

/**
 * @param {App} app
 * @param {object} state
 * @param {string | undefined} state.game whose record was asked for
 * @param {string} state.record what was entered
 * @param {boolean} state.isLoading
 * @param {unknown} state.problem what is wrong with it
 * @param {(record: string) => void} state.onRecord
 * @param {(message: string) => void} state.onFailure
 */
export function recordForm({ t, go }, { game, record, isLoading, problem, onRecord, onFailure }) {
  /** @param {SubmitEvent} event @param {string} field */
  const entered = (event, field) => {
    event.preventDefault();
    return String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get(field)).trim();
  };
  /** @param {SubmitEvent} event */
  const onGame = (event) => {
    const id = gameIn(entered(event, "game"));
    if (id) go({ view: "replay", game: id });
  };
  /** @param {SubmitEvent} event */
  const onText = (event) => {
    const text = entered(event, "record");
    // Copied text often lacks the end of its last line.
    if (text) onRecord(`${text}\n`);
  };
  /** @param {Event} event */
  const onFile = async (event) => {
    const [file] = /** @type {HTMLInputElement} */ (event.target).files ?? [];
    if (!file) return;
    const text = await file.text().catch(() => undefined);
    if (text === undefined) onFailure(t("replay.fileUnreadable"));
    else onRecord(text);
  };
  return html`
    <h1 tabindex="-1">${t("replay.title")}</h1>
    <p class="lead">${t("replay.introduction")}</p>
    ${problem}
    ${isLoading ? html`<p>${t("common.loading")}</p>` : nothing}
    <h2>${t("replay.ofGame")}</h2>
    <form class="inline" @submit=${onGame}>
      <label for="replay-game">${t("replay.game")}</label>
      <input id="replay-game" name="game" required autocomplete="off" autocapitalize="off" spellcheck="false" .value=${game ?? ""}>
      <button>${t("replay.getRecord")}</button>
    </form>
    <h2>${t("replay.ofText")}</h2>
    <form @submit=${onText}>
      <div class="field"><label for="replay-record">${t("replay.record")}</label>
        <textarea id="replay-record" name="record" rows="8" required spellcheck="false" autocapitalize="off" .value=${record}></textarea></div>
      <button class="main" ?disabled=${isLoading}>${t("replay.start")}</button>
    </form>
    <div class="field"><label for="replay-file">${t("replay.file")}</label>
      <input id="replay-file" type="file" accept=".domino,.txt,text/plain,text/vnd.domino-record" @change=${onFile}></div>`;
}

/** The id of the game in what was entered: an id, or a link to one of its views. @param {string} entered */
function gameIn(entered) {
  const at = entered.indexOf("#");
  const route = parseRoute(at < 0 ? `#/replay/${encodeURIComponent(entered)}` : entered.slice(at));
  if (route.view === "score") return route.id;
  return "game" in route ? route.game : undefined;
}
