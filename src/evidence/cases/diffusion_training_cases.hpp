// Steps of training diffusion models as MLPerf's submitters logged them, beside what is predicted for them.
//
//   std::vector<DiffusionTrainingCase> cases = *read_diffusion_training_cases(csv, "diffusion_training.csv");
//   DiffusionTrainingFindings f = judge_diffusion_training(cases, knowledge);
//   f.lines[0].median_error;    // step time, each submitter's rows predicted by values chosen without them
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "evidence/rows/errors.hpp"
#include "ridge/base/result.hpp"
#include "ridge/perf/diffusion_training.hpp"

namespace ridge::evidence {

struct DiffusionTrainingCase {
  std::string id;
  std::string submitter;
  DiffusionTrainingQuery query;
  double step_s = 0;    ///< measured
  std::string refusal;  ///< why nothing can be predicted
};

/// The columns of data/evidence/more/diffusion_training.csv.
Result<std::vector<DiffusionTrainingCase>> read_diffusion_training_cases(std::string csv, const std::string& name);

struct DiffusionTrainingRow {
  std::size_t case_index = 0;
  Interval predicted;  ///< with the program's own values
  Interval left_out;   ///< with values chosen without this submitter's rows
};

struct DiffusionTrainingFindings {
  std::vector<DiffusionTrainingRow> rows;
  std::vector<FoldLine> lines;       ///< "all", a model, or a submitter
  std::vector<std::string> refused;  ///< "id: why"
  DiffusionTrainingFactors chosen;   ///< by all rows
};

[[nodiscard]] DiffusionTrainingFindings judge_diffusion_training(const std::vector<DiffusionTrainingCase>& cases,
                                                                 const Knowledge& knowledge);

}  // namespace ridge::evidence
