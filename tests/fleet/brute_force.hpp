// The least cost of a small problem by trying every choice of whole numbers; for each, requests and jobs are shared out
// by a textbook simplex. Shares no code with src/fleet.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "ridge/fleet/fleet.hpp"

namespace ridge::fleet::tests {

/// Minimise c x, A x <= b, x >= 0. Two phases, Bland's rule. Nothing if there is no solution.
class Simplex {
 public:
  explicit Simplex(std::size_t columns) : columns_(columns), cost_(columns, 0.0) {}
  void cost(std::size_t column, double value) { cost_[column] = value; }
  void at_most(std::vector<double> row, double limit) {
    rows_.push_back(std::move(row));
    limits_.push_back(limit);
  }
  [[nodiscard]] std::optional<double> least() const {
    const std::size_t m = rows_.size();
    const std::size_t n = columns_ + m;  // with slacks; then artificials where a limit is negative
    std::vector<std::vector<double>> t(m, std::vector<double>(n + m + 1, 0.0));
    std::vector<std::size_t> basis(m);
    bool any = false;
    for (std::size_t i = 0; i < m; ++i) {
      const double sign = limits_[i] < 0 ? -1 : 1;
      for (std::size_t j = 0; j < columns_; ++j) t[i][j] = sign * rows_[i][j];
      t[i][columns_ + i] = sign;
      t[i][n + m] = sign * limits_[i];
      basis[i] = columns_ + i;
      if (sign < 0) {
        t[i][n + i] = 1;
        basis[i] = n + i;
        any = true;
      }
    }
    std::vector<double> first(n + m, 0.0);
    for (std::size_t i = 0; i < m; ++i) first[n + i] = 1;
    if (any && !(run(t, basis, first, n + m) < 1e-7)) return {};
    std::vector<double> second(n + m, 0.0);
    for (std::size_t j = 0; j < columns_; ++j) second[j] = cost_[j];
    return run(t, basis, second, n);
  }

 private:
  static double run(std::vector<std::vector<double>>& t, std::vector<std::size_t>& basis,
                    const std::vector<double>& cost, std::size_t allowed) {
    const std::size_t last = t.empty() ? 0 : t[0].size() - 1;
    for (int step = 0; step < 20000; ++step) {
      std::size_t enter = allowed;
      for (std::size_t j = 0; j < allowed; ++j) {
        double reduced = cost[j];
        for (std::size_t i = 0; i < t.size(); ++i) reduced -= cost[basis[i]] * t[i][j];
        if (reduced < -1e-9) {
          enter = j;
          break;
        }
      }
      if (enter == allowed) break;
      std::size_t leave = t.size();
      double ratio = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < t.size(); ++i) {
        if (t[i][enter] <= 1e-9) continue;
        const double r = t[i][last] / t[i][enter];
        if (r < ratio - 1e-12 || (r < ratio + 1e-12 && basis[i] < basis[leave])) {
          ratio = r;
          leave = i;
        }
      }
      if (leave == t.size()) return -std::numeric_limits<double>::infinity();
      const double pivot = t[leave][enter];
      for (double& v : t[leave]) v /= pivot;
      for (std::size_t i = 0; i < t.size(); ++i) {
        if (i == leave || t[i][enter] == 0) continue;
        const double times = t[i][enter];
        for (std::size_t j = 0; j <= last; ++j) t[i][j] -= times * t[leave][j];
      }
      basis[leave] = enter;
    }
    double sum = 0;
    for (std::size_t i = 0; i < t.size(); ++i) sum += cost[basis[i]] * t[i][last];
    return sum;
  }

  std::size_t columns_;
  std::vector<double> cost_;
  std::vector<std::vector<double>> rows_;
  std::vector<double> limits_;
};

/// One choice of whole numbers after the other.
class BruteForce {
 public:
  explicit BruteForce(const Problem& problem) : p_(problem) {
    for (std::size_t k = 0; k < p_.stocks.size(); ++k) {
      const Stock& s = p_.stocks[k];
      if (s.way == Way::on_demand || s.way == Way::spot) continue;
      for (int m = s.first; m <= s.last; ++m) {
        digits_.push_back({Digit::units, static_cast<int>(k), 0, m, 0, static_cast<int>(s.most) / s.unit});
      }
    }
    for (std::size_t o = 0; o < p_.options.size(); ++o) {
      const Option& option = p_.options[o];
      const Service& service = p_.services[static_cast<std::size_t>(option.service)];
      for (int m = 0; m < p_.months; ++m) {
        double peak = 0;
        for (int h = 0; h < p_.hours; ++h) peak = std::max(peak, service.demand[p_.at(m, h)]);
        const int most = static_cast<int>(std::ceil(peak / option.requests_per_s)) + service.spare;
        digits_.push_back({Digit::replicas, static_cast<int>(o), 0, m, 0, most});
      }
      for (std::size_t k = 0; k < p_.stocks.size(); ++k) {
        const Stock& s = p_.stocks[k];
        if (s.way != Way::on_demand || p_.pools[static_cast<std::size_t>(s.pool)].device != option.device) continue;
        for (int i = 0; i < p_.months * p_.hours; ++i) {
          const int most = std::min(
              static_cast<int>(s.most),
              static_cast<int>(std::ceil(service.demand[static_cast<std::size_t>(i)] / option.requests_per_s)) +
                  service.spare);
          digits_.push_back(
              {Digit::rented, static_cast<int>(o), static_cast<int>(k), i / p_.hours, i % p_.hours, most});
        }
      }
    }
    for (std::size_t j = 0; j < p_.jobs.size(); ++j) {
      digits_.push_back({Digit::kind, static_cast<int>(j), 0, 0, 0, static_cast<int>(p_.jobs[j].rates.size()) - 1});
    }
  }

  [[nodiscard]] double choices() const {
    double all = 1;
    for (const Digit& d : digits_) all *= d.most + 1;
    return all;
  }

  [[nodiscard]] double least() {
    best_ = std::numeric_limits<double>::infinity();
    std::vector<int> x(digits_.size(), 0);
    walk(x, 0);
    return best_;
  }

 private:
  struct Digit {
    enum What { units, replicas, rented, kind } what;
    int first, second, month, hour, most;
  };

  void walk(std::vector<int>& x, std::size_t at) {
    if (at == digits_.size()) return look(x);
    for (int v = 0; v <= digits_[at].most; ++v) {
      x[at] = v;
      walk(x, at + 1);
    }
    x[at] = 0;
  }

  [[nodiscard]] double dear(double usd, const Stock& s, int month) const { return usd * std::pow(1 + s.trend, month); }

  void look(const std::vector<int>& x) {
    const auto months = static_cast<std::size_t>(p_.months);
    const std::size_t steps = months * static_cast<std::size_t>(p_.hours);
    std::vector<std::vector<double>> held(p_.pools.size(), std::vector<double>(months, 0.0));
    std::vector<std::vector<double>> replicas(p_.options.size(), std::vector<double>(months, 0.0));
    std::vector<std::vector<double>> rented(p_.options.size(), std::vector<double>(steps, 0.0));
    std::vector<std::vector<double>> rented_stock(p_.stocks.size(), std::vector<double>(steps, 0.0));
    std::vector<int> kind(p_.jobs.size(), 0);
    std::vector<double> cash(months, 0.0);
    double cost = 0;
    std::vector<double> begun_all(p_.stocks.size(), 0.0);
    std::vector<double> before(p_.stocks.size(), 1e9);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Digit& d = digits_[i];
      const auto first = static_cast<std::size_t>(d.first);
      const auto m = static_cast<std::size_t>(d.month);
      if (d.what == Digit::units) {
        const Stock& s = p_.stocks[first];
        const double gpus = x[i] * s.unit;
        const bool kept = s.way == Way::owned;
        if (kept && gpus > before[first]) return;
        before[first] = gpus;
        begun_all[first] += kept ? 0 : gpus;
        if (begun_all[first] > s.most) return;
        const int end = kept ? d.month + 1 : s.term == 0 ? p_.months : std::min(p_.months, d.month + s.term);
        if (!kept) cash[m] += gpus * dear(s.usd_once, s, d.month);
        for (int now = d.month; now < end; ++now) {
          held[static_cast<std::size_t>(s.pool)][static_cast<std::size_t>(now)] += gpus;
          cash[static_cast<std::size_t>(now)] += gpus * dear(s.usd_month, s, d.month);
          cost += gpus * (dear(s.usd_month, s, d.month) + (kept ? 0 : dear(s.charge_month, s, d.month)));
        }
      } else if (d.what == Digit::replicas) {
        replicas[first][m] = x[i];
      } else if (d.what == Digit::rented) {
        const Stock& s = p_.stocks[static_cast<std::size_t>(d.second)];
        rented[first][p_.at(d.month, d.hour)] += x[i];
        const double gpus = x[i] * p_.options[first].gpus;
        rented_stock[static_cast<std::size_t>(d.second)][p_.at(d.month, d.hour)] += gpus;
        if (rented_stock[static_cast<std::size_t>(d.second)][p_.at(d.month, d.hour)] > s.most) return;
        cash[m] += gpus * dear(s.usd_hour, s, d.month) * p_.days;
        cost += gpus * dear(s.usd_hour, s, d.month) * p_.days;
      } else {
        kind[first] = x[i];
      }
    }
    if (cost >= best_) return;
    const Site& site = p_.sites[0];
    for (std::size_t m = 0; m < months; ++m) {
      double watts = 0;
      double racks = 0;
      double all = 0;
      for (std::size_t pool = 0; pool < p_.pools.size(); ++pool) {
        double placed = 0;
        for (std::size_t o = 0; o < p_.options.size(); ++o) {
          if (p_.options[o].device == p_.pools[pool].device) placed += replicas[o][m] * p_.options[o].gpus;
        }
        if (placed > held[pool][m]) return;
        watts += held[pool][m] * p_.pools[pool].watts * site.pue;
        racks += held[pool][m] * p_.pools[pool].racks;
        all += held[pool][m];
        for (int h = 0; h < p_.hours; ++h) {
          const double usd = held[pool][m] * p_.pools[pool].idle_watts / 1000 * site.pue * p_.days *
                             site.usd_per_kwh[static_cast<std::size_t>(h)];
          cost += usd;
          cash[m] += usd;
        }
      }
      if (site.power_w > 0 && watts > site.power_w + 1e-6) return;
      if (site.racks > 0 && racks > site.racks + 1e-9) return;
      for (std::size_t pool = 0; pool < p_.pools.size(); ++pool) {
        if (held[pool][m] > p_.vendor_share * all + 1e-9) return;
      }
    }
    if (cost >= best_) return;
    share_out(held, replicas, rented, rented_stock, kind, cash, cost);
  }

  void share_out(const std::vector<std::vector<double>>& held, const std::vector<std::vector<double>>& replicas,
                 const std::vector<std::vector<double>>& rented, const std::vector<std::vector<double>>& rented_stock,
                 const std::vector<int>& kind, const std::vector<double>& cash, double fixed) {
    const std::size_t steps = static_cast<std::size_t>(p_.months * p_.hours);
    const std::size_t options = p_.options.size();
    // Columns: routed by option, then API and dropped by service, then jobs on pools and on stocks.
    const std::size_t outside = options * steps;
    const std::size_t jobs = outside + 2 * p_.services.size() * steps;
    const std::size_t on_stock = jobs + p_.jobs.size() * steps;
    const std::size_t columns = on_stock + p_.jobs.size() * steps;
    Simplex lp(columns);
    std::vector<std::vector<double>> spent(static_cast<std::size_t>(p_.months), std::vector<double>(columns, 0.0));
    const Site& site = p_.sites[0];
    const auto set = [&](std::size_t column, int m, double usd, bool is_cash) {
      lp.cost(column, usd);
      if (is_cash) spent[static_cast<std::size_t>(m)][column] = usd;
    };
    for (int m = 0; m < p_.months; ++m) {
      for (int h = 0; h < p_.hours; ++h) {
        const std::size_t at = p_.at(m, h);
        const double kwh = site.pue / 1000 * p_.days * site.usd_per_kwh[static_cast<std::size_t>(h)];
        for (std::size_t o = 0; o < options; ++o) {
          const Option& option = p_.options[o];
          double idle = 0;
          for (const Pool& pool : p_.pools) idle = pool.device == option.device ? pool.idle_watts : idle;
          set(o * steps + at, m, std::max(0.0, option.watts - option.gpus * idle) / option.requests_per_s * kwh, true);
          std::vector<double> row(columns, 0.0);
          row[o * steps + at] = 1;
          lp.at_most(row, option.requests_per_s * replicas[o][static_cast<std::size_t>(m)]);
        }
        for (std::size_t s = 0; s < p_.services.size(); ++s) {
          const Service& service = p_.services[s];
          std::vector<double> row(columns, 0.0);
          std::vector<double> standing(columns, 0.0);
          double by_rented = 0;
          double stands = 0;
          double largest = 0;
          for (std::size_t o = 0; o < options; ++o) {
            const Option& option = p_.options[o];
            if (option.service != static_cast<int>(s)) continue;
            row[o * steps + at] = -1;
            by_rented += rented[o][at] * option.requests_per_s;
            stands += (rented[o][at] + replicas[o][static_cast<std::size_t>(m)]) * option.requests_per_s;
            bool used = replicas[o][static_cast<std::size_t>(m)] > 0;
            for (int i = 0; i < p_.hours; ++i) used = used || rented[o][p_.at(m, i)] > 0;
            if (used) largest = std::max(largest, option.requests_per_s);
          }
          const auto out = [&](int which, bool there, double usd, double most, bool is_cash) {
            const std::size_t column = outside + (2 * s + static_cast<std::size_t>(which)) * steps + at;
            set(column, m, usd * 3600 * p_.days, is_cash);
            row[column] = standing[column] = -1;
            std::vector<double> limit(columns, 0.0);
            limit[column] = 1;
            if (!there || most > 0) lp.at_most(limit, there ? most : 0);
          };
          const bool api = !p_.apis.empty() && p_.apis[0].service == static_cast<int>(s);
          out(0, api, api ? p_.apis[0].usd_per_request : 0, api ? p_.apis[0].most : 0, true);
          out(1, service.value.has_value(), service.value.value_or(0), 0, false);
          lp.at_most(row, by_rented - service.demand[at]);
          if (service.spare > 0) lp.at_most(standing, stands - service.spare * largest - service.demand[at]);
        }
        for (std::size_t j = 0; j < p_.jobs.size(); ++j) {
          const Job& job = p_.jobs[j];
          const JobRate& rate = job.rates[static_cast<std::size_t>(kind[j])];
          const std::size_t column = jobs + j * steps + at;
          double idle = 0;
          std::size_t pool = 0;
          for (std::size_t i = 0; i < p_.pools.size(); ++i) {
            if (p_.pools[i].device == rate.device) pool = i;
          }
          idle = p_.pools[pool].idle_watts;
          set(column, m, std::max(0.0, rate.watts - idle) * kwh, true);
          std::vector<double> busy(columns, 0.0);
          busy[column] = 1;
          for (std::size_t o = 0; o < options; ++o) {
            if (p_.options[o].device == rate.device)
              busy[o * steps + at] = p_.options[o].gpus / p_.options[o].requests_per_s;
          }
          lp.at_most(busy, held[pool][static_cast<std::size_t>(m)]);
          const std::size_t hired = on_stock + j * steps + at;
          double left = 0;
          for (std::size_t k = 0; k < p_.stocks.size(); ++k) {
            const Stock& s = p_.stocks[k];
            if (s.way != Way::on_demand || s.pool != static_cast<int>(pool)) continue;
            left = s.most - rented_stock[k][at];
            set(hired, m, dear(s.usd_hour, s, m) * p_.days, true);
          }
          std::vector<double> limit(columns, 0.0);
          limit[hired] = 1;
          lp.at_most(limit, left);
          std::vector<double> at_once(columns, 0.0);
          at_once[hired] = at_once[column] = 1;
          lp.at_most(at_once, job.most_gpus);
        }
      }
    }
    for (std::size_t j = 0; j < p_.jobs.size(); ++j) {
      const double each = p_.jobs[j].rates[static_cast<std::size_t>(kind[j])].share_per_gpu_hour * p_.days;
      std::vector<double> work(columns, 0.0);
      for (std::size_t at = 0; at < steps; ++at) work[jobs + j * steps + at] = work[on_stock + j * steps + at] = -each;
      lp.at_most(work, -1);
    }
    for (const Budget& budget : p_.budgets) {
      std::vector<double> row(columns, 0.0);
      double left = budget.usd;
      for (int m = budget.first; m <= budget.last; ++m) {
        left -= cash[static_cast<std::size_t>(m)];
        for (std::size_t c = 0; c < columns; ++c) row[c] += spent[static_cast<std::size_t>(m)][c];
      }
      lp.at_most(row, left);
    }
    if (const std::optional<double> rest = lp.least()) best_ = std::min(best_, fixed + *rest);
  }

  const Problem& p_;
  std::vector<Digit> digits_;
  double best_ = 0;
};

}  // namespace ridge::fleet::tests
