// Explore: what binds a model on a device, while sliders move.
import { command, list, post, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { bytesText, cards, csv, digits, h, interval, palette, percent, rate, seconds, stacked, table, tools, unit, type Column, type Field, type Values } from "../ui";
import { assumptions, bench, body, precisions, section, words, type Show } from "../view";

const power = (v: number) => unit(v, "W");
const gpus = (v: number) => `${digits(v)}`;
const form: Field[] = [
  { key: "model", label: "Model", list: "models", group: "What runs where" },
  { key: "device", label: "Device", list: "devices", group: "What runs where" },
  { key: "precision", label: "Precision", kind: "select", options: precisions, group: "What runs where" },
  { key: "gpus", label: "Devices:", kind: "range", low: 1, high: 64, logarithmic: true, show: gpus, group: "Sliders" },
  { key: "tp", label: "Tensor parallel:", kind: "range", low: 1, high: 64, logarithmic: true, show: gpus, group: "Sliders" },
  { key: "concurrency", label: "Concurrent requests:", kind: "range", low: 1, high: 1024, logarithmic: true, step: 0.25, show: (v) => digits(Math.round(v)), group: "Sliders" },
  { key: "isl", label: "Input tokens:", kind: "range", low: 64, high: 131072, logarithmic: true, step: 0.25, show: (v) => digits(Math.round(v)), group: "Sliders" },
  { key: "osl", label: "Output tokens:", kind: "range", low: 1, high: 16384, logarithmic: true, step: 0.25, show: (v) => digits(Math.round(v)), group: "Sliders" },
  { key: "hbm", label: "Memory bandwidth ×", kind: "range", low: 0.25, high: 4, logarithmic: true, step: 0.25, show: (v) => digits(v), group: "Sliders" },
];

interface Operator { operator: string; phase: string; term: string; layers: number; time_s: number; share: number; work_flop: number; traffic_bytes: number; bound: string; roofline_share: number }
const columns: Column<Operator>[] = [
  { name: "phase", show: (o) => o.phase },
  { name: "operator", show: (o) => o.operator },
  { name: "time", number: true, show: (o) => seconds(o.time_s), plain: (o) => o.time_s },
  { name: "share", number: true, show: (o) => percent(o.share), plain: (o) => o.share },
  { name: "FLOP", number: true, show: (o) => unit(o.work_flop, ""), plain: (o) => o.work_flop },
  { name: "bytes", number: true, show: (o) => unit(o.traffic_bytes, "B"), plain: (o) => o.traffic_bytes },
  { name: "bound by", show: (o) => o.bound },
  { name: "of the roof", number: true, show: (o) => percent(o.roofline_share), plain: (o) => o.roofline_share },
];

export const show: Show = (into, values, go) => {
  const top = h("div"), memory = h("div"), roof = h("figure"), terms = h("div"), elasticity = h("figure"), rest = h("div");
  const view = bench({
    into, values, go, live: true, list: form,
    title: "Explore", lede: "How fast a model runs on a device, and its bottleneck. The sliders answer while they move; figures in small print are the 80 % interval.",
    defaults: { model: "llama3.3-70b", device: "h200-sxm", precision: "fp8", gpus: "2", tp: "2", concurrency: "32", isl: "1000", osl: "250", hbm: "1" },
    ask: async (v) => {
      const devices: Answer[] = await list("devices");
      const device = devices.find((d) => d.id === v.device.split("/")[0]);
      const question = request(v, device?.memory_bandwidth_bytes_per_s);
      const answer = await post("estimate", question);
      return () => paint(answer, question, device, Number(v.hbm));
    },
  });
  view.out.append(top, memory, roof, terms, elasticity, rest);

  function paint(a: Answer, question: Record<string, unknown>, device: Answer, faster: number): void {
    const operators: Operator[] = ["decode", "prefill"].flatMap((phase) => (a.operators?.[phase] ?? []).map((o: Operator) => ({ ...o, phase })));
    const m = a.memory_bytes;
    if (!a.fits) {
      top.replaceChildren(h("div", { class: "error", role: "alert" }, h("strong", {}, "Does not fit. "), a.reason ?? ""),
        a.nearest?.length ? section("What fits instead", h("ul", { class: "tight" }, a.nearest.map((n: Answer) => h("li", {}, typeof n === "string" ? n : n.change ?? n.text ?? Object.values(n).join(" "))))) : "");
    } else {
      top.replaceChildren(cards([
        interval("Output", a.output_tokens_per_s, rate), interval("Per device, in and out", a.tokens_per_s_per_gpu, rate), interval("Per user", a.tokens_per_s_per_user, rate),
        interval("Time to first token", a.ttft_s, seconds), interval("Time per output token", a.tpot_s, seconds), interval("Whole request", a.e2e_s, seconds),
        interval("Power", a.power_w, power), interval("Energy per output token", a.joules_per_output_token, (x) => unit(x, "J")),
        { what: "Bottleneck", big: a.bottleneck, note: `in ${a.bottleneck_phase}; room for ${digits(a.max_batch)} sequences` },
      ]));
    }
    const parts = Object.entries(m as Record<string, number>).filter(([k, x]) => k !== "total" && x > 0).map(([k, x]) => ({ name: memoryNames[k] ?? words(k), value: x, text: bytesText(x) }));
    memory.replaceChildren(section("Memory of one device", stacked(parts, parts.reduce((s, p) => s + p.value, 0))));
    const phases = Object.entries(a.terms_s as Record<string, Record<string, number> | null>).filter(([, t]) => t);
    terms.replaceChildren(...phases.map(([phase, t]) => {
      const list_ = Object.entries(t!).filter(([, x]) => x > 0).map(([k, x]) => ({ name: termNames[k] ?? words(k), value: x, text: seconds(x) }));
      return section(phase === "decode" ? "Where a decode step goes" : "Where prefill goes", stacked(list_, list_.reduce((s, p) => s + p.value, 0)));
    }));
    rest.replaceChildren(
      a.suggestions?.length ? section("What would help", h("ul", { class: "tight" }, a.suggestions.map((s: Answer) => h("li", {}, `${s.change}: ${s.gain >= 0 ? "+" : ""}${percent(s.gain)} output`)))) : "",
      a.confidence ? h("p", { class: "faint" }, `Resembles ${a.confidence.cases} measured cases (${a.confidence.resembles}): median error ${percent(a.confidence.median_error, 1)}, 90th percentile ${percent(a.confidence.p90_error)}.`) : "",
      operators.length ? section("Operators", table(columns, operators)) : "",
      assumptions(a.assumptions) ?? "",
      tools("explore", { json: a, csv: () => csv(columns, operators), figure: () => figureOf(roof), command: command("estimate", question) }),
      h("p", {}, h("a", { href: `#/cost?${new URLSearchParams(pick(question))}` }, "What this costs")));
    roof.hidden = !operators.length;
    elasticity.hidden = !a.elasticity;
    if (operators.length && device) void roofline(roof, operators, device, a.query.activation_precision, faster);
    if (a.elasticity) void bars(elasticity, a.elasticity);
  }
  return view.leave;
};

// As the command line names the terms of a step and the parts of memory.
const termNames: Record<string, string> = { linear: "projections (GEMM)", scale_up: "scale-up communication", scale_out: "scale-out communication", pipeline: "pipeline stages" };
const memoryNames: Record<string, string> = { kv_cache: "KV cache", reserve: "outside the engine's limit" };

function request(v: Values, bandwidth: number | undefined): Record<string, unknown> {
  const whole = (key: string) => String(Math.round(Number(v[key])));
  const question: Record<string, unknown> = { kind: "infer", ...body(v, ["hbm"]), concurrency: whole("concurrency"), isl: whole("isl"), osl: whole("osl"), explain: true };
  if (Number(v.hbm) !== 1 && bandwidth) question.set = [`device.hbm_bandwidth=${Number(((bandwidth * Number(v.hbm)) / 1e12).toPrecision(4))}TB/s`];
  return question;
}
function pick(question: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(["model", "device", "gpus", "precision", "isl", "osl", "concurrency"].filter((k) => question[k]).map((k) => [k, String(question[k])]));
}

async function roofline(into: HTMLElement, operators: Operator[], device: Answer, precision: string, faster: number): Promise<void> {
  const peaks = device.peak_dense_flops_per_s as Record<string, number | null>;
  const of = ({ nvfp4: "fp4", mxfp4: "fp4", int4: "bf16", awq: "bf16" } as Record<string, string>)[precision] ?? precision;
  const peak = peaks[of] ?? peaks.bf16 ?? peaks.fp16 ?? 1;
  const bandwidth = device.memory_bandwidth_bytes_per_s * faster;
  const points = operators.filter((o) => o.work_flop > 0 && o.traffic_bytes > 0 && o.time_s > 0).map((o) => ({ ...o, x: o.work_flop / o.traffic_bytes, y: o.work_flop / o.time_s }));
  if (!points.length) return;
  const low = Math.min(0.3, ...points.map((p) => p.x)) / 1.5, high = Math.max((peak / bandwidth) * 8, ...points.map((p) => p.x)) * 1.5;
  const roof = [low, peak / bandwidth, high].map((x) => ({ x, y: Math.min(peak, x * bandwidth) }));
  const floor = Math.min(low * bandwidth, ...points.map((p) => p.y)) / 2;
  await draw(into, `Roofline of ${device.name}: ${unit(peak, "FLOP/s")} (${of}, dense), ${unit(bandwidth, "B/s")}${faster !== 1 ? ` (×${digits(faster)})` : ""}. Each mark is an operator.`, (p) => ({
    x: { type: "log", label: "arithmetic intensity (FLOP per byte) →", domain: [low, high], tickFormat: "~s" }, y: { type: "log", label: "↑ FLOP/s of one device", domain: [floor, peak * 2.5], tickFormat: "~s" },
    color: { legend: true, domain: ["decode", "prefill"], range: [palette[0], palette[1]] }, symbol: { domain: ["decode", "prefill"], range: ["circle", "square"] },
    marks: [
      p.line(roof, { x: "x", y: "y", strokeWidth: 2 }), p.ruleX([peak / bandwidth], { strokeDasharray: "3,4", strokeOpacity: 0.6 }),
      p.text([{ x: peak / bandwidth, y: peak * 1.5 }], { x: "x", y: "y", text: () => `ridge ${digits(peak / bandwidth)}`, textAnchor: "middle" }),
      p.dot(points, { x: "x", y: "y", stroke: "phase", symbol: "phase", fill: "phase", fillOpacity: 0.35, r: (d: Operator) => 3 + 8 * Math.sqrt(d.share) }),
      p.tip(points, p.pointer({ x: "x", y: "y", title: (d) => `${d.operator} (${d.phase})\n${seconds(d.time_s)}, ${percent(d.share)}\n${d.bound}, ${percent(d.roofline_share)} of the roof`, fill: "var(--page)" })),
    ],
  }));
}

async function bars(into: HTMLElement, elasticity: Record<string, number>): Promise<void> {
  const rows = Object.entries(elasticity).map(([k, v]) => ({ name: ({ scale_up: "scale-up bandwidth", scale_out: "scale-out bandwidth" } as Record<string, string>)[k] ?? words(k), value: v }));
  await draw(into, "What 1 % more of a resource brings in throughput", (p) => ({
    height: 40 + 30 * rows.length, marginLeft: 130, marginRight: 50, x: { label: "% more throughput →" }, y: { label: null, domain: rows.map((r) => r.name) },
    marks: [p.barX(rows, { x: "value", y: "name", fill: palette[0] }), p.text(rows, { x: "value", y: "name", text: (d) => digits(d.value, 2), dx: 4, textAnchor: "start" }), p.ruleX([0])],
  }));
}

