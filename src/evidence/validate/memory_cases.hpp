// The memory of training layouts: what was taken beside what is predicted, and whether what ran is called feasible.
//
//   std::vector<MemoryCase> layouts = *read_memory_cases(csv, "memory_fit.csv");
//   MemoryFinding f = judge_memory(layouts, knowledge);
//   f.median_error;    // of |predicted/taken - 1| over what ran
//   f.ran_refused;     // share of what ran that is called out of memory
//
// A failed run need not have been out of memory: `found` is the share of failed runs that are predicted to be. Pure;
// any thread.
#pragma once

#include <string>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/perf/training.hpp"

namespace ridge::evidence {

struct MemoryCase {
  TrainingQuery query;
  bool ran = false;
  double taken = 0;  ///< bytes of the fullest device; 0 if it did not run
};

struct MemoryFinding {
  std::string what;  ///< "all", "tp 8", ...
  int ran = 0, failed = 0;
  double median_error = 0, p90_error = 0, bias = 0;
  double ran_refused = 0;  ///< share
  double found = 0;        ///< share of failed runs that are predicted not to fit
};

/// Columns model, device, gpus, seq_len, global_batch, micro_batch, tp, pp, dp, zero, ran, and memory_gb (of 2^30
/// bytes) or memory_bytes; engine (left out: nanotron), task (sft, or lora with adapters of rank 16) and recompute
/// (none, full).
Result<std::vector<MemoryCase>> read_memory_cases(std::string csv, const std::string& name);

/// All of them, then by software, by tensor- and by pipeline-parallel degree.
[[nodiscard]] std::vector<MemoryFinding> judge_memory(const std::vector<MemoryCase>& cases, const Knowledge& knowledge);

}  // namespace ridge::evidence
