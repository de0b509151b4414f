#include <algorithm>

#include "perf/operators/kernels.hpp"

namespace ridge::perf {

bool reduces_in_switch(const Device& device) {
  return device.design.switch_reduction && device.scale_up_topology == ScaleUpTopology::switched;
}

LinkRates scale_up_link(const Device& device, const Calibration& calibration, CollectiveLibrary library) {
  const std::string_view architecture = device.architecture;
  const auto value = [&](std::string_view parameter) { return calibration.value(parameter, {architecture}); };
  const double peak =
      device.scale_up_per_direction ? device.scale_up_per_direction->value.value() : pcie_bandwidth(device);
  const double peer = device.scale_up_peer_per_direction ? device.scale_up_peer_per_direction->value.value() : peak;
  const double share = std::min(1.0, value("collective.share"));
  LinkRates link;
  link.latency = value("collective.latency");
  link.latency_per_rank = value("collective.step") * (device.scale_up_ranks ? device.scale_up_ranks->value : 1);
  link.bandwidth = peak * share;
  link.peer_bandwidth = std::min(peak, peer) * share;
  link.fill = value("collective.fill");
  link.ramp = value("collective.ramp") / link.bandwidth;
  link.ramp_bytes = value("collective.ramp_bytes");
  link.in_network_reduction = reduces_in_switch(device);
  link.reduction_bandwidth = peak * std::min(1.0, value("collective.switch_reduction"));
  // Nobody reads the memory of a device that is several hops away.
  if (library == CollectiveLibrary::one_shot && device.scale_up_topology != ScaleUpTopology::torus) {
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
