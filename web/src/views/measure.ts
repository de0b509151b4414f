// Measure: results of a load test beside what was predicted for them. The file stays in the browser.
import { command, job, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { cards, csv, digits, h, palette, seconds, table, tools, type Column, type Field, type Interval } from "../ui";
import { assumptions, bench, body, bullets, precisions, section, span, type Show } from "../view";

const form: Field[] = [
  { key: "model", label: "Model", list: "models", group: "What ran" }, { key: "device", label: "Device", list: "devices", group: "What ran" }, { key: "gpus", label: "Devices", group: "What ran" },
  { key: "engine", label: "Engine", hint: "vllm", group: "What ran" }, { key: "precision", label: "Precision", kind: "select", options: precisions, group: "What ran" },
  { key: "isl", label: "Tokens in", group: "Load" }, { key: "osl", label: "Tokens out", group: "Load" }, { key: "concurrency", label: "Clients, closed loop", hint: "or a rate", group: "Load" },
  { key: "request_rate", label: "Requests per second", hint: "or clients", group: "Load" }, { key: "requests", label: "Requests", group: "Load" },
];

interface Figure { key: string; what: string; time: boolean; measured: number; predicted: Interval | null }
interface Measured { title: string; figures: Figure[]; load: Record<string, string>; failed: number; client: string; reasons: string[] | null; assumed: string[]; raw: Answer }
const quantiles = ["p50", "p90", "p95", "p99"];
const names: [string, string][] = [["ttft", "time to first token"], ["tpot", "time per output token"]];

/// What `ridge bench --json` writes, or `vllm bench serve --save-result`; throws what is neither.
export function readResult(a: Answer): Measured {
  if (a && a.schema === "ridge.bench/1") {
    const m = a.measured, told = new Map<string, Answer>((a.prediction?.figures ?? []).map((f: Answer) => [f.figure, f]));
    const spanOf = (key: string, unit: string): Interval | null => { const f = told.get(key); return f ? { low: f[`low${unit}`], mid: f[`predicted${unit}`], high: f[`high${unit}`] } : null; };
    const figures: Figure[] = names.flatMap(([key, what]) => quantiles.filter(() => m[key]?.count > 0).map((q) => ({ key: `${key}_${q}`, what: `${what}, ${q}`, time: true, measured: m[key][`${q}_s`], predicted: spanOf(`${key}_${q}`, "_s") })));
    figures.push({ key: "output_tok_per_s", what: "output tok/s", time: false, measured: m.output_tok_per_s, predicted: spanOf("output_tok_per_s", "") });
    const late = m.client?.late_p99_s ?? Math.max(m.client?.send_delay?.p99_s ?? 0, m.client?.receive_delay?.p99_s ?? 0);
    return { title: `${a.model} at ${a.url}, ${a.date}`, figures, failed: m.failed, client: `the client was ${seconds(late)} late at p99${m.client?.is_the_limit ? ": it was the limit" : ""}`, reasons: a.prediction ? a.prediction.reasons : null, assumed: a.prediction?.assumptions ?? [], raw: a,
      load: { isl: digits(m.input_tokens / Math.max(1, m.finished), 6).replace(/,/g, ""), osl: digits(m.output_tokens / Math.max(1, m.finished), 6).replace(/,/g, ""), concurrency: String(a.load.concurrency ?? ""), request_rate: String(a.load.requests_per_s ?? ""), requests: String(m.sent) } };
  }
  if (a && typeof a.completed === "number" && typeof a.output_throughput === "number") {
    const figures: Figure[] = names.flatMap(([key, what]) => quantiles.map((q) => ({ key: `${key}_${q}`, what: `${what}, ${q}`, time: true, measured: Number(a[q === "p50" ? `median_${key}_ms` : `${q}_${key}_ms`]) / 1e3, predicted: null }))).filter((f) => Number.isFinite(f.measured));
    figures.push({ key: "output_tok_per_s", what: "output tok/s", time: false, measured: a.output_throughput, predicted: null });
    const each = Math.max(1, a.completed), rate = Number(a.request_rate);
    return { title: `${a.model_id ?? "a server"}, ${a.date ?? ""}`, figures, failed: a.failed ?? 0, client: "the file does not say how late its client was", reasons: null, assumed: [], raw: a,
      load: { isl: String(Math.round(a.total_input_tokens / each)), osl: String(Math.round(a.total_output_tokens / each)), concurrency: String(a.max_concurrency ?? (Number.isFinite(rate) ? "" : a.num_prompts ?? "")), request_rate: Number.isFinite(rate) ? String(rate) : "", requests: String(a.num_prompts ?? a.completed) } };
  }
  throw { message: "neither what `ridge bench --json` writes nor what `vllm bench serve --save-result` does" };
}

const shown = (f: Figure, v: number) => (f.time ? seconds(v) : digits(v));
const inside = (f: Figure) => f.predicted !== null && f.measured >= f.predicted.low && f.measured <= f.predicted.high;
const columns: Column<Figure>[] = [
  { name: "figure", show: (f) => f.what }, { name: "measured", number: true, show: (f) => shown(f, f.measured), plain: (f) => f.measured },
  { name: "predicted (80 %)", number: true, show: (f) => span(f.predicted, (v) => shown(f, v)), plain: (f) => f.predicted?.mid },
  { name: "difference", number: true, show: (f) => (f.predicted ? `${f.measured >= f.predicted.mid ? "+" : ""}${(100 * (f.measured / f.predicted.mid - 1)).toFixed(0)} %` : "–") },
  { name: "", show: (f) => (f.predicted ? h("span", { class: inside(f) ? "good" : "bad" }, inside(f) ? "inside" : "outside") : "") },
];

export const show: Show = (into, values, go) => {
  let file: Measured | null = null;
  const trouble = h("div"), out = h("div"), chart = h("figure");
  const view = bench({
    into, values, go, button: "Predict", list: form, title: "Measure", lede: "Measured results of a server beside the prediction. Choose a file of ridge bench --json or of vllm bench serve --save-result: it stays in this browser, and only the load it names is asked about.",
    defaults: { model: "llama3.1-8b", device: "h100-sxm", gpus: "1", engine: "", precision: "", isl: "", osl: "", concurrency: "", request_rate: "", requests: "" },
    ask: async (v, signal, told) => {
      if (!file) return () => paint(null, {});
      const question = body(v, v.concurrency ? ["request_rate"] : []);
      if (file.reasons !== null) return () => paint(file, question);  // it has its prediction with it
      const answer = await job("simulate", question, signal, told);
      for (const f of file.figures) {
        const [kind, q] = f.key.split("_");
        f.predicted = f.time ? answer[`${kind}_s`]?.[q] ?? null : answer.output_tokens_per_s ?? null;
      }
      file.assumed = answer.assumptions ?? [];
      return () => paint(file, question);
    },
  });
  const chooser = h("input", { type: "file", id: "results", accept: ".json,application/json", onchange: async (e: Event) => {
    const chosen = (e.target as HTMLInputElement).files?.[0];
    if (!chosen) return;
    try {
      file = readResult(JSON.parse(await chosen.text()));
      trouble.replaceChildren();
      view.again(file.load);
    } catch (error) {
      file = null;
      trouble.replaceChildren(h("div", { class: "error", role: "alert" }, `${chosen.name}: ${(error as Error).message}`));
    }
  } });
  view.out.append(h("label", { for: "results" }, "Results ", chooser), trouble, out, chart);

  function paint(m: Measured | null, question: Record<string, unknown>): void {
    chart.hidden = !m;
    if (!m) { out.replaceChildren(h("p", { class: "faint" }, "No file yet. On the machine with the server: ", h("code", {}, "ridge bench URL --plan plan.toml --json > result.json"))); return; }
    const told = m.figures.filter((f) => f.predicted), outside = told.filter((f) => !inside(f)).length;
    const by = (key: string) => m.figures.find((f) => f.key === key);
    const card = (what: string, key: string) => { const f = by(key); return { what, big: f ? shown(f, f.measured) : "–", note: f?.predicted ? `predicted ${shown(f, f.predicted.mid)}` : undefined }; };
    out.replaceChildren(h("h2", {}, m.title),
      h("p", {}, told.length ? h("strong", { class: outside ? "bad" : "good" }, outside ? `${outside} of ${told.length} figures are outside their interval. ` : `All ${told.length} figures are inside their intervals. `) : "", `${m.failed ? `${digits(m.failed)} requests failed; ` : ""}${m.client}.`),
      cards([card("TTFT, p50", "ttft_p50"), card("TTFT, p99", "ttft_p99"), card("TPOT, p50", "tpot_p50"), card("TPOT, p99", "tpot_p99"), card("Output tok/s", "output_tok_per_s")]),
      table(columns, m.figures), m.reasons?.length ? section("Why it may differ", bullets(m.reasons)) : "", assumptions(m.assumed) ?? "",
      section("Take it along", tools("measure", { json: { measured: m.raw, figures: m.figures }, csv: () => csv(columns, m.figures), figure: () => figureOf(chart), command: m.reasons === null ? command("simulate", question) : undefined })));
    const times = m.figures.filter((f) => f.time && f.measured > 0);
    void draw(chart, "Measured (dots) beside the predicted 80 % intervals (bars)", (p) => ({
      height: 60 + 30 * times.length, marginLeft: 190, x: { type: "log", label: "seconds →", tickFormat: "~s" }, y: { label: null, domain: times.map((f) => f.what) },
      marks: [p.ruleY(times.filter((f) => f.predicted), { x1: (f: Figure) => f.predicted!.low, x2: (f: Figure) => f.predicted!.high, y: "what", stroke: palette[0], strokeWidth: 9, strokeOpacity: 0.3 }), p.tickX(times.filter((f) => f.predicted), { x: (f: Figure) => f.predicted!.mid, y: "what", stroke: palette[0], strokeWidth: 2 }),
        p.dot(times, { x: "measured", y: "what", r: 5, fill: (f: Figure) => (f.predicted && !inside(f) ? "var(--bad)" : palette[1]) })],
    }));
  }
  return view.leave;
};
