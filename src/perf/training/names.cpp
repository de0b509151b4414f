#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "ridge/base/text.hpp"
#include "ridge/perf/training.hpp"

namespace ridge {
namespace {

template <class E, std::size_t N>
Result<E> parse(std::string_view text, const std::pair<std::string_view, E> (&words)[N], std::string_view what) {
  std::array<std::string_view, N> known;
  std::string folded;
  for (const char c : text) {
    folded += c == '_' || c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i].first == folded) return words[i].second;
    known[i] = words[i].first;
  }
  std::string near = nearest(text, known.data(), known.size());
  if (near.empty()) {  // nothing is near: all of them
    for (std::size_t i = 0; i < N; ++i) {
      const auto same = [&](const auto& word) { return word.second == words[i].second; };
      const bool first = std::none_of(words, words + i, same);
      if (first) near += (near.empty() ? "" : ", ") + quoted(words[i].first);
    }
    return Error{ErrorCode::bad_input, "", quoted(text) + " is no " + std::string(what) + ": write one of " + near};
  }
  return Error{ErrorCode::bad_input, "", quoted(text) + " is no " + std::string(what) + "; did you mean " + near + "?"};
}

constexpr std::pair<std::string_view, Sharding> kShardings[] = {
    {"none", Sharding::none},    {"ddp", Sharding::none},       {"zero0", Sharding::none},
    {"zero1", Sharding::zero1},  {"zero-1", Sharding::zero1},   {"zero2", Sharding::zero2},
    {"zero-2", Sharding::zero2}, {"zero3", Sharding::zero3},    {"zero-3", Sharding::zero3},
    {"fsdp", Sharding::zero3},   {"fsdp2", Sharding::zero3},    {"full-shard", Sharding::zero3},
    {"hsdp", Sharding::hsdp},    {"unknown", Sharding::unknown}};
constexpr std::pair<std::string_view, Recompute> kRecomputes[] = {{"none", Recompute::none},
                                                                  {"selective", Recompute::selective},
                                                                  {"full", Recompute::full},
                                                                  {"unknown", Recompute::unknown}};
constexpr std::pair<std::string_view, TrainingTask> kTasks[] = {
    {"pretrain", TrainingTask::pretrain},     {"sft", TrainingTask::sft},        {"lora", TrainingTask::lora},
    {"pretraining", TrainingTask::pretrain},  {"finetune", TrainingTask::sft},   {"fine-tune", TrainingTask::sft},
    {"pre-training", TrainingTask::pretrain}, {"finetuning", TrainingTask::sft}, {"fine-tuning", TrainingTask::sft}};

}  // namespace

std::string_view name(Sharding sharding) {
  constexpr std::string_view kNames[] = {"none", "zero1", "zero2", "zero3", "hsdp", "unknown"};
  return kNames[static_cast<std::size_t>(sharding)];
}
std::string_view name(Recompute recompute) {
  constexpr std::string_view kNames[] = {"none", "selective", "full", "unknown"};
  return kNames[static_cast<std::size_t>(recompute)];
}
std::string_view name(TrainingTask task) {
  constexpr std::string_view kNames[] = {"pretrain", "sft", "lora"};
  return kNames[static_cast<std::size_t>(task)];
}
std::string_view name(Schedule schedule) {
  constexpr std::string_view kNames[] = {"1f1b", "interleaved", "zero-bubble", "dualpipe"};
  return kNames[static_cast<std::size_t>(schedule)];
}
std::string_view name(ContextParallel kind) {
  constexpr std::string_view kNames[] = {"ring", "all-gather", "ulysses"};
  return kNames[static_cast<std::size_t>(kind)];
}
std::string_view name(TrainingPhase phase) {
  constexpr std::string_view kNames[] = {"forward",
                                         "backward",
                                         "recompute",
                                         "head",
                                         "tensor_parallel",
                                         "context_parallel",
                                         "expert_parallel",
                                         "data_parallel",
                                         "pipeline",
                                         "optimizer",
                                         "host",
                                         "data"};
  return kNames[static_cast<std::size_t>(phase)];
}
std::string_view name(TrainingMemory part) {
  constexpr std::string_view kNames[] = {"weights", "gradients", "optimizer", "activations", "buffers"};
  return kNames[static_cast<std::size_t>(part)];
}

Result<Sharding> parse_sharding(std::string_view text) {
  return parse(text, kShardings, "sharding");
}
Result<Recompute> parse_recompute(std::string_view text) {
  return parse(text, kRecomputes, "kind of recompute");
}
Result<TrainingTask> parse_training_task(std::string_view text) {
  if (text == "qlora") {
    return Error{ErrorCode::bad_input, "", "QLoRA is ⟦task=lora⟧ whose frozen weights have 4 bits: add ⟦frozen=int4⟧"};
  }
  return parse(text, kTasks, "training task");
}

double training_flops_per_token(const Model& model, int sequence) {
  double flops = 6 * count_parameters(model).active;
  for (const LayerGroup& group : model.groups) {
    const Mixer& mixer = group.mixer;
    double width = 0;
    if (mixer.kind == MixerKind::attention) {
      width = mixer.heads * (mixer.head_dim + (mixer.v_head_dim > 0 ? mixer.v_head_dim : mixer.head_dim));
    } else if (mixer.kind == MixerKind::mla) {
      width = mixer.heads * (mixer.qk_nope_dim + mixer.qk_rope_dim + mixer.v_head_dim);
    }
    const int limit = mixer.window + mixer.index_topk;
    const double reach = limit > 0 && limit < sequence ? limit : sequence;
    flops += 6 * group.count * width * reach;
  }
  return flops;
}

TrainingRun training_run(double tokens, double tokens_per_s, int gpus) {
  const double seconds = tokens / tokens_per_s;
  return {seconds / 86400, seconds / 3600 * gpus};
}

double tokens_per_s_at(double mfu, double peak, int gpus, double flops_per_token) {
  return mfu * peak * gpus / flops_per_token;
}

}  // namespace ridge
