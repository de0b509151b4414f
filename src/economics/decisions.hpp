// What to choose: break-even, payback, perf per TCO, fair prices, buy now, lease or wait.
//
//   std::optional<double> u = break_even_utilisation(own, rent);       // above it, owning is cheaper
//   double faster = required_speedup(gb200, h100);                     // 1.6: TCO over TCO
//   std::vector<Acquisition> ways = acquisitions({...});               // cheapest first
//
// Over the same inputs as evaluate(). Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ridge/economics/cost.hpp"

namespace ridge {

/// The share of the time above which reserved capacity costs less for each useful hour than capacity that is paid only
/// while it is used. Nothing if it never does; 0 if it always does.
[[nodiscard]] std::optional<double> break_even_utilisation(const CostInputs& reserved, const CostInputs& used) noexcept;

/// Output tokens a month above which the reserved deployment is cheaper than the API. `fits` is false if one deployment
/// cannot make as many: then more of them cost what they cost, and the API stays cheaper at any volume.
struct BreakEvenVolume {
  double tokens_per_month = kUnknown;
  bool fits = false;
};
[[nodiscard]] BreakEvenVolume break_even_volume(const CostInputs& reserved, const CostInputs& api) noexcept;

/// Cost of `tokens_per_month` by as many reserved deployments as it takes, each at most `most_utilisation` busy.
[[nodiscard]] double reserved_usd_per_month(const CostInputs& reserved, double tokens_per_month,
                                            double most_utilisation) noexcept;

/// Years until the hardware has paid for itself against renting the same hours; nothing if it never does.
[[nodiscard]] std::optional<double> payback_years(const CostInputs& own, const CostInputs& rent) noexcept;

/// How many times as fast the first has to be for a token to cost the same: cost of a useful hour over the other's.
[[nodiscard]] double required_speedup(const CostInputs& a, const CostInputs& b) noexcept;

/// What a cloud may charge that does `slower` less in an hour than the one that charges `usd`.
[[nodiscard]] constexpr double fair_price(double usd, double slower) noexcept {
  return usd * (1 - slower);
}

struct AcquisitionQuery {
  CostInputs own;                            ///< capex and what running it costs
  CostInputs rent;                           ///< price on demand, per GPU-hour
  double decline = 0;                        ///< share that prices of compute lose in a year; below 0 they rise
  double decline_low = 0, decline_high = 0;  ///< bounds of it, for the bounds of what is paid
  double horizon_years = 3;
  std::vector<std::pair<int, double>> contracts;  ///< years and discount
  std::vector<double> waits_months = {6, 12};
};

/// One way to have a GPU for the horizon, all of it in today's dollars.
struct Acquisition {
  std::string name;
  double usd = 0;                    ///< present value per GPU
  double usd_low = 0, usd_high = 0;  ///< over the bounds of the decline
  double usd_per_gpu_hour = 0;       ///< the same over all hours
  double paid_today = 0;             ///< of it
};
/// Cheapest first. Hardware is sold at the end for the price of that day less what its age has taken of it (to
/// `residual_share` at the end of its life); contracts are renewed at the price of that day.
[[nodiscard]] std::vector<Acquisition> acquisitions(const AcquisitionQuery& query);

}  // namespace ridge
