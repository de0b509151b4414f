#include "ridge/economics/energy.hpp"

#include <gtest/gtest.h>

namespace ridge {
namespace {

// S1-13 to S1-17.
TEST(Energy, HouseholdYearsAreTheArticles) {
  EXPECT_NEAR(kHouseholdKilowattHours * kJoulesPerKilowattHour, 3.88476e10, 1);
  EXPECT_NEAR(household_years(8.8 * 15e12), 3397.893306, 1e-5);
  EXPECT_NEAR(household_years(2.46 * 300e9), 18.9973, 1e-3);
  EXPECT_NEAR(household_years(3.63 * 300e9), 28.0326, 1e-3);
  EXPECT_NEAR(10791.0 / 8760, 1.2318, 1e-4);
}

// S1-27: five points of the article imply 1.76 to 1.80 kW for each H100 at the meter.
TEST(Energy, H100DrawsAbout1780WattsAllIn) {
  const SitePower site{.device_busy_w = 700, .host_w = (10200 - 5600) / 8.0, .network_storage_share = 0.1, .pue = 1.27};
  const double watts = utility_power(site, 1);
  EXPECT_GT(watts, 1760);
  EXPECT_LT(watts, 1800);
  EXPECT_NEAR(joules_per_token(watts, 726.79), 2.46, 0.03);
  EXPECT_NEAR(joules_per_token(watts, 202.5), 8.8, 0.1);
}

TEST(Energy, IdleDevicesLeaveTheHostOn) {
  const SitePower site{.device_busy_w = 700, .device_idle_w = 100, .host_w = 500, .pue = 1.2};
  EXPECT_NEAR(it_power(site, 0), 600, 1e-12);
  EXPECT_NEAR(it_power(site, 0.5), 900, 1e-12);
  EXPECT_NEAR(utility_power(site, 1), 1440, 1e-9);
  EXPECT_NEAR(provisioned_power(site), 1200, 1e-12) << "provisioned for the busiest moment";
}

TEST(Energy, FootprintCountsWaterOfSiteAndPowerStation) {
  const Footprint f =
      footprint(3.6e6 * 1.25, 1.25, {.co2_kg_per_kwh = 0.4, .site_water_l_per_kwh = 1, .power_water_l_per_kwh = 4});
  EXPECT_NEAR(f.kwh, 1.25, 1e-12);
  EXPECT_NEAR(f.co2_kg, 0.5, 1e-12);
  EXPECT_NEAR(f.water_l, 1 + 5, 1e-12) << "the site's per kWh of IT, the station's per kWh at the meter";
}

}  // namespace
}  // namespace ridge
