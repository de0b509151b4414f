// Steps of reinforcement learning as published, beside what is predicted for them.
//
//   std::vector<RlCase> cases = *read_rl_cases(csv, "rl.csv");
//   RlFindings f = judge_rl(cases, knowledge);
//   f.lines[0].median_error;     // step time, each publisher's rows predicted by factors chosen without them
//   f.order_right, f.order_pairs // colocated against pools apart, where both were measured alike
//
// A row that does not say what a step holds (prompts, answers) is kept with the reason. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "evidence/rows/errors.hpp"
#include "ridge/base/result.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/rl/rl.hpp"
#include "rl/compose.hpp"

namespace ridge::evidence {

/// What was measured; 0 = not published.
struct RlMeasured {
  double step_s = 0, generation_s = 0, log_probs_s = 0, reference_s = 0, training_s = 0;
};

struct RlCase {
  std::string id;
  std::string source;
  std::string setting;  ///< rows of equal setting differ in their placement alone
  RlQuery query;
  RlMeasured measured;
  std::string refusal;  ///< why nothing can be predicted
};

/// The columns of data/evidence/more/rl.csv.
Result<std::vector<RlCase>> read_rl_cases(std::string csv, const std::string& name);

enum class RlMetric : std::uint8_t { step, generation, log_probs, reference, training };
inline constexpr std::size_t kRlMetrics = 5;
[[nodiscard]] std::string_view name(RlMetric metric);

struct RlRow {
  std::size_t case_index = 0;
  RlMetric metric = RlMetric::step;
  double measured = 0;
  Interval predicted;  ///< with the program's own factors
  Interval left_out;   ///< with factors chosen without this publisher's rows
};

struct RlFindings {
  std::vector<RlRow> rows;
  std::vector<FoldLine> lines;       ///< "step", "phases", or one of them, or a publisher
  std::vector<std::string> refused;  ///< "id: why"
  int order_pairs = 0, order_right = 0;
  rl::RlFactors chosen;  ///< by all rows
};

[[nodiscard]] RlFindings judge_rl(const std::vector<RlCase>& cases, const Knowledge& knowledge);

}  // namespace ridge::evidence
