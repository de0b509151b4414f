// What the pages and the JSON of a fleet have in common.
#pragma once

#include "report/fleet/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

inline std::string fleet_money(double usd) {
  return format(Dollars(usd));
}

template <class T>
const T& fleet_at(const std::vector<T>& list, int index) {
  return list[static_cast<std::size_t>(index)];
}

/// Something that is done in a month.
struct FleetAction {
  int month = 0;
  std::string what;  ///< "keep", "retire", "buy", ...
  double gpus = 0;
  const fleet::Stock* stock = nullptr;
  double usd = 0;  ///< cash of that month, or of each month of a lease
};

[[nodiscard]] std::vector<FleetAction> fleet_actions_of(const FleetView& view);
/// "2026-12: keep 64 a100-sxm-80 in berlin. 2027-03: lease 32 h200-sxm ..."
[[nodiscard]] std::string fleet_recommendation(const FleetView& view);

[[nodiscard]] Table fleet_placements(const FleetView& view);
[[nodiscard]] Table fleet_jobs(const FleetView& view);
/// What all would cost without each thing that the plan takes.
[[nodiscard]] Table fleet_without(const FleetView& view);
[[nodiscard]] Table fleet_months(const FleetView& view);
/// What each way to serve costs: the cheapest stock of each option, for one request per second and month.
[[nodiscard]] Table fleet_reasons(const FleetView& view);

/// "where basement has 20.0 kW, 160 kW instead of 20.0 kW (estate.toml:9:1)"
[[nodiscard]] std::string fleet_change(const fleet::Clash::Change& change, const fleet::Problem& p);
[[nodiscard]] std::string fleet_amount(double value, const std::string& unit);

/// The hour that holds its limits least, and its month.
struct WorstHour {
  const fleet::Replay* day = nullptr;
  const fleet::ReplayHour* hour = nullptr;
};
[[nodiscard]] WorstHour fleet_worst_hour(const std::vector<fleet::Replay>& days);
[[nodiscard]] bool fleet_holds(const std::vector<fleet::Replay>& days);

}  // namespace ridge::report
