#include "perf/operators/expert_exchange.hpp"

#include <string>

#include "perf/operators/kernels.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/experts.hpp"

namespace ridge {

namespace {
constexpr std::string_view kExchangeNames[] = {"gather", "kernels", "low-latency", "throughput"};
}  // namespace

std::string_view name(ExpertExchange exchange) {
  return kExchangeNames[static_cast<std::size_t>(exchange)];
}

Result<ExpertExchange> parse_expert_exchange(std::string_view word) {
  for (std::size_t i = 0; i < std::size(kExchangeNames); ++i) {
    if (word == kExchangeNames[i]) return static_cast<ExpertExchange>(i);
  }
  return Error{ErrorCode::bad_input, "",
               "'" + std::string(word) + "' is no way to reach experts: gather, kernels, low-latency or throughput"};
}

namespace perf {
namespace {

/// Of the links of a torus, the share that traffic from everybody to everybody leaves for one device: with d dimensions
/// of k devices a message takes d k/4 hops on average, each of which one of the 2 d links of a device carries.
double torus_share(const Device& device, double ranks) {
  constexpr int kLargestPlane = 256;  // pods of two dimensions (v5e, v6e) end there
  if (device.scale_up_topology != ScaleUpTopology::torus) return 1;
  const int domain = device.scale_up_domain ? device.scale_up_domain->value : 1;
  const double dimensions = domain > kLargestPlane ? 3 : 2;
  return std::min(1.0, 4 / (dimensions * std::pow(std::max(1.0, ranks), 1 / dimensions)));
}

}  // namespace

ExchangeRates exchange_rates(const Device& device, double nic, double ranks, const Calibration& calibration) {
  const std::string_view architecture = device.architecture;
  const double peak =
      device.scale_up_per_direction ? device.scale_up_per_direction->value.value() : pcie_bandwidth(device);
  ExchangeRates r;
  r.latency = calibration.value("exchange.latency");
  r.network_latency = calibration.value("exchange.network_latency");
  r.throughput_latency = calibration.value("exchange.throughput_latency");
  r.scale_up =
      peak * torus_share(device, ranks) * std::min(1.0, calibration.value("exchange.scale_up", {architecture}));
  r.scale_out = nic * std::min(1.0, calibration.value("exchange.scale_out"));
  return r;
}

}  // namespace perf
}  // namespace ridge
