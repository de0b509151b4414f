// How sure a cost is: Monte-Carlo over its inputs, and which input moves it most.
//
//   CostScenario s{.cost = inputs};
//   const std::vector<InputSpread> spreads = usual_spreads(s, {.price_low = 1.9, .price_high = 4.3});
//   CostRisk risk = monte_carlo(s, spreads, 100'000, 7);     // 10 %, 50 %, 90 %
//   std::vector<TornadoLine> lines = tornado(s, spreads);    // widest first
//
// Each input is drawn so that 10 % of the draws are below its low and 10 % above its high end, with half on each side
// of the middle: a normal of the logarithm on either side, or of the value itself where it may be zero. Draws are
// independent. Reproducible from the seed; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ridge/base/patience.hpp"
#include "ridge/economics/cost.hpp"
#include "ridge/economics/goodput.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

/// A cost and the failures behind its goodput.
struct CostScenario {
  CostInputs cost;
  GoodputInputs failures;      ///< of a run; in closed form
  bool with_failures = false;  ///< goodput comes from `failures`
};

/// Dollars per million tokens, or per useful GPU-hour where nobody said the tokens. Noexcept, allocates nothing.
[[nodiscard]] double scenario_cost(const CostScenario& scenario) noexcept;
/// "$ per million tokens" or "$ per useful GPU-hour".
[[nodiscard]] std::string_view scenario_unit(const CostScenario& scenario);

struct InputSpread {
  std::string name;
  double& (*field)(CostScenario&) = nullptr;
  double low = 0, high = 0;        ///< 80 % of its values
  double least = 0, most = 1e300;  ///< it can never be outside of
};

struct MarketSpread {
  double price_low = kUnknown, price_high = kUnknown;  ///< of the rent; unknown = 25 % either way
  Interval tokens_per_s;                               ///< predicted; zeros = 10 % either way
};
/// What is usually not known well, and how well, for the scenario's mode.
[[nodiscard]] std::vector<InputSpread> usual_spreads(const CostScenario& scenario, const MarketSpread& market);

struct CostRisk {
  Interval cost;  ///< 10 %, 50 % and 90 % of the draws
  double mean = 0;
  int draws = 0;
};
/// Of `draws`, at most limits::kDraws; fewer (CostRisk::draws) once patience is over.
[[nodiscard]] CostRisk monte_carlo(const CostScenario& scenario, std::span<const InputSpread> spreads, int draws,
                                   std::uint64_t seed, const Patience& patience = {});

struct TornadoLine {
  std::string name;
  double low_input = 0, mid_input = 0, high_input = 0;
  double at_low = 0, at_high = 0;  ///< the cost there, all else in the middle
};
[[nodiscard]] std::vector<TornadoLine> tornado(const CostScenario& scenario, std::span<const InputSpread> spreads);

}  // namespace ridge
