// What the ways to have devices mean for months and money.
#pragma once

#include <algorithm>
#include <cmath>

#include "ridge/fleet/fleet.hpp"

namespace ridge::fleet {

/// By the month, not by the hour.
inline bool is_held(Way way) {
  return way != Way::on_demand && way != Way::spot;
}
/// There from the start, until it is let go.
inline bool is_kept(Way way) {
  return way == Way::owned || way == Way::extend;
}
/// Months that a unit begun in `month` is held in: [month, end).
inline int held_until(const Problem& problem, const Stock& stock, int month) {
  return stock.term > 0 ? std::min(problem.months, month + stock.term) : problem.months;
}
/// A price, of what begins in `month`.
inline double trended(double usd, const Stock& stock, int month) {
  return usd * std::pow(1 + stock.trend, month);
}

/// Whether a bound needs no column for renting this: another that is always to be had does the same for less.
inline bool is_rented_for_less(const Problem& problem, const Option& option, const Stock& stock) {
  constexpr double kPlentyToRent = 1e5;  // devices at once: nobody counts them
  const double each = option.gpus * stock.usd_hour / option.requests_per_s;
  const Service& service = problem.services[static_cast<std::size_t>(option.service)];
  for (const Option& o : problem.options) {
    if (o.service != option.service) continue;
    for (const Stock& k : problem.stocks) {
      if (is_held(k.way) || (k.way == Way::spot && !service.spot)) continue;
      const Pool& pool = problem.pools[static_cast<std::size_t>(k.pool)];
      if (pool.device != o.device || pool.forbidden >= 0) continue;
      if (!service.allowed[static_cast<std::size_t>(pool.site)] || k.first > stock.first || k.last < stock.last)
        continue;
      if (k.most < kPlentyToRent || k.trend > stock.trend) continue;
      const double other = o.gpus * k.usd_hour / o.requests_per_s;
      if (other < each || (other == each && (&o < &option || (&o == &option && &k < &stock)))) return true;
    }
  }
  return false;
}

}  // namespace ridge::fleet
