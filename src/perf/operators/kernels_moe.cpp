#include <algorithm>
#include <string>

#include "perf/operators/kernels.hpp"

namespace ridge::perf {
namespace {

std::string_view kernel_scope(MoeKernel kernel) {
  switch (kernel) {
    case MoeKernel::fused:
      return "fused";
    case MoeKernel::cutlass:
      return "cutlass";
    case MoeKernel::library:
      return "library";
    case MoeKernel::marlin:
      return "marlin";
    case MoeKernel::per_tensor_scale:
      return "per-tensor-scale";
    case MoeKernel::untuned:
      return "untuned";
  }
  return "";
}

void use_untuned_tiles(MoeRates& moe, const DeviceRates& rates, const Calibration& calibration) {
  // Large tiles, 64 x 64, have 32 FLOPs for each byte that a core reads from the level-2 cache; small ones, 16 x 32,
  // have a third of it.
  const double flops = calibration.value("experts.tile_flops");
  const double large_flops = calibration.value("experts.tile_flops", {rates.architecture});
  moe.tile_rows = 64;
  moe.small_tile_rows = 3 * 16 * large_flops / flops;
  moe.gemm.fixed = calibration.value("moe.fixed");  // the same kernels for routing and permutation on every device
  moe.tile_step = calibration.value("experts.tile_step");
  moe.gemm.flops = std::min(moe.gemm.flops, core_clocks(rates) * large_flops);
}

}  // namespace

MoeRates ideal_moe_rates(const DeviceRates& rates, Format weights, Format activations) {
  return {ideal_gemm_rates(rates, weights, activations), 0, 1};
}

MoeRates moe_rates(const DeviceRates& rates, const Calibration& calibration, Format weights, Format activations,
                   MoeKernel kernel) {
  const std::string_view architecture = rates.architecture;
  const std::string_view format = name(weights);
  const std::string_view scope = kernel_scope(kernel);
  const auto on = [&](std::string_view what) { return std::string(architecture) + "/" + std::string(what); };
  const std::string format_here = on(format);
  const std::string kernel_here = on(scope);
  const double clock = sustained_clock_share(rates, calibration);
  MoeRates m = ideal_moe_rates(rates, weights, activations);
  // Marlin is one kernel for every device; block scales are what slows FP8 down, where anything does.
  m.gemm.fixed = kernel == MoeKernel::marlin ? calibration.value("moe.fixed", {scope})
                 : kernel == MoeKernel::per_tensor_scale
                     ? calibration.value("moe.fixed", {architecture, scope})
                     : calibration.value("moe.fixed", {architecture, format_here, kernel_here});
  m.gemm.flops *= clock * std::min(1.0, calibration.value("moe.compute", {architecture, format, scope, kernel_here}));
  m.padding_rows = calibration.value("moe.padding", {architecture});
  m.stream_share = std::min(1.0, calibration.value("moe.stream", {architecture, format, scope}));
  if (kernel == MoeKernel::untuned) use_untuned_tiles(m, rates, calibration);
  return m;
}

}  // namespace ridge::perf
