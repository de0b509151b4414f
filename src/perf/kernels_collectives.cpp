#include <cmath>

#include "perf/kernels.hpp"

namespace ridge::perf {

LinkRates scale_up_link(const Device& device, const Calibration& calibration, CollectiveLibrary library) {
  const bool one_shot = library == CollectiveLibrary::one_shot;
  const std::string_view scope = one_shot ? "one-shot" : "general";
  const double pcie = 15.75e9 * std::exp2((device.pcie_generation ? device.pcie_generation->value : 4) - 3);
  const double peak = device.scale_up_per_direction ? device.scale_up_per_direction->value.value() : pcie;
  const double peer = device.scale_up_peer_per_direction ? device.scale_up_peer_per_direction->value.value() : peak;
  const double share = calibration.value("collective.share", {scope});
  LinkRates link;
  link.latency = calibration.value("collective.latency", {scope});
  link.latency_per_rank = calibration.value("collective.latency_per_rank", {scope});
  link.bandwidth = peak * share;
  link.peer_bandwidth = peer * share;
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
