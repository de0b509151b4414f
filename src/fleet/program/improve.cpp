#include "fleet/program/improve.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "fleet/program/month_costs.hpp"
#include "fleet/program/stocks.hpp"

namespace ridge::fleet {

namespace {

constexpr double kWorthAChange = 1;  ///< dollars
constexpr double kRoomSlack = 1e-6;

class Improver {
 public:
  Improver(const Problem& problem, const std::vector<Place>& places, WholePlan plan, const std::vector<JobUse>& jobs,
           const SolveOptions& options)
      : p_(problem),
        places_(places),
        costs_(problem),
        plan_(std::move(plan)),
        options_(options),
        end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds)) {
    mine_.resize(p_.services.size());
    for (std::size_t i = 0; i < places_.size(); ++i)
      mine_[at(p_.options[at(places_[i].option)].service)].push_back(static_cast<int>(i));
    const auto months = at(p_.months);
    held_.assign(p_.pools.size(), std::vector<double>(months, 0.0));
    used_ = job_hours_ = held_;
    for (const JobUse& use : jobs) {
      for (int m = 0; m < p_.months && use.stock < 0; ++m) {
        for (int h = 0; h < p_.hours; ++h) job_hours_[at(use.pool)][at(m)] += use.gpus[p_.at(m, h)];
      }
    }
    for (const Place& place : places_) {
      const Option& option = p_.options[at(place.option)];
      kw_.push_back(std::max(0.0, option.watts - option.gpus * p_.pools[at(place.pool)].idle_watts) / 1000);
    }
    in_pool_.resize(p_.pools.size());
    for (std::size_t i = 0; i < places_.size(); ++i) in_pool_[at(places_[i].pool)].push_back(i);
    for (std::size_t k = 0; k < p_.stocks.size(); ++k) {
      for (int m = 0; m < p_.months && is_held(p_.stocks[k].way); ++m) hold(k, m, plan_.units[k][at(m)]);
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      for (std::size_t m = 0; m < months; ++m) used_[at(places_[i].pool)][m] += gpus(i) * plan_.replicas[i][m];
    }
    cost_.assign(p_.services.size(), std::vector<double>(months, 0.0));
    for (int m = 0; m < p_.months; ++m) {
      for (std::size_t s = 0; s < p_.services.size(); ++s) cost_[s][at(m)] = cost_of(static_cast<int>(s), m);
    }
  }

  WholePlan run() {
    for (int m = 0; m < p_.months && !over(); ++m) {
      for (std::size_t p = 0; p < p_.pools.size(); ++p) evict(static_cast<int>(p), m);
      settle_month(m);
    }
    descend();
    return std::move(plan_);
  }

 private:
  void descend() {
    for (bool better = true; better && !over();) {
      better = false;
      for (std::size_t k = 0; k < p_.stocks.size(); ++k) {
        if (!is_held(p_.stocks[k].way) || is_kept(p_.stocks[k].way)) continue;
        for (int m = p_.stocks[k].first; m <= std::min(p_.stocks[k].last, p_.months - 1) && !over(); ++m) {
          better = try_units(k, m) || better;
        }
      }
    }
  }
  [[nodiscard]] bool over() const { return std::chrono::steady_clock::now() > end_ || options_.patience.over(); }
  [[nodiscard]] double gpus(std::size_t place) const { return p_.options[at(places_[place].option)].gpus; }

  void hold(std::size_t k, int m, double units) {
    const Stock& stock = p_.stocks[k];
    const int end = is_kept(stock.way) ? m + 1 : held_until(p_, stock, m);
    for (int i = m; i < end; ++i) held_[at(stock.pool)][at(i)] += units * stock.unit;
  }
  /// What a unit costs that begins then.
  [[nodiscard]] double unit_cost(std::size_t k, int m) const {
    const Stock& stock = p_.stocks[k];
    const Pool& pool = p_.pools[at(stock.pool)];
    const Site& site = p_.sites[at(pool.site)];
    double idle = 0;
    for (int h = 0; h < p_.hours && site.energy_paid; ++h)
      idle += pool.idle_watts / 1000 * site.pue * site.usd_per_kwh[at(h)] * p_.days;
    return stock.unit * (held_until(p_, stock, m) - m) *
           (trended(stock.usd_month, stock, m) + trended(stock.charge_month, stock, m) + idle);
  }
  [[nodiscard]] double size(std::size_t place) const { return p_.options[at(places_[place].option)].requests_per_s; }
  void mix_of(int s, int m, Mix& mix) const {
    mix.able = mix.largest = 0;
    mix.kw.assign(p_.sites.size(), 0.0);
    for (const int i : mine_[at(s)]) add_to(mix, at(i), plan_.replicas[at(i)][at(m)]);
  }
  void add_to(Mix& mix, std::size_t place, double replicas) const {
    if (!(replicas > 0)) return;
    mix.able += replicas * size(place);
    mix.largest = std::max(mix.largest, size(place));
    mix.kw[at(p_.pools[at(places_[place].pool)].site)] += replicas * kw_[place];
  }
  [[nodiscard]] double cost_of(int s, int m) {
    mix_of(s, m, mix_);
    return costs_.of(s, m, mix_);
  }
  void put(int place, int m, double by) {
    plan_.replicas[at(place)][at(m)] += by;
    used_[at(places_[at(place)].pool)][at(m)] += by * gpus(at(place));
  }
  [[nodiscard]] bool fits(int pool, int m) const {
    return used_[at(pool)][at(m)] <= held_[at(pool)][at(m)] + kRoomSlack;
  }
  /// Jobs find the hours they had: devices less what serving takes on average.
  [[nodiscard]] bool leaves_jobs_room(int m) const {
    for (std::size_t p = 0; p < p_.pools.size(); ++p) {
      if (!(job_hours_[p][at(m)] > 0)) continue;
      double busy = 0;
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (places_[i].pool != static_cast<int>(p) || !(plan_.replicas[i][at(m)] > 0)) continue;
        const int s = p_.options[at(places_[i].option)].service;
        double able = 0;
        for (const int other : mine_[at(s)])
          able += plan_.replicas[at(other)][at(m)] * p_.options[at(places_[at(other)].option)].requests_per_s;
        for (int h = 0; h < p_.hours; ++h)
          busy += gpus(i) * plan_.replicas[i][at(m)] * std::min(1.0, p_.services[at(s)].demand[p_.at(m, h)] / able);
      }
      if (busy + job_hours_[p][at(m)] > held_[p][at(m)] * p_.hours + kRoomSlack) return false;
    }
    return true;
  }
  [[nodiscard]] bool limits_hold(int m) const {
    std::map<std::string_view, double> vendors;
    double all = 0;
    for (std::size_t s = 0; s < p_.sites.size(); ++s) {
      double watts = 0;
      double racks = 0;
      for (std::size_t p = 0; p < p_.pools.size(); ++p) {
        if (p_.pools[p].site != static_cast<int>(s)) continue;
        const double devices = held_[p][at(m)];
        watts += devices * p_.pools[p].watts * p_.sites[s].pue;
        racks += devices * p_.pools[p].racks;
        vendors[p_.pools[p].vendor] += devices;
        all += devices;
      }
      if (p_.sites[s].power_w > 0 && watts > p_.sites[s].power_w) return false;
      if (p_.sites[s].racks > 0 && racks > p_.sites[s].racks + kRoomSlack) return false;
    }
    for (const auto& [vendor, devices] : vendors) {
      if (p_.vendor_share < 1 && devices > p_.vendor_share * all + kRoomSlack) return false;
    }
    return true;
  }

  /// One replica of a service less, one more elsewhere, or either: the best of these, while there is one.
  bool settle_service(int s, int m) {
    bool changed = false;
    for (;;) {
      double best = cost_[at(s)][at(m)] - kWorthAChange;
      int less = -1;
      int more = -1;
      bool found = false;
      const std::vector<int>& mine = mine_[at(s)];
      for (int a = -1; a < static_cast<int>(mine.size()); ++a) {
        if (a >= 0 && !(plan_.replicas[at(mine[at(a)])][at(m)] > 0.5)) continue;
        if (a >= 0) put(mine[at(a)], m, -1);
        mix_of(s, m, mix_);
        for (int b = -1; b < static_cast<int>(mine.size()); ++b) {
          if (a == b) continue;
          double usd = 0;
          if (b >= 0) {
            const std::size_t place = at(mine[at(b)]);
            const int pool = places_[place].pool;
            if (held_[at(pool)][at(m)] < used_[at(pool)][at(m)] + gpus(place) - kRoomSlack) continue;
            more_ = mix_;
            add_to(more_, place, 1);
            usd = costs_.of(s, m, more_);
          } else {
            usd = costs_.of(s, m, mix_);
          }
          if (usd < best) {
            best = usd;
            less = a;
            more = b;
            found = true;
          }
        }
        if (a >= 0) put(mine[at(a)], m, 1);
      }
      if (!found) return changed;
      if (less >= 0) put(mine[at(less)], m, -1);
      if (more >= 0) put(mine[at(more)], m, 1);
      cost_[at(s)][at(m)] = best;
      changed = true;
    }
  }
  void settle_month(int m) {
    for (bool changed = true; changed && !over();) {
      changed = false;
      for (std::size_t s = 0; s < p_.services.size(); ++s) changed = settle_service(static_cast<int>(s), m) || changed;
      changed = hand_over(m) || changed;
    }
  }
  /// A replica of one service gives its devices to replicas of another.
  bool hand_over(int m) {
    bool changed = false;
    for (std::size_t a = 0; a < places_.size(); ++a) {
      if (!(plan_.replicas[a][at(m)] > 0.5)) continue;
      const int from = p_.options[at(places_[a].option)].service;
      for (const std::size_t b : in_pool_[at(places_[a].pool)]) {
        if (!(plan_.replicas[a][at(m)] > 0.5)) break;
        const int to = p_.options[at(places_[b].option)].service;
        if (to == from) continue;
        const double room = held_[at(places_[a].pool)][at(m)] - used_[at(places_[a].pool)][at(m)];
        const double less = gpus(b) > gpus(a) + room ? std::ceil((gpus(b) - room) / gpus(a)) : 1;
        const double more = std::floor((less * gpus(a) + room + kRoomSlack) / gpus(b));
        if (plan_.replicas[a][at(m)] < less || more < 1) continue;
        put(static_cast<int>(a), m, -less);
        put(static_cast<int>(b), m, more);
        const double usd_from = cost_of(from, m);
        const double usd_to = cost_of(to, m);
        if (usd_from + usd_to < cost_[at(from)][at(m)] + cost_[at(to)][at(m)] - kWorthAChange) {
          cost_[at(from)][at(m)] = usd_from;
          cost_[at(to)][at(m)] = usd_to;
          changed = true;
          continue;
        }
        put(static_cast<int>(a), m, less);
        put(static_cast<int>(b), m, -more);
      }
    }
    return changed;
  }
  /// Replicas that have no devices any more go, those that are missed least first.
  void evict(int pool, int m) {
    while (!fits(pool, m)) {
      int gone = -1;
      double least = kNoLimit;
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (places_[i].pool != pool || !(plan_.replicas[i][at(m)] > 0.5)) continue;
        const int s = p_.options[at(places_[i].option)].service;
        put(static_cast<int>(i), m, -1);
        const double usd = (std::min(1e15, cost_of(s, m)) - std::min(1e15, cost_[at(s)][at(m)])) / gpus(i);
        put(static_cast<int>(i), m, 1);
        if (usd < least) {
          least = usd;
          gone = static_cast<int>(i);
        }
      }
      if (gone < 0) return;
      put(gone, m, -1);
      const int s = p_.options[at(places_[at(gone)].option)].service;
      cost_[at(s)][at(m)] = cost_of(s, m);
    }
  }

  struct Step {
    std::size_t stock;
    int month;
    double units;
  };
  /// Units begun more or less: taken if all that follows from it is cheaper.
  bool attempt(const std::vector<Step>& steps) {
    int first = p_.months;
    int last = 0;
    double usd = 0;
    for (const Step& step : steps) {
      const Stock& stock = p_.stocks[step.stock];
      if (step.month < stock.first || step.month > std::min(stock.last, p_.months - 1)) return false;
      if (plan_.units[step.stock][at(step.month)] + step.units < -0.5) return false;
      double all = step.units;
      for (const double units : plan_.units[step.stock]) all += units;
      if (p_.pools[at(stock.pool)].forbidden >= 0 ||
          (step.units > 0 && all * stock.unit > stock.most && steps.size() == 1))
        return false;
      usd += step.units * unit_cost(step.stock, step.month);
      first = std::min(first, step.month);
      last = std::max(last, held_until(p_, stock, step.month));
    }
    const auto kept_plan = plan_.replicas;
    const auto kept_used = used_;
    const auto kept_held = held_;
    const auto kept_cost = cost_;
    for (const Step& step : steps) {
      hold(step.stock, step.month, step.units);
      plan_.units[step.stock][at(step.month)] += step.units;
    }
    bool fine = true;
    for (int m = first; m < last && fine; ++m) {
      bool touched = false;
      for (std::size_t p = 0; p < p_.pools.size(); ++p) touched = touched || held_[p][at(m)] != kept_held[p][at(m)];
      if (!touched) continue;
      fine = limits_hold(m);
      for (const Step& step : steps) {
        if (fine) evict(p_.stocks[step.stock].pool, m);
      }
      if (fine) settle_month(m);
      fine = fine && leaves_jobs_room(m);
      for (std::size_t s = 0; s < p_.services.size(); ++s) usd += cost_[s][at(m)] - kept_cost[s][at(m)];
      fine = fine && std::isfinite(usd);
    }
    if (fine && usd < -kWorthAChange) return true;
    for (const Step& step : steps) plan_.units[step.stock][at(step.month)] -= step.units;
    plan_.replicas = kept_plan;
    used_ = kept_used;
    held_ = kept_held;
    cost_ = kept_cost;
    return false;
  }
  bool try_units(std::size_t k, int m) {
    bool better = attempt({{k, m, 1}});
    if (!(plan_.units[k][at(m)] > 0.5)) return better;
    better = attempt({{k, m, -1}}) || better;
    for (const int by : {1, -1, 2, 3}) {
      if (m + by >= 0 && plan_.units[k][at(m)] > 0.5) better = attempt({{k, m, -1}, {k, m + by, 1}}) || better;
    }
    for (std::size_t other = 0; other < p_.stocks.size() && plan_.units[k][at(m)] > 0.5 && !over(); ++other) {
      if (other == k || !is_held(p_.stocks[other].way) || is_kept(p_.stocks[other].way)) continue;
      better = attempt({{k, m, -1}, {other, m, 1}}) || better;
    }
    return better;
  }

  const Problem& p_;
  const std::vector<Place>& places_;
  MonthCosts costs_;
  WholePlan plan_;
  SolveOptions options_;
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
  std::vector<std::vector<int>> mine_;             ///< places, by service
  std::vector<std::vector<double>> held_, used_;   ///< devices, by pool and month
  std::vector<std::vector<double>> job_hours_;     ///< of a day, by pool and month
  std::vector<std::vector<double>> cost_;          ///< by service and month
  std::vector<double> kw_;                         ///< by place: of one replica at full load, more than idle
  std::vector<std::vector<std::size_t>> in_pool_;  ///< places, by pool
  Mix mix_, more_;
};

}  // namespace

WholePlan whole_plan_of(const Problem& problem, const std::vector<Place>& places, const Answer& answer) {
  const auto months = at(problem.months);
  WholePlan plan;
  plan.units.assign(problem.stocks.size(), std::vector<double>(months, 0.0));
  for (const Holding& holding : answer.holdings) {
    const Stock& stock = problem.stocks[at(holding.stock)];
    const std::vector<double>& gpus = is_kept(stock.way) ? holding.held : holding.begun;
    for (std::size_t m = 0; m < months; ++m) plan.units[at(holding.stock)][m] = std::round(gpus[m] / stock.unit);
  }
  for (const Place& place : places) {
    std::vector<double>& replicas = plan.replicas.emplace_back(months, 0.0);
    for (const Placement& p : answer.placements) {
      if (p.stock >= 0 || p.option != place.option || p.pool != place.pool) continue;
      for (std::size_t m = 0; m < months; ++m) replicas[m] = std::round(p.replicas[m]);
    }
  }
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const Job& job = problem.jobs[j];
    int kind = job.mixed ? -1 : 0;
    for (const JobUse& use : answer.jobs) {
      if (use.job != static_cast<int>(j) || job.mixed) continue;
      const std::string& device = problem.pools[at(use.pool)].device;
      const auto rate =
          std::find_if(job.rates.begin(), job.rates.end(), [&](const JobRate& r) { return r.device == device; });
      kind = static_cast<int>(rate - job.rates.begin());
    }
    plan.kinds.push_back(kind);
  }
  return plan;
}

WholePlan improved(const Problem& problem, const std::vector<Place>& places, WholePlan plan,
                   const std::vector<JobUse>& jobs, const SolveOptions& options) {
  return Improver(problem, places, std::move(plan), jobs, options).run();
}

}  // namespace ridge::fleet
