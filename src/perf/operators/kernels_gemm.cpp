#include <algorithm>
#include <string>

#include "perf/operators/kernels.hpp"
#include "perf/operators/positions.hpp"

namespace ridge::perf {
namespace {

constexpr double kTile = 128;  // rows and columns of the tile that large products use

bool sixteen_bit(Format format) {
  return format == Format::bf16 || format == Format::fp16;
}

/// The format the arithmetic runs in: that of the activations, or of the weights if those are wider; 16 bits if the
/// chip has no such product.
Format compute_format(const DeviceRates& rates, Format weights, Format activations) {
  const Format wanted = bytes_per_element(weights) > bytes_per_element(activations) ? weights : activations;
  return rates.native[index(wanted)] ? wanted : Format::bf16;
}

/// The scope of a format in calibration: formats that share their arithmetic share what was learnt of it.
std::string_view format_scope(Format compute) {
  if (sixteen_bit(compute)) return name(Format::bf16);
  if (compute == Format::mxfp8 || compute == Format::int8) return name(Format::fp8);
  if (compute == Format::mxfp4) return name(Format::nvfp4);
  return name(compute);
}

}  // namespace

GemmRates ideal_gemm_rates(const DeviceRates& rates, Format weights, Format activations) {
  const Format compute = compute_format(rates, weights, activations);
  GemmRates g;
  g.bytes_weight = bytes_per_weight(weights);
  g.bytes_activation = bytes_per_element(compute);
  g.bandwidth = rates.memory_bandwidth;
  g.flops = rates.peak[index(compute)];
  return g;
}

void use_portable_kernels(GemmRates& gemm, const DeviceRates& rates, const Calibration& calibration,
                          std::string_view era) {
  // Hopper's own instructions do 4,096 FLOP a core and clock; those of Ampere reach 62 % of that on it.
  constexpr double kOldInstructions = 2540;
  const double clocks = core_clocks(rates);
  // Matrix-vector kernels: cores read rows of their own, which streams as well as any copy.
  constexpr double kStream = 0.92;
  gemm.bandwidth = std::min(kStream * rates.memory_bandwidth, clocks * calibration.value("portable.stream", {era}));
  gemm.fixed = calibration.value("gemm.fixed", {rates.architecture});
  gemm.step = 0;
  gemm.least_rows = 0;
  // They add up in 16 bits or whole numbers, which boards for games do twice as fast as in 32 bits.
  const double peak = rates.peak[index(Format::fp16)];
  const double whole = rates.native[index(Format::int8)] ? 0.5 * rates.peak[index(Format::int8)] : 0;
  gemm.flops *= std::min(std::max(peak, whole), clocks * kOldInstructions) / peak;
}

GemmRates gemm_rates(const DeviceRates& rates, const Calibration& calibration, Format weights, Format activations,
                     Quantisation quantisation) {
  const std::string_view architecture = rates.architecture;
  const Format compute = compute_format(rates, weights, activations);
  const std::string_view format = format_scope(compute);
  const bool narrow = !sixteen_bit(compute) && compute != Format::fp32;
  const bool widened = bytes_per_element(weights) < bytes_per_element(compute);
  const std::string both = std::string(architecture) + "/" + std::string(format);  // of measured devices
  const auto value = [&](std::string_view parameter) {
    return calibration.value(parameter, {architecture, format, both});
  };

  GemmRates g = ideal_gemm_rates(rates, weights, activations);
  g.bandwidth *= std::min(1.0, value("gemm.memory"));
  g.flops *= std::min(1.0, value("gemm.compute")) * sustained_clock_share(rates, calibration);
  g.fixed = value("gemm.fixed");
  if (widened) g.fixed += calibration.value("gemm.widen");
  g.short_k = value("gemm.short_k");
  g.step = value("gemm.step");
  // Libraries split k over cores, but not in NVFP4 or where weights are widened on the way.
  const bool splits = !widened && format != name(Format::nvfp4);
  g.split = splits ? 1 / value("gemm.split") : 0;
  g.padding = std::min(1.0, value("gemm.padding"));
  g.wave = std::min(1.0, value("gemm.wave"));
  g.tile_m = g.tile_n = kTile;
  g.cores = rates.cores;
  if (narrow && quantisation != Quantisation::fused) {
    const bool two_passes = quantisation == Quantisation::separate && format != name(Format::nvfp4);
    const std::string_view scope = quantisation == Quantisation::block ? "block" : format;
    g.quantise = calibration.value("gemm.quantise", {architecture, scope});
    g.quantise_per_element = ((two_passes ? 4 : 2) + g.bytes_activation) /
                             (rates.memory_bandwidth * calibration.value("gemm.quantise_memory"));
  }
  return g;
}

}  // namespace ridge::perf
