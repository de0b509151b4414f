// What MLPerf results say, for people and for programs.
//
//   Table table = mlperf_group_table(summaries.groups, keys, mlperf::Per::accelerator, mlperf::Statistic::mean);
//   std::string svg = bars_svg(mlperf_bars(summaries.groups, ...));
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/chart/bars.hpp"
#include "ridge/mlperf/coupling.hpp"
#include "ridge/mlperf/mlperf_analysis.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

inline constexpr std::string_view kMlperfSchema = "ridge.mlperf/1";

/// Whether `unit` and its rate can be shown with as many digits as tables of MLPerf do.
[[nodiscard]] Cell rate_cell(double value);

[[nodiscard]] Table mlperf_group_table(const std::vector<mlperf::Group>& groups, const mlperf::Summary& summary);
[[nodiscard]] Table mlperf_row_table(const mlperf::RowList& rows, const mlperf::Summary& summary);
/// Rules with the number of rows each touched; with `rule`, every row that one touched.
[[nodiscard]] Table mlperf_rule_table(const mlperf::Results& results);
[[nodiscard]] Table mlperf_repair_table(const mlperf::Results& results, std::size_t rule);
[[nodiscard]] Table mlperf_ratio_table(const std::vector<mlperf::Ratio>& ratios);
/// Two accelerators that all rows share, for people: named once, with the median of all ratios; empty without rows.
[[nodiscard]] Document mlperf_compared_page(const std::vector<mlperf::Ratio>& ratios);
/// The same with what is predicted beside it, and the part of that which the fabric has.
[[nodiscard]] Table mlperf_coupling_table(const std::vector<mlperf::Coupling>& couplings);
/// "The predicted interval holds 25 of 33 measured ratios; ...", one sentence for each kind of model and scenario.
[[nodiscard]] std::vector<std::string> mlperf_coupling_sentences(const std::vector<mlperf::Coupling>& couplings);
[[nodiscard]] Table mlperf_generation_table(const std::vector<mlperf::Generation>& generations);
[[nodiscard]] Table mlperf_share_table(const std::vector<mlperf::ScenarioShare>& shares);
[[nodiscard]] Table mlperf_elasticity_table(const std::vector<mlperf::Elasticity>& elasticities);
/// Accelerators down, rounds across.
[[nodiscard]] Table mlperf_trend_table(const std::vector<mlperf::Group>& groups, const std::string& unit);
/// One line per submission; those with something measured to compare with.
[[nodiscard]] Table mlperf_prediction_table(const std::vector<mlperf::Explanation>& explanations);
/// The same of training: what the measured time holds at the predicted rate.
[[nodiscard]] Table mlperf_training_table(const std::vector<mlperf::Explanation>& explanations);
[[nodiscard]] Document mlperf_explanation_page(const mlperf::Explanation& explanation);
[[nodiscard]] Json mlperf_explanation_json(const mlperf::Explanation& explanation);

/// One figure for each benchmark of the groups; scenarios are its colours. The first key names the lines.
[[nodiscard]] std::vector<Bars> mlperf_bars(const std::vector<mlperf::Group>& groups, const mlperf::Summary& summary);
/// One figure for each benchmark and scenario. The groups are by accelerator and round.
[[nodiscard]] std::vector<Trend> mlperf_trends(const std::vector<mlperf::Group>& groups,
                                               const mlperf::Summary& summary);

}  // namespace ridge::report
