/**
 * Where other devices reach this page. A page that was opened by the name that every device has for itself, such as
 * `127.0.0.1`, leads the others to themselves: for links to it another address is asked of the service. Owns which
 * address a link has; does not depend on where it leads.
 */

/** @import { App } from "../shell/types.js" */

/** Names and addresses by which a device means itself. */
const OWN = /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])$/;

/** Whether an address leads each device to itself. @param {string} url */
export const isOwn = (url) => OWN.test(new URL(url).hostname);

/** What the service says of itself, once it was asked. @type {string[] | undefined} */
let told;
/** @type {Promise<void> | undefined} */
let asking;

/**
 * The address of the page for others: the one that it was opened at or, where that leads nowhere, one that the service
 * knows of itself; `undefined` until the service has answered, `""` if there is none.
 * @param {App} app @returns {string | undefined}
 */
export function addressForOthers(app) {
  const here = new URL(".", document.baseURI).href;
  if (!isOwn(here)) return here;
  asking ??= app.api.get("").then(
    ({ body }) => {
      told = /** @type {string[]} */ (body.addresses ?? []).filter((each) => !isOwn(each));
      app.update();
    },
    () => {
      // The next rendering asks again.
      asking = undefined;
    },
  );
  return told && (told[0] ? `${told[0]}/` : "");
}
