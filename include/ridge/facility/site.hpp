// Racks, power, cooling and floor of a cluster, and the checklist of a site that is to hold it.
//
//   SiteRequest r;
//   r.system = catalogue.system("dgx-h100"); r.systems = 16; r.limits.rack_power = watts(42'000);
//   Result<RackPlan> racks = plan_racks(r, data);
//   racks->per_rack;                  // 4: 40.8 kW, limited by power
//   racks->cooling->id;               // "rear-door"
//
// What the site offers is optional; what is not said is "unknown" in the checklist, with the figure that is needed.
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/facility/fabric.hpp"
#include "ridge/facility/facility.hpp"
#include "ridge/facility/storage.hpp"
#include "ridge/perf/traffic.hpp"

namespace ridge {

using KilogramsPerSquareMetre = Quantity<Dimension<0, 0, 0, 0, 0, 0, 0, 1, -2>>;

/// What a site offers; empty = not said.
struct SiteLimits {
  std::optional<Watts> rack_power;
  std::optional<Watts> rack_heat;        ///< that the cooling of a rack takes
  std::optional<Watts> site_power;       ///< all that the feed of the building gives
  std::optional<int> rack_units;         ///< of one rack, for equipment
  std::optional<Kilograms> rack_weight;  ///< of the equipment in one rack
  std::optional<KilogramsPerSquareMetre> floor_load;
  std::optional<int> racks;
  std::optional<double> pue;
  std::string cooling;                          ///< id of a CoolingClass the site has, or empty
  std::optional<BytesPerSecond> storage_write;  ///< of all nodes together
  std::optional<double> spike;                  ///< over the peak, that feeds and UPS ride through
};

struct SiteRequest {
  const System* system = nullptr;
  int systems = 0;  ///< nodes, or racks of a rack system; 0 = as many as the limits allow
  SiteLimits limits;
  Watts network;                     ///< of the switches
  Watts device_power;                ///< TDP of one device, for the swing between computing and waiting
  const RackShare* share = nullptr;  ///< of a system that is larger than a rack
  int devices = 0;                   ///< with `share`: only the racks that so many devices need; 0 = whole systems
  int switch_count = 0, switch_units = 1;
  std::string rack;  ///< id of a RackModel, empty = 48 units
};

enum class RackBound : std::uint8_t { power, heat, units, weight, own_rack, asked };
[[nodiscard]] std::string_view name(RackBound bound);

struct RackPlan {
  const System* system = nullptr;
  const RackModel* rack = nullptr;
  int systems = 0;
  int devices = 0;
  int per_rack = 0;       ///< systems in a full rack
  int share = 0;          ///< devices in a full rack of a system that takes several; 0 = systems fit into racks
  int racks = 0;          ///< with devices
  int network_racks = 0;  ///< for switches, beside them
  RackBound bound = RackBound::units;
  Watts per_rack_power;       ///< of a full rack, at most
  Kilograms per_rack_weight;  ///< with the rack; 0 = unknown
  int per_rack_units = 0;
  const CoolingClass* cooling = nullptr;              ///< made for that heat; nullptr = beyond all
  int per_rack_by_air = 0;                            ///< of an air-cooled system: as many as a rear door can cool
  std::optional<KilogramsPerSquareMetre> floor_load;  ///< under the rack's own feet
  Watts devices_power, network_power;
  Watts peak;   ///< all equipment
  Watts spike;  ///< for milliseconds
  Watts swing;  ///< between computing and waiting for the network, all devices in step
  double pue = 1;
  Watts facility;  ///< peak with cooling and losses
  const PowerFeed* feed = nullptr;
  int feeds = 0;  ///< of one rack, without spares; twice as many for 2N
  std::vector<std::string> assumptions;
};

/// Of a system whose power nobody publishes, over the TDP of its devices: DGX H100 1.82, DGX B200 1.79.
inline constexpr double kPowerOverTdp = 1.8;
/// The system's power at most: published, or by that factor (then `estimated`); nothing if the TDP is unknown too.
[[nodiscard]] std::optional<Watts> system_power(const System& system, Watts device_power, bool& estimated);

/// Refuses (bad_input): a system whose power nobody knows, nor that of its devices; (infeasible): not one of them fits
/// into a rack of the site.
Result<RackPlan> plan_racks(const SiteRequest& request, const FacilityData& data);

enum class SiteVerdict : std::uint8_t { pass, fail, unknown };
[[nodiscard]] std::string_view name(SiteVerdict verdict);

struct ChecklistLine {
  std::string area;
  std::string requirement;
  SiteVerdict verdict = SiteVerdict::unknown;
  std::string number;  ///< what stands behind it
  std::string fix;     ///< of a failure, or what to find out
};

/// What the checklist looks at.
struct SiteFacts {
  const RackPlan* racks = nullptr;
  const FabricDesign* fabric = nullptr;    ///< nullptr if there is none
  const StorageNeed* storage = nullptr;    ///< nullptr if nothing is stored
  std::optional<TrainingTraffic> traffic;  ///< of a training plan
  double compute_seconds = 0;              ///< of one step, in which traffic can hide
  SiteLimits limits;
};
[[nodiscard]] std::vector<ChecklistLine> checklist(const SiteFacts& facts, const FacilityData& data);

/// The rate per port that hides the plan's traffic over the network behind its computation.
[[nodiscard]] BytesPerSecond needed_per_port(const TrainingTraffic& traffic, double compute_seconds);

}  // namespace ridge
