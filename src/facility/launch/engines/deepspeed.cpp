// DeepSpeed: its configuration, and the ranks of a program that hands it to deepspeed.initialize().
#include <fmt/format.h>

#include <algorithm>

#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

/// The configuration as it is written: sections open and close, keys are collected with the section's name before them.
class DeepSpeedJson {
 public:
  explicit DeepSpeedJson(Process& job) : job_(job) {}
  void set(std::string_view key, std::string_view value) {
    line(fmt::format("\"{}\": {}", key, value));
    std::string plain(value);
    std::erase(plain, '"');
    job_.keys.emplace_back(path_ + std::string(key), plain);
  }
  void open(std::string_view section) {
    line(fmt::format("\"{}\": {{", section));
    path_ += std::string(section) + ".";
    first_ = true;
  }
  void close() {
    path_.pop_back();
    path_.erase(path_.find_last_of('.') == std::string::npos ? 0 : path_.find_last_of('.') + 1);
    first_ = false;
    text_ += "\n" + indent() + "}";
  }
  [[nodiscard]] std::string text() const { return "{" + text_ + "\n}\n"; }

 private:
  [[nodiscard]] std::string indent() const {
    return std::string(2 + 2 * static_cast<std::size_t>(std::count(path_.begin(), path_.end(), '.')), ' ');
  }
  void line(std::string_view content) {
    text_ += (first_ ? "\n" : ",\n") + indent() + std::string(content);
    first_ = false;
  }

  Process& job_;
  std::string path_, text_;
  bool first_ = true;
};

/// What of the plan DeepSpeed leaves to the program, or does not do.
Status deepspeed_speaks(const LaunchPlan& p) {
  if (p.pp > 1) return cannot("stages are the program's own in DeepSpeed: say ⟦pp=1⟧ and ⟦sharding=zero3⟧");
  if (p.ep > 1 || p.etp > 1)
    return cannot("experts are the program's own in DeepSpeed: say ⟦ep=1⟧, or emit for megatron");
  if (p.cp > 1 && p.context != ContextParallel::ulysses)
    return cannot("DeepSpeed shares a sequence out by heads: say ⟦cp_kind=ulysses⟧");
  if (p.precision != Format::bf16 && p.precision != Format::fp16)
    return cannot(fmt::format("DeepSpeed does not train in {}: say bf16 or fp16", name(p.precision)));
  if (p.tp > 1 && (p.sharding == Sharding::zero3 || p.sharding == Sharding::hsdp))
    return cannot("DeepSpeed splits tensors beside ZeRO 1 and 2, not beside 3: say ⟦tp=1⟧ or ⟦sharding=zero2⟧");
  const int micro = p.micro_batch * p.dp;
  if (micro < 1 || p.global_batch % micro != 0)
    return cannot(fmt::format("a global batch of {} is no multiple of micro-batch × dp = {}", p.global_batch, micro));
  return {};
}

}  // namespace

Result<Process> deepspeed_job(const LaunchPlan& p) {
  if (const Status s = deepspeed_speaks(p); !s) return s.error();
  Command c = torchrun(p);
  c.raw("\"$TRAIN\"").raw("--deepspeed").raw("--deepspeed_config \"$CONFIG\"").raw("\"$@\"").engine();
  Process job{.command = std::move(c)};
  DeepSpeedJson json(job);
  json.set("train_batch_size", std::to_string(p.global_batch));
  json.set("train_micro_batch_size_per_gpu", std::to_string(p.micro_batch));
  json.set("gradient_accumulation_steps", std::to_string(p.global_batch / (p.micro_batch * p.dp)));
  json.set("gradient_clipping", "1.0");
  json.open(p.precision == Format::bf16 ? "bf16" : "fp16");
  json.set("enabled", "true");
  json.close();
  const int stage = p.sharding == Sharding::zero1   ? 1
                    : p.sharding == Sharding::zero2 ? 2
                    : p.sharding == Sharding::zero3 ? 3
                    : p.sharding == Sharding::hsdp  ? 3
                                                    : 0;
  json.open("zero_optimization");
  json.set("stage", std::to_string(stage));
  if (stage > 0) json.set("overlap_comm", "true");
  if (p.sharding == Sharding::hsdp) json.set("mics_shard_size", std::to_string(p.shard_group));
  if (p.offload_optimizer) {
    json.open("offload_optimizer");
    json.set("device", "\"cpu\"");
    json.set("pin_memory", "true");
    json.close();
  }
  json.close();
  if (p.tp > 1) {
    json.open("tensor_parallel");
    json.set("autotp_size", std::to_string(p.tp));
    json.close();
  }
  if (p.cp > 1) json.set("sequence_parallel_size", std::to_string(p.cp));
  job.before =
      ": \"${TRAIN:?set TRAIN to the program that calls deepspeed.initialize}\"\n"
      "CONFIG=$(mktemp --suffix=.json)\n"
      "cat > \"$CONFIG\" <<'JSON'\n" +
      json.text() + "JSON\n";
  return job;
}

}  // namespace ridge::launch
