/** A question before something that cannot be taken back, as a dialog of the browser. */
import { html, render } from "./vendor/lit-html.js";
import { COMMON } from "./text.js";

/**
 * Whether the answer was yes. Closing the dialog is no.
 * @param {import("./types.js").App} app
 * @param {{title: string, text: string, action: string}} question `action` is what the button of the yes says
 * @returns {Promise<boolean>}
 */
export function confirm({ t }, { title, text, action }) {
  const dialog = document.createElement("dialog");
  dialog.className = "question";
  dialog.setAttribute("aria-labelledby", "question-title");
  dialog.setAttribute("aria-describedby", "question-text");
  render(html`<h2 id="question-title">${title}</h2><p id="question-text">${text}</p>
    <div class="buttons">
      <button class="danger" @click=${() => dialog.close("yes")}>${action}</button>
      <button autofocus @click=${() => dialog.close()}>${t(COMMON.cancel)}</button>
    </div>`, dialog);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
