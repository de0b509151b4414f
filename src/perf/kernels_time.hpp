// Bodies of the *_time functions of kernels.hpp, inline because they are the inner loop of everything.
//
//   #include "perf/kernels.hpp"   // includes this file at its end; nobody else does
//
// No pow, no tables, no branch on data that a predictor would miss. Smooth maxima use the exponent 4 (two square
// roots): kernels overlap arithmetic and traffic, but not perfectly where both take equally long.
#pragma once

#include <algorithm>
#include <cmath>

#include "perf/kernels.hpp"

namespace ridge::perf {

/// (a^4 + b^4)^(1/4): at least max(a, b), at most 19 % more.
[[nodiscard]] inline double smooth_max(double a, double b) noexcept {
  const double a2 = a * a;
  const double b2 = b * b;
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}

inline OpTime gemm_time(const GemmRates& rates, double m, double n, double k) noexcept {
  const double bytes = rates.bytes_weight * n * k + rates.bytes_activation * m * k + 2 * m * n;
  const double rows = std::max(m, rates.tile_m);
  const double columns = std::max(n, rates.tile_n);
  // Fewer tiles than cores: the rest of the device idles.
  const double waves = std::max(1.0, rates.cores * rates.tile_m * rates.tile_n / (rows * columns));
  const double split = std::sqrt(waves);
  OpTime t;
  t.compute = 2 * m * n * (k + rates.short_k) * split / rates.flops;
  t.memory = bytes / rates.bandwidth;
  t.fixed = rates.fixed + rates.quantise;
  t.seconds = t.fixed + smooth_max(t.compute, t.memory);
  return t;
}

inline double experts_touched(double experts, double top_k, double tokens, double correlation) noexcept {
  if (experts <= 0) return 0;
  // log1p(-1) is -inf and exp(-inf) 0: all experts, as it should be when top_k = experts.
  return experts * -std::expm1(correlation * tokens * std::log1p(-std::min(1.0, top_k / experts)));
}

inline OpTime moe_time(const MoeRates& rates, const MoeShape& shape) noexcept {
  const GemmRates& g = rates.gemm;
  const double share = shape.experts > 0 ? shape.local_experts / shape.experts : 0;
  const double rows = shape.tokens * shape.top_k * share;
  const double active = share * experts_touched(shape.experts, shape.top_k, shape.tokens, shape.correlation);
  const double matrices = shape.gated ? 3 : 2;
  const double padded = rows + rates.padding_rows * active;
  const double weights = matrices * shape.hidden * shape.width;
  const double traffic = rows * (2 * shape.hidden * (g.bytes_activation + 2) + 2 * shape.width * matrices);
  OpTime t;
  t.compute = 2 * padded * weights * (1 + g.short_k / shape.hidden) / g.flops;
  t.memory = (active * weights * g.bytes_weight + traffic) / (g.bandwidth * rates.stream_share);
  t.fixed = g.fixed + g.quantise;
  t.seconds = t.fixed + smooth_max(t.compute, t.memory);
  return t;
}

/// Pairs of query and key of one head: causal over the last q_len of kv_len positions, each seeing `window` at most.
[[nodiscard]] inline double attended_pairs(double q_len, double kv_len, double window) noexcept {
  const double reach = window > 0 ? std::min(window, kv_len) : kv_len;
  const double before = kv_len - q_len;
  const double growing = std::clamp(reach - before, 0.0, q_len);
  return growing * before + 0.5 * growing * (growing + 1) + (q_len - growing) * reach;
}

inline OpTime attention_prefill_time(const AttentionRates& rates, const AttentionShape& shape) noexcept {
  const double v = shape.v_head_dim > 0 ? shape.v_head_dim : shape.head_dim;
  const double pairs = attended_pairs(shape.q_len, shape.kv_len, shape.window);
  const double flops = 2 * shape.batch * shape.q_heads * pairs * (shape.head_dim + v);
  const double elements = shape.batch * (shape.q_len * shape.q_heads * (shape.head_dim + v) * 2 +
                                         shape.kv_len * shape.kv_heads * (shape.head_dim + v) * rates.bytes_kv);
  OpTime t;
  t.compute = flops * (1 + rates.ramp / shape.kv_len) / rates.prefill_flops;
  t.memory = elements / rates.decode_bandwidth;
  t.fixed = rates.fixed_prefill;
  t.seconds = t.fixed + smooth_max(t.compute, t.memory);
  return t;
}

inline OpTime attention_decode_time(const AttentionRates& rates, const AttentionShape& shape) noexcept {
  const double v = shape.v_head_dim > 0 ? shape.v_head_dim : shape.head_dim;
  const double reach = shape.window > 0 ? std::min(shape.window, shape.kv_len) : shape.kv_len;
  const double width = shape.batch * (shape.head_dim + v);
  OpTime t;
  t.compute = 2 * width * reach * shape.q_heads * shape.q_len / rates.decode_flops;
  t.memory =
      width * (reach * shape.kv_heads * rates.bytes_kv + 2 * shape.q_heads * shape.q_len) / rates.decode_bandwidth;
  t.fixed = rates.fixed_decode;
  t.seconds = t.fixed + smooth_max(t.compute, t.memory);
  return t;
}

inline OpTime mla_prefill_time(const AttentionRates& rates, const MlaShape& shape) noexcept {
  const double key = shape.nope + shape.rope;
  const double pairs = attended_pairs(shape.q_len, shape.kv_len, 0);
  OpTime t;
  t.compute = 2 * shape.batch * shape.heads * pairs * (key + shape.v) * (1 + rates.ramp / shape.kv_len) /
              rates.mla_prefill_flops;
  t.memory = 2 * shape.batch * shape.heads * (shape.q_len + shape.kv_len) * (key + shape.v) / rates.decode_bandwidth;
  t.fixed = rates.fixed_prefill;
  t.seconds = t.fixed + smooth_max(t.compute, t.memory);
  return t;
}

inline OpTime mla_decode_time(const AttentionRates& rates, const MlaShape& shape) noexcept {
  const double width = shape.rank + shape.rope;
  OpTime t;
  t.compute =
      2 * shape.batch * shape.heads * shape.q_len * shape.kv_len * (width + shape.rank) / rates.mla_decode_flops;
  t.memory = shape.batch *
             (shape.kv_len * width * rates.bytes_kv + 2 * shape.q_len * shape.heads * (width + shape.rank)) /
             rates.mla_decode_bandwidth;
  t.fixed = rates.fixed_decode;
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
  if (ranks <= 1) return 0;
  const double others = (ranks - 1) / ranks;
  double volume = others * bytes;
  double steps = ranks;
  switch (op) {
    case Collective::all_reduce:
      volume = link.in_network_reduction ? bytes : 2 * others * bytes;
      break;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      break;
    case Collective::send:
      return link.latency + bytes / link.peer_bandwidth;
  }
  return link.latency + link.latency_per_rank * steps + volume / link.bandwidth;
}

}  // namespace ridge::perf
