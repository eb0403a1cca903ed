/** Not written yet. */
import { html } from "../vendor/lit-html.js";

/** @param {import("../types.js").App} app @param {any} [route] @returns {import("../types.js").View} */
export const create = (app, route) => ({ title: () => "replay", render: () => html`<h1 tabindex="-1">replay</h1><pre>${JSON.stringify(route)}</pre>` });
