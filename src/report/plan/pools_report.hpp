// Two pools of engines, one for prompts and one for tokens, for people and for programs.
//
//   PoolsAnswer a{prefill, decode, setting, outcome, {}};
//   print(to_terminal(pools_page(a), style));
//   print(pools_json(a).text());                      // docs/schema/estimate.json, kind "pools"
//
// Pure; any thread.
#pragma once

#include <optional>
#include <utility>

#include "report/estimate/inference_report.hpp"
#include "ridge/perf/pools.hpp"

namespace ridge::report {

struct PoolsAnswer {
  InferenceAnswer prefill;  ///< one engine of each pool: its query and its facts
  InferenceAnswer decode;
  PoolsSetting setting;
  PoolsOutcome outcome;
  std::vector<std::string> assumptions;
  std::optional<std::pair<int, int>> engines = {};  ///< for prompts and for tokens, where somebody said how many
};

[[nodiscard]] Document pools_page(const PoolsAnswer& answer);
[[nodiscard]] Json pools_json(const PoolsAnswer& answer);
/// One row for each predicted quantity: what, unit, low, mid, high.
[[nodiscard]] Table pools_table(const PoolsAnswer& answer);

/// Whole engines of both pools whose ratio is nearest to what balances them, at most sixteen of either: {2, 3}.
[[nodiscard]] std::pair<int, int> balanced_engines(double prefill_per_decode);
/// As somebody said, else as they balance.
[[nodiscard]] std::pair<int, int> engines_of(const PoolsAnswer& answer);

}  // namespace ridge::report
