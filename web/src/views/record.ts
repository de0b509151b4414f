// Record: the published MLPerf results, counted per whole system.
import { command, get, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { csv, digits, h, palette, table, tools, type Column, type Field } from "../ui";
import { assumptions, bench, section, type Show } from "../view";

const benchmarks = ["llama2-70b-99", "llama2-70b-99.9", "llama3.1-405b", "llama3.1-8b", "deepseek-r1", "gpt-oss-120b", "mixtral-8x7b", "gptj-99", "gptj-99.9", "stable-diffusion-xl", "bert-99", "resnet", "retinanet", "rgat", "whisper"];
const form: Field[] = [
  { key: "suite", label: "Suite", kind: "select", options: [["", "inference"], ["training", "training"]] },
  { key: "benchmark", label: "Benchmark", list: "benchmarks" }, { key: "scenario", label: "Scenario", kind: "select", options: [["", "all"], ["Offline", "Offline"], ["Server", "Server"], ["Interactive", "Interactive"]] },
  { key: "round", label: "Round", hint: "v5.1, or v3.1..v5.1" }, { key: "accelerator", label: "Accelerator", hint: "h200-sxm-141gb" }, { key: "submitter", label: "Submitter", hint: "all" },
  { key: "per", label: "Per", kind: "select", options: [["", "accelerator"], ["system", "system"], ["node", "node"], ["watt", "watt"], ["dollar", "dollar"]] },
  { key: "division", label: "Division", kind: "select", options: [["", "closed"], ["open", "open"], ["network", "network"], ["all", "all"]] },
  { key: "availability", label: "Availability", kind: "select", options: [["", "all"], ["available", "available"], ["preview", "preview"], ["rdi", "rdi"]] },
  { key: "stat", label: "Statistic of several results", kind: "select", options: [["", "mean"], ["median", "median"], ["best", "best"]] },
  { key: "by", label: "A line for each", kind: "select", options: [["", "accelerator"], ["accelerator,round", "accelerator and round"], ["accelerator,submitter", "accelerator and submitter"], ["accelerator,size", "accelerator and size"], ["round", "round"], ["submitter", "submitter"]] },
];
const columns = (rows: Answer[]): Column<Answer>[] => Object.keys(rows[0] ?? {}).map((key) => {
  const number = rows.some((r) => typeof r[key] === "number");
  return { name: key.replace(/_/g, " "), number, show: (r: Answer) => (typeof r[key] === "number" ? digits(r[key]) : r[key] ?? "–"), plain: (r: Answer) => r[key] };
});

export const show: Show = (into, values, go) => {
  const chart = h("figure"), out = h("div");
  const names = h("datalist", { id: "benchmarks" }, benchmarks.map((b) => h("option", { value: b })));
  const view = bench({
    into, values, go, list: form, title: "Record", lede: "The published MLPerf results of data centres. Figures are per accelerator of the whole system (a rack of 72 is 72), and only what counts the same thing is averaged.",
    defaults: { suite: "", benchmark: "llama2-70b-99", scenario: "Offline", round: "", accelerator: "", submitter: "", per: "", division: "", availability: "", stat: "", by: "" },
    ask: async (v) => {
      const training = v.suite === "training";
      const query = Object.fromEntries(Object.entries(v).filter(([k, x]) => x !== "" && !(training && k === "scenario") && !(training && k === "benchmark" && benchmarks.includes(x))));
      const answer = await get("mlperf", { kind: "table", ...query });
      return () => paint(answer, { kind: "table", ...query });
    },
  });
  view.out.append(names, chart, out);
  function paint(a: Answer, query: Record<string, string>): void {
    const rows: Answer[] = a.rows;
    // One chart, one thing counted: of several benchmarks the first is drawn.
    const counted = rows.filter((r) => r.benchmark === rows[0].benchmark && r.unit === rows[0].unit);
    const shown = counted.filter((r) => typeof r.value === "number").slice(0, 40).map((r, i) => ({ ...r, label: [r.accelerator ?? r.name, query.scenario ? "" : r.scenario, ...(query.by ? query.by.split(",").map((k) => (k === "accelerator" ? "" : r[k])) : []), ].filter(Boolean).join(" · ") + "\u200b".repeat(i) }));
    chart.hidden = !shown.length;
    if (shown.length) void draw(chart, `${shown[0].benchmark ?? query.benchmark ?? ""}${query.scenario ? `, ${query.scenario}` : ""}: ${shown[0].unit}. Lines run from the lowest to the highest result${counted.length > shown.length ? `; the first ${shown.length} of ${counted.length}` : ""}${counted.length < rows.length ? ". The other benchmarks are in the table: name one to see its chart" : ""}.`, (p) => ({
      height: 60 + 22 * shown.length, marginLeft: Math.min(240, 40 + 7 * Math.max(...shown.map((r) => r.label.length))), marginRight: 60, x: { label: `${shown[0].unit} →`, nice: true, tickFormat: "~s" }, y: { label: null, domain: shown.map((r) => r.label) },
      marks: [p.barX(shown, { x: "value", y: "label", fill: palette[0], fillOpacity: 0.75 }), p.ruleY(shown, { x1: "low", x2: "high", y: "label", strokeWidth: 2 }), p.text(shown, { x: (d) => Math.max(d.high ?? 0, d.value), y: "label", text: (d) => digits(d.value), dx: 4, textAnchor: "start" }), p.ruleX([0])],
    }));
    const all = columns(rows);
    // What is the same in every line stands in the caption.
    const cols = all.filter((c) => !["benchmark", "scenario", "unit"].includes(c.name) || new Set(rows.map((r) => r[c.name])).size > 1);
    out.replaceChildren(section(`${rows.length} lines`, rows.length ? table(cols, rows) : h("p", { class: "faint" }, "No result is like that.")), assumptions(a.assumptions) ?? "",
      tools("mlperf", { json: a, csv: () => csv(all, rows), figure: () => figureOf(chart), command: command("mlperf", query) }));
  }
  return view.leave;
};
