#include "evidence/rows/errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "evidence/rows/nothing.hpp"

namespace ridge::evidence {
namespace {

double share_within(const std::vector<double>& absolute, double bound) {
  const auto inside = std::count_if(absolute.begin(), absolute.end(), [&](double e) { return e <= bound; });
  return static_cast<double>(inside) / static_cast<double>(absolute.size());
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return kNothing;
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= values.size()) return values.back();
  const double share = position - static_cast<double>(below);
  return values[below] * (1 - share) + values[below + 1] * share;
}

ErrorSummary summarise(std::span<const Comparison> comparisons) {
  ErrorSummary summary;
  std::vector<double> absolute;
  std::vector<double> signed_errors;
  int held = 0;
  for (const Comparison& c : comparisons) {
    ++summary.asked;
    if (!c.made()) continue;
    ++summary.predicted;
    signed_errors.push_back(c.error());
    absolute.push_back(std::abs(c.error()));
    if (c.low <= c.measured && c.measured <= c.high) ++held;
  }
  if (absolute.empty()) {
    summary.median = summary.p90 = summary.bias = summary.held = kNothing;
    summary.within_10 = summary.within_20 = summary.within_30 = kNothing;
    return summary;
  }
  summary.median = quantile(absolute, 0.5);
  summary.p90 = quantile(absolute, 0.9);
  summary.bias = quantile(signed_errors, 0.5);
  summary.within_10 = share_within(absolute, 0.1);
  summary.within_20 = share_within(absolute, 0.2);
  summary.within_30 = share_within(absolute, 0.3);
  summary.held = static_cast<double>(held) / summary.predicted;
  return summary;
}

FoldLine fold_line(std::string what, std::span<const Comparison> left_out, std::span<const Comparison> own) {
  FoldLine line;
  line.what = std::move(what);
  line.rows = static_cast<int>(left_out.size());
  if (line.rows == 0) return line;
  const ErrorSummary without = summarise(left_out);
  const ErrorSummary with = summarise(own);
  line.median_error = without.median;
  line.p90_error = without.p90;
  line.bias = without.bias;
  line.held = without.held;
  line.own_median = with.median;
  line.own_p90 = with.p90;
  return line;
}

}  // namespace ridge::evidence
