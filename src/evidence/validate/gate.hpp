// The prediction-diff gate: a fixed grid of plans with the predictions that were committed for them.
//
//   Result<GateTable> table = read_gate(csv, "gate/inference.csv", workloads);
//   GateReport report = run_gate(*table, knowledge);      // what moved by more than half a percent
//   std::string updated = updated_gate(*table, report);   // the file as it should be committed now
//
// A gate table has the columns of evidence; its targets are predictions, and `refusal` says why there are none. Moving
// predictions is fine if the file moves with them in the same commit. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "evidence/cases/inference_cases.hpp"
#include "evidence/predict/predict.hpp"
#include "ridge/base/csv.hpp"

namespace ridge::evidence {

inline constexpr double kGateTolerance = 0.005;

struct GateTable {
  CsvTable csv;
  std::vector<Case> cases;  ///< targets are those the gate watches; measured is what was committed, NaN if refused
};

/// Refuses what read_cases refuses, a table without the columns it watches, and a row that cannot be read.
Result<GateTable> read_gate(std::string csv, const std::string& name, const AssumedWorkloads& workloads);

struct GateChange {
  std::size_t case_index = 0;
  Metric metric = Metric::step_time_s;
  double before = 0;  ///< NaN: refused
  double now = 0;     ///< NaN: refused
  std::string refusal;
};

struct GateReport {
  std::vector<std::vector<Prediction>> predictions;  ///< per case and target
  int compared = 0;
  std::vector<GateChange> moved;          ///< beyond the tolerance
  std::vector<GateChange> refused_now;    ///< was predicted, is not any more: never acceptable
  std::vector<GateChange> predicted_now;  ///< was refused

  [[nodiscard]] bool clean() const { return moved.empty() && refused_now.empty() && predicted_now.empty(); }
};

[[nodiscard]] GateReport run_gate(const GateTable& table, const Knowledge& knowledge, int threads = 0);

/// The table with its targets and refusals replaced by the predictions of the report.
[[nodiscard]] std::string updated_gate(const GateTable& table, const GateReport& report);

/// One line per mode and metric that moved, largest first: "inference offline output_tok_s: 12 of 60 moved, +1.2 % in
/// the median, +8.0 % at most (gate-0113)"; then the refusals one by one.
[[nodiscard]] std::vector<std::string> gate_lines(const GateTable& table, const GateReport& report);

}  // namespace ridge::evidence
