// Fitting the factors of a measured device to its profile.
#include "evidence/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "evidence/measured/device.hpp"
#include "evidence/measured/steps.hpp"
#include "evidence/rows/errors.hpp"

namespace ridge::evidence {
namespace {

constexpr std::string_view kMeasuredGroup = "measured";
constexpr std::string_view kStepGroup = "measured-steps";
constexpr double kMeasuredNoise = 0.03;  // of the logarithm: algorithms differ by that between neighbouring shapes

/// A factor that points may move, on top of what holds for the parent.
struct Factor {
  std::string_view base;
  std::string_view scope;  ///< behind the architecture: "", "/fp8", "/native", "/library"
  double spread;
};

constexpr std::array kFactors = {
    Factor{"gemm.compute", "", 0.3},
    Factor{"gemm.compute", "/fp8", 0.2},
    Factor{"gemm.memory", "", 0.2},
    Factor{"gemm.memory", "/fp8", 0.2},
    Factor{"gemm.fixed", "", 0.7},
    Factor{"gemm.fixed", "/fp8", 0.7},
    Factor{"gemm.step", "", 0.7},
    Factor{"gemm.step", "/fp8", 0.7},
    Factor{"gemm.split", "", 0.7},
    Factor{"gemm.split", "/fp8", 0.7},
    Factor{"gemm.padding", "", 0.7},
    Factor{"gemm.wave", "", 0.7},
    Factor{"gemm.wave", "/fp8", 0.7},
    Factor{"gemm.short_k", "", 0.7},
    Factor{"attention.prefill", "/native", 0.7},
    Factor{"attention.exponential", "/native", 0.5},
    Factor{"attention.ramp", "/native", 1},
    Factor{"attention.fixed_prefill", "/native", 1},
    Factor{"attention.stream", "/native", 0.3},
    Factor{"attention.fixed_decode", "/native", 1},
    Factor{"attention.step", "/native", 1},
    Factor{"attention.split", "/native", 1},
    Factor{"attention.per_head", "/native", 1},
    Factor{"attention.decode_compute", "/native", 0.7},
    Factor{"attention.decode_passes", "/native", 0.7},
    Factor{"memory.share", "", 0.3},
    Factor{"launch", "", 1},
    Factor{"moe.fixed", "/library", 0.7},
    Factor{"moe.compute", "/library", 0.4},
};

/// And what steps may move: of the engine `native` on that device.
constexpr std::array kStepFactors = {Factor{"layer.small_kernels", "", 1}, Factor{"serving.decode", "", 0.1}};

/// What points say first and steps say better: a mix of work draws less power than products alone, and keeps more of
/// the clock.
constexpr std::array kRefined = {Factor{"gemm.compute", "", 0.2}, Factor{"gemm.compute", "/fp8", 0.1}};

const Parameter* find(const std::vector<Parameter>& parameters, std::string_view name) {
  const auto at =
      std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
  return at != parameters.end() ? &*at : nullptr;
}

/// Adds a factor, or frees the one that was copied from the parent.
void add_factor(std::vector<Parameter>& parameters, std::string name, const Factor& factor, std::string_view group) {
  constexpr double kLow = 0.01, kHigh = 100;
  if (find(parameters, factor.base) == nullptr) return;
  const Parameter* copied = find(parameters, name);
  Parameter p;
  p.meaning = fmt::format("factor on {} of the measured device", factor.base);
  p.value = p.prior = copied != nullptr ? copied->value : 1;
  p.spread = factor.spread;
  p.low = kLow;
  p.high = kHigh;
  p.group = group;
  p.source = "prior: as the architecture";
  p.name = std::move(name);
  std::erase_if(parameters, [&](const Parameter& other) { return other.name == p.name; });
  parameters.push_back(std::move(p));
}

/// The parent's own factors under the name of the measured architecture, so that none is lost.
void inherit(std::vector<Parameter>& parameters, std::string_view parent, const std::string& own) {
  std::vector<Parameter> copies;
  for (const Parameter& p : parameters) {
    const std::size_t at = p.name.find('@');
    if (at == std::string::npos) continue;
    const std::string_view scope = std::string_view(p.name).substr(at + 1);
    const std::string_view first = scope.substr(0, scope.find('/'));
    if (first != parent) continue;
    Parameter copy = p;
    copy.name = p.name.substr(0, at + 1) + own + std::string(scope.substr(first.size()));
    copy.fitted = false;
    copies.push_back(std::move(copy));
  }
  parameters.insert(parameters.end(), copies.begin(), copies.end());
}

/// Rows that notice each parameter of the group when it moves by a thousandth.
Calibration with_rows(const Calibration& calibration, std::string_view group, std::size_t rows,
                      const LogErrors& log_errors) {
  constexpr double kMove = 1.001, kNoticed = 2e-5;
  std::vector<Parameter> parameters(calibration.parameters().begin(), calibration.parameters().end());
  std::vector<double> values, here(rows), there(rows);
  for (const Parameter& p : parameters) values.push_back(p.value);
  log_errors(calibration, here);
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    Parameter& p = parameters[j];
    if (!p.fitted || p.group != group) continue;
    std::vector<double> moved = values;
    moved[j] *= kMove;
    log_errors(calibration.with_values(moved), there);
    p.rows = 0;
    for (std::size_t i = 0; i < rows; ++i) p.rows += std::abs(there[i] - here[i]) > kNoticed ? 1 : 0;
    if (p.rows > 0) p.source = "fitted to the profile";
  }
  return {
      std::move(parameters), {calibration.intervals().begin(), calibration.intervals().end()}, calibration.effects()};
}

std::string family_of(const KernelCase& c) {
  switch (c.op) {
    case KernelOp::gemm:
      return "gemm " + std::string(name(c.weights));
    case KernelOp::attn_prefill:
      return "attention, prefill";
    case KernelOp::attn_decode:
      return "attention, decode";
    case KernelOp::copy:
      return "norms and activations";
    default:
      return std::string(family(c.op));
  }
}

class Fitting {
 public:
  Fitting(const measure::Profile& profile, const std::string& id, const Catalogue& catalogue, const Engines& engines)
      : profile_(profile), id_(id), catalogue_(catalogue), engines_(engines) {}

  Result<MeasuredFit> run(const Calibration& calibration) {
    const Device* device = catalogue_.device(id_);
    if (device == nullptr) return Error{ErrorCode::not_found, id_, "is no device of the catalogue"};
    out_.architecture = device->architecture;
    const Architecture* own = catalogue_.architecture(device->architecture);
    out_.parent = own != nullptr ? own->inherits : std::string();
    const Result<perf::DeviceRates> before = perf::device_rates(*device, catalogue_, calibration);
    if (!before) return before.error();
    std::vector<Parameter> parameters(calibration.parameters().begin(), calibration.parameters().end());
    inherit(parameters, before->architecture, out_.architecture);
    for (const Factor& f : kFactors) {
      add_factor(parameters, fmt::format("{}@{}{}", f.base, out_.architecture, f.scope), f, kMeasuredGroup);
    }
    for (const Factor& f : kStepFactors) {
      add_factor(parameters, fmt::format("{}@native/{}", f.base, out_.architecture), f, kStepGroup);
    }
    out_.calibration = Calibration(
        std::move(parameters), {calibration.intervals().begin(), calibration.intervals().end()}, calibration.effects());
    const std::vector<KernelCase> cases = measured_cases(profile_, id_);
    if (cases.empty() && profile_.steps.empty()) {
      return Error{ErrorCode::refused, profile_.facts.name,
                   "the profile has no point that a model of operators predicts; measure it with ⟦quick⟧"};
    }
    if (!cases.empty()) fit_points(cases, calibration);
    if (!profile_.steps.empty()) fit_steps(calibration);
    return std::move(out_);
  }

 private:
  void fit_points(const std::vector<KernelCase>& cases, const Calibration& bundled) {
    const KernelModel model(cases, catalogue_);
    const LogErrors errors = [&](const Calibration& c, std::span<double> into) { model.log_errors(c, into); };
    std::vector<double> before(cases.size()), after(cases.size());
    errors(bundled, before);
    FitOptions options;
    options.noise = kMeasuredNoise;
    // The first round finds parameters that count as evidence of this architecture: until then it has none.
    out_.calibration = with_rows(with_evidence(out_.calibration), kMeasuredGroup, cases.size(), errors);
    const FitResult result = fit(out_.calibration, kMeasuredGroup, cases.size(), errors, options);
    out_.calibration = with_rows(result.calibration, kMeasuredGroup, cases.size(), errors);
    errors(out_.calibration, after);
    std::vector<std::string> families;
    for (const KernelCase& c : cases) {
      const std::string f = family_of(c);
      if (std::find(families.begin(), families.end(), f) == families.end()) families.push_back(f);
    }
    for (const std::string& f : families) {
      std::vector<double> b, a;
      for (std::size_t i = 0; i < cases.size(); ++i) {
        if (family_of(cases[i]) != f || !std::isfinite(after[i]) || !std::isfinite(before[i])) continue;
        b.push_back(before[i]);
        a.push_back(after[i]);
      }
      out_.gains.push_back(gain_of(f, std::move(b), std::move(a)));
    }
  }

  /// Any factor of the scope with rows makes the architecture one whose kernels are known.
  [[nodiscard]] static Calibration with_evidence(const Calibration& calibration) {
    std::vector<Parameter> parameters(calibration.parameters().begin(), calibration.parameters().end());
    for (Parameter& p : parameters) {
      if (p.group == kMeasuredGroup) p.rows = 1;
    }
    return {
        std::move(parameters), {calibration.intervals().begin(), calibration.intervals().end()}, calibration.effects()};
  }

  [[nodiscard]] Calibration refining(const Calibration& calibration) const {
    std::vector<Parameter> parameters(calibration.parameters().begin(), calibration.parameters().end());
    for (const Factor& f : kRefined) {
      const std::string wanted = fmt::format("{}@{}{}", f.base, out_.architecture, f.scope);
      for (Parameter& p : parameters) {
        if (p.name != wanted) continue;
        p.group = kStepGroup;
        p.prior = p.value;
        p.spread = f.spread;
      }
    }
    return {
        std::move(parameters), {calibration.intervals().begin(), calibration.intervals().end()}, calibration.effects()};
  }

  void fit_steps(const Calibration& bundled) {
    const std::size_t n = profile_.steps.size();
    const LogErrors errors = [&](const Calibration& c, std::span<double> into) {
      const Knowledge knowledge{catalogue_, engines_, c};
      for (std::size_t i = 0; i < n; ++i) {
        const measure::ModelStep& step = profile_.steps[i];
        const Result<StepPrediction> p = predict_step(step, model_of(step, profile_), id_, knowledge);
        into[i] = p ? std::log(p->seconds / step.seconds) : std::nan("");
      }
    };
    std::vector<double> before(n), after(n);
    errors(bundled, before);
    FitOptions options;
    options.noise = kMeasuredNoise;
    const Calibration start = refining(out_.calibration);
    const FitResult result = fit(start, kStepGroup, n, errors, options);
    out_.calibration = with_rows(result.calibration, kStepGroup, n, errors);
    errors(out_.calibration, after);
    std::erase_if(before, [](double e) { return !std::isfinite(e); });
    std::erase_if(after, [](double e) { return !std::isfinite(e); });
    out_.gains.push_back(gain_of("whole steps", std::move(before), std::move(after)));
  }

  const measure::Profile& profile_;
  const std::string& id_;
  const Catalogue& catalogue_;
  const Engines& engines_;
  MeasuredFit out_;
};

}  // namespace

MeasuredGain gain_of(std::string family, std::vector<double> before, std::vector<double> after) {
  const auto errors = [](std::vector<double>& logs) {
    for (double& e : logs) e = std::abs(std::exp(e) - 1);
    std::sort(logs.begin(), logs.end());
  };
  errors(before);
  errors(after);
  MeasuredGain gain;
  gain.family = std::move(family);
  gain.points = static_cast<int>(after.size());
  if (after.empty()) return gain;
  gain.median_before = quantile(before, 0.5);
  gain.worst_before = before.back();
  gain.median_after = quantile(after, 0.5);
  gain.worst_after = after.back();
  return gain;
}

Result<MeasuredFit> fit_measured(const measure::Profile& profile, const std::string& id, const Calibration& calibration,
                                 const Catalogue& catalogue, const Engines& engines) {
  return Fitting(profile, id, catalogue, engines).run(calibration);
}

std::string measured_parameters_toml(const MeasuredFit& fit, const measure::Profile& profile) {
  std::string out = fmt::format(
      "# Measured on {} on {}; fitted by `ridge calibrate --profile`.\n# For ridge estimate --calibration: holds for "
      "every "
      "device of the architecture {}.\n",
      profile.facts.name, profile.date.substr(0, std::string_view("2026-11-15").size()), fit.parent);
  for (const Parameter& p : fit.calibration.parameters()) {
    if ((p.group != kMeasuredGroup && p.group != kStepGroup) || p.rows == 0) continue;
    std::string name = p.name;
    if (const std::size_t at = name.find(fit.architecture); at != std::string::npos) {
      name.replace(at, fit.architecture.size(), fit.parent);
    }
    out += fmt::format("\n[[parameter]]\nname = \"{}\"\nvalue = {:.5g}\nrows = {}\nsource = \"own measurements\"\n",
                       name, p.value, p.rows);
  }
  return out;
}

}  // namespace ridge::evidence
