// Refitting everything: parameters group by group, cross-validation, intervals, and the files that hold them.
//
//   CalibrationRun run = calibrate(calibration, groups, cases, catalogue, engines);
//   for (const auto& [name, text] : run.files) write_file_atomically(directory + "/" + name, text);
//
// Deterministic: the same evidence gives the same files, whatever was in them before. Takes minutes. One call at a
// time.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "evidence/calibration/cross_validation.hpp"
#include "evidence/calibration/effects_fit.hpp"
#include "evidence/calibration/intervals.hpp"

namespace ridge::evidence {

struct CrossValidated {
  FoldBy by = FoldBy::models;
  CaseKind kind = CaseKind::inference;
  CrossValidation cv;  ///< with intervals made from other folds
};

/// Cross-validates each kind in each way; intervals pool what all of them found.
[[nodiscard]] std::vector<CrossValidated> cross_validate_all(const FullFit& all, std::span<const CaseKind> kinds,
                                                             std::span<const FoldBy> ways, std::span<const Case> cases,
                                                             const Catalogue& catalogue, const Engines& engines,
                                                             std::vector<Residual>& pool);

/// The rows of all kinds that were left out in one way.
[[nodiscard]] std::vector<ResultRow> rows_left_out(std::span<const CrossValidated> all, FoldBy by);

/// Predictions with effects for what was left out together, from cross-validations of training and inference by source
/// and by device; empty unless all four are there. `neutral` has no effects.
[[nodiscard]] EffectFit joint_folds(std::span<const CrossValidated> all, const Calibration& neutral,
                                    std::span<const Case> cases, const Catalogue& catalogue, const Engines& engines);

struct CalibrationRun {
  Calibration calibration;
  std::map<std::string, std::string> files;  ///< "inference.toml" and its text
  std::vector<CrossValidated> cross_validated;
  std::vector<JointFold> joint;  ///< what was left out together, where training and inference were both fitted
};

/// Fits `groups` (of kGroups, in order) and leaves others as they are. Intervals are renewed for what was
/// cross-validated and kept for the rest; without cross-validation all are kept.
[[nodiscard]] CalibrationRun calibrate(const Calibration& calibration, std::span<const std::string_view> groups,
                                       bool with_cross_validation, std::span<const Case> cases,
                                       const Catalogue& catalogue, const Engines& engines);

/// Kinds of cases whose predictions depend most on the group.
[[nodiscard]] std::vector<CaseKind> kinds_of(std::span<const std::string_view> groups);

}  // namespace ridge::evidence
