// What data/economics holds: owners, regions, servers, failures, checkpoints, offers; each figure with its source.
//
//   Result<EconomicsData> data = load_economics(directory + "/economics", catalogue);
//   if (!data) return data.error();                              // file:line:column and the fix
//   Result<const OwnerProfile*> owner = data->profile("hyperscaler");   // not_found names the nearest
//
// Sources are those of the catalogue. A value once loaded is read only; any thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"
#include "ridge/economics/goodput.hpp"

namespace ridge {

/// Who owns the hardware.
struct OwnerProfile {
  std::string id, name, notes;
  SourceId source;
  double server_price = 1;  ///< over what a hyperscaler pays
  double cost_of_capital = 0;
  double life_years = 4;
  double residual_share = 0;
  double colocation_usd_per_kw_month = 0;
  double maintenance_share = 0;
  double staff_usd_per_year = 0;
  double pue_air = 1, pue_liquid = 1;
  double network_power_share = 0;
  double split_network = 0, split_storage = 0, split_installation = 0;  ///< of what is paid beyond the server
};

struct EnergyRegion {
  std::string id, name;
  SourceId source;
  std::optional<double> electricity_usd_per_kwh;
  std::optional<double> co2_kg_per_kwh;
  std::optional<double> site_water_l_per_kwh;
  std::optional<double> power_water_l_per_kwh;
};

struct ServerPrice {
  std::string id, device, system, date;
  SourceId source;
  int gpus = 0;
  double server_usd = 0;
  double all_in_usd = 0;
};

/// Interruptions as recorded.
struct FailureRecord {
  std::string id, name, notes;
  SourceId source;
  double gpus = 0;
  double hours = 0;
  std::array<double, kFailureCauses> interruptions{};
  std::optional<double> goodput_at_least;

  [[nodiscard]] double total() const;
  [[nodiscard]] std::array<double, kFailureCauses> per_gpu_hour() const;
};

/// How a crew deals with them.
struct RestartPractice {
  std::string id, name, notes;
  SourceId source;
  double detection_s = 0, restart_s = 0, repair_s = 0;
  double engineer_hours = 0;
};

struct StorageTier {
  std::string id, name, notes;
  SourceId source;
  bool per_node = false;
  double bytes_per_s = 0;
};

struct ApiOffer {
  std::string id, provider, serves, date;
  std::string model;  ///< of the catalogue, or empty
  SourceId source;
  Place place;
  double input_usd_per_million = 0, output_usd_per_million = 0;
  std::optional<double> cached_usd_per_million;  ///< input that the provider still holds
  std::optional<int> context, longest_output;
};

struct DeploymentKind {
  std::string id, name, latency, model_size, rate_limit, context, cold_start, customisation, privacy;
  SourceId source;
};

/// What one provider asked for one thing, month by month.
struct RentHistory {
  std::string id, provider, item;
  SourceId source;
  std::vector<std::pair<int, double>> quotes;  ///< months since year 0, dollars per GPU-hour; oldest first
};

/// What one unit of a currency was worth.
struct ExchangeRate {
  std::string id, currency, date;
  SourceId source;
  double usd = 0;
};

struct Contract {
  std::string id, name, notes;
  SourceId source;
  double discount = 0;
  int years = 0;
};

struct SpotHabit {
  SourceId source;
  double preemptions_per_hour = 0, low = 0, high = 0, loss_hours = 0;
};

struct EconomicsData {
  std::vector<OwnerProfile> profiles;
  std::vector<EnergyRegion> regions;
  std::vector<ServerPrice> servers;
  std::vector<FailureRecord> records;
  std::vector<RestartPractice> practices;
  std::vector<StorageTier> tiers;
  std::vector<ApiOffer> offers;
  std::vector<DeploymentKind> deployments;
  std::vector<RentHistory> histories;
  std::vector<ExchangeRate> exchange;
  std::vector<Contract> contracts;
  SpotHabit spot;
  double platform_share = 0;
  SourceId platform_source;

  // not_found, naming the nearest.
  [[nodiscard]] Result<const OwnerProfile*> profile(std::string_view id) const;
  [[nodiscard]] Result<const EnergyRegion*> region(std::string_view id) const;
  [[nodiscard]] Result<const FailureRecord*> record(std::string_view id) const;
  [[nodiscard]] Result<const RestartPractice*> practice(std::string_view id) const;
  [[nodiscard]] Result<const StorageTier*> tier(std::string_view id) const;
  [[nodiscard]] Result<const ApiOffer*> offer(std::string_view id) const;
  [[nodiscard]] Result<const Contract*> contract(std::string_view id) const;
};

/// Refuses, at file:line:column: malformed TOML, unknown keys, missing or dangling sources, implausible figures.
Result<EconomicsData> load_economics(const std::string& directory, const Catalogue& catalogue);

}  // namespace ridge
