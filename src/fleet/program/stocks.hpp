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

}  // namespace ridge::fleet
