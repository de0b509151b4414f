#include "evidence/kernel_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "evidence/validate/folds.hpp"

namespace ridge::evidence {
namespace {

constexpr std::string_view kGroup = "kernels";
constexpr double kNoise = 0.07;  // of the logarithm: two releases of one library differ by about that

bool moves(const Parameter& p) {
  return p.fitted && p.group == kGroup;
}

Calibration rebuilt(const Calibration& calibration, const std::function<void(Parameter&)>& change) {
  std::vector<Parameter> parameters(calibration.parameters().begin(), calibration.parameters().end());
  for (Parameter& p : parameters) {
    if (moves(p)) change(p);
  }
  return {
      std::move(parameters), {calibration.intervals().begin(), calibration.intervals().end()}, calibration.effects()};
}

Calibration at_priors(const Calibration& calibration) {
  return rebuilt(calibration, [](Parameter& p) { p.value = p.prior; });
}

double four_digits(double value) {
  return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
}

FitResult run(const Calibration& start, const KernelModel& model, const std::vector<bool>& left_out) {
  std::vector<double> weights(model.cases().size(), 1.0);
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    if (left_out[i]) weights[i] = 0;
  }
  FitOptions options;
  options.noise = kNoise;
  options.weights = weights;
  return fit(
      start, kGroup, model.cases().size(),
      [&](const Calibration& c, std::span<double> errors) { model.log_errors(c, errors); }, options);
}

/// How many rows notice each parameter: one spread of its prior moves the prediction by a tenth of a percent.
Calibration with_rows(const Calibration& calibration, const KernelModel& model, const std::vector<bool>& left_out) {
  constexpr double kNoticed = 1e-3, kStep = 0.01;
  const std::size_t n = model.cases().size();
  std::vector<double> values;
  for (const Parameter& p : calibration.parameters()) values.push_back(p.value);
  std::vector<double> here(n), there(n);
  model.log_errors(calibration, here);
  std::vector<int> rows(values.size(), 0);
  for (std::size_t j = 0; j < values.size(); ++j) {
    const Parameter& p = calibration.parameters()[j];
    if (!moves(p)) continue;
    const double down = p.logarithmic ? p.value * std::exp(-kStep * p.spread) : p.value - kStep * p.spread;
    const double up = p.logarithmic ? p.value * std::exp(kStep * p.spread) : p.value + kStep * p.spread;
    auto moved = values;
    moved[j] = down >= p.low ? down : up;
    model.log_errors(calibration.with_values(moved), there);
    for (std::size_t i = 0; i < n; ++i) {
      const bool counted = left_out.empty() || !left_out[i];
      if (counted && std::abs(there[i] - here[i]) > kNoticed * kStep) ++rows[j];
    }
  }
  std::vector<Parameter> parameters(calibration.parameters().begin(), calibration.parameters().end());
  for (std::size_t j = 0; j < rows.size(); ++j) {
    if (moves(parameters[j])) parameters[j].rows = rows[j];
  }
  return {
      std::move(parameters), {calibration.intervals().begin(), calibration.intervals().end()}, calibration.effects()};
}

}  // namespace

KernelFit fit_kernels(const Calibration& calibration, std::span<const KernelCase> cases, const Catalogue& catalogue,
                      const std::vector<bool>& left_out) {
  const KernelModel model(cases, catalogue);
  const FitResult result = run(at_priors(calibration), model, left_out);
  const Calibration rounded =
      rebuilt(result.calibration, [](Parameter& p) { p.value = std::clamp(four_digits(p.value), p.low, p.high); });
  KernelFit out{with_rows(rounded, model, left_out), std::vector<double>(cases.size())};
  model.log_errors(out.calibration, out.log_errors);
  return out;
}

std::vector<std::size_t> kernel_folds(std::span<const KernelCase> cases, KernelFold by) {
  constexpr std::size_t kShapeFolds = 10;
  std::map<std::string, std::size_t> keys;
  for (const KernelCase& c : cases) keys.emplace(by == KernelFold::devices ? c.device : shape_key(c), 0);
  std::size_t next = 0;
  for (auto& [key, fold] : keys) fold = by == KernelFold::devices ? next++ : next++ % kShapeFolds;
  std::vector<std::size_t> folds;
  folds.reserve(cases.size());
  for (const KernelCase& c : cases) folds.push_back(keys[by == KernelFold::devices ? c.device : shape_key(c)]);
  return folds;
}

std::vector<double> cross_validate_kernels(const Calibration& calibration, std::span<const KernelCase> cases,
                                           const Catalogue& catalogue, const std::vector<std::size_t>& folds) {
  const KernelModel model(cases, catalogue);
  const Calibration start = at_priors(calibration);
  std::vector<double> out(cases.size()), errors(cases.size());
  const std::size_t count = folds.empty() ? 0 : *std::max_element(folds.begin(), folds.end()) + 1;
  for (std::size_t fold = 0; fold < count; ++fold) {
    std::vector<bool> left_out(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) left_out[i] = folds[i] == fold;
    model.log_errors(run(start, model, left_out).calibration, errors);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (left_out[i]) out[i] = errors[i];
    }
  }
  return out;
}

}  // namespace ridge::evidence
