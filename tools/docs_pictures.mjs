// Draws the pictures of the README from the program itself: node tools/docs_pictures.mjs RIDGE (make docs-pictures).
// docs/images/plan.json keeps the numbers that stand in them; tests/pictures_test.py fails when the program gives others.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");
const program = process.argv[2] ?? join(root, "build/release/ridge");
const images = join(root, "docs/images");
const question = JSON.parse(readFileSync(join(images, "question.json"), "utf8"));
mkdirSync(images, { recursive: true });

const flags = Object.entries(question).flatMap(([key, value]) => [`--${key}`, String(value)]);
const answer = JSON.parse(spawnSync(program, ["plan", "serve", ...flags, "--json"], { encoding: "utf8", maxBuffer: 1e8 }).stdout);
const numbers = answer.plans.map((p) => ({ device: p.device, gpus: p.gpus, usd_per_million_output_tokens: p.usd_per_million_output_tokens }));
writeFileSync(join(images, "plan.json"), `${JSON.stringify(numbers, null, 1)}\n`);

const server = spawn(program, ["serve", "--port", "0", "--quiet"], { stdio: ["ignore", "pipe", "inherit"] });
const base = await new Promise((done) => server.stdout.once("data", (d) => done(String(d).match(/http:\S+\//)[0])));
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 860 } })).newPage();
const keys = Object.fromEntries(Object.entries(question).map(([key, value]) => [key.replaceAll("-", "_"), value]));
await page.goto(`${base}#/plan?${new URLSearchParams(keys)}`);
await page.waitForFunction(() => document.querySelector("figure > svg") && !document.querySelector("[aria-busy], .busy:not(:empty)"), null, { timeout: 120_000 });
await page.screenshot({ path: join(images, "plan-page.png") });
await browser.close();
server.kill();

// The front of the same answer, as `ridge plan --html` draws it.
const whole = join(images, "plan.html");
spawnSync(program, ["plan", "serve", ...flags, "--html", whole]);
const svg = readFileSync(whole, "utf8").match(/<svg[\s\S]*?<\/svg>/)[0];
writeFileSync(join(images, "plan-chart.svg"), svg.includes("xmlns=") ? svg : svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"'));
unlinkSync(whole);
