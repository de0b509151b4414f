// One question about cost, one whole answer: what reports print and pictures draw. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "economics/cost_case.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

struct CostAnswer {
  std::string title;                               ///< what is paid for: "8 × h200-sxm, rented"
  CostCase cost_case;                              ///< inputs, prices, assumptions, warnings
  CostOutputs out;                                 ///< at the middle of the prediction
  bool training = false;                           ///< tokens are trained, not generated
  std::optional<Interval> usd_per_million_tokens;  ///< of a predicted throughput: 80 % of cases like it
  double run_tokens = 0;                           ///< of the whole run, 0 = not asked
  double run_usd = kUnknown;                       ///< what the run costs
  double run_days = kUnknown;
  std::optional<Footprint> run_footprint;
};

/// Dollars of work whose rate is known to an interval, and with `rent` the dollars of an hour to another: the two have
/// nothing to do with each other, so the squares of their logarithms add up.
[[nodiscard]] Interval usd_interval(double usd, const Interval& rate, const std::optional<Interval>& rent);

/// Evaluates the case; the interval is that of the throughput, which costs divide by, and of a rent that is estimated.
[[nodiscard]] CostAnswer answer_cost(std::string title, CostCase cost_case, const std::optional<Interval>& tokens_per_s,
                                     bool training, double run_tokens);

}  // namespace ridge
