/**
 * Markdown as templates: headings, paragraphs, lists, quotes, tables, code, bold and italic, as the pages of rules use
 * them. Text becomes text and never markup. Knows one thing of those pages: a paragraph that begins with a number in
 * bold, as in "**5.7** A hand is worth its pips", is the rule of that number.
 */
import { html, nothing } from "../vendor/lit-html.js";

/** @import { TemplateResult } from "../vendor/lit-html.js" */

/**
 * @typedef {object} Options
 * @property {number} [level] of the first heading, from 1 to 3; those below it follow
 * @property {(rule: string) => string} [address] of a rule; with it, rules are linked, and have an id
 * @property {Map<string, string>} [names] of what is written as code
 */

const RULE_AT_START = /^\*\*(\d+\.\d+)\*\*/;
const LIST_ITEM = /^[-*] /;
const INLINE = /(`[^`]+`)|\*\*(.+?)\*\*|\*([^\s*][^*]*)\*/;

/** The id of the element that is the rule. @param {string} rule */
export const ruleId = (rule) => `rule-${rule}`;

/** The heading of the page, without its mark. @param {string} text */
export const headingOf = (text) => /^# (.+)$/m.exec(text)?.[1] ?? "";

/**
 * The blocks of the text.
 * @param {string} text
 * @param {Options} [options]
 * @returns {TemplateResult[]}
 */
export function markdown(text, { level = 1, address, names = new Map() } = {}) {
  const rules = new Set(Array.from(text.matchAll(/^\*\*(\d+\.\d+)\*\*/gm), (match) => match[1] ?? ""));
  const context = { level, address: address ?? null, names, rules, heading: "" };
  return blocksOf(text).map((lines) => block(lines, context));
}

/** @typedef {{level: number, address: ((rule: string) => string) | null, names: Map<string, string>, rules: Set<string>, heading: string}} Context `heading`: the last one, which names the tables below it */

/** The text cut at its blank lines. @param {string} text */
const blocksOf = (text) => text.split(/\n[ \t]*\n/).map((each) => each.split("\n").filter((line) => line.trim())).filter((each) => each.length);

/** @param {string[]} lines @param {Context} context @returns {TemplateResult} */
function block(lines, context) {
  const first = lines[0] ?? "";
  const heading = /^(#+) (.+)$/.exec(first);
  if (heading) {
    context.heading = heading[2] ?? "";
    const rest = lines.slice(1);
    return html`${headingAt((heading[1] ?? "").length + context.level - 1, inline(heading[2] ?? "", context))}${
      rest.length ? block(rest, context) : nothing}`;
  }
  if (first.startsWith("|")) return table(lines, context);
  if (first.startsWith(">")) return html`<blockquote>${block(lines.map((line) => line.replace(/^> ?/, "")), context)}</blockquote>`;
  if (LIST_ITEM.test(first)) {
    return html`<ul>${items(lines).map((item) => html`<li>${inline(item, context)}</li>`)}</ul>`;
  }
  const text = lines.join(" ");
  const rule = RULE_AT_START.exec(text)?.[1];
  if (!rule || !context.address) return html`<p>${inline(text, context)}</p>`;
  return html`<p class="rule" id=${ruleId(rule)} tabindex="-1"><a class="number" href=${context.address(rule)}>${rule}</a> ${
    inline(text.slice(rule.length + 4).trim(), context)}</p>`;
}

/** @param {number} level @param {unknown} content */
const headingAt = (level, content) =>
  level === 1 ? html`<h1 tabindex="-1">${content}</h1>` : level === 2 ? html`<h2>${content}</h2>` : level === 3 ? html`<h3>${content}</h3>` : html`<h4>${content}</h4>`;

/** The items of a list, each on one line. @param {string[]} lines */
const items = (lines) =>
  lines.reduce((/** @type {string[]} */ all, line) => {
    if (LIST_ITEM.test(line)) return [...all, line.slice(2)];
    return [...all.slice(0, -1), `${all.at(-1)} ${line.trim()}`];
  }, []);

/** @param {string[]} lines @param {Context} context */
function table(lines, context) {
  const rows = lines.map((line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim()));
  const [head = [], , ...body] = rows;
  // Where the first column names the rows, its cells are headings of theirs.
  const cells = (/** @type {string[]} */ row) => row.map((cell, at) =>
    at ? html`<td>${inline(cell, context)}</td>` : html`<th scope="row">${inline(cell, context)}</th>`);
  // A part that can be scrolled has to be reached by the keyboard, too.
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${context.heading}><table class="figures">
    <thead><tr>${head.map((cell) => (cell ? html`<th scope="col">${inline(cell, context)}</th>` : html`<td></td>`))}</tr></thead>
    <tbody>${body.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody>
  </table></div>`;
}

/** @param {string} text @param {Context} context @returns {unknown} */
function inline(text, context) {
  const match = INLINE.exec(text);
  if (!match) return withLinks(text, context);
  const [all, code, bold, italic] = match;
  const inner = code
    ? html`<code>${context.names.get(code.slice(1, -1)) ?? code.slice(1, -1)}</code>`
    : bold ? html`<strong>${inline(bold, context)}</strong>` : html`<em>${inline(italic ?? "", context)}</em>`;
  return [withLinks(text.slice(0, match.index), context), inner, inline(text.slice(match.index + all.length), context)];
}

/** The text, in which each number of a rule of this page is a link to it. @param {string} text @param {Context} context */
function withLinks(text, { address, rules }) {
  if (!address) return text;
  return text.split(/(?<![\d.])(\d+\.\d+)(?![\d.]*\d)/).map((part, at) => (at % 2 && rules.has(part) ? html`<a href=${address(part)}>${part}</a>` : part));
}
