/** What the page has of lit-html: built into service/client/vendor, and the types by which the page is checked.
 *
 * Not styleMap: it begins with the attribute style, which the page's Content-Security-Policy forbids; `.style=${"…"}`
 * does the same by the property.
 */
export { html, noChange, nothing, render, svg } from "lit-html";
export type { SVGTemplateResult, TemplateResult } from "lit-html";
export { classMap } from "lit-html/directives/class-map.js";
export { ifDefined } from "lit-html/directives/if-defined.js";
export { live } from "lit-html/directives/live.js";
export { createRef, ref } from "lit-html/directives/ref.js";
export type { Ref } from "lit-html/directives/ref.js";
export { repeat } from "lit-html/directives/repeat.js";
