/**
 * A typed client of the domino service, and the reader of its events.
 *
 * `document.ts`, the types, is written from the OpenAPI document, and `events.js` is that of the page: both are made
 * by the build (`make clients`), and are not in the repository.
 */
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./document.js";

export type { components, operations, paths } from "./document.js";
export * from "./events.js";

/**
 * A client of the service at `url`, with a method for each method of HTTP, by path: `GET("/v1/variants")`.
 *
 * `token` is that of a seat, or the key of an application; without one the client may do what anybody may.
 */
export function connect(url: string, token?: string): Client<paths> {
  return createClient<paths>({ baseUrl: url, headers: token ? { Authorization: `Bearer ${token}` } : {} });
}
