// Bodies of the *_time functions of kernels.hpp, inline because they are the inner loop of everything.
//
//   #include "perf/operators/kernels.hpp"   // includes this file at its end; nobody else does
//
// No pow, no tables, no branch on data that a predictor would miss. Smooth maxima use the exponent 4: kernels overlap
// arithmetic and traffic, but not perfectly where both take equally long.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "perf/operators/kernels.hpp"

namespace ridge::perf {

/// (a^4 + b^4)^(1/4): at least max(a, b), at most 19 % more.
[[nodiscard]] inline double smooth_max(double a, double b) noexcept {
  const double a2 = a * a;
  const double b2 = b * b;
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}

/// The next whole number, for values that fit an integer; std::ceil is a call where the processor's rounding
/// instruction may not be assumed.
[[nodiscard]] inline double whole_above(double x) noexcept {
  const auto floor = static_cast<double>(static_cast<std::int64_t>(x));
  return floor + (floor < x ? 1.0 : 0.0);
}

inline OpTime gemm_time(const GemmRates& rates, double m, double n, double k) noexcept {
  // Skinny products put the weights on the rows of the tile; only from half a tile on is m rounded up, in part.
  // Below, the narrowest tile is computed whole, which shows where a chip has far more bandwidth than arithmetic (H20).
  const double whole = whole_above(m / rates.tile_m) * rates.tile_m;
  const double rows = 2 * m > rates.tile_m ? m + rates.padding * (whole - m) : std::max(m, rates.least_rows);
  // More tiles than cores: the last wave is not full, and of what it lacks a part is lost. Fewer: the idle ones are
  // partly won back by smaller tiles and split k, so the fourth root of their share.
  const double tiles = std::max(rows, rates.tile_m) * std::max(n, rates.tile_n);
  const double waves = tiles / (rates.cores * rates.tile_m * rates.tile_n);
  const double inverse = 1 / waves;
  const double last = waves > 1 ? 1 + rates.wave * (whole_above(waves) * inverse - 1) : 1;
  const double idle = std::max(1.0, inverse);
  const double busy = 2 * rows * n * (k + rates.short_k) * last / rates.flops;
  OpTime t;
  t.compute = busy * std::sqrt(std::sqrt(idle));
  t.memory = (rates.bytes_weight * n * k + rates.bytes_activation * m * k + 2 * m * n) / rates.bandwidth;
  t.fixed = rates.fixed + rates.quantise + rates.quantise_per_element * m * k;
  const double loop = rates.step * k / (1 + rates.split * k);
  // Weights that stream in through one tile after another: filling the first and draining the last is not hidden. The
  // fourth power of t.compute is written out to save a root.
  const double busy2 = busy * busy;
  const double streamed = (t.memory + loop) * (t.memory + loop);
  t.seconds = t.fixed + std::sqrt(std::sqrt(busy2 * busy2 * idle + streamed * streamed));
  return t;
}

inline double experts_touched(double experts, double top_k, double tokens, double correlation) noexcept {
  if (experts <= 0) return 0;
  constexpr double kNever = -745;  // exp of it is zero: all experts, as it should be when top_k = experts
  const double missed = std::max(kNever, std::log(1 - std::min(1.0, top_k / experts)));
  return experts * (1 - std::exp(correlation * tokens * missed));
}

inline ExpertTiles expert_tiles(const MoeRates& rates, const MoeShape& shape, double rows, double active) noexcept {
  // Where tiles were not tuned, large ones come once tokens outnumber the experts of the device. Spread over a quarter,
  // so that results stay smooth.
  const double crowded = std::clamp(4 * (shape.tokens / shape.local_experts - 1), 0.0, 1.0);
  const double tile = rates.small_tile_rows + (rates.tile_rows - rates.small_tile_rows) * crowded;
  const double untuned = std::max(tile * active, rows + 0.5 * tile * active);  // up to whole tiles
  return {tile > 0 ? untuned : rows + rates.padding_rows * active,
          rates.tile_step * (shape.hidden + shape.width) * crowded};
}

inline OpTime moe_time(const MoeRates& rates, const MoeShape& shape) noexcept {
  const GemmRates& g = rates.gemm;
  const double share = shape.experts > 0 ? shape.local_experts / shape.experts : 0;
  const double here = shape.tokens * shape.imbalance;
  const double most = shape.tokens * std::min(shape.top_k, shape.local_experts);  // a token meets an expert once
  const double rows = std::min(here * share * shape.top_k, most);
  const double active =
      shape.active > 0 ? shape.active : share * experts_touched(shape.experts, shape.top_k, here, shape.correlation);
  const double matrices = shape.gated ? 3 : 2;
  const double weights = matrices * shape.hidden * shape.width;
  const double traffic = rows * 2 * (2 * shape.hidden + matrices * shape.width);
  const ExpertTiles tiles = expert_tiles(rates, shape, rows, active);
  OpTime t;
  t.compute = 2 * tiles.rows * weights / g.flops;
  t.memory = (active * weights * g.bytes_weight / rates.stream_share + traffic) / g.bandwidth;
  t.fixed = g.fixed + g.quantise;
  t.seconds = t.fixed + smooth_max(t.compute, t.memory + tiles.loop);
  return t;
}

/// Pairs of query and key of one head: causal over the last q_len of kv_len positions, each seeing `window` at most.
[[nodiscard]] inline double attended_pairs(double q_len, double kv_len, double window) noexcept {
  const double reach = window > 0 ? std::min(window, kv_len) : kv_len;
  const double before = kv_len - q_len;
  const double growing = std::clamp(reach - before, 0.0, q_len);
  return growing * before + 0.5 * growing * (growing + 1) + (q_len - growing) * reach;
}

namespace detail {

/// Seconds per pair of query and key. Products and exponentials run at once on different units, but wait for each other
/// in turns: the root of the sum of squares.
[[nodiscard]] inline double seconds_per_pair(double width, double flops, double exponentials) noexcept {
  const double product = 2 * width / flops;
  const double exponential = 1 / exponentials;
  return std::sqrt(product * product + exponential * exponential);
}

// All pairs, or those that all cores together work on while the longest block of queries runs alone.
[[nodiscard]] inline double scheduled_pairs(double pairs, double tail, double q_len, double reach) noexcept {
  const double longest = tail * std::min(q_len, 128.0) * reach;
  return std::sqrt(pairs * pairs + longest * longest);
}

}  // namespace detail

inline OpTime attention_prefill_time(const AttentionRates& rates, const AttentionShape& shape) noexcept {
  const double values = shape.v_head_dim > 0 ? shape.v_head_dim : shape.head_dim;
  const double width = shape.head_dim + values;
  const double computed = filled(shape.head_dim, rates.array_side) + filled(values, rates.array_side);
  const double reach = shape.window > 0 ? std::min(shape.window, shape.kv_len) : shape.kv_len;
  const double each = attended_pairs(shape.q_len, shape.kv_len, shape.window) + 0.5 * rates.ramp * shape.q_len;
  const double pairs = detail::scheduled_pairs(shape.batch * shape.q_heads * each, rates.tail, shape.q_len, reach);
  // Queries and outputs, new keys and values in and into the cache, all keys and values once.
  const double bytes = shape.batch * width *
                       (shape.q_len * (rates.token_bytes * shape.q_heads + 2 * shape.kv_heads) +
                        shape.kv_len * shape.kv_heads * rates.bytes_kv);
  OpTime t;
  t.compute = pairs * detail::seconds_per_pair(computed, rates.prefill_flops, rates.exponentials);
  t.memory = bytes / rates.token_bandwidth;
  t.fixed = rates.fixed_prefill;
  t.seconds = t.fixed + t.compute + t.memory;
  return t;
}

inline OpTime attention_decode_time(const AttentionRates& rates, const AttentionShape& shape) noexcept {
  constexpr double kTensorRows = 16;  // query heads that one tensor instruction takes, filled up if there are fewer
  constexpr double kMostGrouped = 32;
  constexpr double kGroupedFirst = 8;  // the group of Llama-2-70B, which had a kernel of its own before others
  const double width = shape.head_dim + (shape.v_head_dim > 0 ? shape.v_head_dim : shape.head_dim);
  const double reach = shape.window > 0 ? std::min(shape.window, shape.kv_len) : shape.kv_len;
  const double queries = shape.q_heads * shape.q_len;
  const double heads = shape.batch * shape.kv_heads;
  const double group = queries / shape.kv_heads;
  const bool wide = group > kMostGrouped;
  const bool single = group <= 1;
  const bool by_head = !single && rates.scalar_by_head > 0 && (group != kGroupedFirst || shape.head_dim != 128);
  const double scalar = by_head  ? rates.scalar_by_head * group
                        : wide   ? rates.scalar_wide * group
                        : single ? rates.scalar_single
                                 : 0;
  const bool grouped = !single && !wide && shape.head_dim >= 128;
  OpTime t;
  const double rows = std::max(group * std::min(rates.decode_block, shape.batch), kTensorRows);
  const double fill = rates.decode_block > 1 ? filled(shape.head_dim, rates.array_side) / shape.head_dim : 1;
  t.compute = std::max(2 * heads * rows * fill / rates.decode_flops, heads * scalar) * width * reach;
  const double reads = rates.heads_read_alone ? std::max(group, 1.0) : 1;
  t.memory = width * (heads * reads * reach * rates.bytes_kv + 2 * shape.batch * queries * rates.decode_passes) /
             rates.decode_bandwidth;
  t.memory = std::max(t.memory, rates.lone_sequence * reach * width * rates.bytes_kv);
  const double programs = wide && scalar > 0 ? shape.batch * queries : heads;
  t.fixed = (grouped ? rates.fixed_grouped : rates.fixed_decode) + rates.step * reach / (1 + rates.split * reach) +
            rates.per_head * programs;
  t.seconds = t.fixed + smooth_max(t.compute, t.memory);
  return t;
}

inline OpTime mla_prefill_time(const AttentionRates& rates, const MlaShape& shape) noexcept {
  const double width = shape.nope + shape.rope + shape.v;
  const double each = attended_pairs(shape.q_len, shape.kv_len, 0) + 0.5 * rates.mla_ramp * shape.q_len;
  const double pairs = detail::scheduled_pairs(shape.batch * shape.heads * each, rates.tail, shape.q_len, shape.kv_len);
  OpTime t;
  t.compute = pairs * detail::seconds_per_pair(width, rates.mla_prefill_flops, rates.exponentials);
  t.memory = 2 * shape.batch * shape.heads * width * (0.5 * rates.mla_token_bytes * shape.q_len + shape.kv_len) /
             rates.token_bandwidth;
  t.fixed = rates.mla_fixed_prefill;
  t.seconds = t.fixed + t.compute + t.memory;
  return t;
}

inline OpTime mla_decode_time(const AttentionRates& rates, const MlaShape& shape) noexcept {
  constexpr double kTensorRows = 16;
  const double width = shape.rank + shape.rope;
  const double queries = shape.heads * shape.q_len;
  OpTime t;
  t.compute = shape.batch * shape.kv_len *
              std::max(2 * std::max(queries, kTensorRows) * (width + shape.rank) / rates.mla_decode_flops,
                       width * rates.mla_scalar);
  t.memory = shape.batch *
             (shape.kv_len * width * rates.bytes_kv + 2 * queries * (width + shape.rank) * rates.decode_passes) /
             rates.mla_decode_bandwidth;
  t.fixed = rates.mla_fixed_decode + rates.step * shape.kv_len / (1 + rates.split * shape.kv_len) +
            rates.per_head * shape.batch;
  t.seconds = t.fixed + smooth_max(t.compute, t.memory);
  return t;
}

inline OpTime elementwise_time(const DeviceRates& rates, double bytes, double kernels) noexcept {
  OpTime t;
  t.memory = bytes / (rates.memory_bandwidth * rates.memory_share);
  t.fixed = rates.launch * kernels;
  t.seconds = t.fixed + t.memory;
  return t;
}

inline double collective_time(const LinkRates& link, Collective op, double ranks, double bytes) noexcept {
  constexpr double kReducedBySwitch = 8;  // from that many ranks on the libraries let switches reduce
  if (ranks <= 1) return 0;
  const double others = (ranks - 1) / ranks;
  double volume = others * bytes;
  double steps = ranks - 1;
  double ring = steps;  // transfers that follow each other, whether or not each is waited for
  double fill = link.fill;
  double bandwidth = link.bandwidth;
  double ramp = link.ramp;
  switch (op) {
    case Collective::all_reduce:
      volume *= 2;
      steps *= 2;
      ring *= 2;
      break;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      break;
    case Collective::all_to_all:
      steps = 1;
      bandwidth = std::min(bandwidth, link.peer_bandwidth * (ranks - 1));
      break;
    case Collective::send:
      volume = bytes;
      steps = 0;
      bandwidth = link.peer_bandwidth;
      ramp = fill = 0;  // no ring
      break;
  }
  const double start = link.latency + link.latency_per_rank * steps;
  ramp *= volume / (volume + link.ramp_bytes);
  double seconds = start + ramp + volume * (1 + fill / ring) / bandwidth;
  if (op == Collective::all_reduce) {
    if (link.in_network_reduction && ranks >= kReducedBySwitch) {
      seconds = std::min(seconds, start + ramp + bytes / link.reduction_bandwidth);
    }
    const double all = (ranks - 1) * bytes;
    seconds = std::min(seconds, link.one_shot_latency + link.one_shot_per_rank * ranks + all / link.one_shot_bandwidth);
  }
  return seconds;
}

}  // namespace ridge::perf
