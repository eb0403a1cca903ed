/**
 * What of an exchange may be shown to whoever looks at the screen: no token, no join code, and no hand where several
 * people play on this device; and an exchange as a command. Does not depend on how it is shown.
 */

/** @import { Exchange } from "./types.js" */

const TOKEN = "$TOKEN";
/** The fields that are secrets, and what stands in their place. */
const SECRETS = new Map([["token", TOKEN], ["join_code", "$JOIN_CODE"]]);
const KEY = "Idempotency-Key";

/** The path of the game in a path, without what follows it. @param {string} path */
export const gamePath = (path) => /^.*\/v1\/games\/[^/?]+/.exec(path)?.[0];

/** A value of a body without the secrets in it. @param {any} value @returns {any} */
export function masked(value) {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, (typeof each === "string" && SECRETS.get(name)) || masked(each)]));
}

/**
 * The same exchange without its secrets. A key is one where there is no token: it gets the same answer, with its tokens.
 * @param {Exchange} exchange @returns {Exchange}
 */
export function withoutSecrets(exchange) {
  const { token, headers, body } = exchange;
  return {
    ...exchange,
    token: token && TOKEN,
    headers: token || !headers[KEY] ? headers : { ...headers, [KEY]: "$KEY" },
    body: masked(body),
    answer: masked(exchange.answer),
  };
}

/**
 * An exchange as a command for a shell.
 * @param {Exchange} exchange @param {{showToken?: boolean}} [options]
 */
export function curlLine({ method, path, headers, token, body }, { showToken = false } = {}) {
  const words = ["curl", "-s", ...(method === "GET" ? [] : ["-X", method]), quoted(location.origin + path)];
  for (const [name, value] of Object.entries(headers)) words.push("-H", quoted(`${name}: ${value}`));
  if (token) words.push("-H", showToken ? quoted(`Authorization: Bearer ${token}`) : '"Authorization: Bearer $TOKEN"');
  if (body !== undefined) words.push("-d", quoted(typeof body === "string" ? body : JSON.stringify(body)));
  return words.join(" ");
}

/** @param {string} word */
const quoted = (word) => `'${word.replace(/'/g, `'\\''`)}'`;
