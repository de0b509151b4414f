// Rows of training.csv as questions: what ran, never what was measured.
//
//   TrainingQuery q = read_training_query(row);   // row.refusal() says why not
//
// Neither step_time_s nor tokens_per_sec_per_gpu is read, nor the free text of `notes`. Empty cells stay unknown: the
// engine's usual choice. Pure; any thread.
#pragma once

#include "evidence/rows/case_row.hpp"
#include "ridge/perf/training.hpp"

namespace ridge::evidence {

[[nodiscard]] TrainingQuery read_training_query(CaseRow& row);

}  // namespace ridge::evidence
