// Cost: own, rent or pay by the token; what a token is made of; what is not known; what a power cap saves.
import { command, post, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { cards, csv, digits, failure, h, interval, money, palette, percent, table, tools, type Column, type Field } from "../ui";
import { assumptions, bench, body, bullets, precisions, section, span, words, type Show } from "../view";

const form: Field[] = [
  { key: "model", label: "Model", list: "models", group: "Work" }, { key: "device", label: "Device", list: "devices", group: "Work" }, { key: "gpus", label: "Devices", group: "Work" },
  { key: "precision", label: "Precision", kind: "select", options: precisions, group: "Work" }, { key: "isl", label: "Input tokens", group: "Work" }, { key: "osl", label: "Output tokens", group: "Work" },
  { key: "concurrency", label: "Concurrent requests:", kind: "range", low: 1, high: 1024, logarithmic: true, step: 0.5, show: (v) => digits(Math.round(v)), group: "Work" },
  { key: "utilization", label: "Time with work:", kind: "range", low: 0.05, high: 1, step: 0.05, show: (v) => percent(v), group: "Money" },
  { key: "price", label: "Rent of a GPU-hour", hint: "median of the market", group: "Money" }, { key: "server_price", label: "Server, per device", hint: "as catalogued", group: "Money" },
  { key: "electricity", label: "Electricity", hint: "$0.08/kWh", group: "Money" }, { key: "region", label: "Region", hint: "us", group: "Money" }, { key: "life", label: "Life of the hardware", hint: "5 years", group: "Money" },
];
const perMillion = (v: number) => `${money(v)}`;
const tokens = (v: number) => (v >= 1e9 ? `${digits(v / 1e9)} billion tokens` : `${digits(v / 1e6)} million tokens`);
type Question = Record<string, unknown>;

export const show: Show = (into, values, go) => {
  const compare = h("div"), even = h("div"), water = h("div"), risk = h("div"), cap = h("div");
  const view = bench({
    into, values, go, live: true, list: form, title: "Cost", lede: "Cost of a million output tokens if you own, rent or use an API: its parts, its uncertainty, and the effect of a power cap. An unpublished price is unknown, never zero.",
    defaults: { model: "llama3.3-70b", device: "h200-sxm", gpus: "2", precision: "fp8", isl: "1000", osl: "250", concurrency: "32", utilization: "1", price: "", server_price: "", electricity: "", region: "", life: "" },
    ask: async (v) => {
      const question: Question = { ...body(v), concurrency: String(Math.round(Number(v.concurrency))) };
      const kinds: [string, HTMLElement, (a: Answer, q: Question) => Node[]][] = [["compare", compare, ways], ["break-even", even, breakEven], ["own", water, waterfall], ["risk", risk, tornado], ["power-cap", cap, powerCap]];
      // One by one: each is its own command, and one that is refused leaves the others standing.
      const answers = await Promise.all(kinds.map(async ([kind, slot, paint]) => {
        const asked: Question = { kind, ...question };
        // The break-even is over all utilisations.
        if (kind === "break-even") delete asked.utilization;
        try { const a = await post("cost", asked); return () => slot.replaceChildren(...paint(a, asked)); } catch (error) { return () => slot.replaceChildren(section(titles[kind], failure(error))); }
      }));
      return () => answers.forEach((f) => f());
    },
  });
  view.out.append(compare, even, water, risk, cap);
  return view.leave;
};
const titles: Record<string, string> = { compare: "Ways to pay", "break-even": "Own, rent or API", own: "What a token is made of", risk: "Risk", "power-cap": "Power cap" };
const tail = (name: string, a: Answer, question: Question, rows: () => string, chart?: HTMLElement) => [assumptions(a.assumptions) ?? "", a.warnings?.length ? h("p", { class: "warn" }, a.warnings.join(" ")) : "",
  tools(name, { json: a, csv: rows, figure: chart ? () => figureOf(chart) : undefined, command: command("cost", question) })].map((n) => (typeof n === "string" ? document.createTextNode(n) : n));

function ways(a: Answer, question: Question): Node[] {
  const columns: Column<Answer>[] = [
    { name: "way", show: (w) => h("span", { class: w.way === a.cheapest ? "good" : undefined }, w.way, w.way === a.cheapest ? " ✓ cheapest" : ""), plain: (w) => w.way },
    { name: "per 1M output tokens", number: true, show: (w) => (w.cost ? span(w.cost.usd_per_million_tokens_predicted ?? { low: w.cost.usd_per_million_tokens, mid: w.cost.usd_per_million_tokens, high: w.cost.usd_per_million_tokens }, perMillion) : "unknown"), plain: (w) => w.cost?.usd_per_million_tokens },
    { name: "per GPU-hour", number: true, show: (w) => (w.cost?.usd_per_gpu_hour ? money(w.cost.usd_per_gpu_hour) : "–"), plain: (w) => w.cost?.usd_per_gpu_hour },
    { name: "per month", number: true, show: (w) => (w.cost ? money(w.cost.usd_per_month) : "–"), plain: (w) => w.cost?.usd_per_month },
    { name: "note", show: (w) => w.unknown ?? "" },
  ];
  const best = a.ways.find((w: Answer) => w.way === a.cheapest)?.cost;
  return [section(titles.compare, h("p", { class: "faint" }, a.title), best ? cards([{ what: "Cheapest", big: a.cheapest }, interval("Per 1M output tokens", best.usd_per_million_tokens_predicted, perMillion), { what: "Per month", big: money(best.usd_per_month), note: best.tokens_per_month ? `${tokens(best.tokens_per_month)}` : undefined },
    { what: "Energy at the meter", big: `${digits(best.energy?.joules_per_token ?? NaN)} J`, note: "per output token" }]) : null, table(columns, a.ways)), ...tail("cost-compare", a, question, () => csv(columns, a.ways))];
}

function breakEven(a: Answer, question: Question): Node[] {
  const chart = h("figure");
  const lines: [string, string][] = [["own_usd_per_million_tokens", "own"], ["rent_reserved_usd_per_million_tokens", "rent, idle hours paid"], ["rent_used_usd_per_million_tokens", "rent, used hours only"], ["api_usd_per_million_tokens", "API"]];
  const points = a.curve.flatMap((c: Answer) => lines.filter(([k]) => c[k] > 0).map(([k, name]) => ({ x: c.utilization, y: c[k], name })));
  const columns: Column<Answer>[] = [{ name: "utilization", number: true, show: (c) => percent(c.utilization), plain: (c) => c.utilization }, ...lines.map(([k, name]): Column<Answer> => ({ name, number: true, show: (c) => money(c[k]), plain: (c) => c[k] }))];
  void draw(chart, "Cost of 1M output tokens over the share of the time in which there is work", (p) => ({
    x: { label: "utilization →", tickFormat: "%" }, y: { type: "log", label: "↑ $ per 1M output tokens", tickFormat: "~s", ticks: 6 }, color: { legend: true, domain: lines.map(([, n]) => n), range: palette },
    marks: [...(a.own_over_rent_utilization > 0 && a.own_over_rent_utilization <= 1 ? [p.ruleX([a.own_over_rent_utilization], { strokeDasharray: "4,3" })] : []), p.lineY(points, { x: "x", y: "y", stroke: "name", strokeWidth: 2, marker: true }),
      p.tip(points, p.pointer({ x: "x", y: "y", title: (d) => `${d.name}\nat ${percent(d.x)}: ${money(d.y)}`, fill: "var(--page)" }))],
  }));
  return [section(titles["break-even"], cards([
    { what: "Owning beats renting above", big: a.own_over_rent_utilization === null ? "never" : percent(a.own_over_rent_utilization), note: "of the hours" }, { what: "Paid back after", big: a.payback_years === null ? "never" : `${digits(a.payback_years)} years` },
    { what: "Owning beats the API above", big: a.own_over_api_tokens_per_month === null ? "never" : tokens(a.own_over_api_tokens_per_month), note: "a month" }, { what: "Renting beats the API above", big: a.rent_over_api_tokens_per_month === null ? "never" : tokens(a.rent_over_api_tokens_per_month), note: "a month" },
  ]), chart), ...tail("cost-break-even", a, question, () => csv(columns, a.curve), chart)];
}

function waterfall(a: Answer, question: Question): Node[] {
  const chart = h("figure");
  let sum = 0;
  const steps = a.waterfall.map((w: Answer) => { const from = sum; sum += w.usd_per_million_tokens ?? 0; return { line: words(w.line), from, to: sum, value: w.usd_per_million_tokens ?? 0, hour: w.usd_per_gpu_hour }; });
  const all = [...steps, { line: "all", from: 0, to: sum, value: sum, hour: a.usd_per_gpu_hour }];
  const columns: Column<Answer>[] = [{ name: "line", show: (s) => s.line }, { name: "$ per 1M output tokens", number: true, show: (s) => money(s.value), plain: (s) => s.value }, { name: "$ per GPU-hour", number: true, show: (s) => money(s.hour), plain: (s) => s.hour }];
  void draw(chart, "Owned: what 1M output tokens cost, line by line", (p) => ({
    height: 60 + 28 * all.length, marginLeft: 120, marginRight: 60, x: { label: "$ per 1M output tokens →" }, y: { label: null, domain: all.map((s) => s.line) },
    marks: [p.barX(all, { x1: "from", x2: "to", y: "line", fill: (d) => (d.line === "all" ? palette[8] : palette[0]) }), p.text(all, { x: "to", y: "line", text: (d) => money(d.value), dx: 4, textAnchor: "start" }), p.ruleX([0])],
  }));
  return [section(titles.own, chart), ...tail("cost-own", a, question, () => csv(columns, all), chart)];
}

function tornado(a: Answer, question: Question): Node[] {
  const chart = h("figure");
  const rows: Answer[] = a.tornado.map((t: Answer) => ({ ...t, input: words(t.input) }));
  const columns: Column<Answer>[] = [{ name: "input", show: (t) => t.input }, ...["low_input", "mid_input", "high_input", "cost_at_low", "cost_at_high"].map((k): Column<Answer> => ({ name: words(k), number: true, show: (t) => digits(t[k]), plain: (t) => t[k] }))];
  void draw(chart, `Tornado: cost of 1M output tokens if one input goes from its low to its high value; the line is ${money(a.middle_of_inputs)}`, (p) => ({
    height: 70 + 34 * rows.length, marginLeft: 130, marginRight: 40, x: { label: "$ per 1M output tokens →", nice: true }, y: { label: null, domain: rows.map((r) => r.input) }, color: { legend: true, domain: ["towards low", "towards high"], range: [palette[0], palette[1]] },
    marks: [p.barX(rows, { x1: "cost_at_low", x2: () => a.middle_of_inputs, y: "input", fill: () => "towards low" }), p.barX(rows, { x1: () => a.middle_of_inputs, x2: "cost_at_high", y: "input", fill: () => "towards high" }), p.ruleX([a.middle_of_inputs])],
  }));
  return [section(titles.risk, cards([interval("Per 1M output tokens", a.usd_per_million_tokens, perMillion), { what: "Mean", big: money(a.mean), note: `of ${digits(a.draws)} draws` }]), chart), ...tail("cost-risk", a, question, () => csv(columns, rows), chart)];
}

function powerCap(a: Answer, question: Question): Node[] {
  const chart = h("figure");
  const rows: Answer[] = a.points;
  const top = Math.max(...rows.map((r) => r.tokens_per_joule)), fast = Math.max(...rows.map((r) => r.tokens_per_s)), cheap = Math.min(...rows.map((r) => r.usd_per_million_tokens || Infinity));
  const points = rows.flatMap((r) => [{ x: r.cap_w, y: r.tokens_per_s / fast, name: "tokens per second" }, { x: r.cap_w, y: r.tokens_per_joule / top, name: "tokens per joule" }, ...(r.usd_per_million_tokens ? [{ x: r.cap_w, y: cheap / r.usd_per_million_tokens, name: "tokens per dollar" }] : [])]);
  const columns: Column<Answer>[] = [{ name: "cap", number: true, show: (r) => `${digits(r.cap_w)} W`, plain: (r) => r.cap_w }, { name: "tokens/s", number: true, show: (r) => digits(r.tokens_per_s), plain: (r) => r.tokens_per_s }, { name: "loss", number: true, show: (r) => percent(r.loss, 1), plain: (r) => r.loss },
    { name: "tokens per joule", number: true, show: (r) => digits(r.tokens_per_joule), plain: (r) => r.tokens_per_joule }, { name: "$ per 1M", number: true, show: (r) => money(r.usd_per_million_tokens), plain: (r) => r.usd_per_million_tokens }, { name: "", show: (r) => r.best ?? "" }];
  void draw(chart, "Power cap of each device: speed, energy and money, each as a share of its best", (p) => ({
    x: { label: "cap of each device (W) →" }, y: { label: "↑ of the best", tickFormat: "%", nice: true }, color: { legend: true, domain: ["tokens per second", "tokens per joule", "tokens per dollar"], range: palette },
    marks: [p.lineY(points, { x: "x", y: "y", stroke: "name", strokeWidth: 2, marker: true })],
  }));
  return [section(titles["power-cap"], bullets([`Most tokens per joule at ${digits(a.best_tokens_per_joule_cap_w)} W, most per dollar at ${a.best_tokens_per_dollar_cap_w ? `${digits(a.best_tokens_per_dollar_cap_w)} W` : "a cap nobody can tell: a price is unknown"}.`]), chart, table(columns, rows)), ...tail("cost-power-cap", a, question, () => csv(columns, rows), chart)];
}
