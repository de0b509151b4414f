// Plan: a goal in, ranked plans out, and the front of cost against speed to brush.
import { command, job, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { cards, csv, digits, h, interval, money, percent, seconds, table, tools, unit, type Child, type Column, type Field, type Interval, type Values } from "../ui";
import { assumptions, bench, body, changed, bullets, section, span, words, type Show } from "../view";
import { sureness } from "./sure";

const usd = (v: number) => money(v);
const days = (v: number) => `${digits(v)} days`;
const common: Field[] = [{ key: "kind", label: "Goal", kind: "select", options: [["serve", "serve requests"], ["train", "train a model"]] }, { key: "model", label: "Model", list: "models" }];
const tail: Field[] = [
  { key: "confidence", label: "Confidence", hint: "80%" },
  { key: "objective", label: "Objective", kind: "select", options: ["cost", "time", "energy", "gpus"] },
  { key: "devices", label: "Devices", hint: "all, or h100-sxm,mi300x", list: "devices" },
  { key: "gpus", label: "Number of devices", hint: "any" },
  { key: "precision", label: "Precisions", hint: "any, or bf16,fp8" },
  { key: "purchase", label: "Purchase", kind: "select", options: [["", "on demand"], ["spot", "spot"], ["reserved", "reserved"], ["own", "own"], ["any", "whichever is cheapest"]] },
];
const serve: Field[] = [
  { key: "request_rate", label: "Requests per second" }, { key: "isl", label: "Input tokens" }, { key: "osl", label: "Output tokens" },
  { key: "ttft", label: "Time to first token, at most", hint: "1s" }, { key: "tpot", label: "Time per output token, at most", hint: "40ms" },
  { key: "peak", label: "Peak rate over mean rate", hint: "3x" }, { key: "spares", label: "Spares at the peak", kind: "select", options: [["", "nothing"], ["N+1", "one replica"], ["N+2", "two replicas"], ["node", "a node"], ["rack", "a rack"]] },
];
const train: Field[] = [{ key: "tokens", label: "Tokens to train on", hint: "15T" }, { key: "days", label: "Days, at most" }, { key: "seq_length", label: "Sequence length", hint: "8192" }];
const defaults = (kind: string): Values => kind === "train"
  ? { kind, model: "llama3.1-8b", tokens: "1T", days: "30", seq_length: "", objective: "cost", devices: "h100-sxm,h200-sxm,b200-sxm-180,mi300x", gpus: "", precision: "", purchase: "", confidence: "" }
  : { kind: "serve", model: "llama3.3-70b", request_rate: "20", isl: "1000", osl: "250", ttft: "1s", tpot: "40ms", objective: "cost", devices: "h100-sxm,h200-sxm,b200-sxm-180,mi300x,l40s", gpus: "", precision: "", purchase: "", confidence: "", peak: "", spares: "" };

interface Axis { name: string; of: (p: Answer) => Interval; show: (v: number) => string; scale: number }
const axes: Record<string, [Axis, Axis]> = {
  serve: [{ name: "$ per 1M output tokens", of: (p) => p.usd_per_million_output_tokens, show: usd, scale: 1 }, { name: "time per output token at full load (ms)", of: (p) => p.tpot_s, show: seconds, scale: 1e3 }],
  train: [{ name: "cost of the run (k$)", of: (p) => p.cost_usd, show: usd, scale: 1e-3 }, { name: "days", of: (p) => p.duration_days, show: days, scale: 1 }],
};

const shape = (p: Answer) => [p.replicas > 1 ? `${p.replicas} × ` : "", ["tp", "pp", "cp", "dp", "ep"].filter((k) => k === "tp" || p[k] > 1).map((k) => `${k.toUpperCase()}${p[k]}`).join(" ")].join("");
/// What the table of the terminal shows: the simulated 95th percentile where a plan was simulated, else the mean.
const pace = (p: Answer, p95: string, mean: string): Child => (p[p95] != null ? `${seconds(p[p95])} p95` : span(p[mean], seconds));
const paceCard = (what: string, p: Answer, p95: string, mean: string) => (p[p95] != null ? { what: `${what}, p95`, big: seconds(p[p95]), note: "simulated" } : interval(`${what}, mean`, p[mean], seconds));
/// With which probability rate and limits hold, or days and budget.
const held = (p: Answer): number | null => p.holds_probability ?? (p.holds_days_probability != null && p.holds_budget_probability != null ? Math.min(p.holds_days_probability, p.holds_budget_probability) : (p.holds_days_probability ?? p.holds_budget_probability ?? null));
function columns(kind: string): Column<Answer>[] {
  const [x, y] = axes[kind];
  const number = (name: string, of: (p: Answer) => Interval, show: (v: number) => string): Column<Answer> => ({ name, number: true, show: (p) => span(of(p), show), plain: (p) => of(p)?.mid });
  const first: Column<Answer>[] = [
    { name: "rank", number: true, show: (p): Child => (p.rank ? `${p.rank}${p.tie ? " =" : ""}` : "front"), plain: (p) => p.rank ?? "front" },
    { name: "device", show: (p) => h("a", { href: `#/catalogue?kind=devices&id=${p.device}` }, p.device), plain: (p) => p.device },
    { name: "devices", number: true, show: (p) => digits(p.gpus), plain: (p) => p.gpus },
    { name: "layout", show: (p) => h("span", { class: "whole" }, shape(p)), plain: shape },
    { name: "precision", show: (p) => (p.weights ? `${p.weights}, KV ${p.kv}` : p.precision) },
    number(kind === "serve" ? x.name : "cost of the run", x.of, x.show),
    kind === "serve" ? { name: "TPOT", number: true, show: (p) => pace(p, "tpot_p95_s", "tpot_s"), plain: (p) => p.tpot_p95_s ?? p.tpot_s?.mid } : number("duration", y.of, y.show),
  ];
  return [...first, ...(kind === "serve" ? [{ name: "TTFT", number: true, show: (p: Answer) => pace(p, "ttft_p95_s", "ttft_s"), plain: (p: Answer) => p.ttft_p95_s ?? p.ttft_s?.mid }] : [number("MFU", (p) => p.mfu, percent)]),
    { name: "$ per hour", number: true, show: (p) => money(p.usd_per_hour), plain: (p) => p.usd_per_hour },
    number("power", (p) => p.power_w, (v) => unit(v, "W")),
    { name: kind === "serve" ? "meets SLO" : "meets goal", number: true, show: (p) => (held(p) == null ? "–" : percent(held(p)!)), plain: held },
    { name: "P(best)", number: true, show: (p) => (p.rank ? percent(p.best_probability) : "–"), plain: (p) => p.best_probability },
    { name: "bound by", show: (p) => p.bound }];
}

export const show: Show = (into, values, go) => {
  const kind = values.kind === "train" ? "train" : "serve";
  let window_ = (values.brush ?? "").split(",").map(Number);
  if (window_.length !== 4 || window_.some(Number.isNaN)) window_ = [];
  const top = h("div"), chart = h("figure"), limits = h("div", { class: "row4" }), tables = h("div"), rest = h("div");
  const view = bench({
    into, values, go: (v) => go(v), button: "Plan", title: "Plan", lede: "What to rent or buy for a goal: the best plan of each device, ranked, and why the others were rejected. Drag over the chart to keep a part of the Pareto front.",
    list: (v) => [...common, ...(v.kind === "train" ? train : serve), ...tail], defaults: { ...defaults(kind), brush: "" }, reform: ["kind"],
    ask: async (v, signal, told) => {
      if ((v.kind === "train") !== (kind === "train")) { location.hash = `#/plan?kind=${v.kind}`; return () => undefined; }
      const keys = [...common, ...(kind === "train" ? train : serve), ...tail].map((f) => f.key);
      const question = body(Object.fromEntries(Object.entries(v).filter(([k]) => keys.includes(k))));
      const answer = await job("plan", { ...question, top: 20 }, signal, told);
      return () => paint(answer, question);
    },
  });
  view.out.append(top, chart, limits, tables, rest);

  function paint(a: Answer, question: Record<string, unknown>): void {
    const [x, y] = axes[kind];
    const best = a.plans[0];
    const inside = (p: Answer) => !window_.length || (x.of(p).mid * x.scale >= window_[0] && x.of(p).mid * x.scale <= window_[1] && y.of(p).mid * y.scale >= window_[2] && y.of(p).mid * y.scale <= window_[3]);
    top.replaceChildren(a.feasible && best
      ? h("div", {}, cards([
        { what: "Best", big: `${digits(best.gpus)} × ${best.device}`, note: shape(best) },
        interval(kind === "serve" ? "Per 1M output tokens" : "Cost of the run", x.of(best), x.show), kind === "serve" ? paceCard("Time per output token", best, "tpot_p95_s", "tpot_s") : interval("Duration", y.of(best), y.show),
        kind === "serve" ? paceCard("Time to first token", best, "ttft_p95_s", "ttft_s") : interval("MFU", best.mfu, percent),
        { what: "Per hour", big: money(best.usd_per_hour), note: `${unit(best.power_w.mid, "W")}` },
      ]), a.rationale.length ? bullets(a.rationale) : null,
      a.cheapest_change ? h("p", {}, h("strong", {}, "Cheapest change: "), a.cheapest_change.text, kind === "serve" && a.cheapest_change.saves_usd_per_million_output_tokens ? ` (saves ${money(a.cheapest_change.saves_usd_per_million_output_tokens)} per 1M output tokens)` : "") : null)
      : h("div", { class: "error", role: "alert" }, h("strong", {}, "Nothing meets this goal. "), a.fails_first ?? "", a.nearest_goal ? h("p", {}, `Nearest feasible goal: ${changed(a.nearest_goal)}`) : null));

    const cols = columns(kind);
    const select = (next: number[]) => {
      window_ = next;
      // The link keeps the brush; the search need not run again for it.
      const [path, query] = location.hash.split("?", 2);
      const kept = new URLSearchParams(query ?? "");
      if (next.length) kept.set("brush", next.map((n) => Number(n.toPrecision(4))).join(","));
      else kept.delete("brush");
      history.replaceState(null, "", `${path || "#/plan"}?${kept}`);
      lists();
    };
    const lists = () => {
      const plans = a.plans.filter(inside), front = a.front.filter(inside);
      limits.replaceChildren(...[["from", x], ["to", x], ["from", y], ["to", y]].map(([word, axis], i) => {
        const id = `brush-${i}`;
        return h("label", { for: id }, `${(axis as Axis).name}, ${word}`, h("input", { id, type: "number", step: "any", value: window_.length ? String(Number(window_[i].toPrecision(4))) : "",
          onchange: (e: Event) => { const next = window_.length ? [...window_] : [0, 1e9, 0, 1e9]; next[i] = Number((e.target as HTMLInputElement).value); select(next); } }));
      }), h("button", { type: "button", disabled: !window_.length, onclick: () => { select([]); chart.querySelector("rect.brush")?.remove(); } }, "Whole front"));
      tables.replaceChildren(
        section(`Ranked plans${window_.length ? ` in the selection (${plans.length} of ${a.plans.length})` : ""}`, plans.length ? table(cols, plans) : h("p", { class: "faint" }, "None.")),
        a.plans.some((p: Answer) => p.tie) ? h("p", { class: "faint" }, "=: neither is better with 75 %.") : "",
        section(`Pareto front, cost against speed${window_.length ? `, in the selection (${front.length} of ${a.front.length})` : ""}`, h("details", { open: window_.length > 0 }, h("summary", {}, `${front.length} plans`), table(cols, front))));
    };
    lists();
    limits.hidden = chart.hidden = !a.front.length;
    rest.replaceChildren(
      best && kind === "serve" ? sureness(a) : "",
      a.losers.length ? section("Why the others lost", table<Answer>([{ name: "device", show: (l) => l.device }, { name: "limit", show: (l) => (/^t[tp]ft$|^tpot$|^e2e$/.test(l.limit) ? l.limit.toUpperCase() : words(l.limit)) }, { name: "why", show: (l) => l.why }, { name: "missed by", number: true, show: (l) => (l.missed_by_share ? percent(l.missed_by_share) : "–") }], a.losers)) : "",
      a.nearest?.length ? section("Nearest", table(cols, a.nearest)) : "",
      assumptions(a.assumptions) ?? "",
      best && kind === "serve" ? h("p", {}, h("a", { href: `#/cost?${new URLSearchParams({ model: a.goal.model, device: best.device, gpus: best.gpus_per_replica, precision: best.weights, isl: a.goal.input_tokens, osl: a.goal.output_tokens, concurrency: best.concurrency_per_replica })}` }, "What a token of the best plan is made of, and whether to own, rent or pay by the token"), " · ",
        h("a", { href: `#/explore?${new URLSearchParams({ model: a.goal.model, device: best.device, gpus: best.gpus_per_replica, tp: best.tp, precision: best.weights, isl: a.goal.input_tokens, osl: a.goal.output_tokens, concurrency: best.concurrency_per_replica })}` }, "What binds it")) : "",
      h("p", { class: "faint" }, `${digits(a.statistics.candidates)} candidates, ${digits(a.statistics.evaluated)} evaluated, in ${seconds(a.statistics.search_s)}.`),
      tools("plan", { json: a, csv: () => csv(cols, [...a.plans, ...a.front]), figure: () => figureOf(chart), command: command("plan", question) }));
    if (a.front.length) void front(chart, a, x, y, window_, select);
  }
  return view.leave;
};

async function front(into: HTMLElement, a: Answer, x: Axis, y: Axis, kept: number[], select: (w: number[]) => void): Promise<void> {
  const of = (p: Answer, on: boolean) => ({ device: p.device, on, gpus: p.gpus, shape: shape(p), x: x.of(p).mid * x.scale, y: y.of(p).mid * y.scale, x1: x.of(p).low * x.scale, x2: x.of(p).high * x.scale, y1: y.of(p).low * y.scale, y2: y.of(p).high * y.scale });
  const points = [...a.front.map((p: Answer) => of(p, true)), ...a.plans.map((p: Answer) => of(p, false))];
  const plotted = await draw(into, "Pareto front, cost against speed (filled) and the best plan of each device (rings); lines are 80 % intervals. Drag to select.", (p) => ({
    x: { type: "log", label: `${x.name} →`, ticks: 6, tickFormat: "~s" }, y: { type: "log", label: `↑ ${y.name}`, ticks: 6, tickFormat: "~s" }, color: { legend: true, scheme: "observable10" },
    marks: [
      p.ruleY(points, { x1: "x1", x2: "x2", y: "y", stroke: "device", strokeOpacity: 0.35 }), p.ruleX(points, { y1: "y1", y2: "y2", x: "x", stroke: "device", strokeOpacity: 0.35 }),
      p.dot(points.filter((d) => d.on), { x: "x", y: "y", fill: "device", r: 4 }), p.dot(points.filter((d) => !d.on), { x: "x", y: "y", stroke: "device", r: 7, strokeWidth: 1.5 }),
      p.tip(points, p.pointer({ x: "x", y: "y", title: (d) => `${d.gpus} × ${d.device}\n${d.shape}\n${x.name}: ${digits(d.x)}\n${y.name}: ${digits(d.y)}`, fill: "var(--page)" })),
    ],
  }));
  const svg = figureOf(into) as SVGSVGElement | null;
  const sx = plotted.scale("x"), sy = plotted.scale("y");
  if (!svg || !sx?.invert || !sy?.invert) return;
  const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  box.setAttribute("class", "brush");
  box.setAttribute("pointer-events", "none");
  const place = (x0: number, y0: number, x1: number, y1: number) => {
    for (const [k, v] of Object.entries({ x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) })) box.setAttribute(k, String(v));
    svg.append(box);
  };
  if (kept.length) place(sx.apply(kept[0]), sy.apply(kept[2]), sx.apply(kept[1]), sy.apply(kept[3]));
  const at = (e: PointerEvent): [number, number] => { const r = svg.getBoundingClientRect(), v = svg.viewBox.baseVal; return [((e.clientX - r.left) / r.width) * v.width, ((e.clientY - r.top) / r.height) * v.height]; };
  let from: [number, number] | null = null;
  svg.style.touchAction = "pan-y";
  svg.style.cursor = "crosshair";
  // Before the plot's own listener, which pins the tip of a point nearby and lets nobody else hear of it.
  svg.addEventListener("pointerdown", (e) => { from = at(e); svg.setPointerCapture(e.pointerId); e.preventDefault(); e.stopImmediatePropagation(); }, { capture: true });
  svg.addEventListener("pointermove", (e) => { if (from) place(...from, ...at(e)); });
  svg.addEventListener("pointerup", (e) => {
    if (!from) return;
    const to = at(e), start = from;
    from = null;
    if (Math.abs(to[0] - start[0]) < 4 && Math.abs(to[1] - start[1]) < 4) { box.remove(); select([]); return; }
    const xs = [sx.invert!(start[0]), sx.invert!(to[0])].map(Number).sort((p, q) => p - q), ys = [sy.invert!(start[1]), sy.invert!(to[1])].map(Number).sort((p, q) => p - q);
    select([...xs, ...ys]);
  });
}
