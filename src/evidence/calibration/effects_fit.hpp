// What devices and software make of the physics, from errors on rows that the physics had not seen.
//
//   EffectFit fit = fit_effects({publishers_out, devices_out}, cases, catalogue, engines, calibration);
//   calibration.with_effects(fit.effects);                       // data/calibration/effects.toml
//   for (const JointFold& f : fit.folds) summary(cases, f.rows, GroupBy::vendor, catalogue);   // docs/accuracy.md
//
// log(measured/predicted time) = architecture + device + engine on that architecture + stack (who ran it) + rest, each
// with a spread of its own (EffectPriors), solved as one robust regression (Student-t weights). Chips whose kernels the
// physics was fitted to have next to no effect of their own: there a slow stack is the stack. Folds leave a publisher
// out, alone and together with its devices or its engine; the quantiles of an interval come from all of them, for a
// fold from the other publishers. Deterministic; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/cases/case.hpp"
#include "evidence/validate/validation.hpp"
#include "ridge/catalogue/calibration.hpp"
#include "ridge/catalogue/engine.hpp"

namespace ridge::evidence {

/// Standard deviations of logarithms. Chosen by looking at the open rows of other vendors, with publishers left out:
/// wider ones for engines or known chips, an intercept, and effects of vendors and model classes were tried and
/// predicted left-out publishers no better.
struct EffectPriors {
  double new_architecture = 0.25;    ///< whose kernels nobody measured
  double new_device = 0.15;          ///< within it
  double known_architecture = 0.03;  ///< the physics has parameters for it
  double sister = 0.1;               ///< another board of such a design that the physics has no row of
  double engine = 0.1;               ///< on an architecture
  double stack = 0.2;                ///< who ran it, where and how
  double tuned = 0.2;                ///< what records gain over what people run
  double board = 0.08;               ///< who ran it, of the power of a device: boards, sensors, cooling
};

/// Errors of predictions without effects.
struct UnseenRows {
  std::vector<ResultRow> publishers_out;  ///< physics fitted without the row's publisher, or never fitted to its table
  std::vector<ResultRow> devices_out;     ///< the same without its device
};

/// Predictions with effects and intervals, for rows left out together.
struct JointFold {
  std::string name;  ///< "publisher", "publisher and devices", "publisher and engine"
  std::vector<ResultRow> rows;
};

struct EffectFit {
  Effects effects;
  std::vector<JointFold> folds;
};

[[nodiscard]] EffectFit fit_effects(const UnseenRows& unseen, std::span<const Case> cases, const Catalogue& catalogue,
                                    const Engines& engines, const Calibration& calibration,
                                    const EffectPriors& priors = {});

/// The rows of `plain` for the cases that the physics is never fitted to, and of `left_out` for the others.
[[nodiscard]] std::vector<ResultRow> unseen_rows(std::span<const ResultRow> left_out, std::span<const ResultRow> plain,
                                                 std::span<const Case> cases);

}  // namespace ridge::evidence
