// Node's own http with ioredis, two workers of a cluster. As bare as the floor.
"use strict";

const cluster = require("node:cluster");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");

const TTL_SECONDS = 30 * 86400;

if (cluster.isPrimary) {
  for (let worker = 0; worker < Number(process.env.WORKERS); worker += 1) cluster.fork();
} else {
  serve();
}

function serve() {
  const { Redis } = require("ioredis");
  const server = new Redis(process.env.REDIS_SOCKET);
  for (const name of ["create", "move"]) {
    const lua = fs.readFileSync(path.join(__dirname, "..", "..", "floor", `${name}.lua`), "utf8");
    server.defineCommand(`${name}Game`, { numberOfKeys: 2, lua });
  }
  const bytes = Buffer.alloc(1 << 20, "x");
  const listener = http.createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      answer(request, server, bytes).then(
        ([status, body]) => {
          response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length });
          response.end(body);
        },
        () => response.writeHead(500, { "Content-Length": 0 }).end(),
      );
    });
  });
  listener.keepAliveTimeout = 60000;
  listener.listen(Number(process.env.PORT), "127.0.0.1");
}

async function answer(request, server, bytes) {
  const [, , , game, moves] = request.url.split("/");
  if (game === undefined) return [200, Buffer.from("{}")];
  const [value, event, reply] = game.split("-").map(Number);
  const key = `floor:{${game}}`;
  if (request.method === "GET") {
    return (await server.getBuffer(key)) === null ? [404, bytes.subarray(0, 0)] : [200, bytes.subarray(0, reply)];
  }
  if (moves === undefined) {
    await server.createGame(key, `${key}:events`, stored(1, bytes, value), TTL_SECONDS, bytes.subarray(0, event));
    return [201, bytes.subarray(0, reply)];
  }
  const before = await server.getBuffer(key);
  if (before === null) return [404, bytes.subarray(0, 0)];
  const version = Number(before.subarray(0, before.indexOf(" ")).toString());
  const after = stored(version + 1, bytes, value);
  const made = await server.moveGame(key, `${key}:events`, `${version} `, after, TTL_SECONDS, bytes.subarray(0, event));
  return made === 1 ? [201, bytes.subarray(0, reply)] : [409, bytes.subarray(0, 0)];
}

function stored(version, bytes, length) {
  return Buffer.concat([Buffer.from(`${version} `), bytes.subarray(0, length)]);
}
