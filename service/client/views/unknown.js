/** The view of an address that there is not. */
import { html } from "../vendor/lit-html.js";
import { COMMON } from "../texts/text.js";

/** @import { App, View } from "../shell/types.js" */

/** @param {App} app @returns {View} */
export const create = ({ t }) => ({
  title: () => t(COMMON.notFoundTitle),
  render: () => html`<h1 tabindex="-1">${t(COMMON.notFoundTitle)}</h1>
    <p>${t(COMMON.notFound)}</p>
    <p><a href="#/">${t(COMMON.toHome)}</a></p>`,
});
