#include <algorithm>
#include <cmath>
#include <string>

#include "perf/operators/kernels.hpp"
#include "perf/operators/positions.hpp"

namespace ridge::perf {
namespace {

std::string_view path_scope(AttentionPath path) {
  switch (path) {
    case AttentionPath::engine:
      return "engine";
    case AttentionPath::library:
      return "library";
    case AttentionPath::older:
      return "older";
    case AttentionPath::unsplit:
      return "unsplit";
    case AttentionPath::native:
      return "native";
  }
  return "";
}

/// 16 exponentials per core and clock: the special function units of an SM, a quarter of the lanes of a CU.
double exponential_rate(const DeviceRates& rates) {
  constexpr double kPerClock = 16;
  return core_clocks(rates) * kPerClock;
}

/// Elements per second that pass through ordinary arithmetic units.
double scalar_rate(const DeviceRates& rates, const Calibration& calibration) {
  return exponential_rate(rates) * calibration.value("attention.scalar", {rates.architecture});
}

/// What the chip computes attention in: a cache in 8 bits takes the products along where there is such arithmetic.
bool computes_narrow(const DeviceRates& rates, Format compute, Format kv) {
  return rates.native[index(Format::fp8)] && (bytes_per_element(compute) < 2 || bytes_per_element(kv) < 2);
}

}  // namespace

double core_clocks(const DeviceRates& rates) {
  constexpr double kFewCores = 12;
  const double flops_per_clock = 4096 * rates.design.core_width;
  if (rates.cores < kFewCores || rates.boost_clock <= 0) return rates.peak[index(Format::bf16)] / flops_per_clock;
  return rates.cores * rates.boost_clock;
}

AttentionRates ideal_attention_rates(const DeviceRates& rates, Format compute, Format kv) {
  const bool narrow = computes_narrow(rates, compute, kv);
  AttentionRates a;
  a.prefill_flops = a.mla_prefill_flops = rates.peak[index(narrow ? Format::fp8 : Format::bf16)];
  a.decode_flops = a.mla_decode_flops = rates.peak[index(narrow ? Format::fp8 : Format::bf16)];
  a.index_flops = rates.peak[index(rates.native[index(Format::fp8)] ? Format::fp8 : Format::bf16)];
  a.decode_bandwidth = a.mla_decode_bandwidth = a.token_bandwidth = rates.memory_bandwidth;
  a.bytes_kv = bytes_per_element(kv);
  return a;
}

void decode_head_by_head(AttentionRates& attention, const DeviceRates& rates, const Calibration& calibration) {
  attention.scalar_by_head = 1 / scalar_rate(rates, calibration);
}

AttentionRates attention_rates(const DeviceRates& rates, const Calibration& calibration, Format compute, Format kv,
                               AttentionPath path) {
  const std::string_view architecture = rates.architecture;
  const std::string_view format = computes_narrow(rates, compute, kv) ? "fp8" : "bf16";
  const std::string_view scope = path_scope(path);
  const std::string both = std::string(architecture) + "/" + std::string(format);
  const bool narrow_cache = bytes_per_element(kv) < 2;
  const double sixteen_bit = rates.peak[index(Format::bf16)];
  const std::string own = std::string(architecture) + "/" + std::string(scope);  // of measured devices
  const auto value = [&](std::string_view parameter) {
    return calibration.value(parameter, {architecture, format, both, scope, own});
  };

  AttentionRates a = ideal_attention_rates(rates, compute, kv);
  a.array_side = rates.array_side;
  const double clock = clock_over_flagship(rates, calibration);
  const double reached = std::min(1.0, value("attention.prefill") * clock);
  a.prefill_flops *= reached;
  a.index_flops *= reached;
  a.exponentials = exponential_rate(rates) * value("attention.exponential");
  a.ramp = value("attention.ramp");
  a.token_bandwidth *= rates.memory_share;
  a.token_bytes = value("attention.token_bytes");
  a.tail = rates.cores;
  const bool alone = path == AttentionPath::library || path == AttentionPath::older;
  a.fixed_prefill = calibration.value("attention.fixed_prefill", {architecture, alone ? "library" : "engine", own});

  a.decode_bandwidth *= std::min(1.0, value("attention.stream"));
  a.decode_flops = sixteen_bit * value("attention.decode_compute");
  a.decode_rows = rates.design.decode_rows;
  a.decode_passes = value("attention.decode_passes");
  a.fixed_decode = calibration.value("attention.fixed_decode", {architecture, scope, own});
  a.fixed_grouped = calibration.value("attention.fixed_decode", {architecture, scope, both, own});
  a.step = path == AttentionPath::unsplit ? 0 : value("attention.step");
  a.split = 1 / value("attention.split");
  a.per_head = value("attention.per_head");
  if (path == AttentionPath::unsplit) {
    a.lone_sequence = rates.cores / (rates.memory_bandwidth * value("attention.lone_sequence"));
  }
  if (narrow_cache) {
    const double scalar = 1 / scalar_rate(rates, calibration);
    a.scalar_wide = scalar;
    // Without tensor cores that widen, kernels for one query head per key-value head do it element by element.
    if (!rates.design.widening) a.scalar_single = a.mla_scalar = scalar;
  }

  a.mla_prefill_flops *= std::min(1.0, value("attention.prefill") * calibration.value("mla.prefill", {format}) * clock);
  a.mla_ramp = a.ramp * calibration.value("mla.ramp");
  a.mla_token_bytes = value("attention.token_bytes") * calibration.value("mla.token_bytes", {format});
  a.mla_fixed_prefill = a.fixed_prefill * calibration.value("mla.fixed_prefill", {format});
  a.mla_decode_bandwidth = a.decode_bandwidth;
  a.mla_decode_flops = sixteen_bit * calibration.value("mla.decode_compute", {architecture});
  a.mla_fixed_decode = a.fixed_decode * calibration.value("mla.fixed_decode");
  return a;
}

}  // namespace ridge::perf
