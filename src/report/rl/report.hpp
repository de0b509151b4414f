// A step of reinforcement learning, for people and for programs.
//
//   print(to_terminal(rl_page(answer, {.usd_per_gpu_hour = 2.4}), style));   // phases, a timeline, what to change
//   print(rl_json(answer, options).text());                                  // docs/schema/estimate.json, kind "rl"
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evidence/cases/rl_cases.hpp"
#include "report/page/provenance.hpp"
#include "ridge/report/report.hpp"
#include "ridge/rl/rl.hpp"

namespace ridge::report {

struct RlReportOptions {
  std::optional<double> usd_per_gpu_hour;
  bool bars = true;  ///< the timeline in letters
};

[[nodiscard]] Document rl_page(const RlAnswer& answer, const RlReportOptions& options);
/// docs/schema/estimate.json, kind "rl".
[[nodiscard]] Json rl_json(const RlAnswer& answer, const RlReportOptions& options);
/// The same page for a browser, with the timeline drawn.
[[nodiscard]] std::string rl_html(const RlAnswer& answer, const RlReportOptions& options, const Provenance& provenance);
/// The step over time, a lane for each pool.
[[nodiscard]] std::string rl_timeline_svg(const RlAnswer& answer);
/// One row for each predicted quantity: what, unit, low, mid, high.
[[nodiscard]] Table rl_table(const RlAnswer& answer);
/// "32 × h100-sxm, colocated, engines of 1, trained TP 2, DP 16".
[[nodiscard]] std::string rl_text(const RlAnswer& answer);
/// Whose devices a span is on: "all", "policy", "trainers", "generators", "critic".
[[nodiscard]] std::string_view rl_pool(const RlAnswer& answer, int pool);
/// One line of the timeline: where a span stands in a step, in `width` characters.
[[nodiscard]] std::string span_bar(const RlSpan& span, double step, int width);

/// A plan of `ridge plan rl` with what its devices cost.
struct RlPick {
  RlAnswer answer;
  std::optional<double> usd_per_gpu_hour;
  /// Of one step, all devices; nothing without a price.
  [[nodiscard]] std::optional<double> usd_per_step() const;
};
[[nodiscard]] Table rl_plan_table(const std::vector<RlPick>& picks);
[[nodiscard]] Document rl_plan_page(const std::vector<RlPick>& picks, std::size_t rows);
/// docs/schema/plan.json, kind "rl".
[[nodiscard]] Json rl_plan_json(const std::vector<RlPick>& picks);

/// `ridge validate --rl`.
[[nodiscard]] Document rl_findings_page(const evidence::RlFindings& findings);
[[nodiscard]] Table rl_findings_table(const evidence::RlFindings& findings);
/// Every figure: id, metric, measured, predicted, the same left out.
[[nodiscard]] Table rl_rows_table(const evidence::RlFindings& findings, const std::vector<evidence::RlCase>& cases);

}  // namespace ridge::report
