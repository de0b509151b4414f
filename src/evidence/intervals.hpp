// The 80 % interval of each class of question, from errors on what the fit had not seen.
//
//   std::vector<Residual> seen = residuals(cv, cases, catalogue);                 // of each cross-validation
//   std::vector<IntervalClass> classes = interval_classes(seen);                  // what intervals.toml holds
//   apply_intervals(cv, residuals, cases, catalogue);                             // each row from folds other than its own
//
// A user's question is about a model and a stack nobody measured, so that "dense" and "moe" pool what was left out by model
// and by publisher; "new-device" is what was left out by device. Keys are "output_tok_s/offline", as prediction asks for
// them, and "output_tok_s" for loads without evidence. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evidence/cross_validation.hpp"
#include "ridge/calibration.hpp"

namespace ridge::evidence {

/// One error on unseen evidence.
struct Residual {
  std::string key;        ///< "tpot_ms/closed-loop"
  std::string resembles;  ///< "dense", "moe", "new-device"
  std::string fold;       ///< what was left out
  double log_ratio = 0;   ///< log(measured/predicted)
};

/// The key under which prediction looks up the interval of that figure; empty if it follows another one's.
[[nodiscard]] std::string interval_key(const Case& c, Metric metric);

[[nodiscard]] std::vector<Residual> residuals(const CrossValidation& cv, std::span<const Case> cases,
                                              const Catalogue& catalogue);

/// Classes with at least `least` residuals, sorted by key and class.
[[nodiscard]] std::vector<IntervalClass> interval_classes(std::span<const Residual> residuals, int least = 12);

/// Gives every predicted row of `cv` the interval of its class, made from the residuals of other folds only, so that how
/// often it holds is a fair count. `pool` are the residuals of all cross-validations.
void apply_intervals(CrossValidation& cv, std::span<const Residual> pool, std::span<const Case> cases,
                     const Catalogue& catalogue);

}  // namespace ridge::evidence
