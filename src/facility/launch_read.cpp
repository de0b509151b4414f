// From a launch file back to its plan.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "facility/launch_flags.hpp"
#include "facility/launch_write.hpp"
#include "ridge/launch.hpp"
#include "ridge/letters.hpp"
#include "ridge/text.hpp"

namespace ridge {

namespace {

using launch::FormatFlag;
using launch::Script;
using launch::Word;

constexpr int kMost = 100'000'000;     // of any number in a launch file
constexpr double kMostDevices = 10e6;  // that a plan may start

/// The whole number a text starts with, spaces left out; at most a million, 0 if there is none.
int leading_number(std::string_view text) {
  constexpr int kLimit = 1'000'000;
  while (text.starts_with(' ')) text.remove_prefix(1);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return kLimit;
  return error == std::errc() ? std::clamp(value, 0, kLimit) : 0;
}

class Reader {
 public:
  Reader(Script script, std::string_view file, const EngineRelease* release)
      : script_(std::move(script)), file_(file), release_(release) {}

  Result<LaunchEngine> engine() {
    if (const Status s = find_runner(); !s) return s.error();
    LaunchEngine out{out_.plan.runner, ""};
    const auto at = script_.ridge.find("engine");
    if (at != script_.ridge.end()) out.release = release_of(at->second, out.runner);
    return out;
  }

  Result<LaunchCheck> run() {
    if (const Status s = find_runner(); !s) return s.error();
    if (const Status s = flags(); !s) return s.error();
    if (const Status s = surroundings(); !s) return s.error();
    return std::move(out_);
  }

 private:
  [[nodiscard]] Error wrong(std::uint32_t line, std::string message) const {
    return {ErrorCode::bad_input, fmt::format("{}:{}", file_, line), std::move(message)};
  }

  Result<int> number(const Word& word, std::string_view of) const {
    int value = 0;
    const char* end = word.text.data() + word.text.size();
    const auto [at, error] = std::from_chars(word.text.data(), end, value);
    if (error != std::errc() || at != end) {
      return wrong(word.line, fmt::format("{} takes a whole number, not {}", of, quoted(word.text)));
    }
    if (value < 0 || value > kMost) return wrong(word.line, fmt::format("{} takes 0 to {}", of, kMost));
    return value;
  }

  [[nodiscard]] static bool has(const std::vector<Word>& words, std::string_view text) {
    return std::any_of(words.begin(), words.end(), [&](const Word& w) { return w.text == text; });
  }

  /// "vllm-0.27.1" → "0.27.1"; empty for another engine.
  static std::string release_of(std::string_view text, LaunchTarget runner) {
    const std::string_view engine = engine_of(runner);
    if (!text.starts_with(engine) || text.size() <= engine.size() || text[engine.size()] != '-') return {};
    return std::string(text.substr(engine.size() + 1));
  }

  Status find_runner() {
    for (const std::vector<Word>& command : script_.commands) {
      for (std::size_t i = 0; i < command.size(); ++i) {
        const std::string& text = command[i].text;
        const std::string next = i + 1 < command.size() ? command[i + 1].text : "";
        if (text == "vllm" && next == "serve") return found(LaunchTarget::vllm, command, i + 2);
        if (text == "trtllm-serve") return found(LaunchTarget::trtllm, command, i + (next == "serve" ? 2 : 1));
        if (text == "sglang.launch_server") return found(LaunchTarget::sglang, command, i + 1);
        if (text == "llama-server" || text.ends_with("/llama-server"))
          return found(LaunchTarget::llamacpp, command, i + 1);
        if (text == "torchrun") {
          if (has(command, "torchtitan.train")) return found(LaunchTarget::torchrun, command, i + 1);
          if (has(command, "pretrain_gpt.py")) return found(LaunchTarget::megatron, command, i + 1);
        }
      }
    }
    return wrong(1,
                 "starts none of vllm serve, trtllm-serve, sglang.launch_server, llama-server, torchrun with "
                 "pretrain_gpt.py or "
                 "torchtitan.train");
  }

  Status found(LaunchTarget runner, const std::vector<Word>& command, std::size_t first) {
    out_.plan.runner = runner;
    out_.target = runner;
    words_.assign(command.begin() + static_cast<std::ptrdiff_t>(first), command.end());
    return {};
  }

  [[nodiscard]] bool is_toggle(const std::string& flag) const {
    if (release_ != nullptr) {
      if (const EngineFlag* known = release_->find(flag)) return known->type == FlagType::toggle;
    }
    return launch::is_switch(flag);
  }

  /// torchrun's own flags stand before the program it runs.
  void judge(const std::string& flag, const std::optional<std::string>& value, std::size_t at) {
    if (release_ == nullptr || at < own_) return;
    if (std::string wrong = release_->problem(flag, value); !wrong.empty()) out_.problems.push_back(std::move(wrong));
  }

  Status flags() {
    LaunchPlan& p = out_.plan;
    if (trains(p.runner)) {
      p.precision = p.runner == LaunchTarget::torchrun ? Format::bf16 : Format::fp32;
      for (std::size_t i = 0; i < words_.size(); ++i) {
        if (words_[i].text == "pretrain_gpt.py" || words_[i].text == "torchtitan.train") own_ = i + 1;
      }
    }
    if (p.runner == LaunchTarget::megatron) {
      p.shape.gated = false;
      p.shape.tied = true;
      p.shape.norm_bias = true;
      p.shape.learned_positions = true;
      p.etp = 0;
    }
    for (std::size_t i = 0; i < words_.size(); ++i) {
      std::string word = words_[i].text;
      if (!word.starts_with("--")) {
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

  void turn_on(const std::string& flag) {
    LaunchPlan& p = out_.plan;
    if (flag == "--enable-expert-parallel") expert_parallel_ = true;
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

  Status take(const std::string& flag, const Word& value) {
    LaunchPlan& p = out_.plan;
    for (const launch::NumberFlag& f : launch::number_flags(p.runner)) {
      if (f.flag != flag) continue;
      const Result<int> n = number(value, flag);
      if (!n) return n.error();
      p.*f.field = *n;
      return {};
    }
    if (p.runner == LaunchTarget::megatron) {
      for (const launch::ShapeFlag& f : launch::shape_flags()) {
        if (f.flag != flag) continue;
        const Result<int> n = number(value, flag);
        if (!n) return n.error();
        p.shape.*f.field = *n;
        return {};
      }
      for (const launch::NumberOfShape& f : launch::shape_numbers()) {
        if (f.flag != flag) continue;
        if (value.text.find("ROTARY_BASE") != std::string::npos) {
          p.shape.rotary_open = true;
          return {};
        }
        return share(flag, value, p.shape.*f.field);
      }
    }
    for (const FormatFlag& f : launch::weight_flags(p.runner)) {
      if (f.flag == flag && f.value == value.text && !f.flag.empty()) {
        (trains(p.runner) ? p.precision : p.weights) = f.format;
        if (flag == "--quantization") p.online = value.text == "fp8";
        return {};
      }
    }
    for (const FormatFlag& f : launch::kv_flags(p.runner)) {
      if (f.flag == flag && f.value == value.text) {
        p.kv = f.format;
        return {};
      }
    }
    return special(flag, value);
  }

  Status share(const std::string& flag, const Word& value, double& into) const {
    char* end = nullptr;
    into = std::strtod(value.text.c_str(), &end);
    if (end == value.text.c_str() || *end != '\0')
      return wrong(value.line, fmt::format("{} takes a number, not {}", flag, quoted(value.text)));
    return {};
  }

  Status special(const std::string& flag, const Word& value) {
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
    } else if (flag == "--expert-tensor-parallel-size") {
      return whole(p.etp);
    } else if (flag == "--cp-comm-type") {
      p.context = value.text == "a2a"         ? ContextParallel::ulysses
                  : value.text == "allgather" ? ContextParallel::all_gather
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

  Status surroundings() {
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
    if (const std::string draft = ridge("draft"); !draft.empty()) {
      p.draft_tokens = leading_number(draft);
      const std::size_t colon = draft.find(':');
      if (colon != std::string::npos) p.draft = draft.substr(colon + 1);
    }
    if (const std::string memory = ridge("memory"); !memory.empty()) {
      p.memory_utilization = std::strtod(memory.c_str(), nullptr);
    }
    if (const std::string model = ridge("model"); !model.empty()) p.model = model;
    if (const std::string weights = ridge("weights"); !weights.empty()) {
      const Result<Format> format = parse_format(weights);
      if (!format) return wrong(1, format.error().message);
      p.weights = *format;
    }
    const std::string per_node = ridge("gpus_per_node");
    p.gpus_per_node = per_node.empty() ? std::max(1, per_node_) : std::max(1, leading_number(per_node));
    const int nodes = variable("NODES", 1);
    if (trains(p.runner)) return training(nodes_ > 0 ? nodes_ : nodes);
    return serving(nodes, variable("REPLICAS", 1), variable("ALL_REPLICAS", 0));
  }

  Status training(int nodes) {
    LaunchPlan& p = out_.plan;
    p.gpus = nodes * std::max(1, per_node_);
    const int model = p.tp * p.pp * p.cp;
    if (model < 1 || p.gpus % model != 0) {
      out_.problems.push_back(fmt::format("tp × pp × cp = {} does not divide the {} devices it starts", model, p.gpus));
      return {};
    }
    p.dp = p.gpus / model;
    if (p.runner == LaunchTarget::megatron) {
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

  Status serving(int nodes, int replicas, int all) {
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
          for (const FormatFlag& f : launch::kv_flags(p.runner)) {
            if (!f.flag.empty() && line == fmt::format("{} {}", f.flag, f.value)) p.kv = f.format;
          }
        }
      }
      (attention_dp ? p.dp : p.tp) = std::max(1, ranks_);
    }
    if (p.runner == LaunchTarget::vllm && expert_parallel_) p.ep = p.tp * p.dp;
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

  Script script_;
  std::string_view file_;
  const EngineRelease* release_;
  std::size_t own_ = 0;  ///< words before it are not the engine's
  LaunchCheck out_;
  std::vector<Word> words_;
  bool expert_parallel_ = false, by_tensor_ = false;
  int ranks_ = 1, per_node_ = 0, nodes_ = 0, shard_ = 1, replicate_ = 1, local_batch_ = 0, instances_ = 1;
  int context_ = 0;
};

/// "gpu:h100-sxm:8" → 8.
int last_number(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return leading_number(std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1));
}

/// What stands at keys of the YAML we write, and the first block of shell in it.
struct Manifest {
  std::string script;
  std::uint32_t line = 1;
  int pods = 0;      ///< of a job: parallelism
  int replicas = 0;  ///< of the first object that has them
  int size = 0;      ///< pods of a group
  int devices = 0;
};

bool is_device(std::string_view key) {
  constexpr std::string_view kDevices[] = {"nvidia.com/gpu:", "amd.com/gpu:",           "habana.ai/gaudi:",
                                           "google.com/tpu:", "aws.amazon.com/neuron:", "huawei.com/Ascend910:"};
  return std::any_of(std::begin(kDevices), std::end(kDevices), [&](std::string_view d) { return key.starts_with(d); });
}

Manifest read_manifest(std::string_view text) {
  Manifest m;
  std::uint32_t line = 0;
  std::size_t block = 0;  // indentation of the block of shell, 0 outside
  bool opened = false, keep = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view raw = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    const std::string_view content = trimmed(raw);
    const std::size_t indent = raw.find_first_not_of(' ');
    if (opened) {
      if (block == 0 && !content.empty()) block = indent;
      if (content.empty() || indent >= block) {
        if (keep) m.script += std::string(raw.substr(std::min(block, raw.size()))) + "\n";
        continue;
      }
      opened = false;
    }
    if (content == "- |") {
      opened = true;
      keep = m.script.empty();
      block = 0;
      if (keep) m.line = line + 1;
      continue;
    }
    const auto value = [&](std::string_view key) {
      return content.starts_with(key) ? leading_number(content.substr(key.size())) : 0;
    };
    if (m.replicas == 0) m.replicas = value("replicas:");
    if (m.size == 0) m.size = value("size:");
    m.pods = std::max(m.pods, value("parallelism:"));
    if (is_device(content)) m.devices = std::max(m.devices, leading_number(content.substr(content.find(':') + 1)));
  }
  return m;
}

Result<LaunchCheck> read_kubernetes(std::string_view text, std::string_view file, const EngineRelease* release) {
  const Manifest m = read_manifest(text);
  if (m.script.empty()) {
    return Error{ErrorCode::bad_input, std::string(file) + ":1", "no container of this manifest starts a script"};
  }
  Result<LaunchCheck> check = Reader(launch::read_script(m.script, m.line), file, release).run();
  if (!check) return check;
  check->target = LaunchTarget::k8s;
  LaunchPlan& p = check->plan;
  const int each = p.tp * p.pp * p.dp;
  int devices = std::min(p.gpus, p.gpus_per_node);
  if (trains(p.runner)) {
    if (m.pods != p.nodes()) {
      check->problems.push_back(fmt::format("{} pods, but the command is for {} nodes", m.pods, p.nodes()));
    }
  } else {
    // Every pod is a replica, or every group of them.
    devices = std::min(each, p.gpus_per_node);
    p.replicas = std::max(1, m.replicas);
    if (1.0 * p.replicas * each > kMostDevices) {
      return Error{ErrorCode::bad_input, std::string(file) + ":1", "starts more devices than there are"};
    }
    p.gpus = p.replicas * each;
    const int group = (each + p.gpus_per_node - 1) / p.gpus_per_node;
    if (std::max(1, m.size) != group) {
      check->problems.push_back(
          fmt::format("groups of {} pods, but a replica takes {} nodes", std::max(1, m.size), group));
    }
  }
  if (m.devices != devices) {
    check->problems.push_back(fmt::format("a pod asks for {} devices, but the command uses {}", m.devices, devices));
  }
  return check;
}

}  // namespace

Result<LaunchCheck> read_launch(std::string_view text, std::string_view file, const EngineRelease* release) {
  if (text.find("apiVersion:") != std::string_view::npos) return read_kubernetes(text, file, release);
  Script script = launch::read_script(text);
  const bool batch = !script.directives.empty();
  const std::string nodes = script.directive("nodes");
  const std::string gres = script.directive("gres");
  const std::string array = script.directive("array");
  Result<LaunchCheck> check = Reader(std::move(script), file, release).run();
  if (!check || !batch) return check;
  check->target = LaunchTarget::slurm;
  LaunchPlan& p = check->plan;
  const int wanted = p.nodes();
  if (leading_number(nodes) != wanted) {
    check->problems.push_back(fmt::format("--nodes={}, but the command is for {}", nodes, wanted));
  }
  if (!gres.empty() && last_number(gres) != std::min(p.gpus, p.gpus_per_node)) {
    check->problems.push_back(
        fmt::format("--gres={}, but the command uses {} devices of a node", gres, std::min(p.gpus, p.gpus_per_node)));
  }
  // An array is a job for each replica that spans nodes.
  if (array.starts_with("0-") && launch::spans_nodes(p)) {
    p.replicas = 1 + leading_number(std::string_view(array).substr(2));
    if (1.0 * p.replicas * p.gpus > kMostDevices) {
      return Error{ErrorCode::bad_input, std::string(file) + ":1", "starts more devices than there are"};
    }
    p.gpus *= p.replicas;
  }
  return check;
}

Result<LaunchEngine> launch_engine(std::string_view text, std::string_view file) {
  if (text.find("apiVersion:") != std::string_view::npos) {
    const Manifest m = read_manifest(text);
    return Reader(launch::read_script(m.script, m.line), file, nullptr).engine();
  }
  return Reader(launch::read_script(text), file, nullptr).engine();
}

}  // namespace ridge
