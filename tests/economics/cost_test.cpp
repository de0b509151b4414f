#include "ridge/economics/cost.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ridge/base/change.hpp"

namespace ridge {
namespace {

constexpr std::size_t at(CostLine line) {
  return static_cast<std::size_t>(line);
}

CostInputs rented(double usd_per_hour, double tokens_per_s) {
  CostInputs in;
  in.mode = CostMode::rent;
  in.rent_usd_per_gpu_hour = usd_per_hour;
  in.output_tokens_per_s = tokens_per_s;
  return in;
}

/// The hyperscaler's H100 of the training article: $190k server, $250k all-in, 10.2 kW.
CostInputs owned_h100() {
  CostInputs in;
  in.mode = CostMode::own;
  in.server_usd = 190000.0 / 8;
  in.network_usd = 60000.0 / 8;
  in.cost_of_capital = 0.08;
  in.life_years = 4;
  in.colocation_usd_per_kw_month = 130;
  in.electricity_usd_per_kwh = 0.087;
  in.power = {.device_busy_w = 700, .host_w = 575, .network_storage_share = 0.1, .pue = 1.27};
  in.output_tokens_per_s = 202.5;
  return in;
}

// rate / 3600 / tokens per second * 1e6: S3-80 to S3-84 of the audit.
TEST(Cost, RentedTokensCostRateOverThroughput) {
  EXPECT_NEAR(evaluate(rented(3.39, 4000)).usd_per_million_tokens, 0.2354166667, 1e-9);
  EXPECT_NEAR(evaluate(rented(2.12, 4000)).usd_per_million_tokens, 0.1472222222, 1e-9);
  EXPECT_NEAR(evaluate(rented(2.01, 1200)).usd_per_million_tokens, 0.4652777778, 1e-9);
  EXPECT_NEAR(evaluate(rented(1.07, 520)).usd_per_million_tokens, 0.5715811966, 1e-9);
  EXPECT_NEAR(evaluate(rented(0.91, 450)).usd_per_million_tokens, 0.5617283951, 1e-9);
  EXPECT_NEAR(evaluate(rented(6.88, 1200)).usd_per_million_tokens, 1.5925925926, 1e-9);
  EXPECT_NEAR(evaluate(rented(3.89, 1800)).usd_per_million_tokens, 0.6003086420, 1e-9);
}

// S2-37: dollars a month / 8 GPUs / 730 h.
TEST(Cost, LeaseByTheMonthIsSpreadOver730Hours) {
  EXPECT_NEAR(lease_per_gpu_hour(9200, 8), 1.5753424657534247, 1e-12);
  EXPECT_NEAR(lease_per_gpu_hour(8000, 8), 1.36986301369863, 1e-12);
  EXPECT_NEAR(lease_per_gpu_hour(13000, 8), 2.2260273972602738, 1e-12);
}

// S2-45: at a quarter of the time, a useful hour costs four.
TEST(Cost, IdleHoursAreChargedToUsefulOnes) {
  CostInputs in = rented(9200.0 / 8 / 730, 100);
  in.utilisation = 0.25;
  const CostOutputs out = evaluate(in);
  EXPECT_NEAR(out.usd_per_useful_gpu_hour, 6.3013698630, 1e-9);
  EXPECT_NEAR(out.per_gpu_hour[at(CostLine::idle)], out.usd_per_gpu_hour * 3, 1e-12);
  in.idle_is_paid = false;
  EXPECT_NEAR(evaluate(in).usd_per_useful_gpu_hour, 1.5753424658, 1e-9);
  EXPECT_NEAR(evaluate(in).usd_per_month, 9200.0 / 8 * 0.25, 1e-9);
}

// kept = 1 / (1 + rate x loss): one preemption in ten hours that costs half an hour keeps 1/1.05.
TEST(Cost, PreemptionsStretchTheUsefulHour) {
  CostInputs in = rented(2, 100);
  in.preemptions_per_hour = 0.1;
  in.preemption_loss_hours = 0.5;
  EXPECT_NEAR(evaluate(in).usd_per_useful_gpu_hour, 2.1, 1e-12);
}

TEST(Cost, LinesAddUpToTheUsefulHour) {
  CostInputs in = owned_h100();
  in.residual_share = 0.1;
  in.maintenance_share = 0.03;
  in.staff_usd_per_year = 400;
  in.software_usd_per_year = 100;
  in.storage_usd = 1000;
  in.installation_usd = 500;
  in.utilisation = 0.7;
  in.goodput = 0.9;
  const CostOutputs out = evaluate(in);
  const double sum = std::accumulate(out.per_gpu_hour.begin(), out.per_gpu_hour.end(), 0.0);
  EXPECT_NEAR(sum, out.usd_per_useful_gpu_hour, 1e-12);
  EXPECT_NEAR(out.usd_per_useful_gpu_hour, out.usd_per_gpu_hour / 0.7 / 0.9, 1e-12);
  EXPECT_LT(out.per_gpu_hour[at(CostLine::residual)], 0);
}

// Annuity A = (C - R/(1+i)^n) i / (1 - (1+i)^-n); present value of all payments and the residual is C again.
TEST(Cost, CapitalPaymentsAreWorthTheHardwareToday) {
  const double rate = 0.11, life = 5, residual = 0.15;
  const double payment = capital_per_hour(rate, life, residual) * 730;
  double value = 0;
  for (int month = 1; month <= 60; ++month) value += payment / std::pow(1 + rate / 12, month);
  value += residual / std::pow(1 + rate / 12, 60);
  EXPECT_NEAR(value, 1, 1e-9);
  EXPECT_NEAR(capital_per_hour(0, 5, 0), 1 / (5 * 8760.0), 1e-15);
  EXPECT_NEAR(capital_per_hour(1e-8, 5, 0), 1 / (5 * 8760.0), 1e-12) << "continuous where the annuity would cancel";
}

// $1.42 an hour is what the article says an owner pays without margin.
TEST(Cost, OwnedH100CostsWhatTheArticleSays) {
  const CostOutputs out = evaluate(owned_h100());
  EXPECT_NEAR(out.capex_usd_per_gpu, 31250, 1e-9);
  EXPECT_NEAR(out.usd_per_gpu_hour, 1.42, 0.05);
}

TEST(Cost, UnknownPriceMakesUnknownCostNeverZero) {
  CostInputs in;
  in.output_tokens_per_s = 100;
  EXPECT_TRUE(std::isnan(evaluate(in).usd_per_gpu_hour));
  EXPECT_TRUE(std::isnan(evaluate(in).usd_per_million_tokens));
  EXPECT_TRUE(std::isnan(evaluate(in).usd_per_month));
  in = rented(2, kUnknown);
  EXPECT_TRUE(std::isnan(evaluate(in).usd_per_million_tokens));
  EXPECT_NEAR(evaluate(in).usd_per_gpu_hour, 2, 1e-15) << "what is known stays known";
  in.mode = CostMode::api;
  EXPECT_TRUE(std::isnan(evaluate(in).usd_per_million_tokens));
}

TEST(Cost, ApiCostsInputAndOutputByTheToken) {
  CostInputs in;
  in.mode = CostMode::api;
  in.api_input_usd_per_million = 0.5;
  in.api_output_usd_per_million = 2;
  in.input_tokens_per_s = 4000;
  in.output_tokens_per_s = 1000;
  in.requests_per_s = 4;
  const CostOutputs out = evaluate(in);
  EXPECT_NEAR(out.usd_per_million_tokens, 4, 1e-12) << "four input tokens at $0.5 and one at $2";
  EXPECT_NEAR(out.usd_per_million_total_tokens, 0.8, 1e-12);
  EXPECT_NEAR(out.usd_per_request, (1000 * 0.5 + 250 * 2) / 1e6, 1e-15);
  EXPECT_NEAR(out.usd_per_month, 0.004 * 730 * 3600, 1e-9);
}

TEST(Cost, InputAndOutputShareTheCostByTime) {
  CostInputs in = rented(3.6, 100);
  in.input_tokens_per_s = 1000;
  in.prefill_share = 0.25;
  const CostOutputs out = evaluate(in);
  // What both kinds of tokens cost in a second is what a second costs.
  const double per_second = (out.usd_per_million_input_tokens * 1000 + out.usd_per_million_output_tokens * 100) / 1e6;
  EXPECT_NEAR(per_second, 0.001, 1e-12);
}

TEST(Cost, RefusesWhatCannotBe) {
  const auto code = [](CostInputs in) {
    const Status s = check(in);
    return s ? std::string("fine") : phrased(s.error().where, Voice::flags);
  };
  CostInputs in = rented(2, 100);
  EXPECT_EQ(code(in), "fine");
  in.rent_usd_per_gpu_hour = -1;
  EXPECT_EQ(code(in), "--price");
  in.rent_usd_per_gpu_hour = kUnknown;
  EXPECT_EQ(check(in).error().code, ErrorCode::refused) << "unknown is no bad input";
  in.rent_usd_per_gpu_hour = 5000;
  EXPECT_EQ(code(in), "--price") << "a month's price as an hour's";
  in = rented(2, 100);
  in.utilisation = 70;
  EXPECT_EQ(code(in), "--utilization");
  in = rented(2, -100);
  EXPECT_EQ(code(in), "--throughput");
  in = rented(2, std::numeric_limits<double>::infinity());
  EXPECT_EQ(code(in), "--throughput");
  in = owned_h100();
  EXPECT_EQ(code(in), "fine");
  in.power.pue = 0.9;
  EXPECT_EQ(code(in), "--pue");
  in = owned_h100();
  in.power.device_busy_w = kUnknown;
  EXPECT_EQ(code(in), "--device-power");
  in = owned_h100();
  in.server_usd = kUnknown;
  EXPECT_EQ(code(in), "--server-price");
}

}  // namespace
}  // namespace ridge
