#include <gtest/gtest.h>

#include <cmath>

#include "economics/decisions.hpp"
#include "economics/uncertainty.hpp"

namespace ridge {
namespace {

/// Hardware for `capex` over four years without interest, running costs in colocation alone.
CostInputs owned(double capex) {
  CostInputs in;
  in.mode = CostMode::own;
  in.server_usd = capex;
  in.life_years = 4;
  in.power = {.device_busy_w = 1000};
  in.output_tokens_per_s = 1000;
  return in;
}
CostInputs rented(double usd) {
  CostInputs in;
  in.rent_usd_per_gpu_hour = usd;
  in.output_tokens_per_s = 1000;
  return in;
}

// $35,040 over 35,040 hours is $1 an hour; against $2.50 for used hours, owning pays above 40 % of the time.
TEST(Decisions, OwningPaysAboveRateOverRate) {
  EXPECT_NEAR(*break_even_utilisation(owned(35040), rented(2.5)), 0.4, 1e-9);
  EXPECT_FALSE(break_even_utilisation(owned(35040), rented(0.9)).has_value());
}

// Electricity is paid by use: u* solves 1/u + e = 2.5 with idle power zero.
TEST(Decisions, BreakEvenKnowsThatIdleHardwareDrawsLess) {
  CostInputs own = owned(35040);
  own.electricity_usd_per_kwh = 0.5;
  EXPECT_NEAR(*break_even_utilisation(own, rented(2.5)), 1 / 2.0, 1e-6);
}

// $730 a month against $1 per million tokens: 730 million tokens; the deployment makes 2.6 billion.
TEST(Decisions, VolumeBreaksEvenWhereTheBillsMeet) {
  CostInputs api;
  api.mode = CostMode::api;
  api.api_output_usd_per_million = 1;
  api.output_tokens_per_s = 1;
  const BreakEvenVolume v = break_even_volume(owned(35040), api);
  EXPECT_NEAR(v.tokens_per_month, 730e6, 1);
  EXPECT_TRUE(v.fits);
  api.api_output_usd_per_million = 0.1;
  EXPECT_FALSE(break_even_volume(owned(35040), api).fits);
  EXPECT_NEAR(reserved_usd_per_month(owned(35040), 5e9, 1), 1460, 1e-6) << "two deployments";
  EXPECT_NEAR(reserved_usd_per_month(owned(35040), 1, 1), 730, 1e-6);
}

// $17,520 against $2 an hour saved: 8,760 hours.
TEST(Decisions, PaybackIsCapexOverSavings) {
  EXPECT_NEAR(*payback_years(owned(17520), rented(2)), 1, 1e-9);
  CostInputs own = owned(17520);
  own.colocation_usd_per_kw_month = 1460;  // $2 an hour for 1 kW
  EXPECT_FALSE(payback_years(own, rented(2)).has_value());
}

// S1-04 and S1-29.
TEST(Decisions, SlowerCloudHasToBeCheaperByAsMuch) {
  EXPECT_NEAR(required_speedup(rented(2.272), rented(1.42)), 1.6, 1e-9);
  EXPECT_NEAR(fair_price(2.0, 0.10), 1.8, 1e-12);
  EXPECT_NEAR(fair_price(2.0, 0.20), 1.6, 1e-12);
}

TEST(Decisions, FallingPricesFavourWaitingAndRenting) {
  AcquisitionQuery q{.own = owned(35040), .rent = rented(1.5), .contracts = {{1, 0.25}, {3, 0.45}}};
  q.horizon_years = 3;
  q.decline = 0;
  const std::vector<Acquisition> flat = acquisitions(q);
  EXPECT_EQ(flat.front().name, "contract, 3 years") << "hardware ages even where prices do not fall";
  q.decline = q.decline_low = q.decline_high = 0.5;
  const std::vector<Acquisition> falling = acquisitions(q);
  EXPECT_NE(falling.front().name, "buy now");
  const auto find = [](const std::vector<Acquisition>& all, std::string_view name) {
    for (const Acquisition& a : all) {
      if (a.name == name) return a.usd;
    }
    return kUnknown;
  };
  // Without decline or interest: 36 months at $1,095.
  EXPECT_NEAR(find(flat, "rent on demand"), 36 * 1.5 * 730, 1e-6);
  EXPECT_NEAR(find(flat, "contract, 3 years"), 36 * 1.5 * 730 * 0.55, 1e-6);
  // A new one costs an eighth after three years; three of its four years are gone.
  EXPECT_NEAR(find(falling, "buy now"), 35040 * (1 - 0.125 * 0.25), 1e-6);
  EXPECT_NEAR(find(flat, "buy now"), 35040 * (1 - 0.25), 1e-6);
  q.decline = 0;
  q.decline_low = -0.5;
  for (const Acquisition& way : acquisitions(q)) {
    EXPECT_LE(way.usd_low, way.usd) << way.name;
    EXPECT_GE(way.usd_high, way.usd) << way.name;
  }
  EXPECT_LT(find(falling, "rent on demand"), find(flat, "rent on demand"));
}

CostScenario full_scenario() {
  CostScenario s;
  s.cost = owned(31250);
  s.cost.network_usd = 5000;
  s.cost.cost_of_capital = 0.08;
  s.cost.colocation_usd_per_kw_month = 130;
  s.cost.electricity_usd_per_kwh = 0.08;
  s.cost.staff_usd_per_year = 200;
  s.cost.power = {.device_busy_w = 700, .device_idle_w = 100, .host_w = 575, .network_storage_share = 0.1, .pue = 1.27};
  s.cost.utilisation = 0.8;
  s.with_failures = true;
  s.failures.gpus = 16384;
  s.failures.spare_gpus = 512;
  s.failures.per_gpu_hour = {9e-6, 3e-6, 1e-6, 0, 1e-6, 2e-6, 3e-6};
  s.failures.detection_s = 60;
  s.failures.restart_s = 300;
  s.failures.repair_s = 86400;
  s.failures.checkpoint = {.stall_s = 3, .lag_s = 0, .load_s = 3, .shortest_interval_s = 3};
  s.failures.useful_s = 50 * 86400.0;
  return s;
}

// One input, drawn so that a tenth is below the low and a tenth above the high end: so is a cost proportional to it.
TEST(Uncertainty, QuantilesOfOneInputAreItsEnds) {
  CostScenario s;
  s.cost = rented(2);
  const std::vector<InputSpread> one = {
      {"rent", [](CostScenario& x) -> double& { return x.cost.rent_usd_per_gpu_hour; }, 1, 5, 0, 1000}};
  const CostRisk risk = monte_carlo(s, one, 100'000, 3);
  EXPECT_NEAR(risk.cost.low / usd_per_million(1, 1, 1000), 1, 0.02);
  EXPECT_NEAR(risk.cost.mid / usd_per_million(2, 1, 1000), 1, 0.02);
  EXPECT_NEAR(risk.cost.high / usd_per_million(5, 1, 1000), 1, 0.03);
}

TEST(Uncertainty, TornadoPutsTheWidestFirst) {
  const CostScenario s = full_scenario();
  const std::vector<InputSpread> spreads = usual_spreads(s, {.tokens_per_s = {600, 1000, 1500}});
  const std::vector<TornadoLine> lines = tornado(s, spreads);
  ASSERT_GE(lines.size(), 10U);
  EXPECT_EQ(lines[0].name, "throughput");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_GE(std::abs(lines[i - 1].at_high - lines[i - 1].at_low), std::abs(lines[i].at_high - lines[i].at_low));
  }
  // At the ends of the throughput, cost goes as its inverse.
  EXPECT_NEAR(lines[0].at_low * 600, lines[0].at_high * 1500, 1e-6);
}

TEST(Uncertainty, DrawsEndWithPatienceAndAtTheLimit) {
  const CostScenario s = full_scenario();
  const auto spreads = usual_spreads(s, {});
  int looks = 0;
  const CostRisk cut = monte_carlo(s, spreads, 1'000'000, 5, Patience([&] { return ++looks > 3; }));
  EXPECT_EQ(cut.draws, 4 * 1024);
  EXPECT_NEAR(cut.mean / monte_carlo(s, spreads, 4 * 1024, 5).mean, 1, 1e-9) << "the mean is of what was drawn";
}

TEST(Uncertainty, SameSeedSameAnswer) {
  const CostScenario s = full_scenario();
  const auto spreads = usual_spreads(s, {});
  EXPECT_EQ(monte_carlo(s, spreads, 1000, 5).mean, monte_carlo(s, spreads, 1000, 5).mean);
  EXPECT_NE(monte_carlo(s, spreads, 1000, 5).mean, monte_carlo(s, spreads, 1000, 6).mean);
}

}  // namespace
}  // namespace ridge
