// Watts of one device to watts at the utility's meter, and joules to what people can picture.
//
//   SitePower site{.device_busy_w = 700, .host_w = 575, .network_storage_share = 0.1, .pue = 1.27};
//   double watts = utility_power(site, 1.0);                       // 1,781 W for each GPU, everything included
//   double joules = joules_per_token(watts, 202.5);                // 8.8 J for each token trained
//   double years = household_years(joules * 15e12);                // 3,398 households for a year
//
// Figures are per accelerator unless the name says otherwise. Pure, noexcept, allocates nothing; any thread.
#pragma once

#include <limits>

namespace ridge {

/// What nobody has said or published. It goes through every formula, so that a result made of it is unknown too.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

inline constexpr double kJoulesPerKilowattHour = 3.6e6;
/// What an average household of the United States used in 2022 (EIA).
inline constexpr double kHouseholdKilowattHours = 10'791;

/// The power of one accelerator and of what it needs around it.
struct SitePower {
  double device_busy_w = kUnknown;  ///< while it works: the estimate's, or the board's limit
  double device_idle_w = 0;         ///< while it waits
  double device_limit_w = 0;        ///< what the site has to be built for; 0 = device_busy_w
  double host_w = 0;                ///< its share of CPUs, memory, fans, network cards and power supplies of the server
  double network_storage_share = 0;  ///< switches, optics, storage and management, over the servers' power
  double pue = 1;                    ///< at the meter over at the racks
};

/// IT power of one accelerator and its share of the rest, if it works `utilisation` of the time.
[[nodiscard]] constexpr double it_power(const SitePower& site, double utilisation) noexcept {
  const double device = site.device_busy_w * utilisation + site.device_idle_w * (1 - utilisation);
  return (device + site.host_w) * (1 + site.network_storage_share);
}
/// The same at the utility's meter.
[[nodiscard]] constexpr double utility_power(const SitePower& site, double utilisation) noexcept {
  return it_power(site, utilisation) * site.pue;
}
/// IT power that has to be provisioned: what colocation is billed by.
[[nodiscard]] constexpr double provisioned_power(const SitePower& site) noexcept {
  const double device = site.device_limit_w > 0 ? site.device_limit_w : site.device_busy_w;
  return (device + site.host_w) * (1 + site.network_storage_share);
}

[[nodiscard]] constexpr double joules_per_token(double utility_w_per_gpu, double tokens_per_s_per_gpu) noexcept {
  return utility_w_per_gpu / tokens_per_s_per_gpu;
}
[[nodiscard]] constexpr double kilowatt_hours(double joules) noexcept {
  return joules / kJoulesPerKilowattHour;
}
/// Average households of the United States that the energy would supply for a year.
[[nodiscard]] constexpr double household_years(double joules) noexcept {
  return kilowatt_hours(joules) / kHouseholdKilowattHours;
}

/// What a kilowatt-hour at the meter stands for in one place.
struct GridImpact {
  double co2_kg_per_kwh = kUnknown;
  double site_water_l_per_kwh = kUnknown;   ///< evaporated on the site, per kWh of IT energy
  double power_water_l_per_kwh = kUnknown;  ///< consumed where the electricity is made, per kWh at the meter
};

struct Footprint {
  double kwh = 0;  ///< at the meter
  double household_years = 0;
  double co2_kg = 0;
  double water_l = 0;
};

[[nodiscard]] constexpr Footprint footprint(double utility_joules, double pue, const GridImpact& grid) noexcept {
  const double kwh = kilowatt_hours(utility_joules);
  return {kwh, household_years(utility_joules), kwh * grid.co2_kg_per_kwh,
          kwh * (grid.site_water_l_per_kwh / pue + grid.power_water_l_per_kwh)};
}

}  // namespace ridge
