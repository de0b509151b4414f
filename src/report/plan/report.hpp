// The verdict on a goal, for people and for programs.
//
//   print(to_terminal(plan_page(quest, verdict, options), style));
//   print(plan_json(quest, verdict, options).text());                 // docs/schema/plan.json
//
// Pure; any thread.
#pragma once

#include <string>

#include "report/page/provenance.hpp"
#include "ridge/report/report.hpp"
#include "ridge/search/plan.hpp"
#include "search/run.hpp"

namespace ridge::report {

inline constexpr std::string_view kPlanSchema = "ridge.plan/1";

/// What depends on clock and threads, under the key `statistics` only.
struct PlanStatistics : search::RunStatistics {
  std::string stopped = {};  ///< why it is not complete
};

struct PlanReportOptions {
  PlanStatistics statistics;
  int explain = 0;  ///< the plan of this line in full, 0 = none
  std::size_t rows = 12;
  bool rows_said = false;  ///< else a table ends before the first plan that was not simulated
  bool why = false;        ///< each device that was left out, and how it could come in
  std::string again;       ///< the command that asks this, for "Next"
};

[[nodiscard]] Document plan_page(const ServingQuest& quest, const ServingVerdict& verdict,
                                 const PlanReportOptions& options);
[[nodiscard]] Document plan_page(const TrainingQuest& quest, const TrainingVerdict& verdict,
                                 const PlanReportOptions& options);
[[nodiscard]] Json plan_json(const ServingQuest& quest, const ServingVerdict& verdict,
                             const PlanReportOptions& options);
[[nodiscard]] Json plan_json(const TrainingQuest& quest, const TrainingVerdict& verdict,
                             const PlanReportOptions& options);
/// The page with its charts, for a browser or paper.
[[nodiscard]] std::string plan_html(const ServingQuest& quest, const ServingVerdict& verdict,
                                    const PlanReportOptions& options, const Provenance& provenance);
[[nodiscard]] std::string plan_html(const TrainingQuest& quest, const TrainingVerdict& verdict,
                                    const PlanReportOptions& options, const Provenance& provenance);
[[nodiscard]] Table plan_table(const ServingVerdict& verdict);
/// The pairs of pools among its alternatives.
[[nodiscard]] Table plan_pools_table(const ServingVerdict& verdict);
[[nodiscard]] Table plan_table(const TrainingVerdict& verdict);

/// "4 × TP2", "2 × TP4 PP2".
[[nodiscard]] std::string layout_text(const ServingPlan& plan);
/// "nvfp4, fp8 KV".
[[nodiscard]] std::string formats_text(const ServingPlan& plan);
/// "Serve llama3.3-70b · 50 requests/s (50k tok/s in, 12.5k out) · TTFT ≤ 1.00 s · with 80 %".
[[nodiscard]] std::string goal_text(const ServingGoal& goal);
[[nodiscard]] std::string goal_text(const TrainingGoal& goal);
/// "TP8 PP4 DP16, micro-batch 2".
[[nodiscard]] std::string layout_text(const TrainingPick& pick);

}  // namespace ridge::report
