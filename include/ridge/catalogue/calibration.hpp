// Calibration: the few numbers that turn a datasheet into what machines really reach. Data, not code.
//
//   Result<Calibration> c = load_calibration("data/calibration");
//   double share = c->value("gemm.compute", {"hopper", "fp8"});   // base x offset of hopper x offset of fp8
//   const IntervalClass* i = c->interval("output_tok_s", "moe");  // what 80 % of the left-out cases stayed within
//
// A parameter has a physical meaning, a prior and a plausible range. `gemm.compute` is the base; `gemm.compute@hopper`
// is a factor on it for one scope, with prior 1: where there is no evidence (or it is left out in cross-validation) the
// factor stays at 1 and the base carries over. Immutable once loaded; any thread may read.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/catalogue/effects.hpp"

namespace ridge {

struct Parameter {
  std::string name;     ///< "gemm.compute" or, as a factor for a scope, "gemm.compute@hopper"
  std::string meaning;  ///< one sentence, with the unit
  double value = 1;
  double prior = 1;
  double spread = 0.2;  ///< standard deviation of the prior: of the logarithm if `logarithmic`, else absolute
  double low = 0;       ///< plausible range; a fit never leaves it
  double high = 0;
  bool logarithmic = true;
  bool fitted = true;  ///< false: held at `value` (taken from a source), not moved by the fit
  int rows = 0;        ///< evidence rows that inform it, 0 if none did
  std::string group;   ///< which fit moves it: "kernels", "inference", "training", "power", "diffusion"
  std::string source;  ///< where a value that is not fitted, or the prior, comes from
};

/// Multipliers on a prediction: `low` x mid and `high` x mid hold 80 % of the cross-validated cases of a class.
struct IntervalClass {
  std::string metric;     ///< "step_time_s", "output_tok_s", ...
  std::string resembles;  ///< "dense", "moe", "new-device", ...
  double low = 1;
  double high = 1;
  int rows = 0;
  double median_error = 0;  ///< of |predicted/measured - 1|, cross-validated
  double p90_error = 0;
};

class Calibration {
 public:
  Calibration() = default;
  Calibration(std::vector<Parameter> parameters, std::vector<IntervalClass> intervals, Effects effects = {});

  /// The base value times the factor of each scope that has one. The name must exist (assert): names are code.
  [[nodiscard]] double value(std::string_view name, std::initializer_list<std::string_view> scopes = {}) const;
  /// Whether `name@scope` exists and was informed by evidence.
  [[nodiscard]] bool informed(std::string_view name, std::string_view scope) const { return rows(name, scope) > 0; }
  /// How many rows informed `name@scope`, 0 if it does not exist.
  [[nodiscard]] int rows(std::string_view name, std::string_view scope) const;
  /// Whether kernels of the architecture were measured: some parameter of theirs is its own and informed by evidence.
  [[nodiscard]] bool knows_kernels_of(std::string_view architecture) const;

  [[nodiscard]] std::span<const Parameter> parameters() const { return parameters_; }
  [[nodiscard]] std::span<const IntervalClass> intervals() const { return intervals_; }
  /// The class of that metric, or the widest of the metric, or nullptr.
  [[nodiscard]] const IntervalClass* interval(std::string_view metric, std::string_view resembles) const;

  /// The same calibration with other parameter values, in the order of parameters(): for fitting.
  [[nodiscard]] Calibration with_values(std::span<const double> values) const;
  [[nodiscard]] Calibration with_intervals(std::vector<IntervalClass> intervals) const;
  /// What devices and software make of the physics; empty where none were fitted.
  [[nodiscard]] const Effects& effects() const { return effects_; }
  [[nodiscard]] Calibration with_effects(Effects effects) const;
  /// Runs of the user's own stack, from overlays.
  [[nodiscard]] const OwnRuns& own_runs() const { return own_runs_; }
  [[nodiscard]] Calibration with_own_runs(OwnRuns runs) const;

 private:
  [[nodiscard]] const Parameter* find(std::string_view name, std::string_view scope) const;

  std::vector<Parameter> parameters_;         ///< sorted by name
  std::vector<std::uint32_t> slots_;          ///< hash table of their places, from 1; 0 = free
  std::set<std::string, std::less<>> known_;  ///< architectures of measured kernels
  std::vector<IntervalClass> intervals_;
  Effects effects_;
  OwnRuns own_runs_;
};

/// Reads every *.toml of the directory; later `overlays` replace values of parameters that exist, add factors on a
/// base that exists, or runs of the user's own. Refuses unknown keys, values out of range, factors without a base, data
/// older than this program.
Result<Calibration> load_calibration(const std::string& directory, std::span<const std::string> overlays = {});
/// The TOML text of one group (parameters; or the intervals, the effects), as load_calibration reads it.
[[nodiscard]] std::string write_calibration(const Calibration& calibration, std::string_view group);

}  // namespace ridge
