// Rows of inference.csv and consumer.csv as questions: what ran, never what was measured.
//
//   AssumedWorkloads workloads = *read_assumed_workloads(csv, "assumed_workloads.csv");
//   InferenceQuery q = read_inference_query(row, workloads);   // row.refusal() says why not
//
// A closed-loop row's `batch` is an outcome: it is not read. Empty cells stay unknown (the engine's default) except the
// input length, which has to be assumed by data set. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evidence/rows/case_row.hpp"
#include "ridge/base/result.hpp"
#include "ridge/perf/inference.hpp"

namespace ridge::evidence {

/// What a benchmark's load is taken to be like where its rows cannot say it.
struct AssumedWorkload {
  std::string id_contains;  ///< the first entry whose text occurs in the id of a row holds
  double isl = 0;           ///< where the cell is empty
  double osl = 0;           ///< likewise; 0 = not assumed
  double batch = 0;         ///< sequences a device of a decode pool, likewise
  double natural_text = 0;  ///< 1: prompts that people wrote
  bool greedy = false;      ///< the likeliest token is taken
  bool queued = false;      ///< more requests wait than run
  bool median_gap = false;  ///< tpot is the median gap between tokens, not the mean time per token
  double prompts = 0;       ///< different prompts in the list of requests; 0 = all
  struct Repeat {
    double clients = 0;  ///< up to so many, or up to so many requests a second
    double times = 1;    ///< the list is sent so often; of open loops, for the so-manieth time
  };
  std::vector<Repeat> repeats;  ///< by rising number of clients
};
using AssumedWorkloads = std::vector<AssumedWorkload>;

/// The entry that holds for a row of that id, or nullptr.
[[nodiscard]] const AssumedWorkload* find_workload(const AssumedWorkloads& workloads, std::string_view id);

/// Columns id_contains, isl, osl, batch, natural_text, greedy, queued, median_gap, prompts, repeats ("512:1 1024:2":
/// the list twice for up to 1,024 clients), source, date, why. An entry without isl is as the next one whose text
/// occurs in its own, but for what it says itself. Refuses a missing column, an empty cell or a number out of range.
Result<AssumedWorkloads> read_assumed_workloads(std::string csv, const std::string& name);

/// The mode of a row as the bundled tables write it. Left out, it is told by what the row has: concurrency, batch, or
/// neither ("closed-loop", "fixed-batch", "offline").
[[nodiscard]] std::string mode_name(const CaseRow& row);

[[nodiscard]] InferenceQuery read_inference_query(CaseRow& row, const AssumedWorkloads& workloads);

}  // namespace ridge::evidence
