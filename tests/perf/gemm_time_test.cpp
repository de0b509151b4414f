#include <gtest/gtest.h>

#include "kernel_shapes.hpp"

namespace ridge::perf {
namespace {

using testing_support::all_rates;
using testing_support::calibration;
using testing_support::rates_of;
using testing_support::size_between;

constexpr std::pair<Format, Format> kPairs[] = {{Format::bf16, Format::bf16},   {Format::fp8, Format::fp8},
                                                {Format::nvfp4, Format::nvfp4}, {Format::int4, Format::bf16},
                                                {Format::int8, Format::int8},   {Format::mxfp4, Format::bf16}};

struct Shape {
  double m, n, k;
};
Shape random_shape(Random& draws) {
  return {size_between(draws, 1, 65536), size_between(draws, 64, 131072), size_between(draws, 64, 32768)};
}

TEST(GemmTime, GrowsWithEveryDimension) {
  Random draws(11);
  for (const DeviceRates& device : all_rates()) {
    for (const auto& [weights, activations] : kPairs) {
      const GemmRates g = gemm_rates(device, calibration(), weights, activations);
      for (int i = 0; i < 20; ++i) {
        const Shape s = random_shape(draws);
        const double t = gemm_time(g, s.m, s.n, s.k).seconds;
        const double more = 1 + draws.uniform();
        EXPECT_LE(t, gemm_time(g, std::ceil(s.m * more), s.n, s.k).seconds) << s.m << " " << s.n << " " << s.k;
        EXPECT_LE(t, gemm_time(g, s.m + 1, s.n, s.k).seconds) << s.m << " " << s.n << " " << s.k;
        EXPECT_LE(t, gemm_time(g, s.m, std::ceil(s.n * more), s.k).seconds) << s.m << " " << s.n << " " << s.k;
        EXPECT_LE(t, gemm_time(g, s.m, s.n, std::ceil(s.k * more)).seconds) << s.m << " " << s.n << " " << s.k;
      }
    }
  }
}

// seconds >= max(2 m n k / peak, (weights + activations + output) / bandwidth), with the datasheet's figures.
TEST(GemmTime, IsNeverBelowTheRoofline) {
  Random draws(12);
  for (const DeviceRates& device : all_rates()) {
    for (const auto& [weights, activations] : kPairs) {
      const GemmRates g = gemm_rates(device, calibration(), weights, activations, Quantisation::fused);
      const GemmRates ideal = ideal_gemm_rates(device, weights, activations);
      EXPECT_LE(g.flops, ideal.flops);
      EXPECT_LE(g.bandwidth, device.memory_bandwidth);
      for (int i = 0; i < 20; ++i) {
        const Shape s = random_shape(draws);
        const double compute = 2 * s.m * s.n * s.k / ideal.flops;
        const double memory =
            (g.bytes_weight * s.n * s.k + g.bytes_activation * s.m * s.k + 2 * s.m * s.n) / device.memory_bandwidth;
        EXPECT_GE(gemm_time(g, s.m, s.n, s.k).seconds, std::max(compute, memory));
      }
    }
  }
}

TEST(GemmTime, MoreComputeOrBandwidthIsNeverSlower) {
  Random draws(13);
  for (DeviceRates device : all_rates()) {
    for (const auto& [weights, activations] : kPairs) {
      const GemmRates base = gemm_rates(device, calibration(), weights, activations);
      DeviceRates faster = device;
      for (double& peak : faster.peak) peak *= 1.5;
      DeviceRates wider = device;
      wider.memory_bandwidth *= 1.5;
      const GemmRates more_compute = gemm_rates(faster, calibration(), weights, activations);
      const GemmRates more_bandwidth = gemm_rates(wider, calibration(), weights, activations);
      for (int i = 0; i < 10; ++i) {
        const Shape s = random_shape(draws);
        const double t = gemm_time(base, s.m, s.n, s.k).seconds;
        EXPECT_LE(gemm_time(more_compute, s.m, s.n, s.k).seconds, t);
        EXPECT_LE(gemm_time(more_bandwidth, s.m, s.n, s.k).seconds, t);
      }
    }
  }
}

TEST(GemmTime, IsContinuousInK) {
  const GemmRates g = gemm_rates(rates_of("h200-sxm"), calibration(), Format::bf16, Format::bf16);
  for (double k = 64; k < 60000; k *= 1.37) {
    const double t = gemm_time(g, 300, 4096, k).seconds;
    EXPECT_NEAR(gemm_time(g, 300, 4096, k * (1 + 1e-7)).seconds, t, 2e-7 * t);
  }
}

// One row more than a whole number of tiles costs a part of a tile, and then nothing until that tile is full but its
// own share: the step is visible, and smaller than a tile.
TEST(GemmTime, RowsBeyondATileCostPartOfTheNextOne) {
  const GemmRates g = gemm_rates(rates_of("a100-sxm-80"), calibration(), Format::bf16, Format::bf16);
  const double full = gemm_time(g, 2048, 65536, 16384).seconds;
  const double one_more = gemm_time(g, 2049, 65536, 16384).seconds;
  const double next = gemm_time(g, 2176, 65536, 16384).seconds;
  EXPECT_GT(one_more - full, 5 * (next - full) / 128);
  EXPECT_LT(one_more, next);
}

TEST(GemmTime, TheBoardsOwnLimitHoldsTheClockOfLargeProducts) {
  const DeviceRates device = rates_of("h200-sxm");
  EXPECT_NEAR(sustained_clock_share(device, calibration()) * 1830, 1461, 20) << "power.csv: 1,461 MHz at 700 W";
}

TEST(GemmTime, NarrowingActivationsIsPaidOnlyWhereItIsSeparate) {
  const DeviceRates device = rates_of("h200-sxm");
  const auto seconds = [&](Format format, Quantisation q) {
    return gemm_time(gemm_rates(device, calibration(), format, format, q), 4096, 256, 7168).seconds;
  };
  EXPECT_GT(seconds(Format::fp8, Quantisation::separate), seconds(Format::fp8, Quantisation::block));
  EXPECT_GT(seconds(Format::fp8, Quantisation::block), seconds(Format::fp8, Quantisation::fused));
  EXPECT_EQ(seconds(Format::bf16, Quantisation::separate), seconds(Format::bf16, Quantisation::fused));
}

// No tensor core multiplies 4-bit integers: the weights are read narrow and multiplied in 16 bits.
TEST(GemmTime, IntegerWeightsAreReadNarrowAndMultipliedWide) {
  const DeviceRates device = rates_of("h100-sxm");
  const GemmRates wide = ideal_gemm_rates(device, Format::bf16, Format::bf16);
  const GemmRates awq = ideal_gemm_rates(device, Format::int4, Format::bf16);
  EXPECT_EQ(awq.flops, wide.flops);
  EXPECT_LT(awq.bytes_weight, wide.bytes_weight / 3);
  EXPECT_EQ(awq.bytes_activation, 2);
}

TEST(GemmTime, AChipWithoutFp8MultipliesItInSixteenBits) {
  const DeviceRates device = rates_of("a100-sxm-80");
  const GemmRates fp8 = ideal_gemm_rates(device, Format::fp8, Format::fp8);
  EXPECT_EQ(fp8.flops, 312e12);
  EXPECT_EQ(fp8.bytes_weight, 1);
  EXPECT_EQ(fp8.bytes_activation, 2);
}

// power.csv: 8192^3 in 1.669 ms (BF16) and 0.884 ms (FP8) on one H200.
TEST(GemmTime, MeetsTheMeasuredCubeOnH200) {
  const DeviceRates device = rates_of("h200-sxm");
  const GemmRates bf16 = gemm_rates(device, calibration(), Format::bf16, Format::bf16);
  const GemmRates fp8 = gemm_rates(device, calibration(), Format::fp8, Format::fp8, Quantisation::fused);
  EXPECT_NEAR(gemm_time(bf16, 8192, 8192, 8192).seconds, 1.669e-3, 0.1 * 1.669e-3);
  EXPECT_NEAR(gemm_time(fp8, 8192, 8192, 8192).seconds, 0.884e-3, 0.1 * 0.884e-3);
}

// What streams in through tiles pays for filling the first one: the share of the bandwidth grows with the bytes, from
// about 0.72 at 64 MB to 0.85 at 500 MB on H100 (16 bits, evidence of kernels.csv).
TEST(GemmTime, LargeWeightsStreamBetterThanSmallOnes) {
  const DeviceRates device = rates_of("h100-sxm");
  const GemmRates g = gemm_rates(device, calibration(), Format::bf16, Format::bf16);
  const auto share = [&](double n, double k) {
    return 2 * n * k / gemm_time(g, 8, n, k).seconds / device.memory_bandwidth;
  };
  EXPECT_NEAR(share(4096, 8192), 0.72, 0.04);
  EXPECT_NEAR(share(32768, 8192), 0.84, 0.03);
}

}  // namespace
}  // namespace ridge::perf
