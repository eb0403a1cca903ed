/** Not written yet. */
import { html } from "../vendor/lit-html.js";

/** @param {import("../types.js").App} app @param {any} [route] @returns {import("../types.js").View} */
export const create = (app, route) => ({ title: () => "developer", render: () => html`<h1 tabindex="-1">developer</h1><pre>${JSON.stringify(route)}</pre>` });
