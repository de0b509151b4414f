// What differs between two launch plans.
#include <fmt/format.h>

#include "ridge/facility/launch.hpp"

namespace ridge {

std::vector<std::string> differences(const LaunchPlan& a, const LaunchPlan& b) {
  std::vector<std::string> out;
  const auto text = [&](const char* what, std::string_view x, std::string_view y) {
    if (x != y)
      out.push_back(fmt::format("{}: {} in the file, {} in the plan", what, x.empty() ? "nothing" : x,
                                y.empty() ? "nothing" : y));
  };
  const auto number = [&](const char* what, int x, int y) { text(what, std::to_string(x), std::to_string(y)); };
  text("runner", name(a.runner), name(b.runner));
  text("model", a.model, b.model);
  text("release", a.release, b.release);
  text("checkpoint", a.checkpoint, b.checkpoint);
  text("made from", a.base, b.base);
  text("draft model", a.draft, b.draft);
  text("flavor", a.flavor, b.flavor);
  text("device", a.device, b.device);
  text("system", a.system, b.system);
  text("network", a.network, b.network);
  const std::pair<const char*, int LaunchPlan::*> numbers[] = {{"gpus", &LaunchPlan::gpus},
                                                               {"gpus per node", &LaunchPlan::gpus_per_node},
                                                               {"tp", &LaunchPlan::tp},
                                                               {"pp", &LaunchPlan::pp},
                                                               {"dp", &LaunchPlan::dp},
                                                               {"ep", &LaunchPlan::ep},
                                                               {"replicas", &LaunchPlan::replicas},
                                                               {"max sequences", &LaunchPlan::max_sequences},
                                                               {"max batched tokens", &LaunchPlan::max_batched_tokens},
                                                               {"longest sequence", &LaunchPlan::max_length},
                                                               {"cp", &LaunchPlan::cp},
                                                               {"etp", &LaunchPlan::etp},
                                                               {"vp", &LaunchPlan::vp},
                                                               {"sequence", &LaunchPlan::sequence},
                                                               {"global batch", &LaunchPlan::global_batch},
                                                               {"micro-batch", &LaunchPlan::micro_batch},
                                                               {"shard group", &LaunchPlan::shard_group},
                                                               {"isl", &LaunchPlan::isl},
                                                               {"osl", &LaunchPlan::osl},
                                                               {"concurrency", &LaunchPlan::concurrency},
                                                               {"LoRA rank", &LaunchPlan::lora_rank},
                                                               {"draft tokens", &LaunchPlan::draft_tokens},
                                                               {"experts of a layer", &LaunchPlan::experts},
                                                               {"copies of experts", &LaunchPlan::redundant_experts},
                                                               {"layers recomputed", &LaunchPlan::recompute_layers}};
  for (const auto& [what, field] : numbers) number(what, a.*field, b.*field);
  text("role", name(a.role), name(b.role));
  const auto way = [](const LaunchPlan& p) { return p.exchange ? name(*p.exchange) : "the engine's own way"; };
  text("tokens reach experts by", way(a), way(b));
  const auto yes = [&](const char* what, bool x, bool y) { text(what, x ? "yes" : "no", y ? "yes" : "no"); };
  yes("experts placed by load", a.rebalanced, b.rebalanced);
  yes("two batches overlapped", a.two_batches, b.two_batches);
  text("optimizer on the host", a.offload_optimizer ? "yes" : "no", b.offload_optimizer ? "yes" : "no");
  text("weights", name(a.weights), name(b.weights));
  text("KV cache", name(a.kv), name(b.kv));
  text("precision", name(a.precision), name(b.precision));
  text("sharding", name(a.sharding), name(b.sharding));
  text("recompute", name(a.recompute), name(b.recompute));
  if (a.memory_utilization != b.memory_utilization) {
    text("memory utilization", fmt::format("{}", a.memory_utilization), fmt::format("{}", b.memory_utilization));
  }
  if (a.kv_fraction != b.kv_fraction) {
    text("KV share of free memory", fmt::format("{}", a.kv_fraction), fmt::format("{}", b.kv_fraction));
  }
  text("context parallelism", name(a.context), name(b.context));
  text("weights narrowed on loading", a.online ? "yes" : "no", b.online ? "yes" : "no");
  if (!(a.shape == b.shape)) out.emplace_back("the layers of the model differ");
  return out;
}

}  // namespace ridge
