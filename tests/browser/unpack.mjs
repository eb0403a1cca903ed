/** Unpacks what @sparticuz/chromium compresses: node unpack.mjs NODE_MODULES TARGET
 *
 * Leaves in the folder TARGET `chromium`, the libraries of its own that it needs beside it and in `lib`, and `fonts`.
 */
import { createReadStream, createWriteStream, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";

const [modules, target] = process.argv.slice(2).map((path) => resolve(path));
const tar = createRequire(join(modules, "unpack.mjs"))("tar-fs");
const unpack = (name, output) =>
  pipeline(createReadStream(join(modules, "@sparticuz/chromium/bin", name)), createBrotliDecompress(), output);

mkdirSync(target, { recursive: true });
await Promise.all([
  unpack("chromium.br", createWriteStream(join(target, "chromium"), { mode: 0o755 })),
  unpack("al2023.tar.br", tar.extract(target)),
  unpack("swiftshader.tar.br", tar.extract(target)),
  unpack("fonts.tar.br", tar.extract(target)),
]);
