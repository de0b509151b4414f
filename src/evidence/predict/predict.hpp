// The prediction for each target of a case, in the unit of its column.
//
//   std::vector<Prediction> p = predict(a_case, knowledge, Basis::calibrated);
//   p[0].value.mid;    // beside a_case.targets[0].measured
//   p[0].refusal;      // "out of memory: short by 12.1 GB per device", value is then NaN
//
// Reads the inputs of a case only. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evidence/cases/case.hpp"
#include "evidence/settings/published_settings.hpp"
#include "ridge/base/patience.hpp"
#include "ridge/catalogue/response.hpp"
#include "ridge/perf/inference.hpp"

namespace ridge::evidence {

enum class Basis : std::uint8_t {
  calibrated,  ///< `estimate`; `simulate` for first tokens of closed loops, and where requests come by themselves
  formula,     ///< the same without playing closed loops: what is fitted
  roofline,    ///< datasheet only: the engine `ideal`
  simulated,   ///< closed loops request by request, the rest as calibrated
};

struct Prediction {
  Interval value;          ///< NaN if refused
  std::string refusal;     ///< "kind: detail", or empty
  Response response = {};  ///< to a slower engine
};

/// `settings` are read where requests are played.
[[nodiscard]] std::vector<Prediction> predict(const Case& c, const Knowledge& knowledge, Basis basis,
                                              const PublishedSettings& settings = {});

/// What a case of serving or training asks about, for runs of the user's own; nullopt if it is refused.
[[nodiscard]] std::optional<OwnPoint> own_point(const Case& c, const Knowledge& knowledge);

/// The same for many cases over `threads` threads (0 = as many as there are, at most limits::kThreads); the result does
/// not depend on how many. Cases that patience does not last for get nothing.
[[nodiscard]] std::vector<std::vector<Prediction>> predict_all(std::span<const Case> cases, const Knowledge& knowledge,
                                                               Basis basis, int threads = 0,
                                                               const PublishedSettings& settings = {},
                                                               const Patience& patience = {});

}  // namespace ridge::evidence
