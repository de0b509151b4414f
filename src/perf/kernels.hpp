// Time of single operators on one device: what everything above is made of.
//
//   DeviceRates rates = device_rates(device, architecture, calibration);          // once
//   GemmRates gemm = gemm_rates(rates, Format::fp8, Format::fp8);                 // once per pair of formats
//   OpTime t = gemm_time(gemm, 64, 28672, 8192);                                  // hot: a few nanoseconds
//   t.seconds; t.compute; t.memory; t.fixed;                                      // and what bound it
//
// The *_time functions are pure, noexcept, allocate nothing and are monotone: more work is never faster, more of any
// resource never slower. They stay at or above the roofline: seconds >= max(flops/peak, bytes/bandwidth). Numbers in
// here are plain doubles in base units (bytes, seconds, FLOP/s), because this is the inner loop.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ridge/calibration.hpp"
#include "ridge/catalogue.hpp"
#include "ridge/perf.hpp"

namespace ridge::perf {

/// What one device offers (datasheet) and what of it programs reach (calibration).
struct DeviceRates {
  std::array<double, kFormats> peak{};  ///< FLOP/s of a product in that format; 0 if the chip has no such product
  std::array<bool, kFormats> native{};  ///< false: operands are widened to bf16/fp16 first
  double memory_bandwidth = 0;
  double memory_capacity = 0;
  double l2 = 0;
  double cores = 0;
  double boost_clock = 0;
  double tdp = 0;
  double power_limit = 0;  ///< what the board may draw; tdp unless capped
  double host_link = 0;    ///< PCIe or C2C, bytes/s one direction

  // shares and constants from calibration, filled by device_rates()
  double memory_share = 0.8;
  double launch = 2e-6;           ///< gap and ramp of one small kernel inside a CUDA graph
  std::string_view architecture;  ///< points into the catalogue
};

/// Refuses a device without memory bandwidth, capacity or any 16-bit peak: "mlu590: no memory bandwidth is public".
Result<DeviceRates> device_rates(const Device& device, const Catalogue& catalogue, const Calibration& calibration);

struct OpTime {
  double seconds = 0;
  double compute = 0;  ///< time the arithmetic alone would take at the rate it reaches
  double memory = 0;   ///< time the traffic alone would take
  double fixed = 0;    ///< launch, ramp, quantisation of activations
};

// ---- matrix products
// -------------------------------------------------------------------------------------------------

/// C[m,n] = A[m,k] B[k,n] with weights B of one format and activations A of another, output in 16 bits.
struct GemmRates {
  double bytes_weight = 2;
  double bytes_activation = 2;
  double bandwidth = 1;  ///< achieved bytes/s
  double flops = 1;      ///< achieved FLOP/s on a large, full product
  double fixed = 0;
  double quantise = 0;  ///< of an engine that turns 16-bit activations into the narrow format before the product
  double short_k = 0;   ///< K at which half the pipeline is start-up: FLOPs count (1 + short_k/k)
  double tile_m = 128, tile_n = 128, cores = 100;  ///< wave and tile quantisation
};
/// Whether the time of a product holds the quantisation of its activations: it does where an engine runs it as a kernel
/// of its own in front of the product, it does not where it is fused into the norm before, or in a bare library call.
enum class Quantisation : std::uint8_t { separate, fused };
[[nodiscard]] GemmRates gemm_rates(const DeviceRates& rates, const Calibration& calibration, Format weights,
                                   Format activations, Quantisation quantisation = Quantisation::separate);
[[nodiscard]] inline OpTime gemm_time(const GemmRates& rates, double m, double n, double k) noexcept;

/// Routed experts of one layer on one device: gate and up, activation, down for `tokens` tokens (of the whole group
/// that routes here) of which each goes to top_k of `experts`; this device holds `local_experts` of width `width`.
struct MoeRates {
  GemmRates gemm;
  double padding_rows = 0;  ///< rows added per active expert by tile padding
  double stream_share = 1;  ///< of gemm.bandwidth reached while streaming experts
};
struct MoeShape {
  double tokens = 0, hidden = 0, width = 0, experts = 0, local_experts = 0, top_k = 0;
  double correlation = 1;  ///< c in E(1-(1-k/E)^(c m)): 1 for random tokens, about 0.6 for text
  bool gated = true;
};
[[nodiscard]] MoeRates moe_rates(const DeviceRates& rates, const Calibration& calibration, Format weights,
                                 Format activations);
[[nodiscard]] inline OpTime moe_time(const MoeRates& rates, const MoeShape& shape) noexcept;
/// Mean number of experts of `experts` that `tokens` tokens touch.
[[nodiscard]] inline double experts_touched(double experts, double top_k, double tokens, double correlation) noexcept;

// ---- attention
// -------------------------------------------------------------------------------------------------------

struct AttentionRates {
  double prefill_flops = 1;     ///< achieved FLOP/s, long sequences, head_dim 128
  double ramp = 512;            ///< sequence length at which half of it is reached: s/(s+ramp)
  double decode_bandwidth = 1;  ///< achieved bytes/s on the KV cache
  double decode_flops = 1;      ///< ceiling of the arithmetic in decode kernels (matters at high GQA ratios, MLA)
  double fixed_prefill = 0;
  double fixed_decode = 0;
  double bytes_kv = 2;
  double mla_prefill_flops = 1;  ///< as prefill_flops, decode_bandwidth and decode_flops, for latent attention
  double mla_decode_bandwidth = 1;
  double mla_decode_flops = 1;
};
struct AttentionShape {
  double batch = 1, q_len = 1, kv_len = 1;  ///< causal over the last q_len of kv_len tokens
  double q_heads = 1, kv_heads = 1, head_dim = 128;
  double v_head_dim = 0;  ///< 0 = head_dim
  double window = 0;      ///< 0 = all
};
[[nodiscard]] AttentionRates attention_rates(const DeviceRates& rates, const Calibration& calibration, Format compute,
                                             Format kv);
[[nodiscard]] inline OpTime attention_prefill_time(const AttentionRates& rates, const AttentionShape& shape) noexcept;
[[nodiscard]] inline OpTime attention_decode_time(const AttentionRates& rates, const AttentionShape& shape) noexcept;

/// Latent attention: decode in absorbed form (every head reads the same rank + rope vector), prefill expanded to heads.
struct MlaShape {
  double batch = 1, q_len = 1, kv_len = 1, heads = 128, rank = 512, rope = 64, nope = 128, v = 128;
};
[[nodiscard]] inline OpTime mla_prefill_time(const AttentionRates& rates, const MlaShape& shape) noexcept;
[[nodiscard]] inline OpTime mla_decode_time(const AttentionRates& rates, const MlaShape& shape) noexcept;

// ---- everything that only moves bytes
// ----------------------------------------------------------------------------------

/// Norms, activations, rotary, residual: `bytes` read and written by `kernels` launches.
[[nodiscard]] inline OpTime elementwise_time(const DeviceRates& rates, double bytes, double kernels) noexcept;

// ---- collectives
// -------------------------------------------------------------------------------------------------------

enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, send };

/// A path between devices: latency and achieved bandwidth of the tier a group lives on.
struct LinkRates {
  double latency = 0;  ///< per call
  double latency_per_rank = 0;
  double bandwidth = 1;               ///< achieved bytes/s per device, one direction
  double peer_bandwidth = 1;          ///< between two devices (less than `bandwidth` on a mesh)
  bool in_network_reduction = false;  ///< NVLS, SHARP: all-reduce moves n instead of 2(n-1)/n... bytes
};
/// Who runs the collective: NCCL and its like, or the one-shot kernels that engines use for small all-reduces.
enum class CollectiveLibrary : std::uint8_t { general, one_shot };
/// The scale-up tier of the device (NVLink, xGMI, ICI, PCIe).
[[nodiscard]] LinkRates scale_up_link(const Device& device, const Calibration& calibration,
                                      CollectiveLibrary library = CollectiveLibrary::general);
/// The network: `per_direction` bytes/s per device.
[[nodiscard]] LinkRates scale_out_link(double per_direction, double latency, const Calibration& calibration);
/// `bytes` is the full buffer, as nccl-tests count it (all-gather output, reduce-scatter input, all-to-all send
/// buffer).
[[nodiscard]] inline double collective_time(const LinkRates& link, Collective op, double ranks, double bytes) noexcept;

/// The share of the boost clock that the power limit lets a large, dense product of that format keep.
[[nodiscard]] double sustained_clock_share(const DeviceRates& rates, const Calibration& calibration, Format format);

}  // namespace ridge::perf

#include "perf/kernels_time.hpp"  // the bodies of the hot functions
