// The plan of a fleet, for people and for programs.
//
//   print(to_terminal(fleet_page(view), style));
//   print(fleet_json(view).text());                    // docs/schema/fleet.json
//
// Pure; any thread.
#pragma once

#include "report/page/provenance.hpp"
#include "ridge/fleet/fleet.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

inline constexpr std::string_view kFleetSchema = "ridge.fleet/1";

struct FleetView {
  const fleet::Estate& estate;
  const fleet::Problem& problem;
  const fleet::Answer& answer;
  const std::vector<fleet::Replay>& days;  ///< by month, or none
  std::string solver;
  double seconds = 0;
  bool why = false;                      ///< each way to serve, taken or not, and what it costs
  std::vector<std::string> why_of = {};  ///< of these devices alone; none: of all
};

/// Devices of one kind on one site, and the share of them at work.
struct FleetUse {
  std::string device, site;
  std::vector<double> gpus;                ///< by month
  std::vector<std::vector<double>> share;  ///< by month and hour; 0 where there are none
};
[[nodiscard]] std::vector<FleetUse> fleet_use(const FleetView& view);

[[nodiscard]] Document fleet_page(const FleetView& view);
[[nodiscard]] Json fleet_json(const FleetView& view);
/// A page with what is had over time and how busy it is, drawn.
[[nodiscard]] std::string fleet_html(const FleetView& view, const Provenance& provenance);
/// What to do and when, one line each.
[[nodiscard]] Table fleet_actions(const FleetView& view);

}  // namespace ridge::report
