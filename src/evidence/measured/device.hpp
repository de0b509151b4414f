// A measured device instead of an assumed one: what a profile says of one device of the catalogue, and of no other.
//
//   Result<std::string> id = device_like(profile, catalogue);                  // "NVIDIA H200" → "h200-sxm"
//   OverlayText overlay = measured_overlay(profile, *catalogue.device(*id), catalogue);   // facts; an architecture of
//   its own MeasuredFit fit = fit_measured(profile, *id, calibration, catalogue_with_overlay, engines);
//   fit.calibration;                                // the same for all other devices
//
// The device gets an architecture of its own ("hopper-measured"), which inherits what is known of its parent's; the
// factors of that scope are fitted to the profile's points, and those of the engine `native` on it to the profile's
// steps. Whatever a profile does not measure stays as the parent's. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evidence/kernels/cases.hpp"
#include "measure/profile.hpp"
#include "ridge/base/result.hpp"
#include "ridge/catalogue/calibration.hpp"
#include "ridge/catalogue/catalogue.hpp"
#include "ridge/catalogue/engine.hpp"

namespace ridge::evidence {

/// The device of the catalogue that the profile was measured on: `like` of the profile, or by name, memory and cores.
/// Refuses (bad_input) a profile of a device that the catalogue does not have, naming the nearest.
Result<std::string> device_like(const measure::Profile& profile, const Catalogue& catalogue);

/// What the profile's device is, as an overlay of the catalogue: replaces `device`.
[[nodiscard]] OverlayText measured_overlay(const measure::Profile& profile, const Device& device);

/// The points of a profile that operator models predict, as cases of the device `id`. Norms and activations count as
/// streams of bytes; bare copies and caches are left out, because no operator of a model is one.
[[nodiscard]] std::vector<KernelCase> measured_cases(const measure::Profile& profile, const std::string& id);

/// What a family of operators gained: medians and worst of |predicted/measured - 1|.
struct MeasuredGain {
  std::string family;  ///< "gemm bf16", "attention, prefill", "norms and activations", "steps", ...
  int points = 0;
  double median_before = 0, worst_before = 0;
  double median_after = 0, worst_after = 0;
};

/// From logarithms of predicted/measured of the same points, before and after.
[[nodiscard]] MeasuredGain gain_of(std::string family, std::vector<double> before, std::vector<double> after);

struct MeasuredFit {
  Calibration calibration;   ///< all parameters, with those of the measured device added
  std::string architecture;  ///< "hopper-measured"
  std::string parent;        ///< "hopper": whose parameters they stand beside
  std::vector<MeasuredGain> gains;
};

/// `catalogue` already has the overlay. Refuses (refused) a profile without any point or step that can be used.
Result<MeasuredFit> fit_measured(const measure::Profile& profile, const std::string& id, const Calibration& calibration,
                                 const Catalogue& catalogue, const Engines& engines);

/// The fitted factors for `load_calibration`: as those of the parent architecture, for --calibration.
[[nodiscard]] std::string measured_parameters_toml(const MeasuredFit& fit, const measure::Profile& profile);

}  // namespace ridge::evidence
