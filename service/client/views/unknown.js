/** The view of an address that there is not. */
import { html } from "../vendor/lit-html.js";

/** @import { App, View } from "../shell/types.js" */

/** @param {App} app @returns {View} */
export const create = ({ t }) => ({
  title: () => t("common.notFoundTitle"),
  render: () => html`<h1 tabindex="-1">${t("common.notFoundTitle")}</h1>
    <p>${t("common.notFound")}</p>
    <p><a href="#/">${t("common.toHome")}</a></p>`,
});
