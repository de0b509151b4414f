// Accuracy: every prediction beside the measurement it is about.
import { get, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { csv, digits, h, percent, table, tools, type Column } from "../ui";
import { bench, section, words, type Show } from "../view";

const asShare = ["median", "p90", "bias", "within_10", "within_20", "within_30", "coverage", "roofline_median", "roofline_p90", "held"];
/// As `ridge validate` heads its table.
const headings: Record<string, string> = { coverage: "predicted", held: "80 % coverage", within_10: "≤ 10 %", within_20: "≤ 20 %", within_30: "≤ 30 %" };
const columns = (rows: Answer[]): Column<Answer>[] => Object.keys(rows[0] ?? {}).map((key) => ({
  name: headings[key] ?? words(key), number: rows.some((r) => typeof r[key] === "number"), plain: (r: Answer) => r[key],
  show: (r: Answer) => (typeof r[key] !== "number" ? r[key] ?? "–" : asShare.some((k) => key.startsWith(k)) ? percent(r[key], 1) : digits(r[key])),
}));

export const show: Show = (into, values, go) => {
  const out = h("div"), chart = h("figure"), list = h("div");
  const cache: Record<string, Promise<Answer>> = {};
  const view = bench({
    into, values, go, title: "Accuracy", lede: "Predictions beside published measurements: the cases of the bundled evidence, in sample. The column `predicted` says which share of the cases has a prediction.",
    list: (v) => [
      { key: "metric", label: "Metric", kind: "select", options: (v.metrics ? v.metrics.split(",") : [v.metric]).map((m): [string, string] => [m, words(m)]) },
      { key: "device", label: "Device", hint: "all", list: "devices" },
      { key: "by", label: "Table by", kind: "select", options: [["", "metric"], ["device", "device"], ["model", "model"], ["source", "source"], ["engine", "engine"], ["precision", "precision"]] },
    ],
    defaults: { metric: "output_tok_s", device: "", by: "", metrics: metrics.join(",") },
    ask: async (v) => {
      const all = await (cache.points ??= get("validate", { points: "" }));
      const summary = v.by ? await (cache[v.by] ??= get("validate", { by: v.by })) : all;
      return () => paint(all, summary, v.metric, v.device, v.by);
    },
  });
  view.out.append(chart, out, list);
  function paint(all: Answer, summary: Answer, metric: string, device: string, by: string): void {
    const every: Answer[] = all.points ?? [];
    const known = [...new Set(every.map((p) => p.metric))];
    const points = every.filter((p) => p.metric === metric && (!device || p.device === device));
    const counts = new Map<string, number>();
    for (const p of points) counts.set(p.device, (counts.get(p.device) ?? 0) + 1);
    const leading = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 9).map(([d]) => d);
    const marked = points.map((p) => ({ ...p, group: leading.includes(p.device) ? p.device : "others", inside: p.measured >= p.low && p.measured <= p.high }));
    chart.hidden = !marked.length;
    if (marked.length) {
      const span_ = [Math.min(...marked.map((p) => Math.min(p.measured, p.predicted))), Math.max(...marked.map((p) => Math.max(p.measured, p.predicted)))];
      void draw(chart, `${words(metric)}: ${marked.length} predictions against measurements; on the line the prediction is right, the dashes are ±20 %`, (p) => ({
        height: 520, x: { type: "log", label: `measured ${words(metric)} →`, tickFormat: "~s", ticks: 6 }, y: { type: "log", label: `↑ predicted ${words(metric)}`, tickFormat: "~s", ticks: 6 }, color: { legend: true, domain: [...leading, ...(counts.size > 9 ? ["others"] : [])], scheme: "observable10" },
        marks: [p.line(span_.map((v) => [v, v]), { strokeWidth: 1.5 }), ...[0.8, 1.2].map((f) => p.line(span_.map((v) => [v, v * f]), { strokeDasharray: "4,4", strokeOpacity: 0.6 })),
          p.ruleX(marked, { x: "measured", y1: "low", y2: "high", stroke: "group", strokeOpacity: 0.15 }), p.dot(marked, { x: "measured", y: "predicted", stroke: "group", r: 2.5 }),
          p.tip(marked, p.pointer({ x: "measured", y: "predicted", title: (d) => `${d.id}\n${d.device}\nmeasured ${digits(d.measured)}, predicted ${digits(d.predicted)}\n${d.low === d.high ? "" : `80 %: ${digits(d.low)} – ${digits(d.high)}`}`, fill: "var(--page)" }))],
      }));
    }
    const rows: Answer[] = summary.summary;
    const cols = columns(rows);
    const details: Column<Answer>[] = [{ name: "case", show: (p) => p.id }, { name: "device", show: (p) => p.device }, { name: "measured", number: true, show: (p) => digits(p.measured), plain: (p) => p.measured }, { name: "predicted", number: true, show: (p) => digits(p.predicted), plain: (p) => p.predicted },
      { name: "low", number: true, show: (p) => digits(p.low), plain: (p) => p.low }, { name: "high", number: true, show: (p) => digits(p.high), plain: (p) => p.high }, { name: "error", number: true, show: (p) => percent(p.predicted / p.measured - 1, 1), plain: (p) => p.predicted / p.measured - 1 }];
    const worst = [...points].sort((p, q) => Math.abs(Math.log(q.predicted / q.measured)) - Math.abs(Math.log(p.predicted / p.measured))).slice(0, 25);
    out.replaceChildren(marked.length ? "" : h("p", { class: "faint" }, every.length ? `No case has this metric here. There are: ${known.map(words).join(", ")}.` : "This server gives no single points."),
      section("Summary", table(cols, rows)));
    list.replaceChildren(worst.length ? section("Furthest off", table(details, worst)) : "",
      h("p", { class: "faint" }, `${all.parameters.fitted} fitted parameters; ${all.faster_than_roofline} predictions are faster than the datasheet allows.`),
      tools("accuracy", { json: summary, csv: () => csv(details, points), figure: () => figureOf(chart), command: `ridge validate${by ? ` --by ${by}` : ""}` }));
  }
  return view.leave;
};
const metrics = ["output_tok_s", "total_tok_s", "tpot_ms", "ttft_ms", "e2e_ms", "step_time_s", "seconds", "power_w", "joules_per_output_token", "batch_latency_s", "images_per_s", "energy_per_image_j", "watts"];
