// Check: a text in, its claims judged.
import { job, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { csv, h, table, tools, type Column } from "../ui";
import { assumptions, bench, section, type Show } from "../view";

const tone: Record<string, string> = { right: "good", rounded: "good", wrong: "bad", contradiction: "bad", unit: "bad", sparse: "warn" };
const mark: Record<string, string> = { right: "✓", rounded: "≈", wrong: "✗", contradiction: "✗", unit: "✗", sparse: "!" };
const judged = (f: Answer) => h("span", { class: tone[f.verdict] ?? "faint" }, `${mark[f.verdict] ?? "?"} ${f.verdict}`);
const columns: Column<Answer>[] = [
  { name: "line", number: true, show: (f) => f.line, plain: (f) => f.line },
  { name: "claim", show: (f) => f.says },
  { name: "verdict", show: judged, plain: (f) => f.verdict },
  { name: "claimed", show: (f) => f.claimed?.text ?? "–" },
  { name: "right", show: (f) => f.right?.text ?? "–" },
  { name: "formula and why", show: (f) => h("span", {}, f.formula ?? "", f.because ? [h("br"), h("small", {}, f.because)] : null), plain: (f) => `${f.formula ?? ""}${f.because ? `; ${f.because}` : ""}` },
  { name: "source", show: (f) => (f.inputs ?? []).map((i: Answer) => h("div", {}, h("small", { class: "faint" }, `${i.value}${i.source ? ` (${i.source})` : ""}`))), plain: (f) => (f.inputs ?? []).map((i: Answer) => i.source).filter(Boolean).join("; ") },
];

export const show: Show = (into, values, go) => {
  const view = bench({
    into, values, go, button: "Check", title: "Check", lede: "Paste a text. Every figure that can be recomputed is checked: right, rounded, wrong, or the right number in the wrong unit.",
    list: [{ key: "text", label: "Text", kind: "area" }],
    defaults: { text: "The H200 has 4.8 TB/s of memory bandwidth and 141 GB of HBM3e.\nThe H100 SXM reaches 1979 TFLOP/s in BF16.\nLlama 3.1 70B in FP8 takes 70 GB for its weights." },
    ask: async (v, signal) => {
      const answer = await job("check", { text: v.text }, signal);
      return () => paint(answer, v.text);
    },
  });
  function paint(answer: Answer, text: string): void {
    const document_ = answer.documents[0];
    const findings: Answer[] = document_.findings;
    const chart = h("figure");
    const counts = Object.entries(document_.counts as Record<string, number>).filter(([, n]) => n > 0);
    view.out.replaceChildren(
      h("p", {}, counts.length ? counts.map(([k, n]) => h("span", { class: tone[k] ?? "faint" }, `${n} ${k}  `)) : "Nothing here can be checked: a figure needs its unit, and a device or model its name."),
      counts.length ? chart : "", findings.length ? table(columns, findings) : "",
      section("The text, annotated", h("ol", { class: "lines" }, text.split("\n").map((line, i) => h("li", {}, line || " ",
        findings.filter((f) => f.line === i + 1).map((f) => h("div", { class: `note ${tone[f.verdict] ?? "faint"}` }, `${mark[f.verdict] ?? "?"} ${f.says}: ${f.verdict}${f.right && tone[f.verdict] !== "good" ? `, it is ${f.right.text}` : ""}`)),
        document_.not_understood.filter((n: Answer) => n.line === i + 1).map((n: Answer) => h("div", { class: "note faint" }, `? not understood: ${n.text}`)))))),
      assumptions(answer.assumptions) ?? "",
      tools("check", { json: answer, csv: () => csv(columns, findings), ...(counts.length ? { figure: () => figureOf(chart) } : {}), command: `ridge check '${text.replace(/'/g, "'\\''")}'` }));
    const bars = counts.map(([verdict, n]) => ({ verdict, n })), most = Math.max(1, ...bars.map((b) => b.n));
    if (bars.length) void draw(chart, "Claims by verdict", (p) => ({
      height: 50 + 28 * bars.length, marginLeft: 110, marginRight: 40, x: { label: "claims →", domain: [0, most], ticks: most <= 10 ? Array.from({ length: most + 1 }, (_, i) => i) : 5, tickFormat: "d" }, y: { label: null, domain: bars.map((b) => b.verdict) },
      marks: [p.barX(bars, { x: "n", y: "verdict", fill: (b: { verdict: string }) => `var(--${tone[b.verdict] ?? "faint"})` }), p.text(bars, { x: "n", y: "verdict", text: (b: { n: number }) => String(b.n), dx: 4, textAnchor: "start" })],
    }));
  }
  return view.leave;
};
