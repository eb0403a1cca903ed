/** Dialogs of the browser: what is in front of a view, and a question before something that cannot be taken back. */
import { html, render } from "../vendor/lit-html.js";

/** @import { App } from "./types.js" */

/**
 * Opens a dialog, which is gone when it is closed, unless there is one already.
 * @param {App} app
 * @param {string} title
 * @param {(dialog: HTMLDialogElement) => unknown} contents below the title
 * @returns {Promise<string>} what it was closed with; nothing for Escape
 */
export async function open(app, title, contents) {
  await app.extras();
  if (document.querySelector("dialog[open]")) return "";
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "dialog-title");
  render(html`<h2 id="dialog-title">${title}</h2>${contents(dialog)}`, dialog);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

/**
 * Whether the answer was yes. Closing the dialog is no.
 * @param {App} app
 * @param {{title: string, text: string, action: string}} question `action` is what the button of the yes says
 */
export async function confirm(app, { title, text, action }) {
  const answer = await open(app, title, (dialog) => {
    dialog.setAttribute("aria-describedby", "question-text");
    return html`<p id="question-text">${text}</p>
      <div class="buttons">
        <button class="danger" @click=${() => dialog.close("yes")}>${action}</button>
        <button autofocus @click=${() => dialog.close()}>${app.t("common.cancel")}</button>
      </div>`;
  });
  return answer === "yes";
}
