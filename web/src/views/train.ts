// Train: a step, its memory, how it scales, and how much of the time counts.
import { command, job, post, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { bytesText, cards, csv, digits, failure, h, interval, palette, percent, seconds, stacked, table, tools, unit, type Column, type Field } from "../ui";
import { assumptions, bench, body, bullets, section, words, type Show } from "../view";

const form: Field[] = [
  { key: "model", label: "Model", list: "models", group: "Run" }, { key: "device", label: "Device", list: "devices", group: "Run" },
  { key: "gpus", label: "Devices:", kind: "range", low: 8, high: 16384, logarithmic: true, show: (v) => digits(v), group: "Run" },
  { key: "precision", label: "Precision", kind: "select", options: [["", "as the engine does"], ["bf16", "bf16"], ["fp8", "fp8"]], group: "Run" },
  { key: "tokens", label: "Tokens in all", hint: "15T", group: "Run" },
  { key: "tp", label: "Tensor parallel", hint: "best", group: "Layout" }, { key: "pp", label: "Pipeline stages", hint: "best", group: "Layout" },
  { key: "seq_length", label: "Sequence length", hint: "8192", group: "Layout" }, { key: "global_batch", label: "Sequences per step", hint: "512", group: "Layout" },
  { key: "recompute", label: "Recompute", kind: "select", options: [["", "the least that fits"], ["none", "none"], ["selective", "selective"], ["full", "full"]], group: "Layout" },
  { key: "scale", label: "Scaling", kind: "select", options: [["weak", "weak: the batch grows"], ["strong", "strong: the batch stays"]], group: "Curve" },
  { key: "duration", label: "Length of the run, for goodput", hint: "30 days", group: "Failures" },
  { key: "strategy", label: "Checkpoints", kind: "select", options: [["", "as assumed"], ["full", "full"], ["sharded", "sharded"], ["async", "async"], ["in-memory", "in memory"], ["delta", "delta"]], group: "Failures" },
];
const columns: Column<Answer>[] = [
  { name: "devices", number: true, show: (p) => digits(p.gpus), plain: (p) => p.gpus },
  { name: "data parallel", number: true, show: (p) => p.dp ?? "–", plain: (p) => p.dp },
  { name: "batch", number: true, show: (p) => p.global_batch ?? "–", plain: (p) => p.global_batch },
  { name: "step", number: true, show: (p) => seconds(p.step_time_s), plain: (p) => p.step_time_s },
  { name: "tokens/s", number: true, show: (p) => (p.tokens_per_s ? digits(p.tokens_per_s) : "–"), plain: (p) => p.tokens_per_s },
  { name: "MFU", number: true, show: (p) => (p.mfu ? percent(p.mfu, 1) : "–"), plain: (p) => p.mfu },
  { name: "efficiency", number: true, show: (p) => (p.efficiency ? percent(p.efficiency) : "–"), plain: (p) => p.efficiency },
  { name: "why not", show: (p) => p.reason ?? "" },
];

export const show: Show = (into, values, go) => {
  const top = h("div"), memory = h("div"), curve = h("figure"), pipe = h("figure"), points = h("div"), rest = h("div"), failures = h("div");
  let asked = "";
  const view = bench({
    into, values, go, live: true, list: form, title: "Train", lede: "How long a step takes and where it goes, what each pipeline stage holds, how it scales, and what failures cost.",
    defaults: { model: "llama3.1-70b", device: "h100-sxm", gpus: "512", precision: "", tokens: "1T", tp: "", pp: "", seq_length: "", global_batch: "", recompute: "", scale: "weak", duration: "30 days", strategy: "" },
    ask: async (v) => {
      const question: Record<string, unknown> = { kind: "train", ...body(v, ["duration", "strategy"]), from: String(Math.max(8, Number(v.gpus) / 8)), to: String(Number(v.gpus) * 8) };
      const answer = await post("estimate", question);
      const goodput = { model: v.model, gpus: v.gpus, duration: v.duration || "30 days", ...(v.strategy ? { strategy: v.strategy } : {}) };
      return () => { paint(answer, question); void resilience(goodput); };
    },
  });
  view.out.append(top, memory, pipe, curve, points, rest, failures);

  function paint(a: Answer, question: Record<string, unknown>): void {
    const scaled: Answer[] = a.scale?.points ?? [];
    if (!a.fits) top.replaceChildren(h("div", { class: "error", role: "alert" }, h("strong", {}, "Does not fit. "), a.reason ?? ""));
    else {
      const terms = Object.entries(a.terms_s as Record<string, number>).filter(([, x]) => x > 0).map(([k, x]) => ({ name: words(k), value: x, text: seconds(x) }));
      top.replaceChildren(cards([
        interval("Step", a.step_time_s, seconds), interval("Tokens", a.tokens_per_s, (x) => `${digits(x)} tok/s`), interval("MFU", a.mfu, (x) => percent(x, 1)),
        interval("Per device", a.tokens_per_s_per_gpu, (x) => `${digits(x)} tok/s`), interval("Days", typeof a.days === "object" ? a.days : null, (x) => digits(x)), interval("Power", a.power_w, (x) => unit(x, "W")),
        { what: "Layout", big: `TP${a.query.tp} PP${a.query.pp} DP${a.query.dp}`, note: `${a.sharding}, recompute ${a.recompute}, ${a.micro_batches} micro-batches` }, { what: "Bottleneck", big: a.bottleneck },
      ]), section("Where a step goes", stacked(terms, terms.reduce((s, t) => s + t.value, 0))), h("p", { class: "faint" }, `MFU: ${a.mfu_convention}.`));
    }
    memory.replaceChildren(section(`Memory of each pipeline stage, of ${bytesText(a.memory_of_device_bytes)}`, ...(a.memory_bytes ?? []).slice(0, 8).map((s: Answer) => {
      const parts = ["weights", "gradients", "optimizer", "activations", "buffers"].filter((k) => s[k] > 0).map((k) => ({ name: k, value: s[k] as number, text: bytesText(s[k]) }));
      return h("div", {}, h("div", { class: "faint" }, `stage ${s.stage}: ${bytesText(s.total)}`), stacked(parts, Math.max(a.memory_of_device_bytes, s.total)));
    })));
    pipe.hidden = !a.fits || a.query.pp < 2;
    if (!pipe.hidden) void pipeline(pipe, a);
    const fit = scaled.filter((p) => p.tokens_per_s_per_gpu);
    curve.hidden = !fit.length;
    if (fit.length) void draw(curve, `${a.scale.scaling === "weak" ? "Weak" : "Strong"} scaling: tokens per second and device, with the 80 % interval`, (p) => ({
      x: { type: "log", base: 2, label: "devices →", tickFormat: (n: number) => digits(n) }, y: { label: "↑ tok/s per device", zero: true, nice: true },
      marks: [p.areaY(fit, { x: "gpus", y1: (d) => d.tokens_per_s_per_gpu.low, y2: (d) => d.tokens_per_s_per_gpu.high, fill: palette[0], fillOpacity: 0.2 }), p.lineY(fit, { x: "gpus", y: (d) => d.tokens_per_s_per_gpu.mid, stroke: palette[0], strokeWidth: 2, marker: true }), p.ruleY([0]),
        p.tip(fit, p.pointerX({ x: "gpus", y: (d) => d.tokens_per_s_per_gpu.mid, title: (d) => `${digits(d.gpus)} devices\n${digits(d.tokens_per_s_per_gpu.mid)} tok/s per device\nMFU ${percent(d.mfu, 1)}, efficiency ${percent(d.efficiency)}`, fill: "var(--page)" }))],
    }));
    points.replaceChildren(scaled.length ? table(columns, scaled) : "");
    rest.replaceChildren(assumptions(a.assumptions) ?? "", tools("train", { json: a, csv: () => csv(columns, scaled), figure: () => figureOf(curve), command: command("estimate", question) }));
  }

  async function resilience(question: Record<string, unknown>): Promise<void> {
    const key = JSON.stringify(question);
    if (key === asked) return;
    asked = key;
    try {
      const g = await job("goodput", question, new AbortController().signal);
      if (asked !== key) return;
      const lost = Object.entries(g.lost_gpu_hours as Record<string, number>).filter(([k, x]) => k !== "total" && x > 0).map(([k, x]) => ({ name: words(k), value: x, text: `${digits(x)} GPU-h` }));
      const figure = h("figure");
      const rows: Column<Answer>[] = [{ name: "checkpoints", show: (s) => s.strategy }, { name: "stall", number: true, show: (s) => seconds(s.stall_s), plain: (s) => s.stall_s }, { name: "interval", number: true, show: (s) => seconds(s.interval_s), plain: (s) => s.interval_s }, { name: "goodput", number: true, show: (s) => percent(s.goodput, 1), plain: (s) => s.goodput }];
      failures.replaceChildren(section("Failures", cards([interval("Goodput", g.spread?.goodput, (x) => percent(x, 1)), interval("Interruptions", g.spread?.interruptions, (x) => digits(x)), interval("Time to train", g.spread?.time_to_train_s, seconds), { what: "Between failures", big: seconds(g.mtbf_s) }, { what: "Checkpoint every", big: seconds(g.checkpoint_interval_s) }]),
        lost.length ? stacked(lost, lost.reduce((s, t) => s + t.value, 0)) : null, table(rows, g.strategies ?? []), figure, assumptions(g.assumptions) ?? bullets([]),
        tools("goodput", { json: g, csv: () => csv(rows, g.strategies ?? []), command: command("goodput", question) })));
    } catch (error) { if (asked === key) failures.replaceChildren(section("Failures", failure(error))); }
  }
  return view.leave;
};

/// One step of the pipeline, one forward and one backward after another, in units of the mean times of a stage.
async function pipeline(into: HTMLElement, a: Answer): Promise<void> {
  const stages: number = Math.min(a.query.pp, 16), batches: number = Math.min(a.micro_batches, 4 * stages);
  const t = a.terms_s, forward = t.forward / a.micro_batches, backward = (t.backward + (t.recompute ?? 0)) / a.micro_batches;
  const ready: Record<string, number> = {};
  const boxes: { stage: number; start: number; end: number; kind: string }[] = [];
  const queues = Array.from({ length: stages }, (_, s) => {
    const warm = Math.min(stages - s, batches), order: [string, number][] = [];
    let f = 0, b = 0;
    while (f < warm) order.push(["forward", f++]);
    while (b < batches) { order.push(["backward", b++]); if (f < batches) order.push(["forward", f++]); }
    return { order, at: 0, free: 0 };
  });
  for (let moved = true; moved;) {
    moved = false;
    queues.forEach((q, s) => {
      while (q.at < q.order.length) {
        const [kind, m] = q.order[q.at];
        const needs = kind === "forward" ? (s === 0 ? 0 : ready[`forward ${s - 1} ${m}`]) : s === stages - 1 ? ready[`forward ${s} ${m}`] : ready[`backward ${s + 1} ${m}`];
        if (needs === undefined) return;
        const start = Math.max(q.free, needs), end = start + (kind === "forward" ? forward : backward);
        ready[`${kind} ${s} ${m}`] = q.free = end;
        boxes.push({ stage: s, start, end, kind });
        q.at++;
        moved = true;
      }
    });
  }
  const note = batches < a.micro_batches ? `, the first ${batches} of ${a.micro_batches} micro-batches` : "";
  const schedule = a.query.schedule === "1f1b" && !(a.vp > 1) ? "" : ` The run itself uses ${a.query.schedule}${a.vp > 1 ? ` with ${a.vp} chunks a stage` : ""}, whose gaps are smaller.`;
  await draw(into, `Pipeline, plain 1F1B${note}: what each stage does over time.${schedule}`, (p) => ({
    height: 60 + 22 * stages, grid: false, x: { label: "seconds →" }, y: { type: "band", label: "stage", domain: Array.from({ length: stages }, (_, i) => i), padding: 0.1 }, color: { legend: true, domain: ["forward", "backward"], range: [palette[0], palette[1]] },
    marks: [p.rect(boxes, { x1: "start", x2: "end", y: "stage", fill: "kind", stroke: "var(--page)", strokeWidth: 0.5 })],
  }));
}
