// Verifies a message by the public library for JavaScript. Standard input: {"secret", "headers", "body"} as JSON.
// Prints "valid", or why not.

import { text } from "node:stream/consumers";

import { Webhook } from "standardwebhooks";

const { secret, headers, body } = JSON.parse(await text(process.stdin));
try {
  new Webhook(secret).verify(body, headers);
  console.log("valid");
} catch (error) {
  console.log(error.message);
}
