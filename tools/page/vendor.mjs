/** Builds service/client/vendor from the packages that package.json pins, and compares; with --write, writes it.
 *
 * Each module of the folder vendor, which says what the page has of a library, becomes one minified module. LICENSES.md
 * has the licences as their authors wrote them, versions.json where each file comes from, its size and its hash.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const PACKAGES = new URL("./node_modules/", import.meta.url);
const VENDOR = new URL("../../service/client/vendor/", import.meta.url);
const LIBRARIES = ["lit-html", "lean-qr"];

async function bundle(name) {
  const { version, license } = JSON.parse(await readFile(new URL(`${name}/package.json`, PACKAGES), "utf8"));
  const { outputFiles: [{ text }] } = await build({
    entryPoints: [fileURLToPath(new URL(`./vendor/${name}.ts`, import.meta.url))],
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
for (const name of LIBRARIES) {
  const { text, origin } = await bundle(name);
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
for (const file of await readdir(VENDOR)) {
  if (!(file in files)) {
    console.error(`service/client/vendor/${file} comes from no library`);
    process.exitCode = 1;
  }
}
