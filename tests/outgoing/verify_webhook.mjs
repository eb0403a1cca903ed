/** Verifies a message by the public library for JavaScript: node verify_webhook.mjs NODE_MODULES
 *
 * Standard input: {"secret", "headers", "body"} as JSON. Prints "valid", or why not.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const { Webhook } = createRequire(join(process.argv[2], "verify_webhook.mjs"))("standardwebhooks");
const { secret, headers, body } = JSON.parse(await text(process.stdin));
try {
  new Webhook(secret).verify(body, headers);
  console.log("valid");
} catch (error) {
  console.log(error.message);
}
