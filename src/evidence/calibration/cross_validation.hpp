// Errors on what a fit has not seen: whole models, whole devices or whole publishers left out.
//
//   FullFit all = fit_all(calibration, {"kernels", "inference", "power"}, cases, catalogue, engines);
//   std::vector<ResultRow> rows = cross_validate(all, CaseKind::inference, FoldBy::models, cases, catalogue, engines);
//
// Each row's prediction comes from parameters refitted without its fold; a device or publisher is left out of every
// group (its kernels too), a model of those it appears in. Intervals are not filled in: see intervals.hpp.
// Deterministic.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "evidence/fit/calibrate.hpp"
#include "evidence/validate/folds.hpp"
#include "evidence/validate/validation.hpp"

namespace ridge::evidence {

/// The fit to all rows and the slopes there.
struct FullFit {
  Calibration calibration;
  std::map<std::string, FitResult, std::less<>> groups;
};

/// Fits the groups one after the other, each from its priors.
[[nodiscard]] FullFit fit_all(const Calibration& calibration, std::span<const std::string_view> groups,
                              std::span<const Case> cases, const Catalogue& catalogue, const Engines& engines);

/// The groups whose parameters predictions of that kind depend on, in the order of fitting.
[[nodiscard]] std::span<const std::string_view> groups_of(CaseKind kind);

struct FoldResult {
  std::string name;
  std::size_t cases = 0;
};

struct CrossValidation {
  FoldBy by = FoldBy::models;
  std::vector<FoldResult> folds;
  std::vector<ResultRow> rows;       ///< of all fitted cases of the kind, in their order
  std::vector<std::size_t> fold_of;  ///< position in `folds` for each row
  std::vector<Calibration> fitted;   ///< the parameters without each fold
};

[[nodiscard]] CrossValidation cross_validate(const FullFit& all, CaseKind kind, FoldBy by, std::span<const Case> cases,
                                             const Catalogue& catalogue, const Engines& engines, int threads = 0);

/// Fills in what the roofline and the fit to all rows say, from the rows of a plain validation of the same cases.
void put_beside(CrossValidation& cv, std::span<const ResultRow> plain);

}  // namespace ridge::evidence
