#include "fleet/program/mixes.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "fleet/program/program.hpp"
#include "fleet/program/stocks.hpp"

namespace ridge::fleet {

namespace {

constexpr std::size_t kNeighbours = 6;  ///< that are taken in with the best of them
constexpr int kMostSteps = 60;          ///< downhill: where thousands of replicas move, rounding is close enough

constexpr int kPricingRounds = 25;
constexpr double kPricingShare = 0.4;      ///< of the time
constexpr double kWorthTaking = 1e-5;      ///< of the cost, that a round of mixes could save
constexpr std::size_t kMixesToTry = 16;    ///< of a service and month, in whole numbers
constexpr std::size_t kMixesToPrice = 60;  ///< without

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
    for (int step = 0; step < kMostSteps; ++step) {
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

namespace {

/// Dollars that jobs take in a month.
std::vector<double> cash_of_jobs(const Problem& problem, const std::vector<JobUse>& jobs) {
  std::vector<double> out(at(problem.months), 0.0);
  for (const JobUse& use : jobs) {
    const Pool& pool = problem.pools[at(use.pool)];
    const Site& site = problem.sites[at(pool.site)];
    double watts = 0;
    for (const JobRate& rate : problem.jobs[at(use.job)].rates) watts = rate.device == pool.device ? rate.watts : watts;
    for (int m = 0; m < problem.months; ++m) {
      for (int h = 0; h < problem.hours; ++h) {
        const double kwh = std::max(0.0, watts - pool.idle_watts) / 1000 * site.pue;
        const double energy = site.energy_paid ? kwh * site.usd_per_kwh[at(h)] : 0;
        const double rent =
            use.stock < 0 ? energy : trended(problem.stocks[at(use.stock)].usd_hour, problem.stocks[at(use.stock)], m);
        out[at(m)] += use.gpus[problem.at(m, h)] * rent * problem.days;
      }
    }
  }
  return out;
}

}  // namespace

/// The rows of one choice: devices by pool and month, hours that jobs need, cash, and one mix for each service and
/// month.
class Program::Choice {
 public:
  Choice(const Program& of, const std::vector<JobUse>& jobs)
      : program_(of), problem_(of.problem_), places_(of.places()), search(problem_, places_) {
    const LinearProgram& all = of.linear_;
    of_stock_.assign(at(all.columns()), -1);
    for (const std::vector<Columns>* kind : {&of.begun_, &of.at_hand_}) {
      for (const Columns& columns : *kind) {
        for (const int c : columns) {
          if (c >= 0) of_stock_[at(c)] = stocks_.column(all.cost[at(c)], all.low[at(c)], all.high[at(c)], true);
        }
      }
    }
    for (int r = 0; r < all.rows(); ++r) {
      std::vector<Term> terms;
      bool is_mine = true;
      for (std::size_t t = all.starts[at(r)]; t < all.starts[at(r) + 1] && is_mine; ++t) {
        const int c = of_stock_[at(all.terms[t].column)];
        is_mine = c >= 0;
        terms.push_back({c, all.terms[t].times});
      }
      if (is_mine && !terms.empty()) stocks_.row(all.row_low[at(r)], all.row_high[at(r)], terms);
    }
    job_hours_.assign(problem_.pools.size(), std::vector<double>(at(problem_.months), 0.0));
    for (const JobUse& use : jobs) {
      for (int m = 0; m < problem_.months && use.stock < 0; ++m) {
        for (int h = 0; h < problem_.hours; ++h) job_hours_[at(use.pool)][at(m)] += use.gpus[problem_.at(m, h)];
      }
    }
    job_cash_ = cash_of_jobs(problem_, jobs);
  }

  [[nodiscard]] int services() const { return static_cast<int>(problem_.services.size()); }
  /// All mixes known, as columns of `program`.
  void build() {
    program = stocks_;
    first_.clear();
    pool_rows_.assign(problem_.pools.size(), Columns(at(problem_.months), -1));
    one_rows_.clear();
    budget_rows_.clear();
    for (int s = 0; s < services(); ++s) {
      for (int m = 0; m < problem_.months; ++m) {
        first_.push_back(program.columns());
        for (const WholeMix& mix : search.mixes(s, m)) program.column(mix.usd, 0, 1, true);
      }
    }
    for (int m = 0; m < problem_.months; ++m) {
      for (std::size_t p = 0; p < problem_.pools.size(); ++p) add_pool(static_cast<int>(p), m);
    }
    for (int s = 0; s < services(); ++s) {
      for (int m = 0; m < problem_.months; ++m) {
        std::vector<Term> one;
        for (std::size_t i = 0; i < search.mixes(s, m).size(); ++i) one.push_back({column(s, m, i), 1});
        one_rows_.push_back(program.row(1, 1, one));
      }
    }
    for (const Budget& budget : problem_.budgets) add_budget(budget);
  }
  [[nodiscard]] int column(int service, int month, std::size_t mix) const {
    return first_[at(service * problem_.months + month)] + static_cast<int>(mix);
  }

  /// Takes in what the prices of a solution ask for, while there is time. What that could save at most.
  double price(const Solution& s, const std::function<bool()>& is_over) {
    std::vector<double> prices(problem_.pools.size(), 0.0);
    double saves = 0;
    for (int m = 0; m < problem_.months && !is_over(); ++m) {
      for (std::size_t p = 0; p < prices.size(); ++p) {
        const int row = pool_rows_[p][at(m)];
        prices[p] = row < 0 ? 0 : std::max(0.0, -s.price[at(row)]);
      }
      double weight = 1;
      for (std::size_t b = 0; b < problem_.budgets.size(); ++b) {
        const Budget& budget = problem_.budgets[b];
        if (m >= budget.first && m <= budget.last)
          weight += std::max(0.0, -s.price[at(budget_rows_[b])]) / std::max(1.0, budget.usd);
      }
      for (int service = 0; service < services(); ++service) {
        const std::vector<int> taken = chosen(s, service, m, 1e-6);
        const double now = s.price[at(one_rows_[at(service * problem_.months + m)])];
        saves += std::max(0.0, now - search.price(service, m, prices, weight, taken));
      }
    }
    return saves;
  }
  [[nodiscard]] std::vector<int> chosen(const Solution& s, int service, int month, double more_than) const {
    std::vector<int> out;
    for (std::size_t i = 0; i < search.mixes(service, month).size(); ++i) {
      if (s.x[at(column(service, month, i))] > more_than) out.push_back(static_cast<int>(i));
    }
    return out;
  }
  [[nodiscard]] int stock_column(int of_program) const { return of_program < 0 ? -1 : of_stock_[at(of_program)]; }
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }

  LinearProgram program;

 private:
  [[nodiscard]] std::vector<Term> held(int pool, int month, double times) const {
    std::vector<Term> terms;
    program_.hold_terms(pool, month, times, terms);
    for (Term& term : terms) term.column = of_stock_[at(term.column)];
    return terms;
  }
  void add_pool(int pool, int month) {
    std::vector<Term> devices = held(pool, month, -1);
    std::vector<Term> busy = held(pool, month, -problem_.hours);
    const double jobs = job_hours_[at(pool)][at(month)];
    const std::size_t holds = devices.size();
    for (int s = 0; s < services(); ++s) {
      for (std::size_t i = 0; i < search.mixes(s, month).size(); ++i) {
        const WholeMix& mix = search.mixes(s, month)[i];
        double gpus = 0;
        for (std::size_t k = 0; k < mix.replicas.size(); ++k) {
          const int place = search.of(s)[k];
          if (search.pool(place) == pool) gpus += mix.replicas[k] * search.gpus(place);
        }
        if (!(gpus > 0)) continue;
        devices.push_back({column(s, month, i), gpus});
        if (jobs > 0) busy.push_back({column(s, month, i), search.busy_hours(s, month, mix, pool)});
      }
    }
    if (devices.size() > holds) pool_rows_[at(pool)][at(month)] = program.row(-kNoLimit, 0, devices);
    if (jobs > 0) program.row(-kNoLimit, -jobs, busy);
  }
  void add_budget(const Budget& budget) {
    const double scale = std::max(1.0, budget.usd);
    std::vector<double> by_column(at(program.columns()), 0.0);
    double left = budget.usd;
    for (int m = budget.first; m <= budget.last; ++m) {
      left -= job_cash_[at(m)];
      for (const Term& term : program_.cash_[at(m)]) {
        const int c = of_stock_[at(term.column)];
        if (c >= 0) by_column[at(c)] += term.times;
      }
      for (int s = 0; s < services(); ++s) {
        for (std::size_t i = 0; i < search.mixes(s, m).size(); ++i)
          by_column[at(column(s, m, i))] += search.mixes(s, m)[i].usd;
      }
    }
    std::vector<Term> terms;
    for (std::size_t c = 0; c < by_column.size(); ++c) {
      if (by_column[c] != 0) terms.push_back({static_cast<int>(c), by_column[c] / scale});
    }
    budget_rows_.push_back(program.row(-kNoLimit, left / scale, terms));
  }

  const Program& program_;
  const Problem& problem_;
  std::vector<Place> places_;
  LinearProgram stocks_;       ///< columns and rows of devices alone
  std::vector<int> of_stock_;  ///< by column of the program
  std::vector<std::vector<double>> job_hours_;
  std::vector<double> job_cash_;
  std::vector<int> first_, one_rows_, budget_rows_;
  std::vector<Columns> pool_rows_;

 public:
  MixSearch search;
};

std::optional<WholePlan> Program::of_mixes(const Solution& relaxed, const WholePlan* best,
                                           const std::vector<JobUse>& jobs, const SolveOptions& options) const {
  const auto start = std::chrono::steady_clock::now();
  const auto left = [&](double share) {
    const double gone = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::max(0.05, share * options.seconds - gone);
  };
  const auto is_over = [&] { return left(kPricingShare) <= 0.05 || options.patience.over(); };
  Choice choice(*this, jobs);
  MixSearch& search = choice.search;
  const auto services = static_cast<int>(problem_.services.size());
  // What stands in the solution without whole numbers, rounded each way, at what devices are worth there.
  std::vector<double> prices(problem_.pools.size(), 0.0);
  for (int m = 0; m < problem_.months; ++m) {
    if (is_over()) return std::nullopt;
    for (std::size_t p = 0; p < prices.size(); ++p) {
      const int row = pool_rows_[p][at(m)];
      prices[p] = row < 0 ? 0 : std::max(0.0, -relaxed.price[at(row)]);
    }
    for (int s = 0; s < services; ++s) {
      std::vector<int> none, less, near, known;
      for (const int place : search.of(s)) {
        const double replicas = relaxed.x[at(held_[at(place)].replicas[at(m)])];
        none.push_back(0);
        less.push_back(static_cast<int>(std::floor(replicas + 1e-6)));
        near.push_back(static_cast<int>(std::lround(replicas)));
        if (best != nullptr) known.push_back(static_cast<int>(std::lround(best->replicas[at(place)][at(m)])));
      }
      if (best != nullptr) search.consider(s, m, known);
      search.consider(s, m, less);
      search.consider(s, m, near);
      std::vector<int> from(search.mixes(s, m).size());
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int>(i);
      search.price(s, m, prices, 1, from);
      search.consider(s, m, none);
    }
  }
  for (int round = 0; round < kPricingRounds; ++round) {
    choice.build();
    const Solution s = solve(choice.program, {.seconds = left(1), .relaxed = true});
    if (!s.found) return std::nullopt;
    const double saves = choice.price(s, is_over);
    const bool last = saves < kWorthTaking * s.cost || is_over() || round + 1 == kPricingRounds;
    for (int service = 0; service < services; ++service) {
      for (int m = 0; m < problem_.months; ++m) {
        std::vector<int> kept = choice.chosen(s, service, m, 1e-6);
        if (best != nullptr) kept.push_back(0);  // as it was taken in first
        search.prune(service, m, last ? kMixesToTry : kMixesToPrice, kept);
      }
    }
    if (last) break;
  }
  choice.build();
  SolveOptions whole = options;
  whole.seconds = left(1);
  const Solution s = solve(choice.program, whole);
  if (!s.found) return std::nullopt;
  WholePlan plan;
  for (const Columns& columns : begun_) {
    std::vector<double>& units = plan.units.emplace_back();
    for (const int c : columns) units.push_back(c < 0 ? 0 : std::round(s.x[at(choice.stock_column(c))]));
  }
  plan.replicas.assign(held_.size(), std::vector<double>(at(problem_.months), 0.0));
  for (int service = 0; service < services; ++service) {
    for (int m = 0; m < problem_.months; ++m) {
      for (const int i : choice.chosen(s, service, m, 0.5)) {
        const WholeMix& mix = search.mixes(service, m)[at(i)];
        for (std::size_t k = 0; k < mix.replicas.size(); ++k)
          plan.replicas[at(search.of(service)[k])][at(m)] = mix.replicas[k];
      }
    }
  }
  plan.kinds = best != nullptr ? best->kinds : kinds_of(relaxed.x);
  return plan;
}

}  // namespace ridge::fleet
