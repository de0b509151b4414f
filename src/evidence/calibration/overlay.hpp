// Measurements of the user's own stack improve the rest: what its runs took, over what was predicted, load by load.
//
//   OverlayFit own = fit_overlay(calibration, mine, catalogue, engines);
//   write_file_atomically("own.toml", overlay_toml(own.calibration));      // later commands: --calibration own.toml
//
//   StackGain gain = overlay_gain(rows, ...);   // on left-out stacks of the bundled evidence: error before and after
//
// A run says most of runs like it (ridge/catalogue/own_runs.hpp). Deterministic; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evidence/cases/case.hpp"
#include "evidence/rows/errors.hpp"
#include "evidence/validate/validation.hpp"
#include "ridge/catalogue/calibration.hpp"
#include "ridge/catalogue/engine.hpp"

namespace ridge::evidence {

struct OverlayFit {
  Calibration calibration;
  ErrorSummary before;  ///< of the cases it was given
  ErrorSummary after;   ///< of each of them by the others; nothing if there is one
};

/// The calibration with the cases as runs of its own stack; `judge` fills the errors.
[[nodiscard]] OverlayFit fit_overlay(const Calibration& calibration, std::span<const Case> mine,
                                     const Catalogue& catalogue, const Engines& engines, bool judge = true);

/// The same for runs of `ridge bench`: predicted request by request, as they were measured, and with the host's time
/// and that of prompts as factors of their own (user.host, user.prefill): the first token, the gap between tokens and
/// the number of clients tell them apart. Three points of one server take about a second.
[[nodiscard]] OverlayFit learn_overlay(const Calibration& calibration, std::span<const Case> mine,
                                       const Catalogue& catalogue, const Engines& engines);

/// The runs, and the parameters of the group "user" that have moved from 1, as load_calibration reads overlays.
[[nodiscard]] std::string overlay_toml(const Calibration& calibration);

/// What one measurement would have gained on stacks nobody fitted to: for each stack (publisher, engine, device, model)
/// of the bundled evidence, an overlay from some of its rows, judged on its other rows.
struct StackGain {
  int stacks = 0;
  ErrorSummary before;
  ErrorSummary after;
};

/// Cases and the calibration that predicts them, fitted without their publisher for a fair figure.
struct LeftOutStacks {
  const Calibration* calibration;
  std::vector<Case> cases;
};

/// Stacks of fewer than `least` cases, or than twice the measured ones, are passed over.
[[nodiscard]] StackGain overlay_gain(std::span<const LeftOutStacks> parts, const Catalogue& catalogue,
                                     const Engines& engines, std::size_t own_rows = 1, std::size_t least = 4);

}  // namespace ridge::evidence
