#include "fleet/promising.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "fleet/program/stocks.hpp"

namespace ridge::fleet {

namespace {

constexpr std::size_t kFirstOptions = 3;  ///< of each service
constexpr std::size_t kMoreOptions = 2;   ///< that one round takes in for each service
constexpr int kMostRounds = 6;
constexpr double kWorthLess = 2e-4;  ///< of the cost, that all options left out could save

bool stands_on(const Problem& problem, const Option& option, const Stock& stock) {
  const Pool& pool = problem.pools[static_cast<std::size_t>(stock.pool)];
  const Service& service = problem.services[static_cast<std::size_t>(option.service)];
  return pool.device == option.device && pool.forbidden < 0 && service.allowed[static_cast<std::size_t>(pool.site)];
}

/// Dollars a month for one request per second on the cheapest of what can be had, at full load.
double cost_alone(const Problem& problem, const Option& option) {
  double least = kNoLimit;
  for (const Stock& stock : problem.stocks) {
    if (is_kept(stock.way) || !stands_on(problem, option, stock)) continue;
    const Pool& pool = problem.pools[static_cast<std::size_t>(stock.pool)];
    const Site& site = problem.sites[static_cast<std::size_t>(pool.site)];
    double kwh = 0;
    for (const double price : site.usd_per_kwh) kwh += price / static_cast<double>(site.usd_per_kwh.size());
    const double energy =
        site.energy_paid && is_held(stock.way) ? option.watts / 1000 * site.pue * kwh * problem.hours_of_month() : 0;
    const double devices =
        is_held(stock.way) ? stock.usd_month + stock.charge_month : stock.usd_hour * problem.hours_of_month();
    least = std::min(least, (option.gpus * devices + energy) / option.requests_per_s);
  }
  return least;
}

}  // namespace

Problem with_options(const Problem& problem, const std::vector<int>& kept) {
  Problem out = problem;
  out.options.clear();
  for (const int o : kept) out.options.push_back(problem.options[static_cast<std::size_t>(o)]);
  return out;
}

Promising promising(const Problem& problem, int bands, const SolveOptions& options) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  const auto left = [&] {
    return std::max(0.05, std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count());
  };
  std::vector<char> in(problem.options.size(), 0);
  for (std::size_t s = 0; s < problem.services.size(); ++s) {
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t o = 0; o < problem.options.size(); ++o) {
      if (problem.options[o].service == static_cast<int>(s))
        ranked.emplace_back(cost_alone(problem, problem.options[o]), o);
    }
    std::sort(ranked.begin(), ranked.end());
    for (std::size_t i = 0; i < std::min(kFirstOptions, ranked.size()); ++i) in[ranked[i].second] = 1;
  }
  // The bound counts what is left out on devices that are held: what may be rented for the least has to be in.
  for (std::size_t o = 0; o < in.size(); ++o) {
    if (in[o] != 0) continue;
    const Option& option = problem.options[o];
    in[o] = std::any_of(problem.stocks.begin(), problem.stocks.end(), [&](const Stock& stock) {
      const bool spot = stock.way == Way::spot && !problem.services[static_cast<std::size_t>(option.service)].spot;
      return !is_held(stock.way) && !spot && stands_on(problem, option, stock) &&
             !is_rented_for_less(problem, option, stock);
    });
  }
  Promising out;
  double best_bound = -kNoLimit;
  for (int round = 0; round < kMostRounds && !options.patience.over(); ++round) {
    std::vector<int> taken;
    for (std::size_t o = 0; o < in.size(); ++o) {
      if (in[o] != 0) taken.push_back(static_cast<int>(o));
    }
    const Problem some = with_options(problem, taken);
    Bands how = Bands::alike(some, bands, BandDemand::mean);
    how.thin = true;
    const Program program(some, how);
    const Solution relaxed = solve(program.linear(), {.seconds = left(), .relaxed = true});
    if (!relaxed.found) {
      if (!relaxed.infeasible) break;
      // The cheapest cannot do it together: all of them.
      const bool all = std::all_of(in.begin(), in.end(), [](char c) { return c != 0; });
      std::fill(in.begin(), in.end(), 1);
      out.infeasible = all;
      if (all) break;
      continue;
    }
    // By pool and month, at the prices of the solution or with devices worth more, whichever says less.
    struct Saving {
      std::size_t option;
      double as_priced, worth_more;
    };
    const auto months = static_cast<std::size_t>(problem.months);
    const std::vector<std::vector<Program::WorthMore>> more = program.worth_more(relaxed.price);
    std::vector<std::vector<std::vector<Saving>>> savings(problem.pools.size(),
                                                          std::vector<std::vector<Saving>>(months));
    for (std::size_t o = 0; o < in.size(); ++o) {
      if (in[o] != 0) continue;
      const Option& option = problem.options[o];
      const Service& service = problem.services[static_cast<std::size_t>(option.service)];
      for (std::size_t p = 0; p < problem.pools.size(); ++p) {
        const bool stands = std::any_of(problem.stocks.begin(), problem.stocks.end(), [&](const Stock& k) {
          return k.pool == static_cast<int>(p) && is_held(k.way) && stands_on(problem, option, k);
        });
        for (int m = 0; m < problem.months && stands; ++m) {
          const double each = program.reduced_cost(option, static_cast<int>(p), m, relaxed.price);
          if (!(each < 0)) continue;
          double peak = 0;
          for (int h = 0; h < problem.hours; ++h) peak = std::max(peak, service.demand[problem.at(m, h)]);
          const double most = std::ceil(peak / option.requests_per_s) + service.spare;
          const double then = each + more[p][static_cast<std::size_t>(m)].usd * option.gpus;
          savings[p][static_cast<std::size_t>(m)].push_back({o, -most * each, most * std::max(0.0, -then)});
        }
      }
    }
    double could_save = 0;
    std::vector<double> by_option(in.size(), 0.0);
    for (std::size_t p = 0; p < savings.size(); ++p) {
      for (std::size_t m = 0; m < months; ++m) {
        double as_priced = 0;
        double worth_more = more[p][m].loss;
        for (const Saving& one : savings[p][m]) {
          as_priced += one.as_priced;
          worth_more += one.worth_more;
        }
        could_save += std::min(as_priced, worth_more);
        // What could use devices that are owned finds out what they are worth by being taken in.
        const bool is_settled = worth_more < as_priced && !(more[p][m].loss > 0);
        for (const Saving& one : savings[p][m]) by_option[one.option] += is_settled ? one.worth_more : one.as_priced;
      }
    }
    std::vector<std::vector<std::pair<double, std::size_t>>> wanted(problem.services.size());
    for (std::size_t o = 0; o < in.size(); ++o) {
      if (by_option[o] > 0) wanted[static_cast<std::size_t>(problem.options[o].service)].emplace_back(-by_option[o], o);
    }
    best_bound = std::max(best_bound, relaxed.cost - could_save);
    out.found = true;
    out.bound = best_bound;
    out.kept.clear();
    std::vector<char> used(some.options.size(), 0);
    for (const Placement& placement : program.answer(relaxed.x).placements) {
      used[static_cast<std::size_t>(placement.option)] = 1;
    }
    std::size_t next = 0;
    for (std::size_t o = 0; o < in.size(); ++o) {
      if (in[o] != 0 && used[next++] != 0) out.kept.push_back(static_cast<int>(o));
    }
    if (could_save <= kWorthLess * relaxed.cost || left() < 0.5 * options.seconds) break;
    if (std::all_of(wanted.begin(), wanted.end(), [](const auto& list) { return list.empty(); })) break;
    for (auto& list : wanted) {
      std::sort(list.begin(), list.end());
      for (std::size_t i = 0; i < std::min(kMoreOptions, list.size()); ++i) in[list[i].second] = 1;
    }
  }
  return out;
}

}  // namespace ridge::fleet
