// How good a set of predictions is: quantiles of the error, bias, and how often the interval held.
//
//   ErrorSummary s = summarise(comparisons);
//   s.median;  // of |predicted/measured - 1|: 0.08 is eight percent
//   s.held;    // share of measurements inside [low, high]
//
// Pure functions; any thread may call them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace ridge::evidence {

/// A prediction beside what was measured, both in the same unit. Not predicted: `predicted` is NaN.
struct Comparison {
  double measured = 0;
  double predicted = 0;
  double low = 0;
  double high = 0;

  /// predicted/measured - 1.
  [[nodiscard]] double error() const { return predicted / measured - 1; }
  [[nodiscard]] bool made() const { return predicted == predicted; }
};

struct ErrorSummary {
  int asked = 0;
  int predicted = 0;
  double median = 0;  ///< of the absolute error; NaN if nothing was predicted, as are all below
  double p90 = 0;
  double bias = 0;  ///< median of the signed error: positive = predicted too much
  double within_10 = 0;
  double within_20 = 0;
  double within_30 = 0;
  double held = 0;

  /// predicted/asked; 1 if nothing was asked.
  [[nodiscard]] double coverage() const { return asked == 0 ? 1 : static_cast<double>(predicted) / asked; }
};

[[nodiscard]] ErrorSummary summarise(std::span<const Comparison> comparisons);

/// What a group of rows is predicted to, with the rows of whoever published it left out and with all of them.
struct FoldLine {
  std::string what;
  int rows = 0;
  double median_error = 0, p90_error = 0, bias = 0, held = 0;  ///< left out
  double own_median = 0, own_p90 = 0;                          ///< with the program's own factors
};
/// The same rows twice: without and with those of their publisher. All zero of no rows.
[[nodiscard]] FoldLine fold_line(std::string what, std::span<const Comparison> left_out,
                                 std::span<const Comparison> own);

/// The q-quantile with linear interpolation between order statistics (position q (n-1)); NaN of nothing.
[[nodiscard]] double quantile(std::vector<double> values, double q);

}  // namespace ridge::evidence
