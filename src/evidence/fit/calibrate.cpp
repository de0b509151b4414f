#include "evidence/fit/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "evidence/predict/predict.hpp"

namespace ridge::evidence {
namespace {

constexpr double kOneRun = 0.15;

// The noise of a figure: what repeated measurements of one configuration differ by, roughly. Zero: not fitted on,
// because it follows from another figure of the same row.
double noise_of(std::string_view group, const Case& c, Metric metric) {
  if (group == "kernels") return c.kind == CaseKind::kernel ? 0.07 : 0;
  if (group == "training") return metric == Metric::step_time_s ? 0.05 : 0;
  if (group == "diffusion") return metric == Metric::batch_latency_s ? 0.08 : 0;
  if (group == "power") {
    if (c.kind == CaseKind::power) return metric == Metric::watts ? 0.05 : 0;
    if (metric != Metric::power_w) return 0;
    return c.kind == CaseKind::inference ? 0.08 : 0.25;  // the steps of images are known less well
  }
  // One run of a stack says less about its other runs than about itself.
  if (group == "user" && c.kind == CaseKind::training) return kOneRun;
  if ((group != "inference" && group != "user") || c.kind != CaseKind::inference) return 0;
  const double noise = group == "user" ? kOneRun : 0.08;
  switch (metric) {
    case Metric::output_tok_s:
    case Metric::tpot_ms:
      return noise;
    case Metric::ttft_ms:
      return c.mode == "prefill" ? noise : 0.3;
    default:
      return 0;
  }
}

double value_to_digits(double value) {
  return std::strtod(fmt::format("{:.3e}", value).c_str(), nullptr);
}

Calibration rebuilt(const Calibration& calibration, std::vector<Parameter> parameters) {
  const auto intervals = calibration.intervals();
  return Calibration(std::move(parameters), {intervals.begin(), intervals.end()}, calibration.effects());
}

bool belongs(const Parameter& p, std::string_view group) {
  return p.fitted && (group.empty() ? p.group != "user" : p.group == group);
}

}  // namespace

std::vector<FitTarget> fit_targets(std::string_view group, std::span<const Case> cases) {
  std::vector<FitTarget> out;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    if (!c.fitted || (!c.physics && group != "user") || std::holds_alternative<std::monostate>(c.input)) continue;
    std::vector<FitTarget> own;
    for (std::size_t t = 0; t < c.targets.size(); ++t) {
      const double noise = noise_of(group, c, c.targets[t].metric);
      if (noise > 0 && c.targets[t].measured > 0) own.push_back({i, t, noise, 1});
    }
    // Throughput and time per token of one run are nearly the same figure: together they count once.
    for (FitTarget& f : own) f.weight = 1.0 / static_cast<double>(own.size());
    out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

GroupFit::GroupFit(std::string_view group, std::span<const Case> cases, const Catalogue& catalogue,
                   const Engines& engines)
    : group_(group), cases_(cases), catalogue_(catalogue), engines_(engines), targets_(fit_targets(group, cases)) {
  if (group_ != "kernels") return;
  for (const FitTarget& f : targets_) kernels_.push_back(std::get<KernelCase>(cases_[f.case_index].input));
}

bool GroupFit::uses(const std::vector<bool>& cases) const {
  return std::any_of(targets_.begin(), targets_.end(), [&](const FitTarget& f) { return cases[f.case_index]; });
}

// Thousands of rows share few rates: worked out once per calibration, not once per row.
void GroupFit::kernel_log_errors(const Calibration& calibration, std::span<double> out) const {
  KernelModel(kernels_, catalogue_).predict(calibration, out);
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const FitTarget& f = targets_[i];
    out[i] = std::log(out[i] / cases_[f.case_index].targets[f.target].measured) * FitOptions{}.noise / f.noise;
  }
}

void GroupFit::log_errors(const Calibration& calibration, std::span<double> out) const {
  if (!kernels_.empty()) return kernel_log_errors(calibration, out);
  const Knowledge knowledge{catalogue_, engines_, calibration};
  const double reference = FitOptions{}.noise;
  for (std::size_t i = 0; i < targets_.size();) {
    const std::size_t at = targets_[i].case_index;
    const auto predictions = predict(cases_[at], knowledge, Basis::formula);
    for (; i < targets_.size() && targets_[i].case_index == at; ++i) {
      const FitTarget& f = targets_[i];
      // The fit knows one noise for all rows; errors are stretched so that each row gets its own.
      out[i] = std::log(predictions[f.target].value.mid / cases_[at].targets[f.target].measured) * reference / f.noise;
    }
  }
}

FitResult GroupFit::run(const Calibration& start, const std::vector<bool>& left_out, const Jacobian* near) const {
  std::vector<double> weights;
  for (const FitTarget& f : targets_) weights.push_back(!left_out.empty() && left_out[f.case_index] ? 0 : f.weight);
  FitOptions options;
  options.weights = weights;
  options.near = near;
  options.keep_jacobian = near == nullptr;
  return fit(
      start, group_, targets_.size(), [this](const Calibration& c, std::span<double> out) { log_errors(c, out); },
      options);
}

Calibration with_priors(const Calibration& calibration, std::string_view group) {
  std::vector<Parameter> parameters(calibration.parameters().begin(), calibration.parameters().end());
  for (Parameter& p : parameters) {
    if (belongs(p, group)) p.value = p.prior;
  }
  return rebuilt(calibration, std::move(parameters));
}

Calibration GroupFit::finish(const FitResult& fit) const {
  std::vector<Parameter> parameters(fit.calibration.parameters().begin(), fit.calibration.parameters().end());
  for (Parameter& p : parameters) {
    if (belongs(p, group_)) p.value = std::clamp(value_to_digits(p.value), p.low, p.high);
  }
  // A target informs a parameter if one spread of its prior would move the prediction by a tenth of a percent.
  constexpr double kNoticed = 1e-3;
  for (std::size_t j = 0; j < fit.jacobian.columns.size(); ++j) {
    int rows = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const double slope = fit.jacobian.columns[j][i] * targets_[i].noise / FitOptions{}.noise;
      rows += std::abs(slope) > kNoticed ? 1 : 0;
    }
    parameters[fit.jacobian.parameters[j]].rows = rows;
  }
  return rebuilt(fit.calibration, std::move(parameters));
}

int count_fitted(const Calibration& calibration, std::string_view group) {
  const auto parameters = calibration.parameters();
  return static_cast<int>(
      std::count_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return belongs(p, group); }));
}

}  // namespace ridge::evidence
