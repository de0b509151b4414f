// What estimates of inference and training share: number formats, intervals, terms, reasons for a refusal.
//
//   Result<Format> f = parse_format("awq");              // Format::int4
//   Interval tokens_per_s{2800, 3100, 3500};             // 80 % of measurements like this one fall inside
//
// Plain values; any thread may use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ridge/base/result.hpp"

namespace ridge {

enum class Format : std::uint8_t { fp32, bf16, fp16, fp8, mxfp8, int8, int4, mxfp4, nvfp4, q4_k_m, q4_0, q6_k, q8_0 };
inline constexpr std::size_t kFormats = 13;

[[nodiscard]] std::string_view name(Format format);
/// "bf16", "fp8", "awq", "gptq", "w4a16" (int4), "q4-k-m", "q8-0", ...; refuses others, naming the nearest.
Result<Format> parse_format(std::string_view text);
/// Storage of one weight with its scales: nvfp4 4.5 bits, mxfp4 4.25, int4 in groups of 128 about 4.16, q4_k_m 4.85,
/// q4_0 4.5, q6_k 6.56, q8_0 8.5.
[[nodiscard]] double bytes_per_weight(Format format);
/// Storage of one activation or KV element.
[[nodiscard]] double bytes_per_element(Format format);
/// The block formats of llama.cpp (q4-k-m, q4-0, q6-k, q8-0): stored narrow, widened for the product, embedding and
/// head narrowed too.
[[nodiscard]] constexpr bool is_gguf(Format format) {
  return format >= Format::q4_k_m;
}

/// A prediction and the bounds that hold 80 % of the cross-validated cases that resemble it.
struct Interval {
  double low = 0;
  double mid = 0;
  double high = 0;
};

/// Where time goes. An estimate has one array of seconds indexed by this.
enum class Term : std::uint8_t {
  attention,    ///< scores and values (softmax attention, latent attention)
  linear,       ///< dense matrix products of the layers
  experts,      ///< routed and shared experts, router
  state,        ///< linear attention and state-space mixers
  head,         ///< LM head, loss, sampling
  elementwise,  ///< norms, activations, rotary, permutation
  scale_up,     ///< exposed collectives inside the scale-up domain
  scale_out,    ///< exposed collectives over the network
  pipeline,     ///< bubble and stage-to-stage transfers
  recompute,    ///< forward work done again
  optimizer,
  host,     ///< launch gaps, scheduler, Python
  queue,    ///< waiting for other requests
  offload,  ///< weights that cross from host memory in every step
};
inline constexpr std::size_t kTerms = 14;
[[nodiscard]] std::string_view name(Term term);

/// The resource that limits.
enum class Bound : std::uint8_t { compute, memory_bandwidth, scale_up, scale_out, latency, host, capacity };
[[nodiscard]] std::string_view name(Bound bound);

/// Why a plan cannot run. `none` means it can.
enum class Reason : std::uint8_t {
  none,
  out_of_memory,          ///< short_by bytes on one device
  heads_not_divisible,    ///< tensor parallelism does not divide the heads
  experts_not_divisible,  ///< expert parallelism does not divide the experts, or there are none
  layers_too_few,         ///< pipeline deeper than the layers
  batch_not_divisible,    ///< global batch is not a multiple of micro-batch x data parallel
  gpus_do_not_multiply,   ///< tp x pp x cp x dp is not the number of devices
  format_not_supported,   ///< activations in a format the chip does not compute in
  sequence_not_divisible,
  bad_value,
};
[[nodiscard]] std::string_view name(Reason reason);

}  // namespace ridge
