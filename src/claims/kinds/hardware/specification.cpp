// A figure of a device, system or link, against the catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/kinds/finders.hpp"
#include "claims/known/figures.hpp"

namespace ridge::claims {

namespace {

/// Readings that a figure of one device may be mixed up with. `right` is what one device has, times `per`.
void add_readings(const Context& context, const Device& device, const std::string& figure, const Measure& right,
                  double per, bool about, std::vector<Reading>& readings) {
  const double sparse = sparsity_gain(device, figure);
  if (sparse != 1) {
    readings.push_back({scaled(right, sparse), Verdict::sparse, "that is with structured sparsity"});
  }
  // What else the same words may mean: other versions of the part.
  if (const Name* name = context.names.of_id(device.id)) {
    for (const std::string& other : name->also) {
      const Device* sibling = context.catalogue.device(other);
      const auto value = sibling == nullptr ? std::nullopt : device_figure(*sibling, figure);
      if (!value) continue;
      readings.push_back({scaled(value->measure, per), Verdict::right, fmt::format("that is {}", other), 0.012});
      if (sparse != 1) {
        readings.push_back({scaled(value->measure, per * sparse), Verdict::sparse,
                            fmt::format("that is {} with structured sparsity", other)});
      }
    }
  }
  for (const double count : {2.0, 4.0, 8.0, 16.0, 72.0}) {
    const bool pair = count == 2;
    const std::string what = pair ? "two devices (a pair or superchip)" : fmt::format("{} devices", count);
    if (per == 1) {
      readings.push_back({scaled(right, count), Verdict::unit, "that is the figure of " + what, 0.02});
      if (sparse != 1) {
        // A pair's sheet with sparse figures is first of all a sparse one.
        readings.push_back({scaled(right, count * sparse), pair ? Verdict::sparse : Verdict::unit,
                            fmt::format("that is the figure of {}, with structured sparsity", what),
                            pair ? 0.11 : 0.02});
      }
    } else if (count < per) {
      for (const double gain : {1.0, sparse}) {
        readings.push_back({scaled(right, gain * count / per), Verdict::unit,
                            fmt::format("that is the figure of {} of the {:g}{}", what, per,
                                        gain == 1 ? "" : ", with structured sparsity"),
                            0.11});
      }
    }
  }
  if (per > 1) {
    readings.push_back({scaled(right, 1 / per), Verdict::unit, "that is the figure of one device", 0.02});
  }
  for (const double power : {1e3, 1e-3, 1e6, 1e-6}) {
    readings.push_back({scaled(right, power), Verdict::unit,
                        fmt::format("the prefix of the unit is wrong: it is {}", right.text), about ? 0.13 : 0.02});
  }
  if (right.exponents[0] == 1) {
    readings.push_back({scaled(right, 8), Verdict::unit, "bits and bytes are mixed up", 0.02});
    readings.push_back({scaled(right, 0.125), Verdict::unit, "bits and bytes are mixed up", 0.02});
  }
}

/// Where else this very figure stands: the part's own rate in another format, or another device.
struct Elsewhere {
  std::string text;
  bool sparse_sibling = false;  // a part of the same design, with sparsity
};
Elsewhere elsewhere(const Context& context, const Device& device, const std::string& figure, const Measure& claimed) {
  for (const std::string_view format : {"fp64", "fp64_tensor", "fp32", "tf32", "bf16", "fp8", "int8", "fp4"}) {
    const auto value = device_figure(device, format);
    if (format == figure || !value || !peak_format(figure)) continue;
    for (const double gain : {1.0, sparsity_gain(device, format)}) {
      const double there = value->measure.value * gain;
      if (std::abs(there - claimed.value) > 0.01 * there) continue;
      return {fmt::format("{} is its {}{}", claimed.text, figure_title(format), gain == 1 ? "" : " with sparsity")};
    }
  }
  Elsewhere best;
  for (const Device& other : context.catalogue.devices()) {
    if (other.id == device.id) continue;
    const bool sibling = other.architecture == device.architecture;
    if (!best.text.empty() && !sibling) continue;
    const auto value = device_figure(other, figure);
    if (!value || !same_dimension(value->measure, claimed)) continue;
    for (const double gain : {1.0, sparsity_gain(other, figure)}) {
      const double there = value->measure.value * gain;
      if (std::abs(there - claimed.value) > 0.004 * there) continue;
      best = {fmt::format("{} is the figure of {}{}", claimed.text, other.id, gain == 1 ? "" : " with sparsity"),
              gain != 1 && sibling};
      break;
    }
  }
  return best;
}

Result<Recomputed> of_system(Inputs& inputs, const System& system, const std::string& figure, double per) {
  const Context& context = inputs.context();
  const Device* device = context.catalogue.device(system.device);
  auto looked = look_up(context, system.id + ":" + figure);
  if (!looked) return looked.error();
  if (inputs.text("sparse") == "yes" && device != nullptr) {
    looked->measure = scaled(looked->measure, sparsity_gain(*device, figure));
    looked->shown += " with structured sparsity";
  }
  Recomputed result;
  result.right = scaled(looked->measure, per);
  result.formula = per == 1 ? fmt::format("{} of {}", figure_title(figure), system.id)
                            : fmt::format("{:g} x {}", per, looked->shown);
  inputs.note(figure, looked->shown, looked->source);
  const Measure& claimed = inputs.claim().claimed;
  if (figure == "devices") {
    // A count is exact: a range around it is not.
    const bool same = claimed.value == result.right->value && !claimed.is_range();
    result.compare = Compare::holds;
    result.holds = same;
    result.because = same ? "" : fmt::format("{} has {} accelerators", system.id, system.devices());
    return result;
  }
  if (device != nullptr && figure == "power") {
    if (const auto one = device_figure(*device, "power")) {
      result.readings.push_back(
          {scaled(one->measure, per * system.devices()), Verdict::wrong,
           fmt::format("that is {} accelerators without the rest of the system", system.devices()), 0.02});
    }
  } else if (device != nullptr) {
    add_readings(context, *device, figure, *result.right, system.devices() * per,
                 claimed.bound == Measure::Bound::about, result.readings);
    if (const double gain = sparsity_gain(*device, figure); gain != 1) {
      result.readings.insert(result.readings.begin(),
                             {scaled(*result.right, gain), Verdict::sparse, "that is with structured sparsity"});
    }
  }
  for (const AlsoPublished& also : context.facts.also) {
    if (also.of != system.id || also.figure != figure) continue;
    result.readings.push_back({scaled(also.value, per), Verdict::right, also.why, 0.012});
  }
  return result;
}

Result<Recomputed> recompute_specification(Inputs& inputs) {
  const Context& context = inputs.context();
  const std::string of = inputs.text("of");
  const std::string figure = inputs.text("figure");
  const Name* name = context.names.of_id(of);
  if (name == nullptr) name = context.names.find(of);
  if (name == nullptr) return cannot("'" + of + "' is not in the catalogue");
  const auto per = inputs.count("per", 1.0);
  if (!per) return per.error();
  if (name->kind == NameKind::system) {
    return of_system(inputs, *context.catalogue.system(name->id), figure, *per);
  }
  if (name->kind == NameKind::fabric) {
    auto looked = look_up(context, name->id + ":" + (figure == "port" ? "port" : "both-ways"));
    if (!looked) return looked.error();
    inputs.note("bandwidth", looked->shown, looked->source);
    Recomputed result;
    result.right = looked->measure;
    result.formula = fmt::format("bandwidth of {} per device, both directions", name->id);
    result.readings.push_back({scaled(looked->measure, 0.5), Verdict::right, "that is one direction", 0.05});
    result.readings.push_back({scaled(looked->measure, 8), Verdict::unit, "bits and bytes are mixed up", 0.02});
    result.readings.push_back({scaled(looked->measure, 4), Verdict::unit, "bits and bytes are mixed up", 0.02});
    result.readings.push_back({scaled(looked->measure, 0.125), Verdict::unit, "bits and bytes are mixed up", 0.02});
    return result;
  }
  if (name->kind != NameKind::device) return cannot("'" + of + "' is neither a device, a system nor a link");
  const Device& device = *context.catalogue.device(name->id);
  const bool sparse = inputs.text("sparse") == "yes";
  const std::string wanted = sparse ? figure + "-sparse" : figure;
  Recomputed result;
  auto looked = look_up(context, device.id + ":" + wanted);
  const Measure& claimed = inputs.claim().claimed;
  if (!looked) {
    const bool other_peaks = device.peak(PeakFormat::bf16) && peak_format(figure);
    if (!other_peaks || device.confidence == Backing::none || figure == "fp16") return looked.error();
    // The catalogue knows the part's rates and none in this format: it has no such units.
    result.compare = Compare::holds;
    result.holds = false;
    const std::string slip = elsewhere(context, device, figure, claimed).text;
    result.formula = fmt::format("{} of {}", figure_title(figure), device.id);
    result.because = fmt::format("{} has no {} units{}", device.id, figure, slip.empty() ? "" : "; " + slip);
    return result;
  }
  inputs.note(figure, looked->shown, looked->source);
  result.right = scaled(looked->measure, *per);
  result.formula = *per == 1 ? fmt::format("{} of {}", figure_title(wanted), device.id)
                             : fmt::format("{:g} x {}", *per, looked->shown);
  if (!sparse)
    add_readings(context, device, figure, *result.right, *per, claimed.bound == Measure::Bound::about, result.readings);
  if (claimed.text.find("iB") != std::string::npos) {
    // Stacks of memory are built in powers of two: what is sold as 80 GB are 80 GiB. Rates are counted in tens.
    if (figure == "memory") {
      const auto binary = [&](const Measure& sold) {
        result.readings.insert(result.readings.begin(),
                               {scaled(sold, 1.073741824), Verdict::right, "what is sold as GB are GiB", 0.025});
      };
      binary(*result.right);
      for (const std::string& other : name->also) {
        if (const auto sold = look_up(context, other + ":memory")) binary(scaled(sold->measure, *per));
      }
    } else if (figure == "bandwidth") {
      result.readings.push_back(
          {scaled(*result.right, 1.099511627776), Verdict::unit, "the rate is in TB/s, not TiB/s", 0.012});
    }
  }
  if (figure == "nvlink") {
    result.readings.push_back({scaled(*result.right, 0.5), Verdict::right, "that is one direction", 0.012});
  }
  if (figure == "fp16") {
    // Tables head a column with FP16 and mean either format of sixteen bits.
    if (const auto other = device_figure(device, "bf16")) {
      result.readings.insert(result.readings.begin(),
                             {scaled(other->measure, *per), Verdict::rounded, "that is its BF16 peak", 0.012});
    }
  }
  if (figure == "fp64") {
    if (const auto tensor = device_figure(device, "fp64_tensor")) {
      result.readings.insert(result.readings.begin(),
                             {tensor->measure, Verdict::rounded, "that is with tensor cores", 0.012});
    }
  }
  for (const AlsoPublished& also : context.facts.also) {
    if (also.of != device.id || also.figure != figure) continue;
    result.readings.insert(result.readings.begin(), {scaled(also.value, *per), Verdict::right, also.why, 0.012});
  }
  const bool off = std::abs(claimed.value - result.right->value) > 0.05 * result.right->value;
  if (off) {
    const Elsewhere slip = elsewhere(context, device, figure, claimed);
    result.because = slip.text;
    if (slip.sparse_sibling) result.otherwise = Verdict::sparse;
  }
  return result;
}

}  // namespace

const Kind& specification_kind() {
  static const Kind kind{
      "specification",
      "a figure of a device, system or link against the catalogue",
      "figure of one device x per",
      "of figure per? sparse?",
      true,
      recompute_specification,
      find_specifications,
  };
  return kind;
}

}  // namespace ridge::claims
