// Claims of four published documents about money and energy, recomputed: what the right value is, with the numbers of
// the audit (S1 training article, S2 rental article, S3 infrastructure guide).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "economics/cost_case.hpp"
#include "economics/decisions.hpp"
#include "ridge/perf/training.hpp"

namespace ridge {
namespace {

const Catalogue& catalogue() {
  static const Catalogue c = *Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  return c;
}

double cheapest(const char* device, PriceKind kind, const char* provider) {
  const RentMarket m = rent_market(catalogue(), device, kind, provider, "", {});
  return m.usd.empty() ? kUnknown : m.usd.front();
}
double flops(const char* model, int sequence) {
  return training_flops_per_token(*catalogue().find_model(model), sequence);
}
double peak(const char* device, PeakFormat format) {
  return catalogue().device(device)->peak(format)->value.value();
}

// S1-08, S1-09, S1-21, S1-22: throughput goes as MFU.
TEST(Audit, GainsAreRatiosOfMfu) {
  const double f = flops("gpt3-175b", 2048);
  const auto rate = [&](double mfu, PeakFormat format) { return tokens_per_s_at(mfu, peak("h100-sxm", format), 1, f); };
  EXPECT_NEAR(rate(0.54, PeakFormat::bf16) / rate(0.34, PeakFormat::bf16) - 1, 0.588, 0.003) << "57 % in S1";
  EXPECT_NEAR(rate(0.395, PeakFormat::fp8) / rate(0.295, PeakFormat::fp8) - 1, 0.339, 0.002);
  EXPECT_NEAR(rate(0.395, PeakFormat::fp8), 726.8, 7.3);
  EXPECT_NEAR(1 - 0.355 / 0.381, 0.0682, 1e-4) << "10 % in S1";
}

// S1-15, S1-17, S1-18, S1-25: joules a token x tokens a second = watts a GPU; households of 10,791 kWh.
TEST(Audit, FivePointsImplyTheSameWatts) {
  const double gpt3 = flops("gpt3-175b", 2048), large = flops("llama3.1-405b", 8192),
               small = flops("llama3.1-70b", 8192);
  const double bf16 = peak("h100-sxm", PeakFormat::bf16), fp8 = peak("h100-sxm", PeakFormat::fp8);
  const double households = 38'847'600'000.0 / 15e12;  // joules a token of 15T tokens, for one household
  const double watts[] = {2.46 * tokens_per_s_at(0.395, fp8, 1, gpt3), 3.63 * tokens_per_s_at(0.54, bf16, 1, gpt3),
                          8.8 * tokens_per_s_at(0.54, bf16, 1, large),
                          440 * households * tokens_per_s_at(0.381, fp8, 1, small),
                          472 * households * tokens_per_s_at(0.355, fp8, 1, small)};
  const double expected[] = {1788, 1803, 1782, 1762, 1761};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(watts[i], expected[i], expected[i] * 0.02) << i;
  EXPECT_NEAR(440 * households, 1.140, 0.001);
  EXPECT_NEAR(8.8 / 3.63, 2.424, 0.001) << "2.3 in S1: attention of longer sequences is left out there";
}

// S1-20, S3-63: 2.788 million H800-hours.
TEST(Audit, DeepSeekCosts5Point6Million) {
  EXPECT_NEAR(2.788e6 * 2, 5.576e6, 1);
  EXPECT_NEAR(training_run(1, 1, 1).gpu_hours * 3600, 1, 1e-12);
  EXPECT_NEAR(2.788e6 / 2048 / 24, 56.72, 0.01) << "30 days in S3";
}

// S3-60 to S3-62: days of a run, and what it costs at $1.42.
TEST(Audit, RunsTakeTheirFlops) {
  const double bf16 = peak("h100-sxm", PeakFormat::bf16);
  const auto days = [&](const char* model, double tokens, int gpus, double mfu) {
    return training_run(tokens, tokens_per_s_at(mfu, bf16, gpus, flops(model, 8192)), gpus);
  };
  EXPECT_NEAR(days("llama3-8b", 15e12, 64, 0.4).days, 418.6, 4.2) << "3 days in S3";
  EXPECT_NEAR(days("llama3-70b", 15e12, 512, 0.4).days, 417.9, 4.2) << "14 days in S3";
  const TrainingRun large = days("llama3.1-405b", 15.6e12, 16384, 0.41);
  EXPECT_NEAR(large.days, 71.7, 0.72);
  EXPECT_NEAR(large.gpu_hours * 1.42, 40.0e6, 0.5e6) << "$14M in S3";
}

// S2-33: $18,000 / 192 GB against $12,000 / 141 GB.
TEST(Audit, DollarsPerGigabyteOfTheMi300xAreHigher) {
  EXPECT_NEAR((18000.0 / 192) / (12000.0 / 141) - 1, 0.1016, 1e-4) << "17 % lower in S2";
}

// S2-35: 13,000 / 9,200.
TEST(Audit, B200LeaseIs41PercentAboveH200) {
  const double b200 = cheapest("b200-sxm-180", PriceKind::lease_month, "");
  const double h200 = cheapest("h200-sxm", PriceKind::lease_month, "");
  EXPECT_NEAR(b200 / h200 - 1, 0.413, 0.001) << "70 to 87.5 % in S2";
}

// S3-81, S3-97 to S3-99.
TEST(Audit, CloudPricesAreTheListedOnes) {
  EXPECT_NEAR(cheapest("b200-sxm-180", PriceKind::spot, "Spheron"), 2.12, 1e-9);
  EXPECT_NEAR(1 - 2.12 / cheapest("b200-sxm-180", PriceKind::on_demand, "Spheron"), 0.3746, 1e-3) << "50 to 90 % in S3";
  EXPECT_NEAR(1 - 2.89 / 8, 0.639, 0.001);
  EXPECT_NEAR(1 - cheapest("h100-sxm", PriceKind::on_demand, "Thunder") / 8, 0.8275, 1e-3);
  const RentMarket aws = rent_market(catalogue(), "b200-sxm-180", PriceKind::on_demand, "AWS", "", {});
  EXPECT_TRUE(std::any_of(aws.usd.begin(), aws.usd.end(), [](double v) { return std::abs(v - 14.24) < 0.005; }));
}

// S1-29: fair price = MFU ratio.
TEST(Audit, SlowerCloudsMayChargeLess) {
  EXPECT_NEAR(fair_price(1, 0.10), 0.90, 1e-12);
  EXPECT_NEAR(fair_price(1, 0.20), 0.80, 1e-12);
}

}  // namespace
}  // namespace ridge
