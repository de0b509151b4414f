// Time to send tokens to experts on other devices and to bring the results back.
//
//   ExchangeRates rates = exchange_rates(device, 50e9, 64, calibration);                   // once
//   ExchangeShape shape{.tokens = 128, .bytes = 7168, .top_k = 8, .ranks = 64, .inside = 8};
//   low_latency_time(rates, shape);    // every copy of a token goes straight to the rank of its expert
//   throughput_time(rates, shape);     // one copy per domain over the network, one per rank inside it
//
// A token goes to top_k of the experts, which are dealt out evenly over `ranks`; a rank's own share does not leave it.
// Ranks of one scale-up domain (`inside` of them) talk over it, the others over the network, both at once: the slower
// of the two counts. Pure, noexcept; times grow with tokens, bytes and top_k.
#pragma once

#include <algorithm>
#include <cmath>

#include "ridge/catalogue/calibration.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge::perf {

struct ExchangeRates {
  double latency = 0;             ///< of one dispatch or combine of a low-latency kernel inside a domain
  double network_latency = 0;     ///< on top, once ranks stand in other domains
  double throughput_latency = 0;  ///< on top, of a throughput kernel: it counts and announces before it sends
  double scale_up = 1;            ///< achieved bytes/s of a device
  double scale_out = 1;
};

/// `nic`: bytes/s per device and direction. Of a torus each of `ranks` devices has the less the more they are: messages
/// pass through others.
[[nodiscard]] ExchangeRates exchange_rates(const Device& device, double nic, double ranks,
                                           const Calibration& calibration);

struct ExchangeShape {
  double tokens = 0;  ///< of one rank
  double bytes = 0;   ///< of one token on the way, with its scales
  double top_k = 1;
  double ranks = 1;
  double inside = 1;     ///< ranks of one scale-up domain
  double reachable = 0;  ///< domains that a token may go to (group-limited routing); 0 = all
  double imbalance = 1;  ///< busiest rank against the mean
};

/// Domains, or ranks, that `choices` random choices among `places` meet.
[[nodiscard]] inline double places_met(double places, double choices) noexcept {
  return places <= 1 ? std::min(1.0, choices) : places * (1 - std::exp(choices * std::log1p(-1 / places)));
}

[[nodiscard]] inline double low_latency_time(const ExchangeRates& rates, const ExchangeShape& s) noexcept {
  if (s.ranks <= 1) return 0;
  const double inside = std::min(s.inside, s.ranks);
  const double bytes = s.tokens * s.top_k * s.bytes * s.imbalance / s.ranks;  // for one rank
  const double near = bytes * (inside - 1) / rates.scale_up;
  const double far = bytes * (s.ranks - inside) / rates.scale_out;
  return rates.latency + (far > 0 ? rates.network_latency : 0) + std::max(near, far);
}

[[nodiscard]] inline double throughput_time(const ExchangeRates& rates, const ExchangeShape& s) noexcept {
  if (s.ranks <= 1) return 0;
  const double inside = std::min(s.inside, s.ranks);
  const double domains = s.ranks / inside;
  const double reachable = s.reachable > 0 ? std::min(s.reachable, domains) : domains;
  const double met = places_met(reachable, s.top_k);  // domains, the own one among them
  // As much arrives at a rank as it sends: its peers' tokens come over the network and go on to the ranks beside it.
  const double each = met * places_met(inside, s.top_k / met);
  const double bytes = s.tokens * s.bytes * s.imbalance;
  const double near = bytes * each * (inside - 1) / inside / rates.scale_up;
  const double far = bytes * met * (domains - 1) / domains / rates.scale_out;
  return rates.latency + rates.throughput_latency + (far > 0 ? rates.network_latency : 0) + std::max(near, far);
}

}  // namespace ridge::perf
