// Whole mixes of replicas, one to be chosen for each service and month, each with what it costs hour by hour.
//
//   MixSearch search(problem, places);
//   search.consider(service, month, {3, 0, 1});          // replicas by place of the service
//   search.price(service, month, prices);                // takes in what is worth having at prices of devices
//   search.mixes(service, month);
//
// A program that chooses mixes knows that replicas are whole before any column is branched on (Dantzig and Wolfe,
// Operations Research 8, 1960); its rows are but devices. What is found by price() comes from small changes of what is
// known, so that nothing is proved by it. One thread.
#pragma once

#include <set>
#include <vector>

#include "fleet/program/improve.hpp"
#include "fleet/program/month_costs.hpp"

namespace ridge::fleet {

struct WholeMix {
  std::vector<int> replicas;  ///< by place of the service
  double usd = 0;             ///< of the month, beside devices
  double reduced = 0;         ///< usd and devices at the prices last looked at
};

class MixSearch {
 public:
  MixSearch(const Problem& problem, const std::vector<Place>& places);

  /// Places of a service.
  [[nodiscard]] const std::vector<int>& of(int service) const { return mine_[static_cast<std::size_t>(service)]; }
  [[nodiscard]] const std::vector<WholeMix>& mixes(int service, int month) const;
  void consider(int service, int month, std::vector<int> replicas);
  /// `prices`: dollars a device and month is worth, by pool; `usd_weight`: what a dollar is. Goes downhill from the
  /// mixes `from` and takes in where that ends with what is next to it. The least reduced cost.
  double price(int service, int month, const std::vector<double>& prices, double usd_weight,
               const std::vector<int>& from);
  /// Keeps the `most` of them that are worth most at the prices last looked at, and those that `kept` names.
  void prune(int service, int month, std::size_t most, const std::vector<int>& kept);
  /// Hours of a day times devices of a pool that serve.
  [[nodiscard]] double busy_hours(int service, int month, const WholeMix& mix, int pool) const;
  [[nodiscard]] double gpus(int place) const;
  [[nodiscard]] int pool(int place) const { return places_[static_cast<std::size_t>(place)].pool; }

 private:
  struct Known {
    std::vector<WholeMix> mixes;
    std::set<std::vector<int>> seen;
  };
  [[nodiscard]] double usd_of(int service, int month, const std::vector<int>& replicas);
  [[nodiscard]] Known& known(int service, int month) {
    return known_[static_cast<std::size_t>(service * problem_.months + month)];
  }

  const Problem& problem_;
  const std::vector<Place>& places_;
  MonthCosts costs_;
  std::vector<std::vector<int>> mine_;
  std::vector<double> kw_;    ///< by place: of one replica at full load, more than idle
  std::vector<double> size_;  ///< by place: requests/s of one replica
  std::vector<double> most_;  ///< by place: replicas that could ever be of use
  std::vector<Known> known_;
};

}  // namespace ridge::fleet
