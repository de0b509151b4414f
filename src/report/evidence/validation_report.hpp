// What validation found, as tables, JSON, figures and the page docs/accuracy.md.
//
//   Table t = summary_table(lines, "device");                    // one line per metric and device
//   std::vector<report::Scatter> figures = scatters(cases, rows);
//   std::string page = accuracy_markdown(findings);
//
// Pure; any thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/calibration/overlay.hpp"
#include "evidence/measured/bundle.hpp"
#include "evidence/predict/trace_replay.hpp"
#include "evidence/validate/decisions.hpp"
#include "evidence/validate/memory_cases.hpp"
#include "evidence/validate/plan_backtest.hpp"
#include "evidence/validate/validation.hpp"
#include "report/page/scatter.hpp"
#include "ridge/catalogue/calibration.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

/// One line per summary line. `grouped_by` heads the second column; empty: there is none.
[[nodiscard]] Table summary_table(std::span<const evidence::SummaryLine> lines, std::string_view grouped_by = {});

/// One line per figure, as somebody who measured a few asks for them: what was measured and predicted, and whether the
/// 80 % interval holds it.
[[nodiscard]] Table case_table(std::span<const evidence::Case> cases, std::span<const evidence::ResultRow> rows);

/// "3 of 4 figures are as predicted (inside the interval), 1 is better, none is worse."; empty if none is predicted.
/// More of what is counted by the second is better, less of everything else.
[[nodiscard]] std::string cases_text(std::span<const evidence::ResultRow> rows);

/// One figure per category with at least `least` predictions; a device has the same colour in all of them.
[[nodiscard]] std::vector<Scatter> scatters(std::span<const evidence::Case> cases,
                                            std::span<const evidence::ResultRow> rows, int least = 5);

/// Why a row is far off: the physics is missing, or the evidence is wrong.
struct Explanation {
  std::string cause;  ///< "evidence" or "physics"
  std::string text;
};
using Explanations = std::map<std::string, Explanation>;
/// Columns id, cause, explanation. Refuses another cause or an id given twice.
Result<Explanations> read_explanations(std::string csv, const std::string& name);

/// Everything that docs/accuracy.md tells. Spans must outlive the call.
struct ValidationFindings {
  std::span<const evidence::Case> cases;
  std::span<const evidence::ResultRow> rows;  ///< in sample, with the roofline
  struct LeftOut {
    std::string what;  ///< "models"
    std::vector<evidence::ResultRow> rows;
  };
  std::vector<LeftOut> cross_validated;
  struct Gain {
    std::string what;  ///< "inference"
    evidence::StackGain gain;
  };
  std::vector<Gain> gains;
  const Catalogue& catalogue;
  const Calibration& calibration;
  Explanations explanations;
  std::vector<evidence::TraceComparison> traces = {};    ///< logs of engines beside the simulator
  std::vector<evidence::MeasuredFinding> measured = {};  ///< devices that ridge-measure timed
  std::optional<evidence::DecisionFindings> decisions = {};
  std::vector<evidence::MemoryFinding> memory = {};
  std::vector<evidence::PlanTest> plans = {};
  std::string first_contact = {};  ///< a table, as Markdown
};

/// Rows of large error, worst first: by the logarithm of predicted/measured, one metric per case.
[[nodiscard]] std::vector<evidence::ResultRow> worst(std::span<const evidence::ResultRow> rows, std::size_t count);

/// How often the 80 % interval held, by class: dense, moe, new-device, new-source.
[[nodiscard]] Table interval_table(std::span<const ValidationFindings::LeftOut> cross_validated,
                                   std::span<const evidence::Case> cases, const Catalogue& catalogue);
/// Logs of engines, replayed request by request.
[[nodiscard]] Table trace_table(std::span<const evidence::TraceComparison> comparisons);
/// What a profile of ridge-measure gains, one line per family of points or kind of step.
[[nodiscard]] Table measured_gain_table(std::span<const evidence::MeasuredGain> gains);
/// Plans sized with a stated confidence, and how many of them would have held.
[[nodiscard]] Table plan_test_table(std::span<const evidence::PlanTest> tests);
/// Fitted parameters by group.
[[nodiscard]] Table parameter_table(const Calibration& calibration);

[[nodiscard]] std::string accuracy_markdown(const ValidationFindings& findings);

/// Scores of tables before anything was fitted to them (data/evidence/first_contact.csv), all vendors and each.
Result<std::string> first_contact_markdown(std::string csv, const std::string& name);
/// Layouts of training runs: how well their memory is known.
[[nodiscard]] Table memory_table(std::span<const evidence::MemoryFinding> findings);
/// Pairs of devices by how far they differ, and how often a stated probability held.
[[nodiscard]] std::vector<Table> decision_tables(const evidence::DecisionFindings& findings);

}  // namespace ridge::report
