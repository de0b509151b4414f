// From a launch plan back to the question it answers, and what a host lacks for it.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "facility/launch/vendor.hpp"
#include "facility/launch/write.hpp"
#include "ridge/facility/launch.hpp"

namespace ridge {

InferenceQuery inference_query(const LaunchPlan& p) {
  InferenceQuery q;
  q.model = p.model;
  q.device = p.device;
  q.system = p.system;
  q.engine = profile_of(p.runner);
  if (p.runner == LaunchTarget::vllm) q.engine_version = p.release;
  q.gpus = p.gpus;
  q.tp = p.tp;
  q.pp = p.pp;
  q.dp = p.dp;
  q.ep = p.ep;
  q.weights = p.weights;
  q.activations = p.activations;
  q.kv = p.kv;
  q.max_batched_tokens = p.max_batched_tokens;
  q.max_sequences = p.max_sequences;
  q.memory_utilization = p.memory_utilization;
  q.lora_rank = p.lora_rank;
  if (p.exchange) {
    q.experts = {.exchange = p.exchange, .two_batches = p.two_batches, .rebalanced = p.rebalanced};
  }
  if (p.redundant_experts > 0) q.experts.redundant = p.redundant_experts;
  q.load.mode = p.mode;
  if (p.isl > 0) q.load.isl = p.isl;
  if (p.osl > 0) q.load.osl = p.osl;
  (p.mode == LoadMode::fixed_batch ? q.load.batch : q.load.concurrency) = std::max(1, p.concurrency);
  q.load.draft_tokens = p.draft_tokens;
  q.load.acceptance = p.acceptance;
  q.load.prefix_hit = p.prefix_hit;
  // As the pools of a pair are answered: prompts alone, and tokens of caches that come from elsewhere.
  if (p.role == PoolRole::prefill) {
    q.load.mode = LoadMode::prefill;
    q.load.batch = std::max(1, p.dp) * std::max(1, p.replicas);  // one for each rank of each engine
    q.load.osl = 1;
  }
  if (p.role == PoolRole::decode) q.load.prefilled = true;
  return q;
}

TrainingQuery training_query(const LaunchPlan& p) {
  TrainingQuery q;
  q.model = p.model;
  q.device = p.device;
  q.system = p.system;
  q.engine = profile_of(p.runner);
  q.gpus_per_node = p.gpus_per_node;
  q.precision = p.precision;
  q.block_scales = p.block_scales;
  q.mtp = p.shape.mtp_layers > 0;
  TrainingPlan& t = q.plan;
  t.gpus = p.gpus;
  t.tp = p.tp;
  t.pp = p.pp;
  t.vp = p.vp;
  t.cp = p.cp;
  t.ep = p.ep;
  t.etp = p.etp;
  t.dp = p.dp;
  t.sequence = p.sequence;
  t.global_batch = p.global_batch;
  t.micro_batch = p.micro_batch;
  t.sharding = p.sharding;
  t.shard_group = p.shard_group;
  t.recompute = p.recompute;
  t.recompute_layers = p.recompute_layers;
  t.context = p.context;
  t.offload_optimizer = p.offload_optimizer;
  return q;
}

void estimate_again(LaunchCheck& check, const Knowledge& knowledge) {
  const LaunchPlan& p = check.plan;
  if (p.device.empty() || p.model.empty()) return;
  if (trains(p.runner)) {
    const Result<TrainingAnswer> a = answer(training_query(p), {}, knowledge);
    if (!a) return;
    if (a->refusal) {
      check.problems.push_back("it cannot run: " + a->refusal->why);
      return;
    }
    const TrainingEstimate& e = a->outcome.estimate;
    check.speeds = {{"tokens_per_s", e.tokens_per_s.mid}, {"step_time_s", e.step_time_s.mid}, {"mfu", e.mfu.mid}};
    return;
  }
  if (p.isl == 0 || p.osl == 0) return;
  const Result<InferenceAnswer> a = answer(inference_query(p), knowledge, AnswerOptions{.explain = false});
  if (!a) return;
  if (a->refusal) {
    check.problems.push_back("it cannot run: " + a->refusal->why);
    return;
  }
  const InferenceEstimate& e = a->outcome.estimate;
  check.speeds = {
      {"output_tokens_per_s", e.output_tokens_per_s.mid}, {"ttft_s", e.ttft_s.mid}, {"tpot_s", e.tpot_s.mid}};
  check.slow = {e.ttft_s.high, e.tpot_s.high};
}

std::vector<std::string> host_problems(const LaunchPlan& p, const HostFacts& facts, double weight_bytes) {
  std::vector<std::string> out;
  const auto fact = [&](std::string_view name) -> std::string {
    const auto at = facts.find(name);
    return at == facts.end() ? std::string() : at->second;
  };
  const auto number = [&](std::string_view name) {
    const std::string text = fact(name);
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  const int wanted = std::min(p.gpus, p.gpus_per_node);
  if (!fact("gpu.count").empty() && number("gpu.count") < wanted) {
    out.push_back(fmt::format("{} devices, the plan uses {} of a node", fact("gpu.count"), wanted));
  }
  if (const std::string_view label = launch::product_label(p); !label.empty() && !fact("gpu.name").empty()) {
    std::string seen = fact("gpu.name");
    for (char& c : seen) c = c == ' ' ? '-' : c;
    if (seen.find(label) == std::string::npos)
      out.push_back(fmt::format("the devices are {}, the plan is for {}", fact("gpu.name"), p.device));
  }
  if (const int least = p.hardware.least_driver; least > 0) {
    const int branch = number("gpu.driver.branch");
    if (branch > 0 && branch < least) {
      out.push_back(
          fmt::format("driver branch {}: {} needs CUDA 12, which runs from {} on", branch, name(p.runner), least));
    }
    if (wanted > 1 && fact("nvswitch.present") == "yes" && !fact("nvswitch.manager").empty() &&
        fact("nvswitch.manager") != "active") {
      out.push_back("the fabric manager does not run: devices behind NVSwitch do not reach each other");
    }
    const bool rack = p.device.find("nvl72") != std::string::npos;
    if (rack && p.nodes() > 1 && !fact("nvswitch.imex").empty() && fact("nvswitch.imex") != "active") {
      out.push_back("nvidia-imex does not run: trays of the rack do not reach each other's memory");
    }
  }
  if (p.nodes() > 1 && p.network == "infiniband" && fact("rdma.present") == "no") {
    out.push_back("no RDMA device: the plan's nodes are joined by InfiniBand");
  }
  if (p.nodes() > 1 && p.network == "infiniband" && fact("rdma.layer").find("thernet") != std::string::npos) {
    out.push_back(fmt::format("RDMA runs over {}, the plan is for InfiniBand", fact("rdma.layer")));
  }
  // Weights on a file system that hosts share take no room here.
  const bool shared = !fact("files.shared").empty() && fact("files.shared") != "none";
  if (weight_bytes > 0 && !shared && !fact("files.free_gigabytes").empty()) {
    const double room = std::strtod(fact("files.free_gigabytes").c_str(), nullptr);
    if (room < weight_bytes / 1e9) {
      out.push_back(
          fmt::format("{:.0f} GB are free on its disk, the weights have {:.0f} GB", room, weight_bytes / 1e9));
    }
  }
  return out;
}

}  // namespace ridge
