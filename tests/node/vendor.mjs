/** Builds service/client/vendor from the packages that package.json pins, and compares; with --write, writes it.
 *
 * Owns which parts of which libraries the page has. Each library becomes one minified module; LICENSES.md has the
 * licences as their authors wrote them, versions.json where each file comes from, its size and its hash.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const PACKAGES = new URL("./node_modules/", import.meta.url);
const VENDOR = new URL("../../service/client/vendor/", import.meta.url);
const LIBRARIES = {
  "lit-html": `
    export { html, noChange, nothing, render, svg } from "lit-html";
    export { classMap } from "lit-html/directives/class-map.js";
    export { ifDefined } from "lit-html/directives/if-defined.js";
    export { keyed } from "lit-html/directives/keyed.js";
    export { live } from "lit-html/directives/live.js";
    export { createRef, ref } from "lit-html/directives/ref.js";
    export { repeat } from "lit-html/directives/repeat.js";
    export { styleMap } from "lit-html/directives/style-map.js";`,
  // The smaller of its two builds: text as UTF-8 bytes only, which is what an address needs.
  "lean-qr": `export { correction, generate } from "lean-qr/nano";`,
};

async function bundle(name, exports) {
  const { version, license } = JSON.parse(await readFile(new URL(`${name}/package.json`, PACKAGES), "utf8"));
  const { outputFiles: [{ text }] } = await build({
    stdin: { contents: exports, resolveDir: import.meta.dirname },
    banner: { js: `/*! ${name} ${version}, ${license}: see LICENSES.md. Built by make vendor; do not edit. */` },
    bundle: true,
    format: "esm",
    legalComments: "none",
    minify: true,
    target: "es2022",
    write: false,
  });
  const sha256 = createHash("sha256").update(text).digest("hex");
  return { text, origin: { package: name, version, licence: license, bytes: Buffer.byteLength(text), sha256 } };
}

const files = {}, origins = {};
let licences = "# Licences of the libraries in this folder\n";
for (const [name, exports] of Object.entries(LIBRARIES)) {
  const { text, origin } = await bundle(name, exports);
  files[`${name}.js`] = text;
  origins[`${name}.js`] = origin;
  const licence = (await readFile(new URL(`${name}/LICENSE`, PACKAGES), "utf8")).trim();
  licences += `\n## ${name} ${origin.version}\n\n\`\`\`text\n${licence}\n\`\`\`\n`;
}
files["LICENSES.md"] = licences;
files["versions.json"] = `${JSON.stringify(origins, null, 2)}\n`;

await mkdir(VENDOR, { recursive: true });
for (const [name, text] of Object.entries(files)) {
  const file = new URL(name, VENDOR);
  if (process.argv.includes("--write")) await writeFile(file, text);
  else if (await readFile(file, "utf8").catch(() => "") !== text) {
    console.error(`service/client/vendor/${name} is out of date; run make vendor ARGS=--write`);
    process.exitCode = 1;
  }
}
