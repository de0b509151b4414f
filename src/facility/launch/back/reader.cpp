// A launch command back to its plan, flag by flag.
#include "facility/launch/back/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "facility/launch/flags.hpp"
#include "facility/launch/write.hpp"
#include "ridge/base/text.hpp"

namespace ridge::launch {

namespace {

constexpr int kMostInFile = 100'000'000;  // of any number in a launch file

bool has_word(const std::vector<Word>& words, std::string_view text) {
  return std::any_of(words.begin(), words.end(), [&](const Word& w) { return w.text == text; });
}

}  // namespace

int leading_number(std::string_view text) {
  constexpr int kLimit = 1'000'000;
  while (text.starts_with(' ')) text.remove_prefix(1);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return kLimit;
  return error == std::errc() ? std::clamp(value, 0, kLimit) : 0;
}

std::string release_of(std::string_view text, LaunchTarget runner) {
  const std::string_view engine = engine_of(runner);
  if (!text.starts_with(engine) || text.size() <= engine.size() || text[engine.size()] != '-') return {};
  return std::string(text.substr(engine.size() + 1));
}

Result<LaunchEngine> CommandReader::engine() {
  if (const Status s = find_runner(); !s) return s.error();
  LaunchEngine out{out_.plan.runner, ""};
  const auto at = script_.ridge.find("engine");
  if (at != script_.ridge.end()) out.release = release_of(at->second, out.runner);
  return out;
}

Result<LaunchCheck> CommandReader::run() {
  if (const Status s = find_runner(); !s) return s.error();
  if (const Status s = flags(); !s) return s.error();
  if (const Status s = surroundings(); !s) return s.error();
  return std::move(out_);
}

Error CommandReader::wrong(std::uint32_t line, std::string message) const {
  return {ErrorCode::bad_input, fmt::format("{}:{}", file_, line), std::move(message)};
}

Result<int> CommandReader::number(const Word& word, std::string_view of) const {
  int value = 0;
  const char* end = word.text.data() + word.text.size();
  const auto [at, error] = std::from_chars(word.text.data(), end, value);
  if (error != std::errc() || at != end) {
    return wrong(word.line, fmt::format("{} takes a whole number, not {}", of, quoted(word.text)));
  }
  if (value < 0 || value > kMostInFile) return wrong(word.line, fmt::format("{} takes 0 to {}", of, kMostInFile));
  return value;
}

Status CommandReader::find_runner() {
  for (const std::vector<Word>& command : script_.commands) {
    for (std::size_t i = 0; i < command.size(); ++i) {
      const std::string& text = command[i].text;
      const std::string next = i + 1 < command.size() ? command[i + 1].text : "";
      if (text == "vllm" && next == "serve") return found(LaunchTarget::vllm, command, i + 2);
      if (text == "trtllm-serve") return found(LaunchTarget::trtllm, command, i + (next == "serve" ? 2 : 1));
      if (text == "sglang.launch_server") return found(LaunchTarget::sglang, command, i + 1);
      if (text == "llama-server" || text.ends_with("/llama-server"))
        return found(LaunchTarget::llamacpp, command, i + 1);
      if (text == "primus-cli") return found(LaunchTarget::primus, command, i + 1);
      if (text == "maxtext.trainers.pre_train.train") return found(LaunchTarget::maxtext, command, i + 1);
      if (text == "torchrun") {
        if (has_word(command, "torchtitan.train")) return found(LaunchTarget::torchrun, command, i + 1);
        if (has_word(command, "pretrain_gpt.py")) return found(LaunchTarget::megatron, command, i + 1);
        if (has_word(command, "--deepspeed_config")) return found(LaunchTarget::deepspeed, command, i + 1);
        if (std::any_of(command.begin(), command.end(),
                        [](const Word& w) { return w.text.ends_with("run_recipe.py"); }))
          return found(LaunchTarget::bridge, command, i + 1);
      }
    }
  }
  return wrong(1,
               "starts none of vllm serve, trtllm-serve, sglang.launch_server, llama-server, primus-cli, "
               "maxtext.trainers.pre_train.train, torchrun with pretrain_gpt.py, run_recipe.py, torchtitan.train or "
               "--deepspeed_config");
}

Status CommandReader::found(LaunchTarget runner, const std::vector<Word>& command, std::size_t first) {
  out_.plan.runner = runner;
  out_.target = runner;
  words_.assign(command.begin() + static_cast<std::ptrdiff_t>(first), command.end());
  return {};
}

bool CommandReader::is_toggle(const std::string& flag) const {
  if (release_ != nullptr) {
    if (const EngineFlag* known = release_->find(flag)) return known->type == FlagType::toggle;
  }
  return is_switch(flag);
}

/// torchrun's own flags stand before the program it runs.
void CommandReader::judge(const std::string& flag, const std::optional<std::string>& value, std::size_t at) {
  if (release_ == nullptr || at < own_) return;
  if (std::string wrong = release_->problem(flag, value); !wrong.empty()) out_.problems.push_back(std::move(wrong));
}

Status CommandReader::flags() {
  LaunchPlan& p = out_.plan;
  if (trains(p.runner)) {
    p.precision = speaks_megatron(p.runner) ? Format::fp32 : Format::bf16;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string& text = words_[i].text;
      if (text == "pretrain_gpt.py" || text == "torchtitan.train" || text.ends_with("run_recipe.py")) own_ = i + 1;
    }
    if (p.runner == LaunchTarget::deepspeed) own_ = words_.size();
  }
  if (speaks_megatron(p.runner)) {
    p.shape.gated = false;
    p.shape.tied = true;
    p.shape.norm_bias = true;
    p.shape.learned_positions = true;
    p.etp = 0;
  }
  if (p.runner == LaunchTarget::primus) return keys();
  if (p.runner == LaunchTarget::deepspeed) {
    if (const Status s = keys(); !s) return s;
  }
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::string word = words_[i].text;
    if (!word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      if (equals != std::string::npos && i >= own_ &&
          (p.runner == LaunchTarget::bridge || p.runner == LaunchTarget::maxtext)) {
        const Word value{word.substr(equals + 1), words_[i].line};
        word.resize(equals);
        judge(word, value.text, i);
        if (const Status s = key(word, value); !s) return s;
      }
      // The checkpoint stands alone where the engine takes it so.
      if (p.checkpoint.empty() && (p.runner == LaunchTarget::vllm || p.runner == LaunchTarget::trtllm))
        p.checkpoint = word;
      continue;
    }
    // --flag=value is one word.
    if (const std::size_t equals = word.find('='); equals != std::string::npos) {
      const Word value{word.substr(equals + 1), words_[i].line};
      word.resize(equals);
      judge(word, value.text, i);
      if (const Status s = take(word, value); !s) return s;
      continue;
    }
    if (is_toggle(word)) {
      judge(word, std::nullopt, i);
      turn_on(word);
      continue;
    }
    if (i + 1 >= words_.size() || words_[i + 1].text.starts_with("--")) {
      if (release_ != nullptr && i >= own_ && release_->find(word) == nullptr) {
        judge(word, std::nullopt, i);  // perhaps a switch of another release
        continue;
      }
      return wrong(words_[i].line, fmt::format("the value of {} is missing", word));
    }
    judge(word, words_[i + 1].text, i);
    if (const Status s = take(word, words_[i + 1]); !s) return s;
    ++i;
  }
  return {};
}

void CommandReader::turn_on(const std::string& flag) {
  LaunchPlan& p = out_.plan;
  if (flag == "--enable-expert-parallel") expert_parallel_ = true;
  if (flag == "--enable-eplb") p.rebalanced = true;
  if (flag == "--enable-dbo" || flag == "--enable-two-batch-overlap") p.two_batches = true;
  if (flag == "--bf16" && p.precision == Format::fp32) p.precision = Format::bf16;
  if (flag == "--fp16" && p.precision == Format::fp32) p.precision = Format::fp16;
  if (flag == "--use-distributed-optimizer" && p.sharding == Sharding::none) p.sharding = Sharding::zero1;
  if (flag == "--use-megatron-fsdp" && p.sharding != Sharding::zero2) p.sharding = Sharding::zero3;
  if (flag == "--recompute-activations") p.recompute = Recompute::selective;
  if (flag == "--swiglu") p.shape.gated = true;
  if (flag == "--untie-embeddings-and-output-weights") p.shape.tied = false;
  if (flag == "--qk-layernorm") p.shape.qk_norm = true;
  if (flag == "--add-qkv-bias") p.shape.qkv_bias = true;
  if (flag == "--moe-shared-expert-gate") p.shape.shared_gate = true;
}

Status CommandReader::take(const std::string& flag, const Word& value) {
  LaunchPlan& p = out_.plan;
  for (const NumberFlag& f : number_flags(p.runner)) {
    if (f.flag != flag) continue;
    const Result<int> n = number(value, flag);
    if (!n) return n.error();
    p.*f.field = *n;
    return {};
  }
  if (speaks_megatron(p.runner)) {
    for (const ShapeFlag& f : shape_flags()) {
      if (f.flag != flag) continue;
      const Result<int> n = number(value, flag);
      if (!n) return n.error();
      p.shape.*f.field = *n;
      return {};
    }
    for (const NumberOfShape& f : shape_numbers()) {
      if (f.flag != flag) continue;
      if (value.text.find("ROTARY_BASE") != std::string::npos) {
        p.shape.rotary_open = true;
        return {};
      }
      return share(flag, value, p.shape.*f.field);
    }
  }
  for (const FormatFlag& f : weight_flags(p.runner)) {
    if (f.flag == flag && f.value == value.text && !f.flag.empty()) {
      (trains(p.runner) ? p.precision : p.weights) = f.format;
      if (flag == "--quantization") p.online = value.text == "fp8";
      return {};
    }
  }
  for (const FormatFlag& f : kv_flags(p.runner)) {
    if (f.flag == flag && f.value == value.text) {
      p.kv = f.format;
      return {};
    }
  }
  return special(flag, value);
}

Status CommandReader::share(const std::string& flag, const Word& value, double& into) const {
  char* end = nullptr;
  into = std::strtod(value.text.c_str(), &end);
  if (end == value.text.c_str() || *end != '\0')
    return wrong(value.line, fmt::format("{} takes a number, not {}", flag, quoted(value.text)));
  return {};
}

Status CommandReader::special(const std::string& flag, const Word& value) {
  LaunchPlan& p = out_.plan;
  const auto whole = [&](int& into) -> Status {
    const Result<int> n = number(value, flag);
    if (!n) return n.error();
    into = *n;
    return {};
  };
  if (flag == "--gpu-memory-utilization" || flag == "--mem-fraction-static") {
    return share(flag, value, p.memory_utilization);
  }
  if (flag == "--kv_cache_free_gpu_memory_fraction" || flag == "--free_gpu_memory_fraction") {
    return share(flag, value, p.kv_fraction);
  }
  if (flag == "--served-model-name" || flag == "--alias") {
    p.model = value.text;
  } else if (flag == "--model.name") {
    p.flavor = value.text + p.flavor;
  } else if (flag == "--model.flavor") {
    p.flavor += "/" + value.text;
  } else if (flag == "--disaggregation-mode") {
    p.role = value.text == "prefill" ? PoolRole::prefill : value.text == "decode" ? PoolRole::decode : PoolRole::both;
  } else if (flag == "--kv-transfer-config") {
    p.role = value.text.find("kv_producer") != std::string::npos   ? PoolRole::prefill
             : value.text.find("kv_consumer") != std::string::npos ? PoolRole::decode
                                                                   : PoolRole::both;
  } else if (flag == "--model-path" || flag == "--tokenizer-model") {
    p.checkpoint = value.text;
  } else if (p.runner == LaunchTarget::llamacpp && (flag == "--model" || flag == "--hf-repo")) {
    p.checkpoint = value.text;
  } else if (p.runner == LaunchTarget::llamacpp && flag == "--split-mode") {
    by_tensor_ = value.text == "tensor" || value.text == "row";
  } else if (p.runner == LaunchTarget::llamacpp && flag == "--tensor-split") {
    ranks_ = 1 + static_cast<int>(std::count(value.text.begin(), value.text.end(), ','));
  } else if (p.runner == LaunchTarget::llamacpp && flag == "--ctx-size") {
    return whole(context_);
  } else if (p.runner == LaunchTarget::llamacpp && flag == "--batch-size") {
    return whole(p.max_batched_tokens);
  } else if (flag == "--max-running-requests") {
    return whole(p.max_sequences);
  } else if (flag == "--chunked-prefill-size") {
    return whole(p.max_batched_tokens);
  } else if (flag == "--all2all-backend" || flag == "--moe-a2a-backend") {
    backend_ = value.text;
  } else if (flag == "--deepep-mode") {
    exchange_mode_ = value.text;
  } else if (flag == "--ep-num-redundant-experts") {
    return whole(p.redundant_experts);
  } else if (flag == "--eplb-config") {
    constexpr std::string_view kCopies = "\"num_redundant_experts\":";
    const std::size_t at = value.text.find(kCopies);
    if (at != std::string::npos)
      p.redundant_experts = leading_number(std::string_view(value.text).substr(at + kCopies.size()));
  } else if (flag == "--recipe") {
    p.flavor = value.text;
  } else if (flag == "--expert-tensor-parallel-size" || flag == "--expert_tensor_parallel_size") {
    return whole(p.etp);
  } else if (flag == "--cp-comm-type") {
    p.context = value.text == "a2a"                                       ? ContextParallel::ulysses
                : value.text == "all_gather" || value.text == "allgather" ? ContextParallel::all_gather
                                                                          : ContextParallel::ring;
  } else if (flag == "--normalization") {
    p.shape.norm_bias = value.text == "LayerNorm";
  } else if (flag == "--position-embedding-type") {
    p.shape.learned_positions = value.text == "learned_absolute";
  } else if (flag == "--moe-router-score-function") {
    p.shape.sigmoid_router = value.text == "sigmoid";
  } else if (flag == "--fp8-recipe") {
    p.block_scales = value.text == "blockwise";
    if (value.text != "mxfp8") p.precision = Format::fp8;
  } else if (flag == "--fp8-format") {
    if (p.precision != Format::mxfp8) p.precision = Format::fp8;
  } else if (flag == "--tp-size" || flag == "--tp_size" || flag == "--tensor_parallel_size" || flag == "--tp" ||
             flag == "--tensor-parallel-size") {
    return whole(ranks_);
  } else if (flag == "--nproc-per-node") {
    return whole(per_node_);
  } else if (flag == "--nnodes" && trains(p.runner)) {
    return whole(nodes_);
  } else if (flag == "--parallelism.data_parallel_shard_degree") {
    return whole(shard_);
  } else if (flag == "--parallelism.data_parallel_replicate_degree") {
    return whole(replicate_);
  } else if (flag == "--training.local_batch_size") {
    return whole(local_batch_);
  } else if (flag == "--parallelism.pipeline_parallel_microbatch_size") {
    return whole(p.micro_batch);
  } else if (flag == "--num-distributed-optimizer-instances") {
    return whole(instances_);
  } else if (flag == "--data-parallel-sharding-strategy") {
    p.sharding = value.text == "optim_grads" ? Sharding::zero2 : Sharding::zero3;
  } else if (flag == "--recompute-method") {
    by_block_ = value.text == "block";
  } else if (flag == "--recompute-num-layers") {
    return whole(p.recompute_layers);
  } else if (flag == "--recompute-granularity") {
    p.recompute = value.text == "full" ? Recompute::full : Recompute::selective;
  } else if (flag == "--activation_checkpoint.mode") {
    const Result<Recompute> recompute = parse_recompute(value.text);
    if (!recompute) return wrong(value.line, recompute.error().message);
    p.recompute = *recompute;
  } else if (flag == "--moe-layer-freq") {
    const std::size_t times = value.text.find("[0]*");
    if (times != std::string::npos)
      p.shape.dense_layers = leading_number(std::string_view(value.text).substr(times + 4));
  } else {
    out_.other.push_back(flag);
  }
  return {};
}

}  // namespace ridge::launch
