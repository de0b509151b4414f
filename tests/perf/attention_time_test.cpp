#include <gtest/gtest.h>

#include "kernel_shapes.hpp"

namespace ridge::perf {
namespace {

using testing_support::all_rates;
using testing_support::calibration;
using testing_support::rates_of;
using testing_support::size_between;

AttentionShape random_decode(Random& draws) {
  AttentionShape s;
  s.batch = size_between(draws, 1, 512);
  s.kv_len = size_between(draws, 16, 131072);
  s.kv_heads = size_between(draws, 1, 33);
  s.q_heads = s.kv_heads * size_between(draws, 1, 129);
  s.head_dim = draws.uniform() < 0.5 ? 64 : 128;
  return s;
}
AttentionShape random_prefill(Random& draws) {
  AttentionShape s = random_decode(draws);
  s.batch = size_between(draws, 1, 33);
  s.q_len = std::max(1.0, std::floor(s.kv_len * draws.uniform()));
  return s;
}
MlaShape random_latent(Random& draws) {
  MlaShape s;
  s.batch = size_between(draws, 1, 512);
  s.kv_len = size_between(draws, 16, 131072);
  s.heads = size_between(draws, 1, 129);
  return s;
}

TEST(AttendedPairs, AreTheTriangleTheChunkAndTheBand) {
  EXPECT_EQ(attended_pairs(4, 4, 0), 10);     // 1 + 2 + 3 + 4
  EXPECT_EQ(attended_pairs(2, 6, 0), 5 + 6);  // the last two of six
  EXPECT_EQ(attended_pairs(1, 100, 0), 100);  // decode
  EXPECT_EQ(attended_pairs(6, 6, 3), 1 + 2 + 3 * 4);
  EXPECT_EQ(attended_pairs(2, 6, 3), 6);    // both see the whole window
  EXPECT_EQ(attended_pairs(6, 6, 99), 21);  // a window longer than the sequence is none
}

TEST(AttentionTime, GrowsWithBatchAndLengths) {
  Random draws(31);
  for (const DeviceRates& device : all_rates()) {
    for (const Format kv : {Format::bf16, Format::fp8}) {
      const AttentionRates r = attention_rates(device, calibration(), Format::bf16, kv);
      for (int i = 0; i < 20; ++i) {
        const AttentionShape d = random_decode(draws);
        for (double AttentionShape::*field : {&AttentionShape::batch, &AttentionShape::kv_len}) {
          AttentionShape more = d;
          more.*field *= 1.2;
          EXPECT_LE(attention_decode_time(r, d).seconds, attention_decode_time(r, more).seconds);
        }
        const AttentionShape p = random_prefill(draws);
        for (double AttentionShape::*field :
             {&AttentionShape::batch, &AttentionShape::kv_len, &AttentionShape::q_heads}) {
          AttentionShape more = p;
          more.*field *= 1.2;
          EXPECT_LE(attention_prefill_time(r, p).seconds, attention_prefill_time(r, more).seconds);
        }
        AttentionShape longer = p;
        longer.q_len = std::min(p.kv_len, p.q_len * 1.2);
        EXPECT_LE(attention_prefill_time(r, p).seconds, attention_prefill_time(r, longer).seconds);
        AttentionShape windowed = p;
        windowed.window = std::max(1.0, p.kv_len / 3);
        EXPECT_LE(attention_prefill_time(r, windowed).seconds, attention_prefill_time(r, p).seconds);
        const MlaShape m = random_latent(draws);
        for (double MlaShape::*field : {&MlaShape::batch, &MlaShape::kv_len, &MlaShape::heads}) {
          MlaShape more = m;
          more.*field *= 1.2;
          EXPECT_LE(mla_decode_time(r, m).seconds, mla_decode_time(r, more).seconds);
          MlaShape prefill = m, more_prefill = more;
          prefill.q_len = more_prefill.q_len = m.kv_len;
          EXPECT_LE(mla_prefill_time(r, prefill).seconds, mla_prefill_time(r, more_prefill).seconds);
        }
      }
    }
  }
}

TEST(AttentionTime, IsNeverBelowTheRoofline) {
  Random draws(32);
  for (const DeviceRates& device : all_rates()) {
    for (const Format kv : {Format::bf16, Format::fp8}) {
      const AttentionRates r = attention_rates(device, calibration(), Format::bf16, kv);
      const double peak = ideal_attention_rates(device, Format::bf16, kv).prefill_flops;
      for (int i = 0; i < 20; ++i) {
        const AttentionShape d = random_decode(draws);
        const double cache = 2 * d.batch * d.kv_heads * d.kv_len * d.head_dim * bytes_per_element(kv);
        EXPECT_GE(attention_decode_time(r, d).seconds, cache / device.memory_bandwidth);
        const AttentionShape p = random_prefill(draws);
        const double flops = 4 * p.batch * p.q_heads * p.head_dim * attended_pairs(p.q_len, p.kv_len, 0);
        EXPECT_GE(attention_prefill_time(r, p).seconds, flops / peak);
        const double tokens = 2 * p.batch * p.head_dim * (2 * p.q_len * p.q_heads + p.kv_len * p.kv_heads * r.bytes_kv);
        EXPECT_GE(attention_prefill_time(r, p).seconds, tokens / device.memory_bandwidth);
        MlaShape m = random_latent(draws);
        EXPECT_GE(mla_decode_time(r, m).seconds, m.batch * m.kv_len * 576 * r.bytes_kv / device.memory_bandwidth);
        EXPECT_GE(mla_decode_time(r, m).seconds, 2 * m.batch * m.kv_len * m.heads * (576 + 512) / peak);
        m.q_len = m.kv_len;
        EXPECT_GE(mla_prefill_time(r, m).seconds,
                  2 * m.batch * m.heads * attended_pairs(m.q_len, m.kv_len, 0) * 320 / peak);
      }
    }
  }
}

TEST(AttentionTime, MoreComputeOrBandwidthIsNeverSlower) {
  Random draws(33);
  for (const DeviceRates& device : all_rates()) {
    DeviceRates more = device;
    for (double& peak : more.peak) peak *= 1.4;
    DeviceRates wider = device;
    wider.memory_bandwidth *= 1.4;
    const AttentionRates base = attention_rates(device, calibration(), Format::bf16, Format::fp8);
    for (const DeviceRates& better : {more, wider}) {
      const AttentionRates r = attention_rates(better, calibration(), Format::bf16, Format::fp8);
      for (int i = 0; i < 10; ++i) {
        const AttentionShape d = random_decode(draws);
        const AttentionShape p = random_prefill(draws);
        const MlaShape m = random_latent(draws);
        EXPECT_LE(attention_decode_time(r, d).seconds, attention_decode_time(base, d).seconds);
        EXPECT_LE(attention_prefill_time(r, p).seconds, attention_prefill_time(base, p).seconds);
        EXPECT_LE(mla_decode_time(r, m).seconds, mla_decode_time(base, m).seconds);
      }
    }
  }
}

// With one key-value head per query head, heads are independent of each other, as sequences are: b sequences of h heads
// cost what b h sequences of one head cost.
TEST(AttentionTime, GroupedQueriesWithAsManyHeadsAreMultiHead) {
  const DeviceRates device = rates_of("h100-sxm");
  for (const Format kv : {Format::bf16, Format::fp8}) {
    const AttentionRates r = attention_rates(device, calibration(), Format::bf16, kv);
    AttentionShape heads{.batch = 6, .q_len = 1, .kv_len = 4000, .q_heads = 32, .kv_heads = 32, .head_dim = 128};
    AttentionShape sequences = heads;
    sequences.batch = 6 * 32;
    sequences.q_heads = sequences.kv_heads = 1;
    EXPECT_DOUBLE_EQ(attention_decode_time(r, heads).seconds, attention_decode_time(r, sequences).seconds);
    heads.q_len = sequences.q_len = 4000;
    EXPECT_DOUBLE_EQ(attention_prefill_time(r, heads).compute, attention_prefill_time(r, sequences).compute);
    EXPECT_DOUBLE_EQ(attention_prefill_time(r, heads).memory, attention_prefill_time(r, sequences).memory);
  }
}

TEST(AttentionTime, SharedHeadsReadTheCacheOnce) {
  const AttentionRates ideal = ideal_attention_rates(rates_of("h100-sxm"), Format::bf16, Format::bf16);
  AttentionShape s{.batch = 64, .q_len = 1, .kv_len = 8192, .q_heads = 32, .kv_heads = 32, .head_dim = 128};
  const double multi_head = attention_decode_time(ideal, s).memory;
  s.kv_heads = 8;
  EXPECT_NEAR(multi_head / attention_decode_time(ideal, s).memory, 4, 0.01);
}

TEST(AttentionTime, AWindowBoundsWhatDecodeReads) {
  const AttentionRates r = attention_rates(rates_of("h100-sxm"), calibration(), Format::bf16, Format::bf16);
  AttentionShape s{.batch = 8, .q_len = 1, .kv_len = 100000, .q_heads = 32, .kv_heads = 8, .head_dim = 128};
  s.window = 4096;
  AttentionShape short_one = s;
  short_one.window = 0;
  short_one.kv_len = 4096;
  EXPECT_DOUBLE_EQ(attention_decode_time(r, s).seconds, attention_decode_time(r, short_one).seconds);
}

// A decode that leaves each sequence and head to one core cannot use the device for a single long sequence.
TEST(AttentionTime, AnUnsplitSequenceRunsAtTheRateOfOneCore) {
  const DeviceRates device = rates_of("a100-sxm-80");
  const AttentionRates split = attention_rates(device, calibration(), Format::bf16, Format::bf16);
  const AttentionRates lone =
      attention_rates(device, calibration(), Format::bf16, Format::bf16, AttentionPath::unsplit);
  const AttentionShape one{.batch = 1, .q_len = 1, .kv_len = 131072, .q_heads = 4, .kv_heads = 4, .head_dim = 128};
  EXPECT_GT(attention_decode_time(lone, one).seconds, 10 * attention_decode_time(split, one).seconds);
  AttentionShape many = one;
  many.batch = 64;
  EXPECT_LT(attention_decode_time(lone, many).seconds, 1.2 * attention_decode_time(split, many).seconds);
}

TEST(AttentionTime, LatentDecodeReadsOneVectorForAllHeads) {
  const AttentionRates ideal = ideal_attention_rates(rates_of("h200-sxm"), Format::bf16, Format::bf16);
  MlaShape s{.batch = 32, .q_len = 1, .kv_len = 65536, .heads = 16};
  const double few = mla_decode_time(ideal, s).memory;
  EXPECT_NEAR(few, 32.0 * 65536 * 576 * 2 / 4.8e12, 0.01 * few);
  s.heads = 128;
  EXPECT_NEAR(mla_decode_time(ideal, s).memory, few, 0.01 * few);
}

}  // namespace
}  // namespace ridge::perf
