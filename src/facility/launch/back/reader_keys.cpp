// Engines that are set by keys: KEY=VALUE of MaxText and Megatron-Bridge, the files that scripts for Primus and
// DeepSpeed write.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "facility/launch/back/reader.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

/// A line "key: value" of YAML or JSON as the shell's words have it: without quotes, the comma left.
std::optional<std::pair<std::string, Word>> key_of(const std::vector<Word>& command) {
  if (command.size() < 2 || command[0].text.size() < 2 || !command[0].text.ends_with(':')) return std::nullopt;
  Word value = command[1];
  if (value.text.ends_with(',')) value.text.pop_back();
  return std::pair{command[0].text.substr(0, command[0].text.size() - 1), std::move(value)};
}

struct Precision {
  std::string_view word;
  Format format;
  bool blocks;
};
constexpr Precision kBridgePrecisions[] = {
    {"bf16_mixed", Format::bf16, false},
    {"fp16_mixed", Format::fp16, false},
    {"bf16_with_fp8_current_scaling_mixed", Format::fp8, false},
    {"bf16_with_fp8_delayed_scaling_mixed", Format::fp8, false},
    {"bf16_with_fp8_subchannel_scaling_mixed", Format::fp8, true},
    {"bf16_with_mxfp8_mixed", Format::mxfp8, false},
    {"bf16_with_nvfp4_mixed", Format::nvfp4, false},
};

}  // namespace

Status CommandReader::keys() {
  std::vector<std::string> sections;  // of JSON
  bool inside = out_.plan.runner == LaunchTarget::deepspeed;
  for (const std::vector<Word>& command : script_.commands) {
    const bool json = out_.plan.runner == LaunchTarget::deepspeed;
    if (!command.empty() && command[0].text == "overrides:") inside = true;
    if (json && !command.empty() && (command[0].text == "}" || command[0].text == "},")) {
      if (!sections.empty()) sections.pop_back();
      continue;
    }
    const auto pair = key_of(command);
    if (!pair || !inside) continue;
    std::string name = pair->first;
    if (json && pair->second.text == "{") {
      sections.push_back(name);
      continue;
    }
    for (std::size_t i = sections.size(); i-- > 0;) name = sections[i] + "." + name;
    judge(name, pair->second.text, own_);
    if (const Status s = key(name, pair->second); !s) return s;
  }
  return {};
}

Status CommandReader::key(const std::string& name, const Word& value) {
  LaunchPlan& p = out_.plan;
  const auto whole = [&](int& into) -> Status {
    const Result<int> n = number(value, name);
    if (!n) return n.error();
    into = *n;
    return {};
  };
  if (p.runner == LaunchTarget::primus) {
    const std::string flag = megatron_flag(name);
    if (value.text == "true") {
      turn_on(flag);
    } else if (value.text != "false") {
      return take(flag, value);
    }
    return {};
  }
  if (p.runner == LaunchTarget::deepspeed) {
    if (name == "train_batch_size") return whole(p.global_batch);
    if (name == "train_micro_batch_size_per_gpu") return whole(p.micro_batch);
    if (name == "tensor_parallel.autotp_size") return whole(p.tp);
    if (name == "fp16.enabled" && value.text == "true") p.precision = Format::fp16;
    if (name == "zero_optimization.offload_optimizer.device") p.offload_optimizer = value.text == "cpu";
    if (name == "zero_optimization.mics_shard_size") {
      p.sharding = Sharding::hsdp;
      return whole(p.shard_group);
    }
    if (name == "sequence_parallel_size") {
      p.context = ContextParallel::ulysses;
      return whole(p.cp);
    }
    if (name == "zero_optimization.stage") {
      p.sharding = value.text == "1"   ? Sharding::zero1
                   : value.text == "2" ? Sharding::zero2
                   : value.text == "3" ? Sharding::zero3
                                       : Sharding::none;
    }
    return {};
  }
  if (p.runner == LaunchTarget::maxtext) {
    const auto axis = [&](std::string_view which, int& into) -> std::optional<Status> {
      if (name != fmt::format("ici_{}_parallelism", which) && name != fmt::format("dcn_{}_parallelism", which))
        return std::nullopt;
      int degree = 1;
      if (Status s = whole(degree); !s) return s;
      if (1.0 * into * degree > kMostDevices) return Status(wrong(value.line, "starts more devices than there are"));
      into *= std::max(1, degree);
      return Status();
    };
    for (const auto& [which, into] : {std::pair{"tensor", &p.tp},
                                      {"context", &p.cp},
                                      {"expert", &p.ep},
                                      {"fsdp", &shard_},
                                      {"data", &replicate_}}) {
      if (std::optional<Status> done = axis(which, *into)) return *std::move(done);
    }
    if (name == "model_name") p.flavor = value.text;
    if (name == "per_device_batch_size") return share(name, value, device_batch_);
    if (name == "gradient_accumulation_steps") return whole(steps_);
    if (name == "max_target_length") return whole(p.sequence);
    if (name == "shard_optimizer_over_data") shards_optimizer_ = value.text == "true";
    if (name == "quantization") p.precision = value.text == "int8" ? Format::int8 : Format::fp8;
    if (name == "tokenizer_path") p.checkpoint = value.text;
    if (name == "context_parallel_strategy") {
      p.context = value.text == "ulysses"      ? ContextParallel::ulysses
                  : value.text == "all_gather" ? ContextParallel::all_gather
                                               : ContextParallel::ring;
    }
    if (name == "remat_policy") {
      p.recompute = value.text == "full"                   ? Recompute::full
                    : value.text == "minimal_with_context" ? Recompute::none
                                                           : Recompute::selective;
    }
    return {};
  }
  // Megatron-Bridge.
  if (name == "mixed_precision") {
    for (const Precision& one : kBridgePrecisions) {
      if (one.word != value.text) continue;
      p.precision = one.format;
      p.block_scales = one.blocks;
    }
  } else if (name == "ddp.use_distributed_optimizer") {
    if (value.text == "true" && p.sharding == Sharding::none) p.sharding = Sharding::zero1;
  } else if (name == "ddp.use_megatron_fsdp") {
    if (value.text == "true" && p.sharding != Sharding::zero2) p.sharding = Sharding::zero3;
  } else if (name == "model.recompute_granularity") {
    p.recompute = value.text == "full"   ? Recompute::full
                  : value.text == "null" ? Recompute::none
                                         : Recompute::selective;
  } else if (name == "tokenizer.tokenizer_model") {
    p.checkpoint = value.text;
  } else {
    // The rest are Megatron's own arguments under the name of their part.
    constexpr std::string_view kTold[] = {"model.cp_comm_type", "model.recompute_method", "model.recompute_num_layers",
                                          "ddp.num_distributed_optimizer_instances",
                                          "ddp.data_parallel_sharding_strategy"};
    if (std::find(std::begin(kTold), std::end(kTold), name) != std::end(kTold)) {
      return special(megatron_flag(name.substr(name.find('.') + 1)), value);
    }
    out_.other.push_back(name);
  }
  return {};
}

}  // namespace ridge::launch
