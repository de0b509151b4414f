// Bundles the page and writes it as a C++ source with the bytes inside: node build.mjs OUT
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync, copyFileSync, readdirSync, appendFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "dist"));
const files = join(out, "files");
rmSync(files, { recursive: true, force: true });
mkdirSync(files, { recursive: true });

// Charts are chunks of their own: loaded when the first one is drawn.
await build({
  entryPoints: [join(here, "src/app.ts")],
  outdir: files,
  bundle: true,
  splitting: true,
  format: "esm",
  minify: true,
  target: "es2020",
  entryNames: "[name]",
  chunkNames: "chunk-[hash]",
  loader: { ".toml": "text" },  // estates of examples/
  legalComments: "none",
  absWorkingDir: here,
});
for (const name of ["index.html", "style.css", "icon.svg"]) copyFileSync(join(here, "src", name), join(files, name));
appendFileSync(join(files, "style.css"), readFileSync(join(here, "node_modules/uplot/dist/uPlot.min.css")));
copyFileSync(join(here, "../docs/openapi.json"), join(files, "openapi.json"));

const names = readdirSync(files).sort();
let asm = "";
let table = "";
names.forEach((name, i) => {
  const bytes = readFileSync(join(files, name));
  const packed = gzipSync(bytes, { level: 9 });
  writeFileSync(join(out, name + ".gz"), packed);
  const tag = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  for (const [label, path] of [[`page_plain_${i}`, join(files, name)], [`page_packed_${i}`, join(out, name + ".gz")]]) {
    asm += `asm(".section .rodata\\n${label}:\\n.incbin \\"${path}\\"\\n${label}_end:\\n.previous\\n");\n`;
    asm += `extern const char ${label}[] asm("${label}");\nextern const char ${label}_end[] asm("${label}_end");\n`;
  }
  const view = (label) => `std::string_view(${label}, static_cast<std::size_t>(${label}_end - ${label}))`;
  table += `      {"${name}", ${view(`page_plain_${i}`)}, ${view(`page_packed_${i}`)}, "\\"${tag}\\""},\n`;
});
writeFileSync(join(out, "page_data.cpp"), `// Written by web/build.mjs.
#include "app/http/page_data.hpp"

${asm}
namespace ridge::http {

std::span<const PageFile> page_files() {
  static const PageFile kFiles[] = {
${table}  };
  return kFiles;
}

}  // namespace ridge::http
`);
