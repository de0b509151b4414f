#include "perf/kernels.hpp"

namespace ridge::perf {

MoeRates moe_rates(const DeviceRates& rates, const Calibration& calibration, Format weights, Format activations) {
  MoeRates m;
  m.gemm = gemm_rates(rates, calibration, weights, activations);
  m.gemm.fixed = calibration.value("moe.fixed", {rates.architecture});
  m.gemm.flops *= calibration.value("moe.compute", {rates.architecture, name(weights)});
  m.padding_rows = calibration.value("moe.padding");
  m.stream_share = calibration.value("moe.stream", {rates.architecture, name(weights)});
  return m;
}

}  // namespace ridge::perf
