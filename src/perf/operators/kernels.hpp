// Time of single operators on one device: what everything above is made of.
//
//   Result<DeviceRates> rates = device_rates(device, catalogue, calibration);               // once
//   GemmRates gemm = gemm_rates(*rates, calibration, Format::fp8, Format::fp8);             // once per pair of formats
//   OpTime t = gemm_time(gemm, 64, 28672, 8192);                                            // hot: a few nanoseconds
//   t.seconds; t.compute; t.memory; t.fixed;                                                // and what bound it
//
// The *_time functions are pure, noexcept, allocate nothing, and grow with the work: with m, n, k, tokens, batch,
// q_len, kv_len and bytes. More bandwidth or a higher peak is never slower. They stay at or above the roofline: seconds
// >= max(flops/peak, bytes/bandwidth). Numbers in here are plain doubles in base units (bytes, seconds, FLOP/s),
// because this is the inner loop. A *Rates object with only peaks and bandwidths set (the others keep their defaults)
// is the roofline itself. Any thread may call anything.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "ridge/catalogue/calibration.hpp"
#include "ridge/catalogue/catalogue.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge::perf {

/// PCIe cards that one server takes, where the catalogue does not say.
inline constexpr int kCardsPerServer = 8;

/// Bytes that programs find over those listed. Boards count binary gigabytes and keep a little for themselves: an
/// "80 GB" H100 reports 81,559 MiB, a "141 GB" H200 143,771 MiB, a "180 GB" B200 183,359 MiB: 0.995 of as many GiB.
inline constexpr double kReportedMemory = 1.073741824 * 0.995;

/// What one device offers (datasheet) and what of it programs reach (calibration).
struct DeviceRates {
  std::array<double, kFormats> peak{};  ///< FLOP/s of a product in that format; the 16-bit rate if the chip has none
  std::array<bool, kFormats> native{};  ///< false: operands are widened to bf16/fp16 first
  double memory_bandwidth = 0;
  double memory_capacity = 0;
  double cores = 0;
  double boost_clock = 0;
  double tdp = 0;
  double array_side = 1;     ///< of systolic arrays, which sizes fill in multiples of it
  double product_power = 1;  ///< what a large product would draw at the boost clock, of the limit, over the flagship's
  double host_link = 0;      ///< PCIe or C2C, bytes/s one direction

  // shares and constants from calibration, filled by device_rates()
  double memory_share = 1;
  double launch = 0;              ///< gap and ramp of one small kernel inside a CUDA graph
  std::string_view architecture;  ///< whose calibration applies; points into the catalogue
  Design design;                  ///< that architecture's

  // what a power cap does, see perf/power.hpp
  double power_cap = 0;        ///< watts that the mean may not exceed; 0 = none
  double sustained_clock = 1;  ///< share of the boost clock that large products keep without a cap
  double idle_power = 0;       ///< watts that stay whatever the clock: leakage, refresh, the board
  double clock = 1;            ///< of the clock that the device would run at without a cap
  double overdrawn = 1;        ///< power of the work by its activity over what the board lets it draw without a cap
};

/// Refuses a device without memory bandwidth, capacity or any 16-bit peak: "mlu590: no memory bandwidth is public".
Result<DeviceRates> device_rates(const Device& device, const Catalogue& catalogue, const Calibration& calibration);
/// The same without calibration: what the datasheet promises.
Result<DeviceRates> datasheet_rates(const Device& device);

/// PCI Express x16, one direction, 128b/130b: 15.75 GB/s in generation 3, twice that each generation after. What a
/// device without a published generation has is taken as the fourth.
[[nodiscard]] double pcie_bandwidth(const Device& device);

/// What a systolic array computes where an operand has `size` rows or columns: whole multiples of its side.
[[nodiscard]] inline double filled(double size, double side) noexcept {
  return side > 1 ? std::ceil(size / side) * side : size;
}

/// The share of the boost clock that the power limit lets a large, dense product keep. Static power P0 stays, the rest
/// goes with the cube of the clock (voltage follows the clock): limit = P0 + P1 share^3. On an H100 SXM P1, what a
/// product at the boost clock would draw on top of idling, is 1.34 times the limit, and 0.85 of the clock are left; an
/// H100 PCIe has half the watts for three quarters of the rate and keeps 0.74, an H20 with its cut rate all of it.
[[nodiscard]] double sustained_clock_share(const DeviceRates& rates, const Calibration& calibration);
/// That share over the flagship's of the design, whose kernels were measured.
[[nodiscard]] double clock_over_flagship(const DeviceRates& rates, const Calibration& calibration);

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
  double quantise = 0;              ///< launch of the kernel that narrows 16-bit activations before the product
  double quantise_per_element = 0;  ///< and its time per element of A
  double short_k = 0;               ///< start-up of the pipeline of one tile, in units of k
  double step = 0;                  ///< latency of the main loop per unit of k, while it cannot hide
  double split = 0;                 ///< 1/k at which splitting k over cores halves that latency; 0: k is not split
  double padding = 0;               ///< of the rows that round m up to whole tiles, the share that is computed
  double wave = 0;                  ///< of the cores that idle in the last wave of tiles, the share that is lost
  double tile_m = 1, tile_n = 1, cores = 1;
  double least_rows = 0;  ///< computed however few there are: rows of the narrowest tile
};
/// What narrows the activations of a product, and whether its time is part of the product's.
enum class Quantisation : std::uint8_t {
  separate,  ///< a kernel of the engine in front of it: one scale per tensor, found on the way (two passes over A)
  block,     ///< likewise, one scale per block of 128 (one pass)
  fused,     ///< in the norm before, or a bare library call: not part of the product
};
[[nodiscard]] GemmRates gemm_rates(const DeviceRates& rates, const Calibration& calibration, Format weights,
                                   Format activations, Quantisation quantisation = Quantisation::separate);
/// The roofline: datasheet rates, no overheads.
[[nodiscard]] GemmRates ideal_gemm_rates(const DeviceRates& rates, Format weights, Format activations);
[[nodiscard]] inline OpTime gemm_time(const GemmRates& rates, double m, double n, double k) noexcept;

/// Routed experts of one layer on one device: gate and up, activation, down for `tokens` tokens (of the whole group
/// that routes here) of which each goes to top_k of `experts`; this device holds `local_experts` of width `width`.
struct MoeRates {
  GemmRates gemm;              ///< its fixed part holds routing, permutation and all launches of the layer
  double padding_rows = 0;     ///< rows added per active expert by tile padding
  double stream_share = 1;     ///< of gemm.bandwidth reached while streaming experts
  double tile_rows = 0;        ///< untuned: of a tile once tokens outnumber local experts; else 0
  double small_tile_rows = 0;  ///< and before, counted in rows that take as long as those of the large tile
  double tile_step = 0;        ///< untuned: seconds per unit of k of the main loop of such a tile
};
struct MoeShape {
  double tokens = 0, hidden = 0, width = 0, experts = 0, local_experts = 0, top_k = 0;
  double correlation = 1;  ///< c in E(1-(1-k/E)^(c m)): 1 for random tokens, about 0.6 for text
  bool gated = true;
  double imbalance = 1;  ///< tokens routed here relative to the mean of the devices
  double active = 0;     ///< local experts that are touched, where that is known (balanced routing); 0: expected number
};
/// What `rows` pairs of token and expert become in the tiles of `active` experts.
struct ExpertTiles {
  double rows = 0;  ///< with those that fill up tiles
  double loop = 0;  ///< seconds by which the main loop of untuned tiles lasts longer than the weights stream
};
[[nodiscard]] inline ExpertTiles expert_tiles(const MoeRates& rates, const MoeShape& shape, double rows,
                                              double active) noexcept;
/// Who computes the experts.
enum class MoeKernel : std::uint8_t {
  fused,             ///< what engines pick by default (Triton, CUTLASS or TensorRT-LLM kernels)
  cutlass,           ///< CUTLASS where an engine has nothing better (on Blackwell)
  library,           ///< plain grouped products
  marlin,            ///< weights widened to 16 bits in registers, one kernel for every device
  per_tensor_scale,  ///< FP8 with one scale per tensor instead of one per block
  untuned,           ///< Triton's, 16 bits, with the tiles it falls back to where nobody tuned them for the shape
};
[[nodiscard]] MoeRates moe_rates(const DeviceRates& rates, const Calibration& calibration, Format weights,
                                 Format activations, MoeKernel kernel = MoeKernel::fused);
[[nodiscard]] MoeRates ideal_moe_rates(const DeviceRates& rates, Format weights, Format activations);
[[nodiscard]] inline OpTime moe_time(const MoeRates& rates, const MoeShape& shape) noexcept;
/// Mean number of experts of `experts` that `tokens` tokens touch.
[[nodiscard]] inline double experts_touched(double experts, double top_k, double tokens, double correlation) noexcept;

// ---- attention
// -------------------------------------------------------------------------------------------------------

struct AttentionRates {
  double prefill_flops = 1;  ///< achieved FLOP/s of the two products
  double exponentials =
      std::numeric_limits<double>::infinity();  ///< achieved exponentials/s of the softmax, one per pair
  double array_side = 1;                        ///< of systolic arrays: heads fill multiples of it
  double ramp = 0;                              ///< keys by which each row of queries is longer than it is
  double token_bandwidth = 1;                   ///< achieved bytes/s on queries, new keys and outputs
  double token_bytes = 2;                       ///< moved per element of queries and outputs; 2 is once
  double tail = 0;                              ///< rows of queries that are worked on at once by all cores
  double decode_bandwidth = 1;                  ///< achieved bytes/s on the KV cache
  double decode_flops = 1;   ///< ceiling of the arithmetic in decode kernels (matters at high GQA ratios)
  double decode_block = 1;   ///< sequences whose queries pass over the cache of each of them together
  double decode_rows = 1;    ///< of queries in a tile of a decode kernel; empty ones take no time, but power
  double decode_passes = 1;  ///< how often queries and outputs of decode are read or written
  double fixed_prefill = 0;
  double fixed_decode = 0;    ///< one key-value head per query head, or narrow heads
  double fixed_grouped = 0;   ///< several query heads share key-value heads of 128 and more elements
  double step = 0;            ///< latency per key, while splitting the sequence does not hide it
  double split = 0;           ///< 1/length at which splitting halves it
  double per_head = 0;        ///< scheduling of one sequence and key-value head
  double lone_sequence = 0;   ///< seconds per byte of one head's cache if sequences are not split over cores; else 0
  double scalar_single = 0;   ///< seconds per element widened without tensor cores: one query head per KV head
  double scalar_by_head = 0;  ///< and where each query head reads the keys of its group by itself; else 0
  bool heads_read_alone = false;  ///< each query head of a group reads the keys for itself
  double scalar_wide = 0;         ///< and more query heads per KV head than tensor cores take
  double bytes_kv = 2;
  double index_flops = 1;        ///< of scores that choose what sparse attention reads: in 8 bits where there are any
  double mla_prefill_flops = 1;  ///< as prefill_flops, decode_flops and so on, for latent attention
  double mla_token_bytes = 2;
  double mla_ramp = 0;
  double mla_decode_bandwidth = 1;
  double mla_decode_flops = 1;
  double mla_fixed_prefill = 0;
  double mla_fixed_decode = 0;
  double mla_scalar = 0;
};
struct AttentionShape {
  double batch = 1, q_len = 1, kv_len = 1;  ///< causal over the last q_len of kv_len tokens
  double q_heads = 1, kv_heads = 1, head_dim = 128;
  double v_head_dim = 0;  ///< 0 = head_dim
  double window = 0;      ///< 0 = all
};
/// Whose kernels.
enum class AttentionPath : std::uint8_t {
  engine,   ///< what TensorRT-LLM and its like run: cache writes and rotary fused
  library,  ///< a current library called alone (cuDNN)
  older,    ///< FlashAttention-2 on a later device
  unsplit,  ///< decode that leaves a sequence's head to one core (vLLM without grouped queries)
  native,   ///< the plain kernels of ridge-measure, which run on every device
};
/// `compute` is the format of the arithmetic; a cache narrower than 16 bits is also computed in it where the chip can.
[[nodiscard]] AttentionRates attention_rates(const DeviceRates& rates, const Calibration& calibration, Format compute,
                                             Format kv, AttentionPath path = AttentionPath::engine);
/// Clocks of all cores per second. Where cores are few and large (TPU) or unknown, the ratio to the 16-bit peak that
/// Hopper has, or Blackwell for its kind.
[[nodiscard]] double core_clocks(const DeviceRates& rates);
/// Products of an engine that brings one kernel for all chips: a row at a time they read no faster than cores issue
/// loads, and tensor cores are driven by the instructions of the generation before.
void use_portable_kernels(GemmRates& gemm, const DeviceRates& rates, const Calibration& calibration,
                          std::string_view era = {});
/// Decode kernels that know no groups of query heads: keys come once from memory, but each head works through them
/// alone.
void decode_head_by_head(AttentionRates& attention, const DeviceRates& rates, const Calibration& calibration);
[[nodiscard]] AttentionRates ideal_attention_rates(const DeviceRates& rates, Format compute, Format kv);
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
  double latency = 0;                 ///< per call
  double latency_per_rank = 0;        ///< per step of a ring: n-1 of them, 2(n-1) in an all-reduce
  double bandwidth = 1;               ///< achieved bytes/s per device, one direction
  double peer_bandwidth = 1;          ///< between two devices (less than `bandwidth` on a mesh)
  double fill = 0;                    ///< steps of a ring that filling its pipeline costs
  double ramp = 0;                    ///< seconds that large transfers lose until the pipeline is full
  double ramp_bytes = 1;              ///< bytes at which half of them are lost
  bool in_network_reduction = false;  ///< NVLS, SHARP: an all-reduce sends its buffer once instead of 2(n-1)/n times
  double reduction_bandwidth = 1;     ///< achieved bytes/s of that
  double one_shot_latency = std::numeric_limits<double>::infinity();  ///< every device reads all buffers itself
  double one_shot_per_rank = 0;
  double one_shot_bandwidth = 1;
};
/// Who runs the collective: NCCL and its like, or the one-shot kernels that engines use for small all-reduces.
enum class CollectiveLibrary : std::uint8_t { general, one_shot };
/// NVSwitch reduces since its third generation, that of Hopper.
[[nodiscard]] bool reduces_in_switch(const Device& device);
/// The scale-up tier of the device (NVLink, xGMI, ICI, PCIe).
[[nodiscard]] LinkRates scale_up_link(const Device& device, const Calibration& calibration,
                                      CollectiveLibrary library = CollectiveLibrary::general);
/// The network: `per_direction` bytes/s per device.
[[nodiscard]] LinkRates scale_out_link(double per_direction, double latency, const Calibration& calibration);
/// `bytes` is the full buffer, as nccl-tests count it (all-gather output, reduce-scatter input, all-to-all send
/// buffer).
[[nodiscard]] inline double collective_time(const LinkRates& link, Collective op, double ranks, double bytes) noexcept;

}  // namespace ridge::perf

#include "perf/operators/kernels_time.hpp"  // the bodies of the hot functions
