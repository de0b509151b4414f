// Hours of a day put together by how alike their demand is.
#include <algorithm>
#include <cmath>
#include <set>

#include "fleet/program/program.hpp"

namespace ridge::fleet {

Bands Bands::hourly(const Problem& problem) {
  Bands bands;
  bands.count = problem.hours;
  for (int h = 0; h < problem.hours; ++h) bands.of_hour.push_back(h);
  return bands;
}

namespace {

/// What tells two hours apart: each service's demand over its greatest, averaged over the months, and what electricity
/// costs over its mean.
std::vector<std::vector<double>> features_of(const Problem& problem) {
  std::vector<std::vector<double>> features(static_cast<std::size_t>(problem.hours));
  for (const Service& service : problem.services) {
    const double most = *std::max_element(service.demand.begin(), service.demand.end());
    for (int h = 0; h < problem.hours; ++h) {
      double sum = 0;
      for (int m = 0; m < problem.months; ++m) sum += service.demand[problem.at(m, h)];
      features[static_cast<std::size_t>(h)].push_back(most > 0 ? sum / (most * problem.months) : 0);
    }
  }
  for (const Site& site : problem.sites) {
    double mean = 0;
    for (const double price : site.usd_per_kwh) mean += price / static_cast<double>(site.usd_per_kwh.size());
    for (int h = 0; h < problem.hours && mean > 0 && site.energy_paid; ++h) {
      features[static_cast<std::size_t>(h)].push_back(3 * site.usd_per_kwh[static_cast<std::size_t>(h)] / mean);
    }
  }
  return features;
}

}  // namespace

Bands Bands::alike(const Problem& problem, int count, BandDemand demand) {
  if (count >= problem.hours) return hourly(problem);
  const std::vector<std::vector<double>> features = features_of(problem);
  struct Cluster {
    std::vector<int> hours;
    std::vector<double> mean;
    bool alone = false;
  };
  std::set<int> busiest;
  for (const Service& service : problem.services) {
    const auto most = std::max_element(service.demand.begin(), service.demand.end());
    busiest.insert(static_cast<int>((most - service.demand.begin()) % problem.hours));
  }
  std::vector<Cluster> clusters;
  for (int h = 0; h < problem.hours; ++h) {
    const bool alone = static_cast<int>(busiest.size()) < count && busiest.count(h) > 0;
    clusters.push_back({{h}, features[static_cast<std::size_t>(h)], alone});
  }
  while (static_cast<int>(clusters.size()) > count) {
    std::size_t first = 0;
    std::size_t second = 0;
    double least = kNoLimit;
    for (std::size_t a = 0; a < clusters.size(); ++a) {
      for (std::size_t b = a + 1; b < clusters.size(); ++b) {
        if (clusters[a].alone || clusters[b].alone) continue;
        const auto na = static_cast<double>(clusters[a].hours.size());
        const auto nb = static_cast<double>(clusters[b].hours.size());
        double distance = 0;
        for (std::size_t i = 0; i < clusters[a].mean.size(); ++i) {
          const double d = clusters[a].mean[i] - clusters[b].mean[i];
          distance += d * d;
        }
        distance *= na * nb / (na + nb);
        if (distance < least) {
          least = distance;
          first = a;
          second = b;
        }
      }
    }
    if (second == 0) break;  // all that is left is alone
    Cluster& into = clusters[first];
    const Cluster& from = clusters[second];
    const auto na = static_cast<double>(into.hours.size());
    const auto nb = static_cast<double>(from.hours.size());
    for (std::size_t i = 0; i < into.mean.size(); ++i)
      into.mean[i] = (na * into.mean[i] + nb * from.mean[i]) / (na + nb);
    into.hours.insert(into.hours.end(), from.hours.begin(), from.hours.end());
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(second));
  }
  Bands bands;
  bands.demand = demand;
  bands.count = static_cast<int>(clusters.size());
  bands.of_hour.resize(static_cast<std::size_t>(problem.hours));
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    for (const int h : clusters[c].hours) bands.of_hour[static_cast<std::size_t>(h)] = static_cast<int>(c);
  }
  return bands;
}

}  // namespace ridge::fleet
