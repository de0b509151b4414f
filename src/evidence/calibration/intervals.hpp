// The 80 % interval of each class of question, from errors on what the fit had not seen.
//
//   std::vector<Residual> pool = residuals(cv, cases, catalogue);      // of each cross-validation
//   Tails tails = fair_tails(pool);                                    // how far out the bounds have to be
//   std::vector<IntervalClass> classes = interval_classes(pool, tails);  // what intervals.toml holds
//   apply_intervals(cv, pool, tails, cases, catalogue);                // each row from folds other than its own
//
// A quantile of few folds covers less of the next fold than its name says. So the bounds are taken a little further
// out: as far as needed for 80 % of each fold, on average, to be inside bounds made from the others.
//
// A user's question is about a model and a stack nobody measured, so that "dense" and "moe" pool what was left out by
// model and by publisher; "new-device" is what was left out by device. Keys are "output_tok_s/offline", as prediction
// asks for them, and "output_tok_s" for loads without evidence. Pure; any thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "evidence/calibration/cross_validation.hpp"
#include "ridge/catalogue/calibration.hpp"

namespace ridge::evidence {

/// One error on unseen evidence.
struct Residual {
  std::string key;        ///< "tpot_ms/closed-loop"
  std::string resembles;  ///< "dense", "moe", "new-device"
  std::string fold;       ///< what was left out
  std::size_t case_index = 0;
  double log_ratio = 0;  ///< log(measured/predicted)
};

/// Share of the residuals of a class that is left outside at either end; 0.1 for classes that are not named.
using Tails = std::map<std::string, double, std::less<>>;

/// The key under which prediction looks up the interval of that figure; empty if it follows another one's.
[[nodiscard]] std::string interval_key(const Case& c, Metric metric);

[[nodiscard]] std::vector<Residual> residuals(const CrossValidation& cv, std::span<const Case> cases,
                                              const Catalogue& catalogue);

/// For each class the tail, of 0.1 down to 0.03, at which bounds made without a fold hold nearest to 80 % of it.
[[nodiscard]] Tails fair_tails(std::span<const Residual> pool);

/// Classes with at least `least` residuals, sorted by key and class.
[[nodiscard]] std::vector<IntervalClass> interval_classes(std::span<const Residual> pool, const Tails& tails = {},
                                                          int least = 12);

/// Gives every predicted row of `cv` the interval of its class, made without any residual of the cases of its fold, so
/// that how often it holds is a fair count. `pool` are the residuals of all cross-validations.
void apply_intervals(CrossValidation& cv, std::span<const Residual> pool, const Tails& tails,
                     std::span<const Case> cases, const Catalogue& catalogue);

}  // namespace ridge::evidence
