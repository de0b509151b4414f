#include "report/site/launch_report.hpp"

#include <fmt/format.h>

#include "report/page/page.hpp"

namespace ridge::report {

namespace {

struct Field {
  const char* key;
  std::string text;
  Json value;  ///< a text that is digits alone, such as the name of a model, stays one
};

std::vector<Field> fields(const LaunchPlan& p) {
  std::vector<Field> out;
  const auto text = [&](const char* key, std::string_view value) {
    if (!value.empty()) out.push_back({key, std::string(value), Json(std::string(value))});
  };
  const auto number = [&](const char* key, int value, int usual) {
    if (value != usual) out.push_back({key, std::to_string(value), Json(value)});
  };
  text("runner", name(p.runner));
  text("release", p.release);
  text("model", p.model);
  text("checkpoint", p.checkpoint);
  text("made_from", p.base);
  text("device", p.device);
  text("network", p.network);
  number("gpus", p.gpus, 0);
  number("gpus_per_node", p.gpus_per_node, 0);
  number("tp", p.tp, 0);
  number("pp", p.pp, 1);
  number("cp", p.cp, 1);
  number("dp", p.dp, 1);
  number("ep", p.ep, 1);
  number("etp", p.etp, 1);
  number("vp", p.vp, 1);
  if (trains(p.runner)) {
    number("sequence_tokens", p.sequence, 0);
    number("global_batch", p.global_batch, 0);
    number("micro_batch", p.micro_batch, 0);
    text("precision", name(p.precision));
    text("sharding", name(p.sharding));
    number("shard_group", p.shard_group, 0);
    text("recompute", name(p.recompute));
    number("layers", p.shape.layers, 0);
  } else {
    number("replicas", p.replicas, 0);
    text("weights", name(p.weights));
    text("kv_cache", name(p.kv));
    number("max_sequences", p.max_sequences, 0);
    number("max_batched_tokens", p.max_batched_tokens, 0);
    number("max_length_tokens", p.max_length, 0);
    number("lora_rank", p.lora_rank, 0);
    number("draft_tokens", p.draft_tokens, 0);
    text("draft_model", p.draft);
    if (p.exchange) text("dispatch", name(*p.exchange));
    number("redundant_experts", p.redundant_experts, 0);
    if (p.rebalanced) text("experts_placed_by_load", "yes");
    if (p.two_batches) text("two_batch_overlap", "yes");
    number("input_tokens", p.isl, 0);
    number("output_tokens", p.osl, 0);
    number("concurrency", p.concurrency, 0);
    if (p.memory_utilization > 0)
      out.push_back({"memory_utilization", fmt::format("{}", p.memory_utilization), Json(p.memory_utilization)});
  }
  return out;
}

}  // namespace

Table launch_table(const LaunchPlan& plan) {
  Table table = two_columns("");
  for (const Field& field : fields(plan)) {
    std::string spoken = field.key;
    for (char& c : spoken) c = c == '_' ? ' ' : c;
    table.rows.push_back({Cell(spoken), Cell(field.text)});
  }
  return table;
}

Document launch_page(const LaunchCheck& check, const std::string& file, const std::vector<std::string>& differing,
                     bool compared) {
  Document page;
  page.title = fmt::format("{}: a plan for {}", file, name(check.target));
  page.blocks.emplace_back(launch_table(check.plan));
  const auto list = [&](const char* heading, const std::vector<std::string>& lines, Emphasis emphasis) {
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
    if (!text.empty()) page.blocks.emplace_back(Paragraph{heading + text + ".", emphasis});
  };
  std::vector<std::string> speeds;
  for (const auto& [what, value] : check.speeds) {
    const bool seconds = what.ends_with("_s") && !what.ends_with("per_s");
    std::string spoken = seconds ? what.substr(0, what.size() - 2) : what;
    for (char& c : spoken) c = c == '_' ? ' ' : c;
    speeds.push_back(seconds         ? fmt::format("{} {:.4g} s", spoken, value)
                     : what == "mfu" ? fmt::format("MFU {:.1f} %", 100 * value)
                                     : fmt::format("{} {:.0f}", spoken, value));
  }
  list("Estimated again: ", speeds, Emphasis::none);
  list("Problems: ", check.problems, Emphasis::bad);
  list("Differs from the plan: ", differing, Emphasis::bad);
  list("Not of the plan: ", check.other, Emphasis::faint);
  if (compared && differing.empty()) page.blocks.emplace_back(Paragraph{"The same plan.", Emphasis::good});
  return page;
}

Json launch_json(const LaunchCheck& check, const std::vector<std::string>& differing, bool compared) {
  const auto list = [](const std::vector<std::string>& lines) {
    Json array = Json::array();
    for (const std::string& line : lines) array.push(line);
    return array;
  };
  Json plan = Json::object();
  for (Field& field : fields(check.plan)) plan.set(field.key, std::move(field.value));
  Json json = Json::object();
  json.set("schema", kEmitSchema).set("target", name(check.target)).set("plan", std::move(plan));
  json.set("contradictions", list(check.problems))
      .set("differences", list(differing))
      .set("other_flags", list(check.other));
  Json estimate = Json::object();
  for (const auto& [what, value] : check.speeds) estimate.set(what, value);
  json.set("estimate", check.speeds.empty() ? Json() : std::move(estimate));
  return json.set("same", compared ? Json(differing.empty() && check.problems.empty()) : Json());
}

}  // namespace ridge::report
