#include "ridge/perf/techniques.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/inference/resolved.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/usual.hpp"

namespace ridge {
namespace {

constexpr double kDraftTokens = 3;
constexpr double kAcceptance = 0.7;
constexpr double kLoraRank = 16;
constexpr double kPrefixHit = 0.5;
constexpr double kBlock = 16;       // tokens of one block of a paged cache
constexpr double kReserved = 2;     // a cache without pages reserves for the longest request, twice the mean
constexpr double kScorePasses = 4;  // unfused attention writes and reads scores, then writes and reads weights
constexpr double kScoreBytes = 2;

class Techniques {
 public:
  Techniques(const InferenceQuery& query, const Knowledge& knowledge)
      : asked_(query), plain_(plain_plan(query)), k_(knowledge) {}

  Result<std::vector<TechniqueGain>> run() {
    auto model = k_.catalogue.find_model(plain_.model);
    if (!model) return model.error();
    model_ = std::move(*model);
    auto deployment = resolve(plain_, k_);
    if (!deployment) return deployment.error();
    base_ = std::move(*deployment);
    outcome_ = evaluate(*base_.resolved, plain_.load);
    if (outcome_.reason != Reason::none) {
      return Error{ErrorCode::infeasible, plain_.model,
                   fmt::format("the plan cannot run without any technique: {}", name(outcome_.reason))};
    }
    weights("fp8", Format::fp8);
    weights("int4", Format::int4);
    weights("nvfp4", Format::nvfp4);
    narrow_cache();
    flash_attention();
    paged_cache();
    continuous_batching();
    speculation();
    adapters();
    prefix_cache();
    return std::move(gains_);
  }

 private:
  [[nodiscard]] const InferenceEstimate& base() const { return outcome_.estimate; }

  [[nodiscard]] std::optional<InferenceEstimate> evaluated(const InferenceQuery& changed) const {
    const auto deployment = resolve(changed, k_);
    if (!deployment) return std::nullopt;
    const InferenceOutcome o = evaluate(*deployment->resolved, changed.load);
    if (o.reason != Reason::none) return std::nullopt;
    return o.estimate;
  }

  static std::optional<double> over(double changed, double before) {
    if (!(changed > 0) || !(before > 0)) return std::nullopt;
    return changed / before;
  }

  /// Adds the factors of `changed` over the plain plan.
  TechniqueGain& add(std::string id, std::string what, const std::optional<InferenceEstimate>& changed) {
    TechniqueGain& gain = gains_.emplace_back();
    gain.id = std::move(id);
    gain.what = std::move(what);
    if (!changed) {
      gain.remark = "cannot run here";
      return gain;
    }
    gain.throughput = over(changed->output_tokens_per_s.mid, base().output_tokens_per_s.mid);
    gain.user_speed = over(base().tpot_s.mid, changed->tpot_s.mid);
    gain.first_token = over(base().ttft_s.mid, changed->ttft_s.mid);
    gain.sequences = over(changed->max_batch, base().max_batch);
    return gain;
  }

  void weights(const char* id, Format format) {
    const bool narrower = bytes_per_weight(format) < bytes_per_weight(base_.facts.weights);
    const bool native = base_.resolved->device.native[static_cast<std::size_t>(format)];
    InferenceQuery changed = plain_;
    changed.weights = format;
    changed.activations.reset();
    const std::string what = native ? fmt::format("weights and activations in {}", name(format))
                                    : fmt::format("weights in {}", name(format));
    TechniqueGain& gain = add(id, what, evaluated(changed));
    if (!narrower) {
      gain.remark = fmt::format("the weights are in {} already", name(base_.facts.weights));
    } else if (!native) {
      gain.remark = fmt::format("{} does not compute in it: widened to 16 bits, which helps where bytes bind",
                                base_.facts.device);
    }
  }

  void narrow_cache() {
    InferenceQuery changed = plain_;
    const Device* device =
        k_.catalogue.device(std::string_view(base_.facts.device).substr(0, base_.facts.device.find('/')));
    changed.kv = device != nullptr ? eight_bit_cache(*device, k_.catalogue) : Format::fp8;
    TechniqueGain& gain = add("fp8-kv", fmt::format("KV cache in {}", name(*changed.kv)), evaluated(changed));
    if (bytes_per_element(base_.facts.kv) <= 1) gain.remark = fmt::format("it is in {} already", name(base_.facts.kv));
  }

  /// Scores and softmax weights that never leave the chip, of one prompt on one device.
  struct Scores {
    double largest = 0;  ///< bytes of one layer
    double traffic = 0;  ///< bytes of all layers
  };
  [[nodiscard]] Scores scores() const {
    const double prompt = std::max(1.0, plain_.load.isl);
    const double rows = std::min(prompt, base_.resolved->max_tokens);  // of one chunk
    Scores s;
    for (const LayerGroup& group : model_.groups) {
      const Mixer& m = group.mixer;
      if (m.kind != MixerKind::attention && m.kind != MixerKind::mla) continue;
      const double heads = m.heads / base_.resolved->tp;
      s.largest = std::max(s.largest, heads * rows * prompt * kScoreBytes);
      s.traffic += group.count / base_.resolved->pp * heads * prompt * prompt * kScoreBytes * kScorePasses;
    }
    return s;
  }

  void flash_attention() {
    TechniqueGain& gain = gains_.emplace_back();
    gain.id = "flash-attention";
    gain.what = "attention in tiles that stay on the chip, against scores through memory";
    const Scores s = scores();
    if (s.traffic <= 0) {
      gain.remark = "the model has no softmax attention";
      return;
    }
    const double seconds = s.traffic / base_.resolved->device.memory_bandwidth;
    const double replicas = base_.resolved->gpus / (base_.resolved->tp * base_.resolved->pp);
    const double requests = base().output_tokens_per_s.mid / std::max(1.0, plain_.load.osl) / replicas;
    gain.throughput = 1 + requests * seconds;
    gain.first_token = (base().ttft_s.mid + seconds) / base().ttft_s.mid;
    gain.remark = fmt::format("a prompt saves {} of memory and {} of prefill; every engine but eager code has it",
                              format(Bytes(s.largest)), format(Seconds(seconds)));
  }

  /// What is saved by not reserving the cache of the longest request.
  void paged_cache() {
    InferenceQuery offline = plain_;
    offline.load.mode = LoadMode::offline;
    offline.load.concurrency = 0;
    InferenceQuery longest = offline;
    longest.load.isl *= kReserved;
    longest.load.osl *= kReserved;
    const auto paged = evaluated(offline);
    const auto reserved = evaluated(longest);
    TechniqueGain& gain = gains_.emplace_back();
    gain.id = "paged-kv";
    const double tokens = plain_.load.isl + plain_.load.osl;
    gain.what = fmt::format("cache in blocks of {:.0f} tokens, against {} reserved for every request; offline", kBlock,
                            format_number(kReserved * tokens, 7));
    if (!paged) return;
    const double waste = 0.5 * kBlock / (tokens + 0.5 * kBlock);
    gain.remark =
        fmt::format("{:.1f} % of the cache are wasted instead of {:.0f} %", 100 * waste, 100 * (1 - 1 / kReserved));
    const double replicas = base_.resolved->gpus / (base_.resolved->tp * base_.resolved->pp);
    const double fit = reserved ? std::floor(reserved->max_batch / replicas) : 0;
    if (fit < 1) {
      gain.remark = "without it not one request fits";
      return;
    }
    gain.sequences = paged->max_batch * (1 - waste) / reserved->max_batch;
    if (fit >= base_.resolved->max_sequences) {
      gain.throughput = 1;
      gain.remark += "; the engine's limit of sequences binds first";
      return;
    }
    offline.max_sequences = fit;
    if (const auto without = evaluated(offline)) {
      gain.throughput = over(paged->output_tokens_per_s.mid, without->output_tokens_per_s.mid);
    }
  }

  /// Requests leave and join at every step, against batches that run until their longest request ends. Lengths are
  /// spread evenly from nothing to twice the mean.
  void continuous_batching() {
    InferenceQuery continuous = plain_;
    continuous.load.mode = LoadMode::offline;
    continuous.load.concurrency = 0;
    continuous.load.isl = 2 * plain_.load.isl;
    continuous.load.osl = 2 * plain_.load.osl;
    continuous.load.length_low = 0;
    const auto joined = evaluated(continuous);
    TechniqueGain& gain = gains_.emplace_back();
    gain.id = "continuous-batching";
    gain.what = "requests join and leave at every step, against whole batches; offline, lengths up to twice the mean";
    if (!joined) {
      gain.remark = "cannot run here";
      return;
    }
    const double replicas = base_.resolved->gpus / (base_.resolved->tp * base_.resolved->pp);
    InferenceQuery whole = plain_;
    whole.load.mode = LoadMode::fixed_batch;
    const double running = std::max(1.0, std::floor(joined->running_batch));
    whole.load.batch = running * replicas;
    // The longest of n lengths that are spread evenly up to the end is n / (n + 1) of the way there.
    whole.load.osl = 2 * plain_.load.osl * running / (running + 1);
    if (const auto waiting = evaluated(whole)) {
      const double useful = waiting->output_tokens_per_s.mid * plain_.load.osl / whole.load.osl;
      gain.throughput = over(joined->output_tokens_per_s.mid, useful);
      gain.remark = fmt::format("at {} sequences a replica; the more lengths differ, the more it gains",
                                format_number(running, 4));
    }
  }

  void speculation() {
    InferenceQuery changed = plain_;
    changed.load.draft_tokens = asked_.load.draft_tokens > 0 ? asked_.load.draft_tokens : kDraftTokens;
    changed.load.acceptance = asked_.load.draft_tokens > 0 ? asked_.load.acceptance : kAcceptance;
    TechniqueGain& gain = add("speculation",
                              fmt::format("{:.0f} tokens proposed per step, {:.0f} % of them accepted",
                                          changed.load.draft_tokens, 100 * changed.load.acceptance),
                              evaluated(changed));
    InferenceQuery alone = plain_;
    alone.load.mode = LoadMode::fixed_batch;
    alone.load.batch = 1;
    changed.load.mode = LoadMode::fixed_batch;
    changed.load.batch = 1;
    const auto before = evaluated(alone);
    const auto after = evaluated(changed);
    if (before && after) {
      gain.remark = fmt::format("{:.2f} times the speed of a lone user", before->tpot_s.mid / after->tpot_s.mid);
    }
  }

  void adapters() {
    InferenceQuery changed = plain_;
    changed.lora_rank = asked_.lora_rank > 0 ? asked_.lora_rank : kLoraRank;
    const auto with = evaluated(changed);
    TechniqueGain& gain =
        add("multi-lora",
            fmt::format("adapters of rank {:.0f} beside shared weights, against merged ones", changed.lora_rank), with);
    if (!with) return;
    const auto part = static_cast<std::size_t>(MemoryPart::weights);
    const double adapter =
        (with->memory_bytes[part] - base().memory_bytes[part]) * base_.resolved->tp * base_.resolved->pp;
    gain.remark = fmt::format("an adapter takes {}; any number of them share {} device{} instead of as many copies",
                              format(Bytes(adapter)), base_.facts.gpus, base_.facts.gpus == 1 ? "" : "s");
  }

  void prefix_cache() {
    InferenceQuery changed = plain_;
    changed.load.prefix_hit = asked_.load.prefix_hit > 0 ? asked_.load.prefix_hit : kPrefixHit;
    add("prefix-cache", fmt::format("{:.0f} % of the input found in the cache", 100 * changed.load.prefix_hit),
        evaluated(changed));
  }

  const InferenceQuery& asked_;
  const InferenceQuery plain_;
  const Knowledge& k_;
  Model model_;
  InferenceDeployment base_;
  InferenceOutcome outcome_;
  std::vector<TechniqueGain> gains_;
};

}  // namespace

InferenceQuery plain_plan(const InferenceQuery& query) {
  InferenceQuery plain = query;
  plain.lora_rank = 0;
  plain.load.draft_tokens = plain.load.acceptance = plain.load.prefix_hit = 0;
  return plain;
}

Result<std::vector<TechniqueGain>> technique_gains(const InferenceQuery& query, const Knowledge& knowledge) {
  return Techniques(query, knowledge).run();
}

}  // namespace ridge
