// Which model fits where, and what fills the memory: tables and JSON of `ridge estimate fit`.
//
//   std::vector<DeviceFit> rows = ...;
//   print(to_terminal(device_fit_page(rows, question), style));
//
// Pure; any thread.
#pragma once

#include <array>
#include <span>
#include <string>

#include "ridge/perf/capacity.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

inline constexpr std::array<int, 4> kFitGpus = {1, 2, 4, 8};

/// The largest models that 1, 2, 4 and 8 devices hold.
struct DeviceFit {
  std::string device;
  Format weights = Format::bf16;
  bool computes = true;                                 ///< in that format, else it is only stored in it
  double memory_bytes = 0;                              ///< of one device, as it is sold
  std::array<const Model*, kFitGpus.size()> largest{};  ///< nullptr: none fits
};

/// What one model needs.
struct ModelFit {
  Model model;
  struct Weights {
    Format format = Format::bf16;
    WeightMemory memory;
  };
  std::vector<Weights> weights;
  std::vector<KvRow> kv;
  struct Devices {
    std::string device;
    Format weights = Format::bf16;
    double memory_bytes = 0;
    std::optional<FewestDevices> fewest;
  };
  std::vector<Devices> devices;
};

[[nodiscard]] Table device_fit_table(std::span<const DeviceFit> rows);
[[nodiscard]] Document device_fit_page(std::span<const DeviceFit> rows, const CapacityQuestion& question);
[[nodiscard]] Json device_fit_json(std::span<const DeviceFit> rows, const CapacityQuestion& question);

/// `devices` in full, or only their fewest numbers where there are many.
[[nodiscard]] Document model_fit_page(const ModelFit& fit, const CapacityQuestion& question);
[[nodiscard]] Json model_fit_json(const ModelFit& fit, const CapacityQuestion& question);
/// One row for each device and format.
[[nodiscard]] Table model_fit_table(const ModelFit& fit);

}  // namespace ridge::report
