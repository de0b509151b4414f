// What the comparing words of `ridge cost` print: compare, devices, break-even, decide, risk, power-cap.
//
// Each has a page, JSON (docs/schema/cost.json), a table for CSV and a page with pictures. Pure; any thread.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "economics/cost_answer.hpp"
#include "economics/decisions.hpp"
#include "economics/price/device_prices.hpp"
#include "economics/uncertainty.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

/// One way to pay for the same work; without an answer, why not.
struct CostWay {
  std::string name;
  std::string deployment;  ///< id of a DeploymentKind: own, rent, managed, api
  std::optional<CostAnswer> answer;
  std::string unknown;
};
struct CompareCost {
  std::string title;
  std::vector<CostWay> ways;
  std::vector<DeploymentKind> deployments;
};
[[nodiscard]] Table compare_cost_table(const CompareCost& c);
[[nodiscard]] Document compare_cost_page(const CompareCost& c, const Catalogue& catalogue);
[[nodiscard]] Json compare_cost_json(const CompareCost& c, const Catalogue& catalogue);
[[nodiscard]] std::string compare_cost_html(const CompareCost& c, const Catalogue& catalogue);

struct DevicesCost {
  std::string title;
  bool with_tokens = false;
  std::vector<DevicePrice> prices;
  std::vector<std::string> assumptions;
};
[[nodiscard]] Table devices_table(const DevicesCost& d);
[[nodiscard]] Document devices_page(const DevicesCost& d);
[[nodiscard]] Json devices_json(const DevicesCost& d);

struct BreakEvenCost {
  std::string title;
  CostAnswer own, rent;
  std::optional<CostAnswer> api;
};
[[nodiscard]] Table break_even_table(const BreakEvenCost& b);
[[nodiscard]] Document break_even_page(const BreakEvenCost& b);
[[nodiscard]] Json break_even_json(const BreakEvenCost& b);
[[nodiscard]] std::string break_even_html(const BreakEvenCost& b);

/// One setting of a power cap.
struct PowerCapPoint {
  double cap_w = 0;
  double tokens_per_s = 0;
  double device_w = 0;   ///< one device
  double utility_w = 0;  ///< one device, everything included
  double usd_per_million = kUnknown;
  double tokens_per_joule = 0;  ///< at the meter
};
struct PowerCapSweep {
  std::string title;
  double gpus = 1;
  std::vector<PowerCapPoint> points;  ///< by cap, the last is without one
  CostCase cost_case;
};
[[nodiscard]] Table power_cap_table(const PowerCapSweep& s);
[[nodiscard]] Document power_cap_page(const PowerCapSweep& s);
[[nodiscard]] Json power_cap_json(const PowerCapSweep& s);
[[nodiscard]] std::string power_cap_html(const PowerCapSweep& s);

struct RiskCost {
  std::string title;
  CostScenario scenario;
  double middle = 0;
  CostRisk risk;
  std::vector<TornadoLine> lines;
  CostCase cost_case;
};
[[nodiscard]] Table tornado_table(const RiskCost& r);
[[nodiscard]] Document risk_page(const RiskCost& r);
[[nodiscard]] Json risk_json(const RiskCost& r);
[[nodiscard]] std::string risk_html(const RiskCost& r);

/// Two devices beside each other, and what the first has to be.
struct PerfPerTco {
  CostAnswer a, b;
  std::string a_name, b_name;
  double required = kUnknown;  ///< speed-up for a token to cost the same
  double speedup = kUnknown;   ///< said or predicted, per device
  std::string a_how, b_how;    ///< layout and formats, where they were chosen
  /// The one whose tokens cost less, or empty.
  [[nodiscard]] std::string winner() const { return std::isnan(speedup) ? "" : speedup >= required ? a_name : b_name; }
};
struct DecideCost {
  std::string title;
  CostAnswer own;
  std::optional<CostAnswer> rent;
  std::optional<PerfPerTco> against;
  std::vector<std::pair<double, double>> fair;  ///< slower by, fair price of a GPU-hour
  std::vector<Acquisition> ways;
  double decline = 0, decline_low = 0, decline_high = 0;  ///< a year; the bounds hold four of five
  double horizon_years = 3;
  std::vector<std::pair<std::string, double>> regions;  ///< owned GPU-hour by region
  int forbidden_regions = 0;                            ///< left out: the device needs an export licence there
  double liquid_pue = kUnknown, liquid_saving = kUnknown, liquid_worth = kUnknown;  ///< $/GPU-hour and $ of capex
};
[[nodiscard]] Table decide_table(const DecideCost& d);
[[nodiscard]] Document decide_page(const DecideCost& d);
[[nodiscard]] Json decide_json(const DecideCost& d);
[[nodiscard]] std::string decide_html(const DecideCost& d);

}  // namespace ridge::report
