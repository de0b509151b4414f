#include "perf/kernels.hpp"

namespace ridge::perf {
namespace {

bool sixteen_bit(Format format) {
  return format == Format::bf16 || format == Format::fp16;
}

/// The format the arithmetic runs in: that of the activations, or of the weights if those are wider; 16 bits if the
/// chip has no such product.
Format compute_format(const DeviceRates& rates, Format weights, Format activations) {
  const Format wanted = bytes_per_element(weights) > bytes_per_element(activations) ? weights : activations;
  return rates.native[static_cast<std::size_t>(wanted)] ? wanted : Format::bf16;
}

}  // namespace

GemmRates gemm_rates(const DeviceRates& rates, const Calibration& calibration, Format weights, Format activations,
                     Quantisation quantisation) {
  const std::string_view architecture = rates.architecture;
  const Format compute = compute_format(rates, weights, activations);
  const std::string_view format = name(sixteen_bit(compute) ? Format::bf16 : compute);
  const bool widened = bytes_per_element(weights) < bytes_per_element(compute);
  GemmRates g;
  g.bytes_weight = bytes_per_weight(weights);
  g.bytes_activation = bytes_per_element(compute);
  g.bandwidth = rates.memory_bandwidth * calibration.value("gemm.memory", {architecture, format});
  g.flops = rates.peak[static_cast<std::size_t>(compute)] * calibration.value("gemm.compute", {architecture, format}) *
            sustained_clock_share(rates, calibration, compute);
  if (widened) g.flops *= calibration.value("gemm.widened");
  g.fixed = calibration.value("gemm.fixed", {architecture});
  const bool narrow = !sixteen_bit(compute) && compute != Format::fp32;
  if (narrow && quantisation == Quantisation::separate) g.quantise = calibration.value("gemm.quantise", {format});
  g.short_k = calibration.value("gemm.short_k");
  g.cores = rates.cores;
  return g;
}

}  // namespace ridge::perf
