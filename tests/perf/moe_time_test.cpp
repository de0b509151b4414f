#include <gtest/gtest.h>

#include "kernel_shapes.hpp"

namespace ridge::perf {
namespace {

using testing_support::all_rates;
using testing_support::calibration;
using testing_support::rates_of;
using testing_support::size_between;

MoeShape random_shape(Random& draws) {
  MoeShape s;
  s.tokens = size_between(draws, 1, 16384);
  s.hidden = size_between(draws, 512, 8192);
  s.width = size_between(draws, 256, 16384);
  s.experts = size_between(draws, 8, 512);
  s.local_experts = std::max(1.0, std::floor(s.experts / size_between(draws, 1, 9)));
  s.top_k = size_between(draws, 1, 9);
  return s;
}

TEST(ExpertsTouched, OneTokenTouchesTopK) {
  EXPECT_NEAR(experts_touched(256, 8, 1, 1), 8, 1e-12);
  EXPECT_NEAR(experts_touched(8, 2, 1, 1), 2, 1e-12);
}

TEST(ExpertsTouched, GoesFromNoneToAll) {
  EXPECT_EQ(experts_touched(128, 8, 0, 1), 0);
  EXPECT_NEAR(experts_touched(128, 8, 1e6, 1), 128, 1e-9);
  EXPECT_EQ(experts_touched(0, 8, 10, 1), 0);
}

TEST(ExpertsTouched, AllAreTouchedIfEachTokenMeetsAll) {
  EXPECT_EQ(experts_touched(4, 4, 1, 1), 4);
  EXPECT_EQ(experts_touched(4, 9, 1, 1), 4);
}

// E (1 - (1 - k/E)^(c m)): correlated tokens count as fewer.
TEST(ExpertsTouched, CorrelatedTokensCountAsFewer) {
  EXPECT_DOUBLE_EQ(experts_touched(64, 4, 10, 0.6), experts_touched(64, 4, 6, 1));
}

TEST(MoeTime, GrowsWithTokensWidthsAndExpertsHeld) {
  Random draws(21);
  for (const DeviceRates& device : all_rates()) {
    const MoeRates r = moe_rates(device, calibration(), Format::fp8, Format::fp8);
    for (int i = 0; i < 40; ++i) {
      const MoeShape s = random_shape(draws);
      const double t = moe_time(r, s).seconds;
      for (double MoeShape::*field : {&MoeShape::tokens, &MoeShape::hidden, &MoeShape::width, &MoeShape::imbalance}) {
        MoeShape more = s;
        more.*field *= 1.1;
        EXPECT_LE(t, moe_time(r, more).seconds);
      }
      MoeShape more = s;
      more.local_experts = std::min(s.experts, s.local_experts + 1);
      EXPECT_LE(t, moe_time(r, more).seconds);
    }
  }
}

TEST(MoeTime, IsNeverBelowTheRoofline) {
  Random draws(22);
  for (const DeviceRates& device : all_rates()) {
    for (const Format format : {Format::bf16, Format::fp8, Format::nvfp4}) {
      const MoeRates r = moe_rates(device, calibration(), format, format);
      const MoeRates ideal = ideal_moe_rates(device, format, format);
      for (int i = 0; i < 20; ++i) {
        const MoeShape s = random_shape(draws);
        const double share = s.local_experts / s.experts;
        const double weights = 3 * s.hidden * s.width;
        const double rows = s.tokens * std::min(s.top_k, s.experts) * share;
        const double active = share * experts_touched(s.experts, s.top_k, s.tokens, 1);
        EXPECT_GE(moe_time(r, s).seconds, 2 * rows * weights / ideal.gemm.flops * (1 - 1e-12));
        EXPECT_GE(moe_time(r, s).seconds, active * weights * r.gemm.bytes_weight / device.memory_bandwidth);
        EXPECT_GE(moe_time(r, s).seconds, moe_time(ideal, s).seconds);
      }
    }
  }
}

TEST(MoeTime, IsContinuousInTokens) {
  const MoeRates r = moe_rates(rates_of("h200-sxm"), calibration(), Format::bf16, Format::bf16);
  MoeShape s{.tokens = 1, .hidden = 4096, .width = 1536, .experts = 128, .local_experts = 32, .top_k = 8};
  for (; s.tokens < 20000; s.tokens *= 1.3) {
    MoeShape near = s;
    near.tokens *= 1 + 1e-7;
    EXPECT_NEAR(moe_time(r, near).seconds, moe_time(r, s).seconds, 3e-7 * moe_time(r, s).seconds);
  }
}

// A token meets an expert once: however skewed the routing, one expert has at most one row per token.
TEST(MoeTime, SkewNeverGivesAnExpertMoreRowsThanTokens) {
  const MoeRates ideal = ideal_moe_rates(rates_of("h200-sxm"), Format::bf16, Format::bf16);
  MoeShape s{.tokens = 50000, .hidden = 4096, .width = 14336, .experts = 8, .local_experts = 1, .top_k = 2};
  s.imbalance = 8;
  EXPECT_NEAR(moe_time(ideal, s).compute, 2 * s.tokens * 3 * s.hidden * s.width / ideal.gemm.flops, 1e-12);
}

TEST(MoeTime, BalancedRoutingReadsTheExpertsItIsTold) {
  const MoeRates ideal = ideal_moe_rates(rates_of("h200-sxm"), Format::bf16, Format::bf16);
  MoeShape s{.tokens = 4, .hidden = 2048, .width = 768, .experts = 128, .local_experts = 128, .top_k = 8};
  s.active = 32;
  const double traffic = 32 * 2 * (2 * s.hidden + 3 * s.width);
  EXPECT_NEAR(moe_time(ideal, s).memory, (32 * 3 * s.hidden * s.width * 2 + traffic) / 4.8e12, 1e-12);
}

// Tiles that nobody tuned: once more tokens than experts come, their main loop of 32 units of k a step shows. Twice the
// local experts is well beyond the change, which is spread over a quarter.
TEST(MoeTime, UntunedTilesSlowDownOnceTokensOutnumberExperts) {
  const DeviceRates device = rates_of("h100-sxm");
  const MoeRates tuned = moe_rates(device, calibration(), Format::bf16, Format::bf16);
  const MoeRates untuned = moe_rates(device, calibration(), Format::bf16, Format::bf16, MoeKernel::untuned);
  MoeShape s{.tokens = 16, .hidden = 4096, .width = 1536, .experts = 128, .local_experts = 16, .top_k = 8};
  const auto slower = [&] { return moe_time(untuned, s).seconds - moe_time(tuned, s).seconds; };
  EXPECT_LT(std::abs(slower()), 0.1 * moe_time(tuned, s).seconds);
  s.tokens = 32;
  EXPECT_GT(slower(), 0.8 * calibration().value("experts.tile_step") * (4096 + 1536));
  // Whole tiles: two rows fill one of 64, and 128 rows of an expert are as many and half a tile.
  EXPECT_DOUBLE_EQ(expert_tiles(untuned, s, 2, 1).rows, 64);
  EXPECT_DOUBLE_EQ(expert_tiles(untuned, s, 128, 1).rows, 160);
  EXPECT_DOUBLE_EQ(expert_tiles(tuned, s, 128, 1).rows, 128 + tuned.padding_rows);
  s.tokens = 16384;
  EXPECT_GT(moe_time(untuned, s).compute, 1.1 * moe_time(tuned, s).compute) << "each FLOP waits for the cache";
}

}  // namespace
}  // namespace ridge::perf
