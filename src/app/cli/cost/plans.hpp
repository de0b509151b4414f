// The plans by which `ridge cost` compares devices where a question says what is served or trained but not how: those
// of `ridge plan`, so that both name the same winner.
//
//   if (leaves_open(command)) {
//     Result<PlannedWork> planned = planned_work(session, command, data, Purchase::on_demand, {"h100-sxm", "mi300x"});
//     planned->of("mi300x");                             // its work, layout and formats; or why it has none
//   }
#pragma once

#include "app/cli/cost/cost.hpp"
#include "ridge/search/plan.hpp"

namespace ridge::cli {

struct PlannedDevice {
  std::string device;
  std::optional<CostWork> work;  ///< of the plan, as `ridge cost --plan` reads it
  double utilisation = 1;        ///< share of what its replicas can do that is asked for
  double goodput = 1;            ///< share of the time of a training run that counts
  std::string text;              ///< "5 × TP1 in nvfp4, fp8 KV", or why there is no plan
};

struct PlannedWork {
  std::vector<PlannedDevice> devices;
  std::string question;  ///< "Serve llama3.3-70b · 100 requests/s · TTFT ≤ 2.00 s · TPOT ≤ 100 ms · with 80 %"
  std::vector<std::string> assumptions;
  [[nodiscard]] const PlannedDevice* of(std::string_view device) const;
};

/// Whether a model is named and nothing is said of its layout: of one that is served nor of its number of devices or
/// clients either; a run that trains it says its number of devices.
[[nodiscard]] bool leaves_open(const CostCommand& command);

/// Refuses what `ridge plan serve` or `ridge plan train` refuses. `devices` empty: the whole catalogue.
Result<PlannedWork> planned_work(Session& session, const CostCommand& command, const EconomicsData& data,
                                 Purchase purchase, const std::vector<std::string>& devices);

/// The flags of the cost of such a plan: its own load and goodput unless the line says others.
[[nodiscard]] CostFlags flags_of(const CostFlags& flags, const PlannedDevice& planned);

}  // namespace ridge::cli
