#include "perf/kernels.hpp"

namespace ridge::perf {

AttentionRates attention_rates(const DeviceRates& rates, const Calibration& calibration, Format compute, Format kv) {
  const std::string_view architecture = rates.architecture;
  const bool narrow = rates.native[static_cast<std::size_t>(compute)] && bytes_per_element(compute) < 2;
  const std::string_view format = name(narrow ? Format::fp8 : Format::bf16);
  const double sixteen_bit = rates.peak[static_cast<std::size_t>(Format::bf16)];
  const double peak = narrow ? rates.peak[static_cast<std::size_t>(Format::fp8)] : sixteen_bit;
  AttentionRates a;
  a.prefill_flops = peak * calibration.value("attention.prefill", {architecture, format});
  a.ramp = calibration.value("attention.ramp");
  a.decode_bandwidth = rates.memory_bandwidth * calibration.value("attention.stream", {architecture});
  a.decode_flops = sixteen_bit * calibration.value("attention.decode_compute", {architecture});
  a.fixed_prefill = calibration.value("attention.fixed_prefill", {architecture});
  a.fixed_decode = calibration.value("attention.fixed_decode", {architecture});
  a.bytes_kv = bytes_per_element(kv);
  a.mla_prefill_flops = a.prefill_flops * calibration.value("mla.prefill", {architecture});
  a.mla_decode_bandwidth = a.decode_bandwidth * calibration.value("mla.stream", {architecture});
  a.mla_decode_flops = sixteen_bit * calibration.value("mla.decode_compute", {architecture});
  return a;
}

}  // namespace ridge::perf
