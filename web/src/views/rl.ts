// Reinforcement learning: a step by phase as a timeline, which devices wait, which split balances.
import { command, post, type Answer } from "../api";
import { draw, figureOf } from "../charts";
import { bytesText, cards, csv, digits, h, interval, palette, percent, seconds, table, tools, type Column, type Field } from "../ui";
import { assumptions, bench, body, changed, section, words, type Show } from "../view";

const form: Field[] = [
  { key: "model", label: "Model", list: "models", group: "Run" }, { key: "device", label: "Device", list: "devices", group: "Run" },
  { key: "gpus", label: "Devices:", kind: "range", low: 8, high: 1024, logarithmic: true, show: (v) => digits(v), group: "Run" },
  { key: "algorithm", label: "Algorithm", kind: "select", options: [["grpo", "GRPO"], ["dapo", "DAPO"], ["ppo", "PPO"], ["online-dpo", "online DPO"]], group: "Run" },
  { key: "steps", label: "Steps in all", hint: "500", group: "Run" },
  { key: "placement", label: "Placement", kind: "select", options: [["colocated", "colocated"], ["one-step-off", "two pools, one step off"], ["async", "two pools, asynchronous"]], group: "Placement" },
  { key: "generators", label: "Devices that generate", hint: "half", group: "Placement" }, { key: "staleness", label: "Staleness, batches", hint: "1", group: "Placement" },
  { key: "partial_rollouts", label: "Answers under way when weights change", kind: "select", options: [["", "are waited for"], ["true", "go on with the new ones"]], group: "Placement" },
  { key: "critic_gpus", label: "Devices of critic and reward model", hint: "the trainers'", group: "Placement" },
  { key: "prompts", label: "Prompts per step", hint: "512", group: "Batch" }, { key: "samples", label: "Answers per prompt", hint: "16", group: "Batch" },
  { key: "mini_batch", label: "Prompts per update", hint: "all", group: "Batch" },
  { key: "answer_tokens", label: "Tokens of an answer, mean", hint: "2000", group: "Answers" }, { key: "answer_most", label: "… and at most", hint: "20k", group: "Answers" },
  { key: "verifier_seconds", label: "Seconds to judge an answer", hint: "0", group: "Answers" }, { key: "verifier_parallel", label: "Judged at once", hint: "all", group: "Answers" },
  { key: "gen_tp", label: "Tensor parallel, engines", hint: "best", group: "Layout" }, { key: "tp", label: "Tensor parallel, training", hint: "best", group: "Layout" }, { key: "pp", label: "Pipeline stages", hint: "best", group: "Layout" },
  { key: "lora_rank", label: "Rank of adapters", hint: "all weights", group: "Layout" },
];
/// A phase keeps its colour, whatever else a step has.
const phaseOrder = ["generation", "reward", "log-probs", "reference", "values", "training", "critic", "weights", "swap", "other"];
const columns: Column<Answer>[] = [
  { name: "devices", show: (s) => s.pool }, { name: "phase", show: (s) => words(s.phase) },
  { name: "from", number: true, show: (s) => seconds(s.start_s), plain: (s) => s.start_s }, { name: "takes", number: true, show: (s) => seconds(s.seconds), plain: (s) => s.seconds },
];

export const show: Show = (into, values, go) => {
  const top = h("div"), timeline = h("figure"), spans = h("div"), rest = h("div");
  const view = bench({
    into, values, go, live: true, list: form, title: "Reinforcement learning", lede: "One step by phase: generation, rewards, log-probs, training and the transfer of weights, and which devices wait.",
    defaults: { model: "qwen2.5-7b", device: "h100-sxm", gpus: "32", algorithm: "grpo", steps: "500", placement: "colocated", generators: "", staleness: "", partial_rollouts: "", critic_gpus: "", prompts: "512", samples: "16", mini_batch: "128", answer_tokens: "2000", answer_most: "20k", verifier_seconds: "", verifier_parallel: "", lora_rank: "", gen_tp: "", tp: "", pp: "" },
    ask: async (v) => {
      const apart = v.placement !== "colocated";
      const question: Record<string, unknown> = { kind: "rl", ...body(v, [...(apart ? [] : ["generators"]), ...(v.placement === "async" ? [] : ["staleness", "partial_rollouts"]), ...(v.algorithm === "ppo" ? [] : ["critic_gpus"])]) };
      const answer = await post("estimate", question);
      return () => paint(answer, question);
    },
  });
  view.out.append(top, timeline, spans, rest);

  function paint(a: Answer, question: Record<string, unknown>): void {
    timeline.hidden = !a.fits;
    if (!a.fits) {
      top.replaceChildren(h("div", { class: "error", role: "alert" }, h("strong", {}, "Does not fit. "), a.why ?? a.reason ?? ""));
      spans.replaceChildren();
    } else {
      const apart = a.placement !== "colocated";
      top.replaceChildren(cards([
        interval("Step", a.step_s, seconds), interval("Per device", a.tokens_per_s_per_gpu, (x) => `${digits(x)} tok/s`), interval("Days", a.days, (x) => digits(x)), interval("Cost", a.cost_usd, (x) => `$${digits(x)}`),
        { what: "Bottleneck", big: words(a.bottleneck), note: `${percent(a.tail_share)} of generation is the last tenth of the answers` },
        { what: apart ? "Waiting" : "Idle in the tail", big: percent(a.trainers_idle_share), note: apart ? `generators ${percent(a.generators_idle_share)}` : "of all devices' time" },
        { what: "Layout", big: `${a.engines} × ${a.generation.gpus} to generate`, note: `trained TP${a.training.tp} PP${a.training.pp} DP${a.training.dp}` },
        { what: apart ? "Balanced" : "Weights to one engine", big: apart ? `${a.balanced_generators} generate` : bytesText(a.weight_bytes), note: apart ? `now ${a.generators}` : "" },
      ]), a.suggestions?.length ? section("What would make steps faster", table([{ name: "change", show: (s: Answer) => changed(s.change) }, { name: "more steps", number: true, show: (s: Answer) => percent(s.gain), plain: (s: Answer) => s.gain }], a.suggestions)) : "");
      const all = a.timeline as Answer[], phases = phaseOrder.filter((p) => all.some((s) => s.phase === p)), lanes = new Set(all.map((s) => s.pool)).size;
      void draw(timeline, "Timeline of a step", (p) => ({
        height: 50 + 50 * lanes, marginLeft: 80, x: { label: "seconds →" }, y: { type: "band", label: null, padding: 0.15 }, color: { legend: true, domain: phases, range: phases.map((p) => palette[phaseOrder.indexOf(p) % palette.length]) },
        marks: [p.rect(a.timeline, { x1: "start_s", x2: (s: Answer) => s.start_s + s.seconds, y: "pool", fill: "phase", stroke: "var(--page)", strokeWidth: 0.5, title: (s: Answer) => `${s.phase}: ${seconds(s.seconds)}` })],
      }));
      spans.replaceChildren(table(columns, a.timeline));
    }
    rest.replaceChildren(assumptions(a.assumptions) ?? "", tools("rl", { json: a, csv: () => csv(columns, a.timeline ?? []), figure: () => figureOf(timeline), command: command("estimate", question) }));
  }
  return view.leave;
};
