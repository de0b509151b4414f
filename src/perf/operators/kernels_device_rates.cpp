#include <algorithm>
#include <cmath>

#include "perf/operators/kernels.hpp"
#include "perf/operators/positions.hpp"

namespace ridge::perf {
namespace {

constexpr double kUnknownCores = 100;  // a device whose cores nobody published: waves hardly matter then

// Formats for which no tensor core computes, whatever its 4-bit or 8-bit rate: they are stored narrow and widened.
bool storage_only(Format format) {
  return format == Format::int4 || is_gguf(format);
}

/// NVFP4 is one vendor's own; what other chips compute in four bits is the MXFP4 of the OCP.
bool of_the_vendor(Format format, const Device& device) {
  return format != Format::nvfp4 || device.design.nvfp4;
}

double sixteen_bit_peak(const Device& device, Format format) {
  const auto& wanted = device.peak(format == Format::fp16 ? PeakFormat::fp16 : PeakFormat::bf16);
  const auto& other = device.peak(format == Format::fp16 ? PeakFormat::bf16 : PeakFormat::fp16);
  if (wanted) return wanted->value.value();
  return other ? other->value.value() : 0;
}

/// The nearest ancestor (itself first) whose kernels were measured, or the architecture itself.
std::string_view calibrated_architecture(const Device& device, const Catalogue& catalogue,
                                         const Calibration& calibration) {
  const Architecture* at = catalogue.architecture(device.architecture);
  for (int depth = 0; at != nullptr && depth < 8; ++depth) {
    if (calibration.knows_kernels_of(at->id)) return at->id;
    if (at->inherits.empty()) break;
    at = catalogue.architecture(at->inherits);
  }
  const Architecture* own = catalogue.architecture(device.architecture);
  return own != nullptr ? std::string_view(own->id) : std::string_view();
}

Error missing(const Device& device, std::string_view what) {
  return {ErrorCode::refused, device.id, "no " + std::string(what) + " is public; give one with ⟦set⟧ or an overlay"};
}

/// Power of a product goes with its rate: watts of the flagship a FLOP, for the rate of this device, over its limit.
double product_power(const Device& device, const Catalogue& catalogue) {
  const Architecture* own = catalogue.architecture(device.architecture);
  if (own == nullptr || !own->flagship_flops_per_watt || !device.tdp) return 1;
  const double over =
      sixteen_bit_peak(device, Format::bf16) / device.tdp->value.value() / *own->flagship_flops_per_watt;
  return device.shared_tdp ? std::max(1.0, over) : over;  // what is left beside the processor is not published
}

}  // namespace

PeakFormat peak_format(Format format) {
  switch (format) {
    case Format::fp32:
      return PeakFormat::tf32;
    case Format::bf16:
      return PeakFormat::bf16;
    case Format::fp16:
      return PeakFormat::fp16;
    case Format::fp8:
    case Format::mxfp8:
      return PeakFormat::fp8;
    case Format::int8:
      return PeakFormat::int8;
    case Format::int4:
    case Format::mxfp4:
    case Format::nvfp4:
    case Format::q4_k_m:
    case Format::q4_0:
      return PeakFormat::fp4;
    case Format::q6_k:
    case Format::q8_0:
      return PeakFormat::int8;
  }
  return PeakFormat::bf16;
}

double pcie_bandwidth(const Device& device) {
  const int generation = device.pcie_generation ? device.pcie_generation->value : 4;
  return 15.75e9 * std::exp2(generation - 3);
}

Result<DeviceRates> datasheet_rates(const Device& device) {
  if (!device.memory_bandwidth) return missing(device, "memory bandwidth");
  if (!device.memory_capacity) return missing(device, "memory capacity");
  if (sixteen_bit_peak(device, Format::bf16) <= 0) return missing(device, "16-bit peak rate");

  DeviceRates rates;
  for (std::size_t i = 0; i < kFormats; ++i) {
    const auto format = static_cast<Format>(i);
    const auto& peak = device.peak(peak_format(format));
    rates.native[i] = peak.has_value() && !storage_only(format) && of_the_vendor(format, device);
    rates.peak[i] = rates.native[i] ? peak->value.value() : sixteen_bit_peak(device, format);
  }
  rates.memory_bandwidth = device.memory_bandwidth->value.value();
  rates.memory_capacity = device.memory_capacity->value.value();
  rates.cores = device.cores ? device.cores->value : kUnknownCores;
  rates.boost_clock = device.boost_clock ? device.boost_clock->value.value() : 0;
  rates.tdp = device.tdp ? device.tdp->value.value() : 0;
  rates.host_link = pcie_bandwidth(device);
  return rates;
}

Result<DeviceRates> device_rates(const Device& device, const Catalogue& catalogue, const Calibration& calibration) {
  auto datasheet = datasheet_rates(device);
  if (!datasheet) return datasheet.error();
  DeviceRates rates = *datasheet;
  rates.architecture = calibrated_architecture(device, catalogue, calibration);
  if (const Architecture* a = catalogue.architecture(rates.architecture)) rates.design = a->design;
  rates.array_side = device.design.array_side;
  rates.memory_share = calibration.value("memory.share", {rates.architecture});
  rates.launch = calibration.value("launch", {rates.architecture});
  rates.product_power = product_power(device, catalogue);
  return rates;
}

double sustained_clock_share(const DeviceRates& rates, const Calibration& calibration) {
  if (rates.tdp <= 0) return 1;
  const double idle = calibration.value("power.idle", {rates.architecture});
  const double product = calibration.value("power.product", {rates.architecture});
  constexpr double kLeast = 0.02;  // a limit near the idle power still lets the slowest clock run
  const double drawn = product * rates.product_power;
  return std::min(1.0, std::cbrt(std::max(kLeast, (1 - idle) / drawn)));
}

double clock_over_flagship(const DeviceRates& rates, const Calibration& calibration) {
  DeviceRates flagship = rates;
  flagship.product_power = 1;
  return sustained_clock_share(rates, calibration) / sustained_clock_share(flagship, calibration);
}

}  // namespace ridge::perf
