// Robust maximum-a-posteriori fit of a few parameters (Levenberg-Marquardt with a Student-t loss and Gaussian priors).
//
//   FitResult r = fit(calibration, "kernels", rows, [&](const Calibration& c, std::span<double> log_errors) {
//     for (std::size_t i = 0; i < rows; ++i) log_errors[i] = std::log(predict(c, i) / measured[i]);
//   });
//
// The callback fills the logarithm of predicted/measured for each row (NaN = not predicted: no slope, but a loss) and
// must be pure: it is called from several threads with different calibrations. Deterministic: the result does not
// depend on the number of threads. Parameters of other groups, or with `fitted = false`, stay where they are.
//
// Cross-validation fits the same rows many times with a few of them left out: FitOptions::near starts each of these
// from the derivatives of the fit to all rows, which saves nearly all evaluations.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ridge/catalogue/calibration.hpp"

namespace ridge::evidence {

/// Slopes of the log errors at some point: one column per fitted parameter, one entry per row.
struct Jacobian {
  std::vector<std::size_t> parameters;  ///< positions in Calibration::parameters()
  std::vector<std::vector<double>> columns;
};

struct FitOptions {
  int iterations = 40;
  double noise = 0.05;                   ///< spread of the logarithm of a good measurement
  double degrees_of_freedom = 3;         ///< of the Student-t loss: small = outliers count little
  double tolerance = 1e-5;               ///< relative decrease of the objective at which the fit stops
  std::span<const double> weights = {};  ///< per row, empty = 1; a row of weight 0 is left out
  /// Slopes at `start`, taken as they are until they lead no further. Not owned; of the same group and rows.
  const Jacobian* near = nullptr;
  int refresh = 3;  ///< with `near`: how many iterations with slopes of its own follow
  bool keep_jacobian = false;
};

struct FitResult {
  Calibration calibration;
  double objective = 0;
  int iterations = 0;
  std::vector<double> log_errors;  ///< at the optimum, all rows, also those of weight 0
  Jacobian jacobian;               ///< at the optimum, if it was to be kept
};

using LogErrors = std::function<void(const Calibration&, std::span<double>)>;

[[nodiscard]] FitResult fit(const Calibration& start, std::string_view group, std::size_t rows,
                            const LogErrors& log_errors, const FitOptions& options = {});

}  // namespace ridge::evidence
