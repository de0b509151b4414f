// Training of a diffusion model, for people and for programs.
//
//   print(to_terminal(diffusion_training_page(answer, steps), style));
//   print(diffusion_training_json(answer).text());       // docs/schema/estimate.json, kind "diffusion-training"
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "evidence/cases/diffusion_training_cases.hpp"
#include "ridge/perf/diffusion_training.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

/// `images`: of the whole training, 0 = nobody said.
[[nodiscard]] Document diffusion_training_page(const DiffusionTrainingAnswer& answer, double images);
[[nodiscard]] Json diffusion_training_json(const DiffusionTrainingAnswer& answer, double images);
/// One row for each predicted quantity: what, unit, low, mid, high.
[[nodiscard]] Table diffusion_training_table(const DiffusionTrainingAnswer& answer);
/// Why it cannot run and what would, in a sentence.
[[nodiscard]] std::string diffusion_training_refusal(const DiffusionTrainingAnswer& answer);

/// `ridge validate --diffusion-training`.
[[nodiscard]] Document diffusion_training_findings_page(const evidence::DiffusionTrainingFindings& findings);
[[nodiscard]] Table diffusion_training_findings_table(const evidence::DiffusionTrainingFindings& findings);
/// Every row: id, measured, predicted, the same left out.
[[nodiscard]] Table diffusion_training_rows_table(const evidence::DiffusionTrainingFindings& findings,
                                                  const std::vector<evidence::DiffusionTrainingCase>& cases);

}  // namespace ridge::report
