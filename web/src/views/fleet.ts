// Fleet: an estate in, what to have from when to when, how busy it is, what it costs and which limits bind.
import { job, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { cards, csv, digits, download, h, money, palette, percent, table, tools, unit, type Column } from "../ui";
import { assumptions, bench, section, type Show } from "../view";
import extended from "../../../examples/fleet/a100-extended.toml";
import wait from "../../../examples/fleet/buy-or-wait.toml";
import domestic from "../../../examples/fleet/domestic.toml";
import impossible from "../../../examples/fleet/impossible.toml";
import mixed from "../../../examples/fleet/mixed.toml";

const examples: [string, string][] = [["Domestic devices, prices in RMB", domestic], ["An A100 fleet whose contract ends", extended], ["Lease, buy or wait", wait], ["H200, B200 and MI300X together", mixed], ["Rules that clash", impossible]];
const ways = ["owned", "extend", "buy", "lease", "reserved", "on demand", "spot"];
const colourOf = (way: string) => palette[Math.max(0, ways.indexOf(way)) % palette.length];
const number = (name: string, key: string, show: (v: number) => string): Column<Answer> => ({ name, number: true, show: (r) => (typeof r[key] === "number" ? show(r[key]) : "–"), plain: (r) => r[key] });
const word = (name: string, key: string): Column<Answer> => ({ name, show: (r) => r[key] ?? "–", plain: (r) => r[key] });
const actions: Column<Answer>[] = [word("month", "month"), word("what", "action"), number("GPUs", "gpus", digits), word("device", "device"), word("site", "site"), word("how", "stock"), number("$, once or a month", "cash_usd", money)];
const placements: Column<Answer>[] = [word("service", "service"), word("device", "device"), word("site", "site"), word("layout", "layout"), number("replicas", "replicas_first", digits), number("at the end", "replicas_last", digits), number("GPUs", "gpus", digits), number("req/s each", "capacity_requests_per_s", digits), number("of requests", "share", (v) => percent(v)), number("busiest hour", "busiest", (v) => percent(v))];
const training: Column<Answer>[] = [word("job", "job"), word("device", "device"), word("on", "on"), word("from", "first"), word("to", "last"), number("GPU-hours", "gpu_hours", digits), number("GPUs at most", "most_gpus", digits), number("22 to 6 h", "night", (v) => percent(v))];
const parts: [string, string][] = [["purchases", "capital_usd"], ["leases", "leases_usd"], ["upkeep", "upkeep_usd"], ["rents", "rents_usd"], ["energy", "energy_usd"], ["APIs", "apis_usd"], ["lost", "lost_usd"]];
const bill: Column<Answer>[] = [word("month", "month"), number("cost", "cost_usd", money), ...parts.slice(0, 6).map(([name, key]) => number(name, key, money)), number("cash", "cash_usd", money), number("power", "power_w", (v) => unit(v, "W")), number("energy", "energy_kwh", (v) => unit(1e3 * v, "Wh")), number("CO2", "co2_kg", (v) => `${digits(v / 1000)} t`)];
const marginals: Column<Answer>[] = [word("limit", "limit"), { name: "more of it", number: true, show: (m) => (m.unit === "$" ? money(m.more) : `${digits(m.more)} ${m.unit}`), plain: (m) => m.more }, number("worth a month", "usd_per_month", money), word("where", "where")];

export const show: Show = (into, values, go) => {
  const out = h("div");
  const view = bench({
    into, values, go, button: "Plan", title: "Fleet", lede: "An estate: what is owned, what is on offer, what has to be served and trained, and the limits. The answer says what to keep, buy, lease or let go in each month, what runs where, and what one more of each limit is worth. No plan costs less than its bound.",
    list: [{ key: "estate", label: "Estate (TOML)", kind: "area" }], defaults: { estate: domestic },
    ask: async (v, signal, told) => {
      const answer = await job("plan", { kind: "fleet", text: v.estate }, signal, told);
      return () => paint(answer, v.estate);
    },
  });
  const picker = h("select", { id: "fleet-example", onchange: (e: Event) => { const found = examples[Number((e.target as HTMLSelectElement).value)]; if (found) view.again({ estate: found[1] }, true); } },
    h("option", { value: "" }, "choose…"), examples.map(([name], i) => h("option", { value: i }, name)));
  const chooser = h("input", { type: "file", id: "fleet-file", accept: ".toml,text/plain", onchange: async (e: Event) => {
    const file = (e.target as HTMLInputElement).files?.[0];
    if (file) view.again({ estate: await file.text() }, true);
  } });
  view.question.prepend(h("label", { for: "fleet-example" }, h("span", {}, "Example"), picker), h("label", { for: "fleet-file" }, h("span", {}, "Your file"), chooser));
  view.out.append(out);

  function paint(a: Answer, text: string): void {
    const take = tools("fleet", { json: a, ...(a.found ? { csv: () => csv(actions, a.actions), figure: () => figureOf(out.querySelector("figure")!) } : {}), command: "ridge plan fleet estate.toml" });
    take.prepend(h("button", { type: "button", onclick: () => download("estate.toml", "application/toml", text) }, "Estate"));
    if (!a.found) { out.replaceChildren(a.clash ? clash(a.clash) : h("div", { class: "error", role: "alert" }, "Time was over before any plan was found."), take); return; }
    const months: Answer[] = a.bill, sum = (key: string) => months.reduce((all, m) => all + m[key], 0);
    const line = h("figure"), heat = h("figure"), money_ = h("figure");
    out.replaceChildren(
      h("ul", { class: "tight" }, String(a.recommendation).split(/\. (?=\d{4}-\d\d: |APIs |\d)/).map((s: string) => h("li", {}, h("strong", {}, s.replace(/\.$/, ""))))),
      cards([{ what: `Cost of ${a.months} months`, big: money(a.cost_usd), note: `${money(a.cost_usd / a.months)} a month` }, { what: "Lower bound of any plan", big: money(a.bound_usd), note: `gap ${percent(a.gap, 2)}` }, { what: "Cash", big: money(sum("cash_usd")), note: a.commitments_usd > 0 ? `leases bind ${money(a.commitments_usd)} after it` : undefined },
        { what: "Most power", big: unit(Math.max(...months.map((m) => m.power_w)), "W"), note: unit(1e3 * sum("energy_kwh"), "Wh") }, { what: "CO2", big: `${digits(sum("co2_kg") / 1000)} t` }]),
      a.holdings.length ? line : "", a.utilisation.length ? heat : "",
      a.replay ? h("p", { class: a.replay.holds ? "good" : "bad" }, `${a.replay.holds ? "✓" : "✗"} A day of each month simulated hour by hour, ${digits(a.replay.requests)} requests: ${a.replay.holds ? "every hour holds its limits for 95 % of the requests or more" : "not every hour holds its limits"}; worst ${percent(Math.min(...a.replay.months.map((m: Answer) => m.worst_within)), 1)}.`) : "",
      section("What to do", table(actions, a.actions)),
      a.placements.length ? section("What runs where", table(placements, a.placements)) : "", a.training.length ? section("Training", table(training, a.training)) : "",
      a.marginal_values.length ? section("What one more of a limit is worth", table(marginals, a.marginal_values)) : h("p", { class: "faint" }, "No limit of the file binds: more power, racks, budget or devices would save nothing."),
      section("The bill", money_, h("details", {}, h("summary", {}, "Month by month"), table(bill, months))), assumptions(a.assumptions) ?? "", take);
    if (a.holdings.length) timeline(line, a, months.map((m) => m.month));
    if (a.utilisation.length) heatmap(heat, a, months.map((m) => m.month));
    const shares = months.flatMap((m) => parts.filter(([, key]) => m[key] > 0).map(([part, key]) => ({ month: m.month, part, usd: m[key] })));
    const used = parts.map(([part]) => part).filter((part) => shares.some((s) => s.part === part));
    void draw(money_, "Cost of each month; purchases are spread over their months", (p) => ({
      height: 260, x: { label: null, tickRotate: months.length > 12 ? -45 : 0, domain: months.map((m) => m.month) }, y: { label: "↑ $ a month", tickFormat: "~s" }, color: { legend: true, domain: used, range: used.map((_, i) => palette[i % palette.length]) },
      marks: [p.barY(shares, { x: "month", y: "usd", fill: "part", order: used, title: (s: { month: string; part: string; usd: number }) => `${s.month}, ${s.part}: ${money(s.usd)}` }), p.ruleY([0])],
    }));
  }
  return view.leave;
};

interface Cell { row: string; month: string; gpus: number; way: string; more: number }
/// Devices held by month: a line for each way to have them, a number where it changes.
function timeline(into: HTMLElement, a: Answer, months: string[]): void {
  const cells: Cell[] = a.holdings.flatMap((holding: Answer) => months.map((month, m) => ({ row: `${holding.device} in ${holding.site}, ${holding.how === "owned" || holding.how === holding.way ? holding.way : holding.how}`, month, gpus: holding.gpus[m], way: holding.way, more: holding.gpus[m] - (m > 0 ? holding.gpus[m - 1] : 0) })));
  const there = cells.filter((c) => c.gpus > 0), rows = [...new Set(cells.map((c) => c.row))], used = ways.filter((w) => there.some((c) => c.way === w));
  void draw(into, "Devices by month; strong where some are added", (p) => ({
    height: 90 + 34 * rows.length, marginLeft: 24 + 7 * Math.max(...rows.map((r) => r.length)), grid: false, x: { label: null, domain: months, tickRotate: months.length > 6 ? -45 : 0 }, marginBottom: months.length > 6 ? 48 : 30, y: { label: null, domain: rows }, color: { legend: true, domain: used, range: used.map(colourOf) },
    marks: [p.cell(there, { x: "month", y: "row", fill: "way", fillOpacity: (c: Cell) => (c.more > 0 ? 0.9 : 0.45), inset: 1, title: (c: Cell) => `${c.month}: ${digits(c.gpus)} (${c.more >= 0 ? "+" : ""}${digits(c.more)})` }),
      p.text(there.filter((c) => c.more !== 0), { x: "month", y: "row", text: (c: Cell) => digits(c.gpus), fontWeight: 600, fill: "var(--ink)" })],
  }));
}

interface Hour { pool: string; month: string; hour: number; share: number }
function heatmap(into: HTMLElement, a: Answer, months: string[]): void {
  const hours: Hour[] = a.utilisation.flatMap((pool: Answer) => months.flatMap((month, m) => (pool.utilisation[m] as (number | null)[]).flatMap((share, hour) => (share === null ? [] : [{ pool: `${pool.device} in ${pool.site}`, month, hour, share }]))));
  const pools = [...new Set(hours.map((c) => c.pool))];
  void draw(into, "Load of the devices, serving and training, by hour of a typical day of each month", (p) => ({
    height: 60 + pools.length * (14 * months.length + 22), marginLeft: 70, marginRight: 30 + 7 * Math.max(...pools.map((r) => r.length)), grid: false, x: { type: "band", label: "hour of the day →", domain: Array.from({ length: 24 }, (_, i) => i), tickFormat: (t: number) => (t % 3 ? "" : String(t)) }, y: { label: null, domain: months }, fy: { label: null, domain: pools, padding: 0.12 },
    color: { type: "linear", scheme: "YlOrRd", domain: [0, 1], legend: true, label: "load", tickFormat: "%" },
    marks: [p.cell(hours, { x: "hour", y: "month", fy: "pool", fill: "share", inset: 0.5, title: (c: Hour) => `${c.pool}, ${c.month}, ${c.hour} h: ${percent(c.share)}` })],
  }));
}

function clash(c: Answer): HTMLElement {
  return h("div", {}, h("div", { class: "error", role: "alert" }, h("strong", {}, c.rules.length === 1 ? "No plan keeps this, whatever else is given up:" : "No plan keeps all of these together; without any one of them the others can be kept:"),
    h("ul", { class: "tight" }, c.rules.map((r: Answer) => h("li", {}, h("code", {}, r.where), ` ${r.rule}`)))),
    c.changes.length ? section("Smallest changes", h("ol", {}, c.changes.map((change: Answer) => h("li", {}, change.text)))) : "",
    c.together.length ? section("To be given up together", h("ul", { class: "tight" }, c.together.map((where: string) => h("li", {}, h("code", {}, where))))) : "");
}
