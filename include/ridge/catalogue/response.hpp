// How a figure answers to an engine that is slower or faster than predicted, and how wide that makes its interval.
//
//   Response r{.faster = 0.9, .slower = 6};         // a queue near saturation
//   spread(sureness, "ttft_ms/open-loop", true, r);  // {0.7, 4.8}
//
// A queue near saturation answers with much more than the change of the engine's time, the output of a server that is
// not full with nothing. Values; any thread.
#pragma once

#include <string_view>

#include "ridge/catalogue/effects.hpp"

namespace ridge {

/// The change of the logarithm of a figure over that of the engine's time, on either side; of a rate, of one over it.
struct Response {
  double faster = 1, slower = 1;

  /// The change of the figure for a change of the time, both logarithms.
  [[nodiscard]] double to(double slowness) const { return slowness * (slowness > 0 ? slower : faster); }
};

/// Standard deviation of the logarithm of a figure: slowness that its runs share, and what scatters from run to run,
/// which a queue makes larger too.
[[nodiscard]] double deviation(double shared_variance, double run_variance, double response);

/// Sureness::spread of a figure that answers like that.
[[nodiscard]] Spread80 spread(const Sureness& sure, std::string_view metric, bool grows, const Response& response);

}  // namespace ridge
