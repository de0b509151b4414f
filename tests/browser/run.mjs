// Drives Chromium through every view of `ridge serve`: node run.mjs RIDGE [SCREENSHOTS], where
// RIDGE is the program or the address of a server that runs. Any console error and any
// request to elsewhere is a failure.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { chromium } = createRequire(resolve(here, "../../web/package.json"))("playwright-core");
const [program, shots] = process.argv.slice(2);
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
if (!browserPath) { console.log("there is no Chromium here: nothing is tested"); process.exit(77); }
if (shots) mkdirSync(shots, { recursive: true });

const running = /^http:/.test(program) ? program : null;
const server = running ? null : spawn(program, ["serve", "--port", "0", "--quiet"], { stdio: ["ignore", "pipe", "inherit"] });
const base = running ?? await new Promise((done, failed) => {
  server.stdout.once("data", (d) => done(String(d).match(/http:\S+\//)[0]));
  server.once("exit", (code) => failed(new Error(`ridge serve ended with ${code}`)));
});
const problems = [];
const expect = (what, held) => { if (!held) { problems.push(what); console.log(`FAILED ${what}`); } };
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(Number(process.env.PATIENCE ?? 60) * 1000);
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") problems.push(`console: ${m.text()} at ${page.url()}`); });
  page.on("pageerror", (e) => problems.push(`error in the page: ${e.message} at ${page.url()}`));
  page.on("request", (r) => { if (!r.url().startsWith(base) && !/^(blob|data):/.test(r.url())) problems.push(`external request: ${r.url()}`); });
  return page;
}
const settled = (page) => page.waitForFunction(() => !document.querySelector("[aria-busy], .busy:not(:empty)") && document.querySelector("#view h1"));
const drawn = (page) => page.waitForFunction(() => document.querySelector("figure > svg"));
async function view(page, hash) {
  await page.goto(`${base}#/${hash}`);
  await page.waitForFunction((name) => document.querySelector("#view")?.dataset.view === name, hash.split("?")[0]);
  await settled(page);
  expect(`${hash}: no error is shown`, (await page.locator(".error").count()) === 0);
}
async function downloads(page, name, kinds) {
  for (const kind of kinds) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: kind, exact: true }).first().click()]);
    const text = readFileSync(await file.path(), "utf8");
    expect(`${name}: the ${kind} has content`, text.length > 40 && (kind !== "SVG" || text.startsWith("<svg")) && (kind !== "JSON" || JSON.parse(text)));
  }
}
const step = async (name, work) => {
  const start = Date.now();
  try { await work(); } catch (e) { expect(`${name}: ${e.message.split("\n")[0]}`, false); }
  console.log(`${name}: ${((Date.now() - start) / 1000).toFixed(1)} s`);
};

/// What a checker of accessibility would say of the page as it stands: contrast, names, landmarks, order of headings.
const audit = (page) => page.evaluate(() => {
  const found = [];
  const say = (what, e) => found.push(`${what}: ${(e.outerHTML ?? "").replace(/\s+/g, " ").slice(0, 110)}`);
  const seen = (e) => e.checkVisibility?.({ checkOpacity: true, checkVisibilityCSS: true }) && e.getClientRects().length > 0;
  const rgba = (text) => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
  const light = ([r, g, b]) => { const f = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const behind = (e) => { const layers = []; for (let at = e; at; at = at.parentElement) { const c = rgba(getComputedStyle(at).backgroundColor); layers.push(c); if (c[3] === 1) break; } return layers.reverse().reduce((below, c) => over(c, below), [255, 255, 255, 1]); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const done = new Set();
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || done.has(e) || !seen(e) || e.closest("noscript, option, .skip, [disabled], script, style")) continue;
    done.add(e);
    const style = getComputedStyle(e), ground = behind(e);
    const ink = over(rgba(e.namespaceURI.includes("svg") ? (style.fill.startsWith("rgb") ? style.fill : style.color) : style.color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5) - 0.01) say(`contrast ${ratio.toFixed(2)}`, e);
  }
  for (const e of document.querySelectorAll("button, a[href], input, select, textarea, progress")) {
    if (!seen(e)) continue;
    const name = e.getAttribute("aria-label") || e.textContent.trim() || e.title || [...(e.labels ?? [])].map((l) => l.textContent.trim()).join("");
    if (!name) say("no name", e);
  }
  for (const e of document.querySelectorAll("img:not([alt])")) say("no alternative text", e);
  for (const e of document.querySelectorAll("figure > svg, figure > figure > svg")) if (seen(e) && !e.closest("[role=img][aria-label]") && !e.getAttribute("aria-label")) say("a picture without words", e);
  for (const e of document.querySelectorAll("th:not([scope])")) if (!e.closest(".uplot")) say("a heading of a table without scope", e);
  const navs = [...document.querySelectorAll("nav")].map((e) => e.getAttribute("aria-label"));
  if (!navs.length || navs.some((n) => !n) || new Set(navs).size < navs.length) found.push(`navigations are not told apart: ${navs}`);
  for (const tag of ["header", "main", "footer", "h1"]) { const n = document.querySelectorAll(`body ${tag}`).length; if (n !== 1) found.push(`${n} of <${tag}>`); }
  if (!document.documentElement.lang) found.push("the page has no language");
  if (!document.title) found.push("the page has no title");
  let last = 1;
  for (const e of document.querySelectorAll("h1, h2, h3, h4")) { const level = Number(e.tagName[1]); if (level > last + 1) say("a heading skips a level", e); last = level; }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of new Set(ids.filter((x, i) => ids.indexOf(x) !== i))) found.push(`twice the id ${id}`);
  for (const e of document.querySelectorAll("[tabindex]")) if (Number(e.getAttribute("tabindex")) > 0) say("an order of its own for the tab key", e);
  return [...new Set(found)].slice(0, 12);
});

const page = await open();
await step("plan", async () => {
  await page.goto(base);
  await settled(page);
  expect("plan is where one starts", (await page.locator("nav#nav a[aria-current]").textContent()) === "Plan");
  await drawn(page);
  const svg = page.locator("figure > svg").first();
  await svg.scrollIntoViewIfNeeded();
  const box = await svg.boundingBox();
  await page.mouse.move(box.x + box.width * 0.1, box.y + box.height * 0.05);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.6, { steps: 5 });
  await page.mouse.up();
  expect("the brush filters the tables", /in the selection/.test(await page.locator("#view").innerText()));
  expect("the link keeps the brush", /brush=/.test(page.url()));
  const link = page.url();
  const other = await open();
  await other.goto(link);
  await settled(other);
  expect("the link restores the brush", /in the selection/.test(await other.locator("#view").innerText()));
  await other.context().close();
  await page.getByRole("button", { name: "Whole front" }).click();
  await downloads(page, "plan", ["JSON", "CSV", "SVG"]);
  expect("the command is there", /ridge plan serve --model/.test(await page.locator(".command").first().innerText()));
});
await step("explore", async () => {
  await page.locator("nav#nav a", { hasText: "Explore" }).click();
  await page.waitForFunction(() => document.querySelector("#view")?.dataset.view === "explore");
  await settled(page);
  await drawn(page);
  const before = await page.locator(".card").first().innerText();
  const slider = page.locator("#f-concurrency");
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.9, box.y + box.height / 2, { steps: 10 });
  await page.waitForFunction((text) => document.querySelector(".card").innerText !== text, before);
  expect("the slider answers while it is held", (await page.locator(".card").first().innerText()) !== before);
  await page.mouse.up();
  await page.locator("#f-tp").focus();
  await page.keyboard.press("ArrowLeft");
  await settled(page);
  expect("the link follows the sliders", /concurrency=/.test(page.url()) && /tp=1/.test(page.url()));
  await page.reload();
  await settled(page);
  expect("the link restores the sliders", (await page.locator("#f-tp").inputValue()) === "0");
  await downloads(page, "explore", ["JSON", "CSV", "SVG"]);
  await page.goto(`${base}#/explore?model=llama3.1-405b&gpus=1&tp=1`);
  await page.waitForSelector(".error");
  expect("what does not fit is said so", /out of memory/i.test(await page.locator(".error").innerText()));
  await page.goto(`${base}#/explore?model=no-such-model`);
  await page.waitForFunction(() => /no model/.test(document.querySelector(".error")?.textContent ?? ""));
  problems.splice(0, problems.length, ...problems.filter((p) => !/status of 400/.test(p)));  // the browser's own line about the refusal
});
await step("fleet", async () => {
  await view(page, "fleet");
  await page.waitForFunction(() => document.querySelectorAll("figure > svg").length >= 3);
  expect("fleet says what to have", /(buy|lease|rent|reserve) \d+ /.test(await page.locator("#view").innerText()));
  expect("every hour of every month is in the heat map", (await page.locator("#view figure rect").count()) >= 12 * 24);
  await downloads(page, "fleet", ["JSON", "CSV", "SVG"]);
  if (shots) await page.screenshot({ path: join(shots, "fleet.png"), fullPage: true });
  await page.setInputFiles("#fleet-file", { name: "mine.toml", mimeType: "text/plain", buffer: readFileSync(resolve(here, "../../examples/fleet/impossible.toml")) });
  await page.waitForFunction(() => /without any one of them/.test(document.querySelector("#view").textContent));
  expect("rules that clash are named by their lines", /estate\.toml:9:1/.test(await page.locator("#view").innerText()));
  expect("the form shows the file", /basement/.test(await page.locator("#f-estate").inputValue()));
});
await step("rl", async () => { await view(page, "rl"); await drawn(page); await downloads(page, "rl", ["JSON", "CSV", "SVG"]); });
await step("train", async () => { await view(page, "train"); await drawn(page); await downloads(page, "train", ["JSON", "CSV", "SVG"]); await page.waitForFunction(() => /Goodput/.test(document.querySelector("#view").innerText)); });
await step("serve", async () => {
  await view(page, "serve?requests=500");
  await page.waitForSelector(".uplot canvas");
  const curve = await page.locator("figure > svg path[stroke-width='2'], figure > svg g[stroke-width='2'] path").first().getAttribute("d");
  expect("the distribution is a curve, not a few points", (curve.match(/[ML,]/g) ?? []).length > 40);
  await downloads(page, "serve", ["JSON", "CSV", "SVG"]);
  await page.locator("#f-requests").fill("2000000");
  await page.locator("#f-requests").press("Enter");
  await page.waitForFunction(() => document.querySelector("progress:not([hidden])")?.value > 0);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.waitForFunction(() => /ended/.test(document.querySelector(".error")?.textContent ?? ""));
});
await step("cost", async () => { await view(page, "cost"); await drawn(page); expect("cost has its charts", (await page.locator("figure").count()) >= 4); await downloads(page, "cost", ["JSON", "CSV", "SVG"]); });
await step("measure", async () => {
  await view(page, "measure");
  const result = { completed: 64, failed: 0, total_input_tokens: 32768, total_output_tokens: 8192, output_throughput: 1500, request_rate: "inf", max_concurrency: 16, num_prompts: 64, model_id: "m",
    median_ttft_ms: 40, p90_ttft_ms: 60, p95_ttft_ms: 70, p99_ttft_ms: 90, median_tpot_ms: 9, p90_tpot_ms: 9.5, p95_tpot_ms: 9.6, p99_tpot_ms: 1000 };
  const upload = (name, text) => page.locator("#results").setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) });
  await upload("vllm.json", JSON.stringify(result));
  await page.waitForFunction(() => document.querySelectorAll(".answer tbody tr").length === 9);
  await settled(page); await drawn(page);
  expect("measure takes the load from the file", (await page.locator("#f-concurrency").inputValue()) === "16" || page.url().includes("concurrency=16"));
  expect("a p99 of a second is outside", (await page.locator(".answer tbody .bad").count()) >= 1);
  expect("nine predictions stand beside", (await page.locator(".answer tbody td:nth-child(4)").allTextContents()).every((t) => / %$/.test(t)));
  await downloads(page, "measure", ["JSON", "CSV", "SVG"]);
  await upload("other.json", '{"a":1}');
  await page.waitForFunction(() => document.querySelector(".answer .error")?.textContent.includes("neither"));
});
await step("record", async () => {
  await view(page, "record");
  await drawn(page);
  const rows = await page.locator("tbody tr").count();
  await page.locator("#f-scenario").selectOption("Server");
  await page.waitForFunction(() => /Server/.test(document.querySelector("figcaption")?.textContent ?? ""));
  expect("record has rows", rows > 3);
  await downloads(page, "record", ["JSON", "CSV", "SVG"]);
});
await step("accuracy", async () => { await view(page, "accuracy"); await drawn(page); expect("many points", (await page.locator("figure > svg circle").count()) > 100); await downloads(page, "accuracy", ["JSON", "CSV", "SVG"]); });
await step("check", async () => {
  await view(page, "check");
  await page.locator("#f-text").fill("H100 SXM has 9.9 TB/s of memory bandwidth.");
  await page.getByRole("button", { name: "Check" }).click();
  await page.waitForFunction(() => /wrong/.test(document.querySelector(".lines")?.textContent ?? ""));
  await drawn(page);
  await downloads(page, "check", ["JSON", "CSV", "SVG"]);
});
await step("catalogue", async () => {
  for (const kind of ["devices", "systems", "fabrics", "models", "prices", "architectures", "sources"]) { await view(page, `catalogue?kind=${kind}`); await page.waitForSelector("tbody tr"); }
  await view(page, "catalogue");
  await drawn(page);
  await downloads(page, "catalogue", ["JSON", "CSV", "SVG"]);
  await page.locator("#filter").fill("h200");
  await page.locator("tbody a", { hasText: "h200-sxm" }).first().click();
  await page.waitForFunction(() => /figure/.test(document.querySelector("th")?.textContent ?? ""));
  await page.locator("tbody a").first().click();
  await page.waitForFunction(() => /kind=sources/.test(location.hash));
  await downloads(page, "catalogue", ["JSON", "CSV"]);
});
await step("theme and keyboard", async () => {
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.locator("#theme").click();
  await page.reload();
  expect("the theme is remembered", (await page.evaluate(() => document.documentElement.dataset.theme)) !== before);
  const loose = await page.evaluate(() => [...document.querySelectorAll("input, select, textarea")].filter((e) => !document.querySelector(`label[for="${e.id}"]`)).map((e) => e.id));
  expect(`every field has a label: ${loose}`, loose.length === 0);
});
await step("first load", async () => {
  const fresh = await open();
  let scripts = 0;
  fresh.on("response", async (r) => { if (/\.js$/.test(r.url())) scripts += Number((await r.allHeaders())["content-length"] ?? 0); });
  await fresh.goto(`${base}#/explore`);
  await settled(fresh);
  await drawn(fresh);
  expect(`scripts of the first load, charts included: ${scripts} bytes`, scripts > 0 && scripts < 200 * 1024);
  await fresh.context().close();
});
await step("phone", async () => {
  const phone = await open({ viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true });
  for (const name of ["plan", "fleet", "explore", "train", "rl", "serve?requests=500", "measure", "cost", "record", "accuracy", "check", "catalogue"]) {
    await view(phone, name);
    const wide = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(`${name} fits a phone (${wide} too wide)`, wide <= 0);
    if (shots) { await phone.waitForTimeout(800); await phone.screenshot({ path: join(shots, `phone-${name.split("?")[0]}.png`) }); }
  }
  await phone.context().close();
});
const views = ["plan", "fleet", "explore", "train", "rl", "serve?requests=500", "measure", "cost", "record", "accuracy", "check", "catalogue", "catalogue?kind=devices&id=h200-sxm"];
await step("audit", async () => {
  for (const scheme of ["light", "dark"]) {
    const audited = await open({ colorScheme: scheme });
    for (const name of views) {
      await view(audited, name);
      await audited.waitForTimeout(300);
      for (const what of await audit(audited)) expect(`${name}, ${scheme}: ${what}`, false);
      const title = await audited.title();
      expect(`${name}: its title names it (${title})`, title.toLowerCase().includes(name.split("?")[0]));
    }
    await audited.context().close();
  }
});
if (shots) {
  for (const scheme of ["light", "dark"]) {
    const wide = await open({ colorScheme: scheme });
    for (const name of views) {
      await view(wide, name);
      await wide.waitForTimeout(1200);
      await wide.screenshot({ path: join(shots, `${scheme}-${name.replace(/\W+/g, "-")}.png`), fullPage: true });
    }
    await wide.context().close();
  }
}
await browser.close();
server?.removeAllListeners("exit");
server?.kill("SIGINT");
for (const p of problems) console.log(`PROBLEM ${p}`);
console.log(problems.length ? `${problems.length} problems` : "every view works");
process.exit(problems.length ? 1 : 0);
