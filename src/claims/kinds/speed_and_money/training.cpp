// Training: MFU and tokens per second, cost per token, time to train, what a run costs.
#include "ridge/perf/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/kinds/finders.hpp"
#include "claims/known/figures.hpp"
#include "claims/reading/memory_parts.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

// Beyond these no published run of a large model lies (docs/accuracy.md); where a claim states no MFU, what it implies
// has to fall between them.
constexpr double kLowestMfu = 0.15;
constexpr double kHighestMfu = 0.62;

struct Work {
  const Model* model = nullptr;
  double flops_per_token = 0;
  double peak = 0;
  std::string shown;
};

/// FLOPs per token (6 P + 12 L h s) and the dense peak of the format.
Result<Work> work_of(Inputs& inputs) {
  const auto model = inputs.model();
  if (!model) return model.error();
  const auto device = inputs.device();
  if (!device) return device.error();
  const auto format = inputs.format("format", Format::bf16);
  if (!format) return format.error();
  const PublishedRun* run = inputs.context().facts.run((*model)->id);
  const double usual = run != nullptr && run->sequence > 0 ? run->sequence : 8192;
  const auto sequence = inputs.count("sequence", usual, true);
  if (!sequence) return sequence.error();
  if (!inputs.has("sequence")) inputs.note("sequence", fmt::format("{:g}", usual), "assumed");
  const char* figure = nominal_bytes(*format) == 1 ? "fp8" : nominal_bytes(*format) == 0.5 ? "fp4" : "bf16";
  const auto peak = look_up(inputs.context(), (*device)->id + ":" + figure);
  if (!peak) return peak.error();
  inputs.note("peak", peak->shown, peak->source);
  if (*sequence > 1e8) return cannot("a sequence of this length makes no sense");
  Work work{*model, training_flops_per_token(**model, static_cast<int>(*sequence)), peak->measure.value, {}};
  work.shown = fmt::format("{} FLOP/token", format_number(work.flops_per_token, 4));
  return work;
}

Result<Recomputed> recompute_rate(Inputs& inputs) {
  const auto work = work_of(inputs);
  if (!work) return work.error();
  Recomputed result;
  if (inputs.has("rate")) {  // MFU from tokens per second
    const auto rate = inputs.measure("rate");
    if (!rate) return rate.error();
    const auto gpus = inputs.count("gpus", 1.0);
    if (!gpus) return gpus.error();
    result.right = measure_of(rate->measure.value / *gpus * work->flops_per_token / work->peak, Measure::Form::percent);
    result.formula = fmt::format("{} x {} / peak", rate->shown, work->shown);
    return result;
  }
  const auto mfu = inputs.measure("mfu");
  if (!mfu) return mfu.error();
  result.right = measure_of(TokensPerSecond(tokens_per_s_at(mfu->measure.value, work->peak, 1, work->flops_per_token)));
  result.formula = fmt::format("{} x peak / {}", mfu->shown, work->shown);
  result.slack = inputs.slack();
  return result;
}

Result<Recomputed> recompute_cost(Inputs& inputs) {
  const auto work = work_of(inputs);
  if (!work) return work.error();
  const auto mfu = inputs.measure("mfu");
  if (!mfu) return mfu.error();
  const auto rent = inputs.measure("rent");
  if (!rent) return rent.error();
  const double per_token =
      rent->measure.value / tokens_per_s_at(mfu->measure.value, work->peak, 1, work->flops_per_token);
  Recomputed result;
  result.formula = fmt::format("{} / ({} x peak / {})", rent->shown, mfu->shown, work->shown);
  if (inputs.has("tokens")) {
    const auto tokens = inputs.count("tokens");
    if (!tokens) return tokens.error();
    result.right = measure_of(Dollars(per_token * *tokens));
    result.formula += fmt::format(" x {} tokens", inputs.text("tokens"));
  } else {
    result.right = measure_of(DollarsPerToken(per_token));
  }
  result.slack = inputs.slack();
  return result;
}

Result<Recomputed> recompute_time(Inputs& inputs) {
  const auto gpus = inputs.count("gpus");
  if (!gpus) return gpus.error();
  const Measure& claimed = inputs.claim().claimed;
  Recomputed result;
  if (inputs.has("gpu-hours")) {
    const auto hours_used = inputs.count("gpu-hours");
    if (!hours_used) return hours_used.error();
    result.right = measure_of(Seconds(*hours_used * 3600 / *gpus));
    result.formula = fmt::format("{} GPU-hours / {:g}", inputs.text("gpu-hours"), *gpus);
    return result;
  }
  const auto model = inputs.model();
  if (!model) return model.error();
  const PublishedRun* run = inputs.context().facts.run((*model)->id);
  double tokens = 0;
  if (inputs.has("tokens")) {
    const auto given = inputs.count("tokens");
    if (!given) return given.error();
    tokens = *given;
  } else if (run != nullptr) {
    tokens = run->tokens;
    inputs.note("tokens", format_number(tokens / 1e12, 3) + "T", run->source);
  } else {
    return cannot("over how many tokens is not said, and no published run of this model is known");
  }
  const auto work = work_of(inputs);
  if (!work) return work.error();
  const auto mfu =
      inputs.has("mfu") ? inputs.measure("mfu") : Result<Looked>(Looked{measure_of(0.4), "40 % MFU", "assumed"});
  if (!mfu) return mfu.error();
  const double rate = tokens_per_s_at(mfu->measure.value, work->peak, 1, work->flops_per_token) * *gpus;
  result.right = measure_of(Seconds(tokens / rate));
  result.formula = fmt::format("{}T tokens x {} / ({:g} x {} x peak)", format_number(tokens / 1e12, 3), work->shown,
                               *gpus, mfu->shown);
  if (!inputs.has("mfu") && claimed.value > 0) {
    const double implied = tokens * work->flops_per_token / (claimed.high * *gpus * work->peak);
    const bool plausible = implied >= kLowestMfu && implied <= kHighestMfu;
    result.because = fmt::format("it implies an MFU of {:.0f} %", implied * 100);
    if (run != nullptr && run->gpu_hours > 0 && !inputs.has("tokens")) {
      const double published = run->gpu_hours * 3600 / *gpus;
      result.because += fmt::format("; the published run took {} GPU-hours, {:.0f} days on so many",
                                    format_number(run->gpu_hours, 3), published / 86400);
      // The publisher's own count is the better yardstick where there is one.
      if (claimed.high < 0.8 * published) {
        Measure own = measure_of(Seconds(published));
        result.right = own;
      }
    }
    result.readings.push_back({claimed, plausible ? Verdict::rounded : Verdict::wrong, result.because, 10});
    if (run != nullptr && run->gpu_hours > 0 && !inputs.has("tokens") &&
        claimed.high < 0.75 * run->gpu_hours * 3600 / *gpus) {
      result.readings.front().verdict = Verdict::wrong;
    }
  }
  result.slack = inputs.slack();
  return result;
}

/// A low rent of a device in the catalogue: a tenth of the offers are lower. nullptr if there is none.
const Price* cheapest(const Catalogue& catalogue, const std::string& device) {
  std::vector<const Price*> rents;
  for (const Price& price : catalogue.prices()) {
    if (price.device == device && price.per_gpu_hour && price.kind != PriceKind::spot) rents.push_back(&price);
  }
  if (rents.empty()) return nullptr;
  std::sort(rents.begin(), rents.end(),
            [](const Price* a, const Price* b) { return *a->per_gpu_hour < *b->per_gpu_hour; });
  return rents[rents.size() / 10];
}

Result<Recomputed> recompute_run(Inputs& inputs) {
  const auto gpus = inputs.count("gpus");
  if (!gpus) return gpus.error();
  const auto time = inputs.measure("time");
  if (!time) return time.error();
  if (!is_a<Seconds>(time->measure)) return cannot("the time is no duration");
  const Measure& claimed = inputs.claim().claimed;
  const double gpu_hours = *gpus * time->measure.high / 3600;
  Recomputed result;
  if (inputs.has("rent")) {
    const auto rent = inputs.measure("rent");
    if (!rent) return rent.error();
    result.right = measure_of(Dollars(gpu_hours * 3600 * rent->measure.value));
    result.formula = fmt::format("{:g} x {} x {}", *gpus, time->shown, rent->shown);
    return result;
  }
  const auto device = inputs.device();
  if (!device) return device.error();
  const Price* price = cheapest(inputs.context().catalogue, (*device)->id);
  if (price == nullptr) return cannot("no rent of this device is in the catalogue");
  const double lowest = price->per_gpu_hour->value() * 3600;
  const double implied = claimed.high / gpu_hours;
  inputs.note("rent", fmt::format("from ${:.2f}/GPU-hour ({})", lowest, price->provider),
              inputs.context().catalogue.source(price->source).title);
  result.right = measure_of(Dollars(gpu_hours * lowest));
  result.formula = fmt::format("{:g} x {} x ${:.2f}/GPU-hour, a low rent of the catalogue", *gpus, time->shown, lowest);
  result.compare = Compare::holds;
  result.holds = implied >= 0.7 * lowest && implied <= 20;
  result.because = fmt::format("it implies ${:.2f} per GPU and hour", implied);
  return result;
}

}  // namespace

const Kind& training_rate_kind() {
  static const Kind kind{"training-rate",
                         "tokens per second and GPU from MFU, or MFU from tokens per second",
                         "MFU x peak / (6 P + 12 L h s)",
                         "model device format? sequence? mfu? rate? gpus?",
                         true,
                         recompute_rate,
                         find_training_rates};
  return kind;
}
const Kind& training_cost_kind() {
  static const Kind kind{"training-cost",
                         "what training costs per token, or in all",
                         "rent x (6 P + 12 L h s) / (MFU x peak) x tokens",
                         "model device format? sequence? mfu rent tokens?",
                         true,
                         recompute_cost,
                         find_training_costs};
  return kind;
}
const Kind& training_time_kind() {
  static const Kind kind{"training-time",
                         "how long a training run takes",
                         "tokens x (6 P + 12 L h s) / (gpus x MFU x peak), or GPU-hours / gpus",
                         "gpus model? device? format? sequence? tokens? mfu? gpu-hours?",
                         true,
                         recompute_time,
                         find_training_times};
  return kind;
}
const Kind& run_cost_kind() {
  static const Kind kind{"run-cost",
                         "what so many GPUs cost for so long",
                         "gpus x time x rent",
                         "gpus time rent? device?",
                         true,
                         recompute_run,
                         find_run_costs};
  return kind;
}

}  // namespace ridge::claims
