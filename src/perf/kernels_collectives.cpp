#include <algorithm>
#include <cmath>

#include "perf/kernels.hpp"

namespace ridge::perf {
namespace {

// PCI Express x16, one direction, 128b/130b: 15.75 GB/s in generation 3, twice that each generation after.
double pcie_bandwidth(const Device& device) {
  const int generation = device.pcie_generation ? device.pcie_generation->value : 4;
  return 15.75e9 * std::exp2(generation - 3);
}

/// NVSwitch reduces since its third generation, that of Hopper.
bool reduces_in_switch(const Device& device) {
  constexpr int kFirstYear = 2022;
  return device.vendor == "NVIDIA" && device.scale_up_topology == ScaleUpTopology::switched &&
         device.year >= kFirstYear;
}

}  // namespace

LinkRates scale_up_link(const Device& device, const Calibration& calibration, CollectiveLibrary library) {
  const std::string_view architecture = device.architecture;
  const auto value = [&](std::string_view parameter) { return calibration.value(parameter, {architecture}); };
  const double peak =
      device.scale_up_per_direction ? device.scale_up_per_direction->value.value() : pcie_bandwidth(device);
  const double peer = device.scale_up_peer_per_direction ? device.scale_up_peer_per_direction->value.value() : peak;
  const double share = std::min(1.0, value("collective.share"));
  LinkRates link;
  link.latency = value("collective.latency");
  link.latency_per_rank = value("collective.step");
  link.bandwidth = peak * share;
  link.peer_bandwidth = std::min(peak, peer) * share;
  link.fill = value("collective.fill");
  link.ramp = value("collective.ramp") / link.bandwidth;
  link.ramp_bytes = value("collective.ramp_bytes");
  link.in_network_reduction = reduces_in_switch(device);
  link.reduction_bandwidth = peak * std::min(1.0, value("collective.switch_reduction"));
  if (library == CollectiveLibrary::one_shot) {
    link.one_shot_latency = value("one_shot.latency");
    link.one_shot_per_rank = value("one_shot.step");
    link.one_shot_bandwidth = peak * std::min(1.0, value("one_shot.share"));
  }
  return link;
}

LinkRates scale_out_link(double per_direction, double latency, const Calibration& calibration) {
  LinkRates link;
  link.latency = calibration.value("network.latency") + latency;
  link.latency_per_rank = latency;
  link.bandwidth = per_direction * calibration.value("network.share");
  link.peer_bandwidth = link.bandwidth;
  return link;
}

}  // namespace ridge::perf
