// Fitting calibration parameters to evidence, group by group.
//
//   GroupFit inference("inference", cases, catalogue, engines);
//   FitResult all = inference.run(with_priors(calibration, "inference"), {});
//   FitResult without = inference.run(all.calibration, left_out, &all.jacobian);   // cross-validation
//
// Groups build on each other: "inference" and "training" use what "kernels" found, "power" uses "inference". Rows of a
// group are targets of cases; each has a noise (a time to first token scatters more than a throughput) and a weight.
// Deterministic, whatever the number of threads. A GroupFit may be shared by threads.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/cases/case.hpp"
#include "evidence/fit/fit.hpp"
#include "ridge/catalogue/catalogue.hpp"
#include "ridge/catalogue/engine.hpp"

namespace ridge::evidence {

/// In the order in which they are fitted.
inline constexpr std::string_view kGroups[] = {"kernels", "inference", "training", "power", "diffusion"};

/// One measured figure that a group is fitted to.
struct FitTarget {
  std::size_t case_index = 0;
  std::size_t target = 0;  ///< position in Case::targets
  double noise = 0.05;     ///< spread of its logarithm
  double weight = 1;
};

/// What the group is fitted to: only cases that may be fitted on and could be read.
[[nodiscard]] std::vector<FitTarget> fit_targets(std::string_view group, std::span<const Case> cases);

class GroupFit {
 public:
  /// All of them must outlive the object.
  GroupFit(std::string_view group, std::span<const Case> cases, const Catalogue& catalogue, const Engines& engines);

  [[nodiscard]] const std::string& group() const { return group_; }
  [[nodiscard]] const std::vector<FitTarget>& targets() const { return targets_; }
  /// Whether any of the cases is one the group is fitted to.
  [[nodiscard]] bool uses(const std::vector<bool>& cases) const;

  /// The fit without the cases marked in `left_out` (by position; empty = none). `near` are slopes of the fit to all.
  [[nodiscard]] FitResult run(const Calibration& start, const std::vector<bool>& left_out,
                              const Jacobian* near = nullptr) const;

  /// The calibration of a fit as it is kept: values to four digits, and how many targets inform each parameter.
  [[nodiscard]] Calibration finish(const FitResult& fit) const;

 private:
  void log_errors(const Calibration& calibration, std::span<double> out) const;
  void kernel_log_errors(const Calibration& calibration, std::span<double> out) const;

  std::string group_;
  std::span<const Case> cases_;
  const Catalogue& catalogue_;
  const Engines& engines_;
  std::vector<FitTarget> targets_;
  std::vector<KernelCase> kernels_;  ///< of the targets, if the group is fitted to kernels
};

/// The calibration with the fitted parameters of the group back at their priors: where a fit starts, so that it does
/// not depend on what was fitted before.
[[nodiscard]] Calibration with_priors(const Calibration& calibration, std::string_view group);

/// Fitted parameters of the group, or of all but the user's own if it is empty.
[[nodiscard]] int count_fitted(const Calibration& calibration, std::string_view group = {});

}  // namespace ridge::evidence
