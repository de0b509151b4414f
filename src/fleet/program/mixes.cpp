#include "fleet/program/mixes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ridge::fleet {

namespace {

constexpr std::size_t kNeighbours = 6;  ///< that are taken in with the best of them

}  // namespace

MixSearch::MixSearch(const Problem& problem, const std::vector<Place>& places)
    : problem_(problem),
      places_(places),
      costs_(problem),
      mine_(problem.services.size()),
      known_(problem.services.size() * at(problem.months)) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Option& option = problem_.options[at(places_[i].option)];
    const Service& service = problem_.services[at(option.service)];
    mine_[at(option.service)].push_back(static_cast<int>(i));
    kw_.push_back(std::max(0.0, option.watts - option.gpus * problem_.pools[at(places_[i].pool)].idle_watts) / 1000);
    size_.push_back(option.requests_per_s);
    const double most = *std::max_element(service.demand.begin(), service.demand.end());
    most_.push_back(std::ceil(most / option.requests_per_s) + service.spare);
  }
}

double MixSearch::gpus(int place) const {
  return problem_.options[at(places_[at(place)].option)].gpus;
}

const std::vector<WholeMix>& MixSearch::mixes(int service, int month) const {
  return known_[at(service * problem_.months + month)].mixes;
}

double MixSearch::usd_of(int service, int month, const std::vector<int>& replicas) {
  Mix mix;
  mix.kw.assign(problem_.sites.size(), 0.0);
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (replicas[i] == 0) continue;
    const auto place = at(mine_[at(service)][i]);
    mix.able += replicas[i] * size_[place];
    mix.largest = std::max(mix.largest, size_[place]);
    mix.kw[at(problem_.pools[at(places_[place].pool)].site)] += replicas[i] * kw_[place];
  }
  return costs_.of(service, month, mix);
}

void MixSearch::consider(int service, int month, std::vector<int> replicas) {
  Known& all = known(service, month);
  if (!all.seen.insert(replicas).second) return;
  const double usd = usd_of(service, month, replicas);
  all.mixes.push_back({std::move(replicas), usd, 0});
}

double MixSearch::price(int service, int month, const std::vector<double>& prices, double usd_weight,
                        const std::vector<int>& from) {
  const std::vector<int>& mine = mine_[at(service)];
  const std::size_t n = mine.size();
  std::vector<double> each;
  for (const int place : mine) each.push_back(gpus(place) * prices[at(pool(place))]);
  Known& all = known(service, month);
  std::vector<int> now(n);
  Mix without;
  Mix with;
  const auto take = [&](Mix& mix, std::size_t i, int replicas) {
    if (replicas <= 0) return;
    const auto place = at(mine[i]);
    mix.able += replicas * size_[place];
    mix.largest = std::max(mix.largest, size_[place]);
    mix.kw[at(problem_.pools[at(places_[place].pool)].site)] += replicas * kw_[place];
  };
  struct Next {
    double value;
    int less, more;
  };
  std::vector<Next> next;
  std::vector<std::vector<int>> starts;
  for (const int i : from) starts.push_back(all.mixes[at(i)].replicas);
  double best_of_all = std::numeric_limits<double>::infinity();
  for (std::vector<int>& start : starts) {
    now = start;
    double devices = 0;
    for (std::size_t i = 0; i < n; ++i) devices += now[i] * each[i];
    double value = usd_weight * usd_of(service, month, now) + devices;
    for (;;) {
      next.clear();
      for (int less = -1; less < static_cast<int>(n); ++less) {
        if (less >= 0 && now[at(less)] == 0) continue;
        without.able = without.largest = 0;
        without.kw.assign(problem_.sites.size(), 0.0);
        for (std::size_t i = 0; i < n; ++i) take(without, i, now[i] - (static_cast<int>(i) == less ? 1 : 0));
        const double left = devices - (less >= 0 ? each[at(less)] : 0);
        for (int more = -1; more < static_cast<int>(n); ++more) {
          if (more == less || (more >= 0 && now[at(more)] >= most_[at(mine[at(more)])])) continue;
          with = without;
          if (more >= 0) take(with, at(more), 1);
          next.push_back(
              {usd_weight * costs_.of(service, month, with) + left + (more >= 0 ? each[at(more)] : 0), less, more});
        }
      }
      if (next.empty()) break;
      const std::size_t some = std::min(kNeighbours, next.size());
      std::partial_sort(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(some), next.end(),
                        [](const Next& a, const Next& b) { return a.value < b.value; });
      const bool better = next.front().value < value - 1e-6 * std::abs(value) - 1e-6;
      if (!better) break;
      value = next.front().value;
      if (next.front().less >= 0) {
        --now[at(next.front().less)];
        devices -= each[at(next.front().less)];
      }
      if (next.front().more >= 0) {
        ++now[at(next.front().more)];
        devices += each[at(next.front().more)];
      }
    }
    consider(service, month, now);
    best_of_all = std::min(best_of_all, value);
    for (std::size_t i = 0; i < std::min(kNeighbours, next.size()); ++i) {
      std::vector<int> near = now;
      if (next[i].less >= 0) --near[at(next[i].less)];
      if (next[i].more >= 0) ++near[at(next[i].more)];
      consider(service, month, std::move(near));
    }
  }
  for (WholeMix& mix : all.mixes) {
    mix.reduced = usd_weight * mix.usd;
    for (std::size_t i = 0; i < n; ++i) mix.reduced += mix.replicas[i] * each[i];
  }
  return best_of_all;
}

void MixSearch::prune(int service, int month, std::size_t most, const std::vector<int>& kept) {
  Known& all = known(service, month);
  if (all.mixes.size() <= most) return;
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t i = 0; i < all.mixes.size(); ++i) {
    const bool stays = std::find(kept.begin(), kept.end(), static_cast<int>(i)) != kept.end();
    ranked.emplace_back(stays ? -std::numeric_limits<double>::infinity() : all.mixes[i].reduced, i);
  }
  std::stable_sort(ranked.begin(), ranked.end());
  std::vector<WholeMix> left;
  for (std::size_t i = 0; i < std::max(most, kept.size()) && i < ranked.size(); ++i)
    left.push_back(all.mixes[ranked[i].second]);
  all.mixes = std::move(left);
  all.seen.clear();  // what goes may come back at other prices
  for (const WholeMix& mix : all.mixes) all.seen.insert(mix.replicas);
}

double MixSearch::busy_hours(int service, int month, const WholeMix& mix, int pool_asked) const {
  const std::vector<int>& mine = mine_[at(service)];
  double able = 0;
  double devices = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    able += mix.replicas[i] * size_[at(mine[i])];
    if (pool(mine[i]) == pool_asked) devices += mix.replicas[i] * gpus(mine[i]);
  }
  if (!(devices > 0)) return 0;
  double hours = 0;
  for (int h = 0; h < problem_.hours; ++h)
    hours += std::min(1.0, problem_.services[at(service)].demand[problem_.at(month, h)] / able);
  return devices * hours;
}

}  // namespace ridge::fleet
