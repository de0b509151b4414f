// Serve: requests played against a deployment, as a job that can be ended.
import { command, job, type Answer } from "../api";
import { draw, figureOf, timeline } from "../charts";
import { cards, csv, digits, h, interval, palette, percent, seconds, table, tools, unit, type Column, type Field } from "../ui";
import { assumptions, bench, body, precisions, section, span, type Show } from "../view";

const form: Field[] = [
  { key: "model", label: "Model", list: "models", group: "Deployment" }, { key: "device", label: "Device", list: "devices", group: "Deployment" }, { key: "gpus", label: "Devices of a replica", group: "Deployment" },
  { key: "precision", label: "Precision", kind: "select", options: precisions, group: "Deployment" }, { key: "replicas", label: "Replicas", group: "Deployment" },
  { key: "router", label: "Router", kind: "select", options: [["", "as assumed"], "round-robin", "least-outstanding", "prefix-aware", "session-sticky"].map((o) => (Array.isArray(o) ? o : [o, o]) as [string, string]), group: "Deployment" },
  { key: "workload", label: "Workload", kind: "select", options: ["chat", "code", "rag", "reasoning", "agent"], group: "Requests" },
  { key: "request_rate", label: "Requests per second:", kind: "range", low: 0.5, high: 256, logarithmic: true, step: 0.25, show: (v) => digits(v), group: "Requests" },
  { key: "arrivals", label: "Arrivals", kind: "select", options: [["", "poisson"], ["constant", "constant"], ["gamma:2", "gamma, CV 2"], ["on-off:30,30", "30 s on, 30 s off"]], group: "Requests" },
  { key: "requests", label: "Requests", group: "Requests" }, { key: "seed", label: "Seed", group: "Requests" },
  { key: "ttft", label: "Time to first token, at most", hint: "500ms", group: "Limits" }, { key: "tpot", label: "Time per output token, at most", hint: "80ms", group: "Limits" },
  { key: "find_rate", label: "Find the highest rate within the limits", kind: "switch", group: "Limits" },
];
const kinds: [string, string][] = [["ttft_s", "time to first token"], ["tpot_s", "time per output token"], ["itl_s", "inter-token latency"], ["e2e_s", "whole request"], ["wait_s", "queue time"]];
interface Row { key: string; name: string; values: Answer }
const columns: Column<Row>[] = [{ name: "time", show: (r) => r.name }, ...["mean", "p50", "p90", "p95", "p99", "max"].map((q): Column<Row> => ({ name: q, number: true, show: (r) => span(r.values[q], seconds), plain: (r) => r.values[q]?.mid }))];

export const show: Show = (into, values, go) => {
  const top = h("div"), curve = h("figure"), times = h("div"), queue = h("figure"), output = h("figure"), cache = h("figure"), rest = h("div");
  const view = bench({
    into, values, go, button: "Simulate", list: form, title: "Serve", lede: "Simulates requests: the latency of each, the queue and the KV cache over time, and how many requests meet the SLO.",
    defaults: { model: "llama3.1-8b", device: "h100-sxm", gpus: "1", precision: "", replicas: "1", router: "", workload: "chat", request_rate: "16", arrivals: "", requests: "2000", seed: "1", ttft: "500ms", tpot: "80ms", find_rate: "" },
    ask: async (v, signal, told) => {
      const question = body(v, v.find_rate ? ["request_rate", "requests"] : []);
      const answer = await job("simulate", question, signal, told);
      return () => paint(answer, question);
    },
  });
  view.out.append(top, curve, times, queue, output, cache, rest);

  function paint(a: Answer, question: Record<string, unknown>): void {
    const line: Answer[] = a.timeline ?? [];
    const rows: Row[] = kinds.filter(([k]) => a[k]?.count).map(([key, name]) => ({ key, name, values: a[key] }));
    const found = a.find_rate;
    top.replaceChildren(a.overloaded ? h("div", { class: "error", role: "alert" }, h("strong", {}, "Overloaded: "), `requests come faster than they are served${a.growth_requests_per_s ? `; the queue grows by ${digits(a.growth_requests_per_s)} requests/s` : ""}.`) : "",
      found ? h("p", {}, h("strong", {}, "Highest rate within the limits: "), `${digits(found.rate_per_s)} requests/s${found.limited_by ? `, limited by ${found.limited_by.toUpperCase()}` : ""}; what follows is at that rate.`) : "",
      cards([
        { what: "Within the limits", big: `${digits(a.goodput_requests_per_s)} req/s`, note: `${percent(a.arrived ? a.good / a.arrived : 0, 1)} of ${digits(a.arrived)} requests` },
        interval("Requests", a.requests_per_s, (x) => `${digits(x)} req/s`), interval("Output", a.output_tokens_per_s, (x) => `${digits(x)} tok/s`),
        interval("Time to first token, p95", a.ttft_s?.p95, seconds), interval("Time per output token, p95", a.tpot_s?.p95, seconds), interval("Whole request, p95", a.e2e_s?.p95, seconds),
        { what: "Running, mean", big: digits(a.mean_running), note: `queue ${digits(a.mean_queue)}` }, { what: "KV cache, peak", big: percent(a.peak_kv_share), note: `${digits(a.preemptions)} preemptions` },
        { what: "Power", big: unit(a.mean_power_w, "W"), note: a.load_share ? `load ${percent(a.load_share)}` : `not idle ${percent(a.busy_share)}` },
      ]));
    // One factor for all of a curve: that of its median.
    const points = rows.filter((r) => r.key !== "wait_s" && r.values.p50.mid > 0).flatMap((r) => (a.cdf.share as number[]).map((share, i) => {
      const mid: number = a.cdf[r.key][i], { low, mid: median, high } = r.values.p50;
      return { name: r.name, share, mid, low: (mid * low) / median, high: (mid * high) / median };
    })).filter((p) => p.mid > 0);
    void draw(curve, "Latency: the share of requests (for inter-token latency: of tokens) that wait at most this long, with the 80 % interval", (p) => ({
      x: { type: "log", label: "seconds →", tickFormat: "~s" }, y: { label: "↑ share", domain: [0, 1], tickFormat: "%" }, color: { legend: true, domain: kinds.map(([, n]) => n).filter((n) => points.some((q) => q.name === n)), range: palette },
      marks: [p.areaX(points, { x1: "low", x2: "high", y: "share", fill: "name", fillOpacity: 0.16 }), p.line(points, { x: "mid", y: "share", stroke: "name", strokeWidth: 2 }),
        ...[["ttft_limit_s", 0], ["tpot_limit_s", 1]].filter(([k]) => a.query[k]).map(([k, i]) => p.ruleX([a.query[k]], { stroke: palette[i as number], strokeDasharray: "4,3" })),
        p.tip(points, p.pointer({ x: "mid", y: "share", title: (d) => `${d.name}\n${percent(d.share)} within ${seconds(d.mid)}`, fill: "var(--page)" }))],
    }));
    times.replaceChildren(table(columns, rows));
    for (const f of [queue, output, cache]) f.hidden = !line.length;
    if (line.length) {
      const x = line.map((p) => p.start_s);
      void timeline(queue, "Requests over time", x, [{ name: "running", values: line.map((p) => p.running), colour: palette[0] }, { name: "waiting", values: line.map((p) => p.queue), colour: palette[1] }], "requests");
      void timeline(output, "Output over time", x, [{ name: "output", values: line.map((p) => p.output_tokens_per_s), colour: palette[2] }], "tok/s");
      void timeline(cache, "KV cache over time", x, [{ name: "in use", values: line.map((p) => 100 * p.kv_share), colour: palette[3] }], "%");
    }
    rest.replaceChildren(a.stopped_early ? h("p", { class: "warn" }, "Stopped early: this is what was known by then.") : "", assumptions(a.assumptions) ?? "",
      section("Take it along", tools("serve", { json: a, csv: () => csv(columns, rows), figure: () => figureOf(curve), command: command("simulate", question) })));
  }
  return view.leave;
};
