// How sure a plan is, as pictures: the chance of holding each limit, what more of it costs, what the dollars depend on.
import type { Answer } from "../api";
import { draw } from "../charts";
import { digits, h, money, percent } from "../ui";
import { bullets, section } from "../view";

const most = 10;  // plans in a picture

/// Of plans to serve with; draws as soon as the library is there.
export function sureness(a: Answer): HTMLElement {
  const chances = h("figure"), price = h("figure"), depends = h("figure");
  const ranked: Answer[] = a.plans.slice(0, most);
  const sure = ranked.filter((p) => p.holds_probability != null && p.holds_rate_probability != null);
  const sized = ranked.filter((p) => (p.gpus_at?.length ?? 0) > 1 && p.usd_per_hour > 0);
  const out = h("div");
  if (sure.length) {
    out.append(section("Confidence", chances));
    void holds(chances, sure, a.goal.confidence);
  }
  if (sized.length) {
    out.append(price);
    void cost(price, sized);
  }
  if (a.sensitivity?.length) {
    out.append(section("What moves the cost", depends));
    void tornado(depends, a);
  }
  if (a.would_change?.length) out.append(section("What would change the decision", bullets(a.would_change)));
  return out;
}

async function holds(into: HTMLElement, plans: Answer[], asked: number): Promise<void> {
  const bars = plans.flatMap((p) => [["rate and TPOT", p.holds_rate_probability], ["time to first token", p.holds_ttft_probability], ["all together", p.holds_probability]]
    .filter(([, share]) => share != null).map(([limit, share]) => ({ device: p.device, limit, share: 100 * share })));
  await draw(into, `Probability that each limit is met. The line is what was asked for: ${percent(asked)} for all of them together.`, (p) => ({
    height: 60 + 62 * plans.length, marginLeft: 110, x: { label: "% →", domain: [0, 100] }, y: { axis: null, domain: ["rate and TPOT", "time to first token", "all together"] },
    fy: { label: null, domain: plans.map((one) => one.device) }, color: { legend: true, scheme: "observable10", domain: ["rate and TPOT", "time to first token", "all together"] },
    marks: [
      p.barX(bars, { x: "share", y: "limit", fy: "device", fill: "limit" }), p.ruleX([100 * asked], { stroke: "currentColor", strokeDasharray: "4 3" }),
      p.tip(bars, p.pointer({ x: "share", y: "limit", fy: "device", title: (d) => `${d.device}\n${d.limit}: ${digits(d.share, 3)} %`, fill: "var(--page)" })),
    ],
  }));
}

async function cost(into: HTMLElement, plans: Answer[]): Promise<void> {
  const points = plans.flatMap((p) => p.gpus_at.map((r: Answer) => ({ device: p.device, sure: 100 * r.confidence, usd: (p.usd_per_hour * r.gpus) / p.gpus, gpus: r.gpus })));
  await draw(into, "Cost by confidence: the same layout, with as many replicas as meet rate and limits with that probability.", (p) => ({
    x: { label: "confidence (%) →" }, y: { label: "↑ $ an hour", zero: true }, color: { legend: true, scheme: "observable10" },
    marks: [
      p.lineY(points, { x: "sure", y: "usd", stroke: "device", curve: "step-before" }), p.dot(points, { x: "sure", y: "usd", fill: "device", r: 4 }),
      p.tip(points, p.pointer({ x: "sure", y: "usd", title: (d) => `${d.gpus} × ${d.device} at ${digits(d.sure)} %\n${money(d.usd)} an hour`, fill: "var(--page)" })),
    ],
  }));
}

async function tornado(into: HTMLElement, a: Answer): Promise<void> {
  const now = a.plans[0].usd_per_million_output_tokens.mid;
  const less = "usd_per_million_output_tokens_at_less", more = "usd_per_million_output_tokens_at_more";
  const ends: Answer[] = a.sensitivity.flatMap((s: Answer) => [{ what: s.what, at: s[less], end: s.less, left: s[less] <= s[more] }, { what: s.what, at: s[more], end: s.more, left: s[more] < s[less] }]);
  await draw(into, `Dollars per million output tokens of rank 1 (${a.plans[0].device}), ${money(now)} as planned, at both ends of each uncertainty.`, (p) => ({
    height: 70 + 40 * a.sensitivity.length, marginLeft: 130, insetLeft: 80, insetRight: 80, x: { label: "$ per 1M output tokens →" }, y: { label: null, domain: a.sensitivity.map((s: Answer) => s.what) },
    marks: [
      p.barX(a.sensitivity, { x1: less, x2: more, y: "what", fill: "var(--accent, steelblue)", fillOpacity: 0.6 }), p.ruleX([now], { stroke: "currentColor" }),
      p.text(ends.filter((d) => d.left), { x: "at", y: "what", text: "end", dx: -5, textAnchor: "end", fill: "currentColor" }),
      p.text(ends.filter((d) => !d.left), { x: "at", y: "what", text: "end", dx: 5, textAnchor: "start", fill: "currentColor" }),
      p.tip(ends, p.pointer({ x: "at", y: "what", title: (d) => `${d.what}: ${d.end}\n${money(d.at)} per 1M output tokens`, fill: "var(--page)" })),
    ],
  }));
}
