// A remote player for Node without packages: it makes the first legal move. See README.md beside this file.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = Buffer.from(process.env.BOT_SECRET.replace("whsec_", ""), "base64");

/** Whether the service has signed this body, in the last five minutes. */
function isSigned(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": signatures = "" } = headers;
  const expected = Buffer.from(createHmac("sha256", secret).update(`${id}.${seconds}.${body}`).digest("base64"));
  const given = signatures.split(" ").map((each) => Buffer.from(each.replace("v1,", "")));
  const fresh = Math.abs(Date.now() / 1000 - Number(seconds)) < 300;
  return fresh && given.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
}

createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString();
  if (!isSigned(request.headers, body)) return response.writeHead(401).end();
  const { type, data } = JSON.parse(body);
  // A challenge comes first: whoever answers it wants to be asked for moves.
  const answer = type === "webhook.challenge" ? { challenge: data.challenge } : data.view.legal_moves[0];
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
}).listen(Number(process.env.PORT ?? 9000), "127.0.0.1");
