// What stands around a launch command: nodes, replicas, and what no engine has a flag for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "facility/launch/back/reader.hpp"
#include "facility/launch/exchange.hpp"
#include "facility/launch/flags.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

Status CommandReader::surroundings() {
  LaunchPlan& p = out_.plan;
  const auto ridge = [&](const char* key) {
    const auto at = script_.ridge.find(key);
    return at == script_.ridge.end() ? std::string() : at->second;
  };
  const auto variable = [&](const char* name, int otherwise) {
    const auto at = script_.variables.find(name);
    if (at == script_.variables.end()) return otherwise;
    const int n = leading_number(at->second);
    return n > 0 ? n : otherwise;
  };
  // Products of degrees below have to fit into an int.
  const double layout = 1.0 * std::max(1, p.tp) * std::max(1, p.pp) * std::max(1, p.dp) * std::max(1, p.cp) *
                        std::max(1, ranks_) * std::max(1, shard_) * std::max(1, replicate_);
  const double started = 1.0 * std::max(1, nodes_) * std::max(1, per_node_);
  const double copies = 1.0 * variable("NODES", 1) * variable("REPLICAS", 1);
  if (layout * copies > kMostDevices * kMostDevices || layout > kMostDevices || started > kMostDevices ||
      copies > kMostDevices) {
    return wrong(1, "starts more devices than there are");
  }
  p.device = ridge("device");
  p.vendor = ridge("vendor");
  p.system = ridge("system");
  p.network = ridge("network");
  p.release = release_of(ridge("engine"), p.runner);
  p.gated = ridge("gated") == "yes";
  p.base = ridge("base");
  if (const std::string tokenizer = ridge("tokenizer"); !tokenizer.empty()) p.checkpoint = tokenizer;
  const auto count = [&](const char* key, int& into) {
    if (const std::string text = ridge(key); !text.empty()) into = leading_number(text);
  };
  count("isl", p.isl);
  count("osl", p.osl);
  count("concurrency", p.concurrency);
  count("lora", p.lora_rank);
  count("experts", p.experts);
  count("sequence", p.sequence);
  count("shard_group", p.shard_group);
  if (const std::string recompute = ridge("recompute"); !recompute.empty()) {
    const Result<Recompute> said = parse_recompute(recompute);
    if (!said) return wrong(1, said.error().message);
    p.recompute = *said;
  }
  if (const std::string sharding = ridge("sharding"); !sharding.empty()) {
    const Result<Sharding> said = parse_sharding(sharding);
    if (!said) return wrong(1, said.error().message);
    p.sharding = *said;
  }
  if (const std::string draft = ridge("draft"); !draft.empty()) {
    p.draft_tokens = leading_number(draft);
    const std::size_t colon = draft.find(':');
    if (colon != std::string::npos) p.draft = draft.substr(colon + 1);
  }
  const auto part = [&](const char* key, double& into) {
    if (const std::string text = ridge(key); !text.empty()) into = std::strtod(text.c_str(), nullptr);
  };
  part("memory", p.memory_utilization);
  part("prefix", p.prefix_hit);
  part("acceptance", p.acceptance);
  if (ridge("role") == "prefill") p.role = PoolRole::prefill;
  if (ridge("role") == "decode") p.role = PoolRole::decode;
  if (ridge("mode") == "batch") p.mode = LoadMode::fixed_batch;
  if (ridge("mode") == "offline") p.mode = LoadMode::offline;
  if (const std::string model = ridge("model"); !model.empty()) p.model = model;
  p.activations = p.weights;
  if (const std::string activations = ridge("activations"); !activations.empty()) {
    const Result<Format> format = parse_format(activations);
    if (!format) return wrong(1, format.error().message);
    p.activations = *format;
  }
  if (const std::string weights = ridge("weights"); !weights.empty()) {
    const Result<Format> format = parse_format(weights);
    if (!format) return wrong(1, format.error().message);
    p.weights = *format;
  }
  const std::string per_node = ridge("gpus_per_node");
  p.gpus_per_node = per_node.empty() ? std::max(1, per_node_) : std::max(1, leading_number(per_node));
  const int nodes = variable("NODES", 1);
  if (trains(p.runner)) p.activations = Format::bf16;
  if (trains(p.runner)) return training(nodes_ > 0 ? nodes_ : nodes);
  return serving(nodes, variable("REPLICAS", 1), variable("ALL_REPLICAS", 0));
}

Status CommandReader::training(int nodes) {
  LaunchPlan& p = out_.plan;
  const auto started = script_.variables.find("GPUS_PER_NODE");
  if (p.runner == LaunchTarget::primus && started != script_.variables.end())
    per_node_ = leading_number(started->second);
  p.gpus = nodes * std::max(1, per_node_);
  const int model = p.tp * p.pp * p.cp;
  if (p.runner == LaunchTarget::maxtext) {
    // Every rank is on an axis of the mesh, those of experts too.
    p.dp = shard_ * replicate_ * p.ep;
    p.gpus = model * p.dp;
    if (shards_optimizer_) p.sharding = Sharding::zero1;
    p.micro_batch = static_cast<int>(std::lround(device_batch_ * p.gpus / p.dp));
    p.global_batch = p.micro_batch * p.dp * std::max(1, steps_);
  }
  if (model < 1 || p.gpus % model != 0) {
    out_.problems.push_back(fmt::format("tp × pp × cp = {} does not divide the {} devices it starts", model, p.gpus));
    return {};
  }
  p.dp = p.gpus / model;
  if (!by_block_) p.recompute_layers = 0;
  if (speaks_megatron(p.runner)) {
    if (p.etp == 0) p.etp = p.shape.experts > 0 ? p.tp : 1;
    for (std::string& problem : megatron_problems(p))
      out_.problems.push_back("Megatron would not start: " + std::move(problem));
  }
  if (instances_ > 1) {
    p.sharding = Sharding::hsdp;
    p.shard_group = p.dp / instances_;
  }
  if (p.runner == LaunchTarget::torchrun) {
    if (shard_ * replicate_ != p.dp) {
      out_.problems.push_back(
          fmt::format("shard × replicate = {} is not the data-parallel degree {}", shard_ * replicate_, p.dp));
    }
    p.sharding = shard_ == 1 ? Sharding::none : replicate_ == 1 ? Sharding::zero3 : Sharding::hsdp;
    if (p.sharding == Sharding::hsdp) p.shard_group = shard_;
    if (p.pp == 1) p.micro_batch = local_batch_;
  }
  return {};
}

void CommandReader::exchange() {
  LaunchPlan& p = out_.plan;
  const auto said = script_.ridge.find("dispatch");
  std::optional<ExpertExchange> told;
  if (said != script_.ridge.end()) {
    if (const Result<ExpertExchange> way = parse_expert_exchange(said->second)) told = *way;
  }
  if (p.runner == LaunchTarget::trtllm) {
    p.exchange = told;
    return;
  }
  const bool flagged = p.runner == LaunchTarget::vllm || p.runner == LaunchTarget::sglang;
  if (!flagged || p.ep < 2 || p.dp < 2) return;
  const ExchangeFlags flags{backend_, exchange_mode_};
  p.exchange = exchange_of(p.runner, flags);
  if (!told) return;
  // What the plan says holds as long as the flags are those that it is written with.
  LaunchPlan as_told = p;
  as_told.exchange = told;
  if (exchange_flags(as_told) == flags) p.exchange = told;
}

Status CommandReader::serving(int nodes, int replicas, int all) {
  LaunchPlan& p = out_.plan;
  if (p.runner == LaunchTarget::sglang) {
    p.tp = std::max(1, ranks_ / std::max(1, p.dp));
    p.max_sequences /= std::max(1, p.dp);
    p.max_batched_tokens /= std::max(1, p.dp);
  }
  if (p.runner == LaunchTarget::llamacpp) {
    (by_tensor_ ? p.tp : p.pp) = std::max(1, ranks_);
    p.max_length = context_ / std::max(1, p.max_sequences);
  }
  if (p.runner == LaunchTarget::trtllm) {
    bool attention_dp = false;
    for (const std::vector<Word>& command : script_.commands) {
      for (std::size_t i = 0; i + 1 < command.size(); ++i) {
        // Lines of the options file, each the text of an echo.
        if (command[i].text != "echo") continue;
        std::string_view line = command[i + 1].text;
        if (line == "enable_attention_dp: true") attention_dp = true;
        while (line.starts_with(' ')) line.remove_prefix(1);
        for (const FormatFlag& f : kv_flags(p.runner)) {
          if (!f.flag.empty() && line == fmt::format("{} {}", f.flag, f.value)) p.kv = f.format;
        }
        constexpr std::string_view kSlots = "num_slots:";
        if (line.starts_with(kSlots)) {
          p.rebalanced = true;
          p.redundant_experts = std::max(0, leading_number(line.substr(kSlots.size())) - p.experts);
        }
      }
    }
    (attention_dp ? p.dp : p.tp) = std::max(1, ranks_);
  }
  if (p.runner == LaunchTarget::vllm && expert_parallel_) p.ep = p.tp * p.dp;
  exchange();
  const int each = p.tp * p.pp * p.dp;
  p.replicas = each > p.gpus_per_node ? 1 : replicas * nodes;
  if (all > 0 && each <= p.gpus_per_node) {
    if (all <= p.replicas && all > replicas * (nodes - 1)) {
      p.replicas = all;
    } else {
      out_.problems.push_back(
          fmt::format("{} replicas in all do not go with {} on each of {} nodes", all, replicas, nodes));
    }
  }
  p.gpus = p.replicas * each;
  if (each > p.gpus_per_node && std::int64_t{nodes} * p.gpus_per_node != each) {
    out_.problems.push_back(
        fmt::format("{} nodes of {} devices do not make a replica of {}", nodes, p.gpus_per_node, each));
  }
  return {};
}

}  // namespace ridge::launch
