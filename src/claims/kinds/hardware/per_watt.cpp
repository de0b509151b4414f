// Compute per watt: a rate and a power that are given, or those of a device.
#include <fmt/format.h>

#include "claims/kinds/all_kinds.hpp"
#include "claims/known/figures.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

using FlopsPerJoule = Quantity<Dimension<0, 0, 1, -1>>;

Result<Recomputed> recompute_per_watt(Inputs& inputs) {
  const Context& context = inputs.context();
  const std::string format = inputs.text("format");
  const bool given = inputs.has("rate") && inputs.has("power");
  const Device* device = nullptr;
  if (inputs.has("device")) {
    const auto named = inputs.device();
    if (!named) return named.error();
    device = *named;
  } else if (!given) {
    return cannot("neither a device nor a rate and a power are given");
  }
  const auto rate = inputs.has("rate") ? inputs.measure("rate") : look_up(context, device->id + ":" + format);
  if (!rate) return rate.error();
  const auto power = inputs.has("power") ? inputs.measure("power") : look_up(context, device->id + ":power");
  if (!power) return power.error();
  const Measure right = measure_of(FlopsPerJoule(rate->measure.value / power->measure.value));
  Recomputed result;
  result.right = right;
  result.formula = fmt::format("{} / {}", rate->shown, power->shown);
  const double gain = device == nullptr ? 1 : sparsity_gain(*device, format);
  if (device != nullptr && inputs.has("rate") && !format.empty()) {
    // A rate that is given may itself be the sparse one.
    if (const auto dense = device_figure(*device, format)) {
      const double ratio = rate->measure.value / dense->measure.value;
      if (gain != 1 && ratio > 0.97 * gain && ratio < 1.12 * gain) {
        Measure without = right;
        without.value = without.high = right.value / ratio;
        without.text = shown(without);
        result.right = without;
        result.because = "";
        result.formula = fmt::format("{} / {}", dense->measure.text, power->shown);
        result.readings.push_back(
            {right, Verdict::sparse, fmt::format("{} is the rate with structured sparsity", rate->shown), 0.012});
        result.readings.push_back(
            {scaled(right, 1e3), Verdict::unit,
             fmt::format("the prefix of the unit is wrong: {} / {} is {}", rate->shown, power->shown, right.text),
             0.02});
      }
    }
  } else if (gain != 1) {
    result.readings.push_back({scaled(right, gain), Verdict::sparse, "that is with structured sparsity"});
    result.readings.push_back({scaled(right, gain * 1e3), Verdict::unit,
                               "the prefix of the unit is wrong, and the rate is with structured sparsity", 0.12});
  }
  result.readings.push_back(
      {scaled(right, 1e3), Verdict::unit, fmt::format("the prefix of the unit is wrong: it is {}", right.text), 0.12});
  result.readings.push_back(
      {scaled(right, 1e-3), Verdict::unit, fmt::format("the prefix of the unit is wrong: it is {}", right.text), 0.12});
  return result;
}

void recognise_per_watt(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  const Tokens& tokens = passage.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& claimed = tokens[i];
    if (!claimed.is_number() || !is_a<FlopsPerJoule>(claimed.measure)) continue;
    std::vector<Found> inputs;
    const Token *rate = nullptr, *power = nullptr;
    for (std::size_t j = i + 1; j < std::min(i + 8, tokens.size()); ++j) {
      if (!tokens[j].is_number()) continue;
      if (rate == nullptr && is_a<FlopsPerSecond>(tokens[j].measure)) {
        rate = &tokens[j];
      } else if (rate != nullptr && is_a<Watts>(tokens[j].measure)) {
        power = &tokens[j];
      }
    }
    std::size_t device = name_before(tokens, i, NameKind::device);
    const Token* subject = device == kNowhere ? nullptr : &tokens[device];
    if (subject == nullptr && passage.previous != nullptr) {
      subject = first_name(passage.previous->tokens, NameKind::device);
    }
    std::size_t format = name_after(tokens, i, NameKind::format);
    if (format == kNowhere || format > i + 3) format = name_before(tokens, i, NameKind::format);
    const bool both = rate != nullptr && power != nullptr;
    if (subject != nullptr) inputs.push_back({"device", subject->name->id});
    if (format != kNowhere) {
      inputs.push_back({"format", tokens[format].name->id});
    } else if (subject != nullptr && !both) {
      // No format said: the lowest precision the part has, which is what such figures are about.
      const Device* part = out.context().catalogue.device(subject->name->id);
      inputs.push_back({"format", part->peak(PeakFormat::fp4) ? "fp4" : "fp8"});
    }
    if (both) {
      inputs.push_back(found("rate", rate->measure));
      inputs.push_back(found("power", power->measure));
      out.use(*rate);
      out.use(*power);
    } else if (subject == nullptr) {
      continue;
    }
    out.add(per_watt_kind(), claimed,
            fmt::format("{}: {} per watt", subject == nullptr ? "the part" : subject->text, claimed.text),
            std::move(inputs));
  }
}

}  // namespace

const Kind& per_watt_kind() {
  static const Kind kind{
      "per-watt", "compute per watt", "peak rate / power limit", "device? format? rate? power?",
      true,       recompute_per_watt, recognise_per_watt,
  };
  return kind;
}

}  // namespace ridge::claims
