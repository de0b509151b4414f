// Whether an answer keeps every rule of its problem: recomputed from what is bought, placed and routed, with nothing of
// the program that found it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "ridge/fleet/fleet.hpp"

namespace ridge::fleet::tests {

class Checker {
 public:
  Checker(const Problem& problem, const Answer& answer) : p_(problem), a_(answer) {
    held_.assign(p_.pools.size(), std::vector<double>(static_cast<std::size_t>(p_.months), 0.0));
    cash_.assign(static_cast<std::size_t>(p_.months), 0.0);
    cost_ = 0;
    holdings();
    pools();
    services();
    rented();
    jobs();
    sites();
    for (std::size_t b = 0; b < p_.budgets.size(); ++b) {
      double sum = 0;
      for (int m = p_.budgets[b].first; m <= p_.budgets[b].last; ++m) sum += cash_[static_cast<std::size_t>(m)];
      most(fmt::format("budget {}", b), sum, p_.budgets[b].usd);
    }
    if (std::abs(cost_ - a_.usd) > 1e-6 * std::max(1.0, cost_))
      complain(fmt::format("cost {} is said to be {}", cost_, a_.usd));
  }
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  void complain(std::string text) { complaints_.push_back(std::move(text)); }
  void most(const std::string& what, double value, double limit) {
    if (value > limit + 1e-5 * std::max(1.0, std::abs(limit)))
      complain(fmt::format("{}: {} of at most {}", what, value, limit));
  }
  void whole(const std::string& what, double value) {
    if (std::abs(value - std::round(value)) > 1e-6) complain(fmt::format("{}: {} is not whole", what, value));
  }
  void spend(int month, double usd) {
    cash_[static_cast<std::size_t>(month)] += usd;
    cost_ += usd;
  }
  [[nodiscard]] double price(double usd, const Stock& stock, int month) const {
    for (int m = 0; m < month; ++m) usd *= 1 + stock.trend;
    return usd;
  }
  void burn(int month, int hour, int pool, double watts) {
    const Site& site = p_.sites[static_cast<std::size_t>(p_.pools[static_cast<std::size_t>(pool)].site)];
    if (site.energy_paid)
      spend(month, watts / 1000 * site.pue * p_.days * site.usd_per_kwh[static_cast<std::size_t>(hour)]);
  }

  void holdings() {
    std::map<int, const Holding*> by_stock;
    for (const Holding& h : a_.holdings) by_stock[h.stock] = &h;
    for (const Holding& h : a_.holdings) {
      const Stock& stock = p_.stocks[static_cast<std::size_t>(h.stock)];
      const Pool& pool = p_.pools[static_cast<std::size_t>(stock.pool)];
      const bool kept = stock.way == Way::owned || stock.way == Way::extend;
      double all = 0;
      for (int m = 0; m < p_.months; ++m) {
        const auto at = static_cast<std::size_t>(m);
        const bool offered = m >= stock.first && m <= stock.last;
        whole("units", (kept ? h.held[at] : h.begun[at]) / stock.unit);
        if (!offered && (kept ? h.held[at] : h.begun[at]) > 1e-6) complain("held or begun outside of its months");
        if (kept) {
          most("owned", h.held[at], stock.most);
          if (m > stock.first) most("retired for good", h.held[at], h.held[at - 1]);
          spend(m, h.held[at] * price(stock.usd_month, stock, m));
        } else {
          if (pool.forbidden >= 0 && h.begun[at] > 1e-6) complain("stands where it is forbidden");
          all += h.begun[at];
          double expected = 0;
          for (int b = 0; b <= m; ++b) {
            if (stock.term == 0 || m < b + stock.term) expected += h.begun[static_cast<std::size_t>(b)];
          }
          if (std::abs(expected - h.held[at]) > 1e-6) complain("held is not what was begun");
          cash_[at] += h.begun[at] * price(stock.usd_once, stock, m);
          for (int b = m; b < p_.months && (stock.term == 0 || b < m + stock.term); ++b) {
            spend(b, h.begun[at] * price(stock.usd_month, stock, m));
            cost_ += h.begun[at] * price(stock.charge_month, stock, m);
          }
        }
        held_[static_cast<std::size_t>(stock.pool)][at] += h.held[at];
        for (int hour = 0; hour < p_.hours; ++hour) burn(m, hour, stock.pool, h.held[at] * pool.idle_watts);
      }
      if (!kept) most("offer", all, stock.most);
      if (stock.follows >= 0 && stock.first > 0 && by_stock.count(stock.follows) > 0) {
        most("extended", h.held[static_cast<std::size_t>(stock.first)],
             by_stock[stock.follows]->held[static_cast<std::size_t>(stock.first) - 1]);
      }
    }
  }

  void pools() {
    for (std::size_t pool = 0; pool < p_.pools.size(); ++pool) {
      for (int m = 0; m < p_.months; ++m) {
        const double there = held_[pool][static_cast<std::size_t>(m)];
        double placed = 0;
        for (const Placement& p : a_.placements) {
          if (p.stock >= 0 || p.pool != static_cast<int>(pool)) continue;
          placed += p.replicas[static_cast<std::size_t>(m)] * p_.options[static_cast<std::size_t>(p.option)].gpus;
        }
        most("devices of replicas", placed, there);
        for (int h = 0; h < p_.hours; ++h) {
          double busy = 0;
          for (const Placement& p : a_.placements) {
            const Option& option = p_.options[static_cast<std::size_t>(p.option)];
            if (p.stock < 0 && p.pool == static_cast<int>(pool)) {
              busy += p.routed[p_.at(m, h)] / option.requests_per_s * option.gpus;
            }
          }
          for (const JobUse& use : a_.jobs) {
            if (use.stock < 0 && use.pool == static_cast<int>(pool)) busy += use.gpus[p_.at(m, h)];
          }
          most("devices at work", busy, there);
        }
      }
    }
  }

  void services() {
    for (const Placement& p : a_.placements) {
      const Option& option = p_.options[static_cast<std::size_t>(p.option)];
      const Pool& pool = p_.pools[static_cast<std::size_t>(p.pool)];
      const Service& service = p_.services[static_cast<std::size_t>(option.service)];
      if (option.device != pool.device) complain("an option on another device");
      if (pool.forbidden >= 0) complain("replicas where nothing may stand");
      if (!service.allowed[static_cast<std::size_t>(pool.site)]) complain("a service where its data may not be");
      for (const double r : p.replicas) whole("replicas", r);
      for (int m = 0; m < p_.months; ++m) {
        for (int h = 0; h < p_.hours; ++h) {
          const double replicas = p.replicas[p.stock < 0 ? static_cast<std::size_t>(m) : p_.at(m, h)];
          most("requests of replicas", p.routed[p_.at(m, h)], replicas * option.requests_per_s);
          const double extra = std::max(0.0, option.watts - option.gpus * pool.idle_watts);
          if (p.stock < 0) burn(m, h, p.pool, p.routed[p_.at(m, h)] / option.requests_per_s * extra);
        }
      }
    }
    for (const Elsewhere& e : a_.elsewhere) {
      for (int m = 0; m < p_.months; ++m) {
        for (int h = 0; h < p_.hours; ++h) {
          const double requests = e.routed[p_.at(m, h)] * 3600 * p_.days;
          if (e.api < 0) {
            cost_ += requests * p_.services[static_cast<std::size_t>(e.service)].value.value();
          } else {
            const Api& api = p_.apis[static_cast<std::size_t>(e.api)];
            if (!api.allowed) complain("an API that is not allowed");
            if (api.most > 0) most("API", e.routed[p_.at(m, h)], api.most);
            spend(m, requests * api.usd_per_request);
          }
        }
      }
    }
    for (std::size_t s = 0; s < p_.services.size(); ++s) {
      const Service& service = p_.services[s];
      for (int m = 0; m < p_.months; ++m) {
        double largest = 0;  // of what is in use in this month
        for (const Placement& p : a_.placements) {
          const Option& option = p_.options[static_cast<std::size_t>(p.option)];
          if (option.service != static_cast<int>(s)) continue;
          bool used = p.stock < 0 && p.replicas[static_cast<std::size_t>(m)] > 0.5;
          for (int h = 0; p.stock >= 0 && h < p_.hours; ++h) used = used || p.replicas[p_.at(m, h)] > 0.5;
          if (used) largest = std::max(largest, option.requests_per_s);
        }
        for (int h = 0; h < p_.hours; ++h) {
          double served = 0;
          double standing = 0;
          for (const Placement& p : a_.placements) {
            const Option& option = p_.options[static_cast<std::size_t>(p.option)];
            if (option.service != static_cast<int>(s)) continue;
            served += p.routed[p_.at(m, h)];
            standing += option.requests_per_s * p.replicas[p.stock < 0 ? static_cast<std::size_t>(m) : p_.at(m, h)];
          }
          for (const Elsewhere& e : a_.elsewhere) {
            if (e.service != static_cast<int>(s)) continue;
            served += e.routed[p_.at(m, h)];
            standing += e.routed[p_.at(m, h)];
          }
          most("demand", service.demand[p_.at(m, h)], served);
          most("demand without the largest replicas", service.demand[p_.at(m, h)], standing - service.spare * largest);
        }
      }
    }
  }

  void rented() {
    for (std::size_t k = 0; k < p_.stocks.size(); ++k) {
      const Stock& stock = p_.stocks[k];
      for (int m = 0; m < p_.months; ++m) {
        for (int h = 0; h < p_.hours; ++h) {
          double gpus = 0;
          for (const Placement& p : a_.placements) {
            if (p.stock != static_cast<int>(k)) continue;
            const Option& option = p_.options[static_cast<std::size_t>(p.option)];
            gpus += p.replicas[p_.at(m, h)] * option.gpus;
            if (stock.way == Way::spot && !p_.services[static_cast<std::size_t>(option.service)].spot)
              complain("a service on spot");
          }
          for (const JobUse& use : a_.jobs) gpus += use.stock == static_cast<int>(k) ? use.gpus[p_.at(m, h)] : 0;
          most("rented at once", gpus, m >= stock.first && m <= stock.last ? stock.most : 0);
          spend(m, gpus * price(stock.usd_hour, stock, m) * p_.days);
        }
      }
    }
  }

  void jobs() {
    for (std::size_t j = 0; j < p_.jobs.size(); ++j) {
      const Job& job = p_.jobs[j];
      double done = 0;
      std::map<std::string, int> kinds;
      for (int m = 0; m < p_.months; ++m) {
        for (int h = 0; h < p_.hours; ++h) {
          double at_once = 0;
          for (const JobUse& use : a_.jobs) {
            if (use.job != static_cast<int>(j) || !(use.gpus[p_.at(m, h)] > 1e-9)) continue;
            const double gpus = use.gpus[p_.at(m, h)];
            const Pool& pool = p_.pools[static_cast<std::size_t>(use.pool)];
            kinds[pool.device] += 1;
            if (pool.forbidden >= 0 || !job.allowed[static_cast<std::size_t>(pool.site)])
              complain("a job where it may not be");
            at_once += gpus;
            double kept = 1;
            if (use.stock >= 0) {
              const Stock& stock = p_.stocks[static_cast<std::size_t>(use.stock)];
              kept = stock.kept;
              if (stock.way == Way::spot && !job.spot) complain("a job on spot");
            }
            for (const JobRate& rate : job.rates) {
              if (rate.device != pool.device) continue;
              done += rate.share_per_gpu_hour * kept * gpus * p_.days;
              if (use.stock < 0) burn(m, h, use.pool, gpus * std::max(0.0, rate.watts - pool.idle_watts));
            }
          }
          if (at_once > 1e-6 && (m < job.first || m > job.last)) complain("a job outside of its months");
          if (job.most_gpus > 0) most("devices of a job", at_once, job.most_gpus);
        }
      }
      if (done < 1 - 1e-5) complain(fmt::format("job {} is done to {}", j, done));
      if (!job.mixed && kinds.size() > 1) complain("a job on several kinds of devices");
    }
  }

  void sites() {
    for (int m = 0; m < p_.months; ++m) {
      std::map<std::string, double> vendors;
      double all = 0;
      std::vector<double> watts(p_.sites.size(), 0.0);
      std::vector<double> racks(p_.sites.size(), 0.0);
      for (std::size_t i = 0; i < p_.pools.size(); ++i) {
        const Pool& pool = p_.pools[i];
        const double there = held_[i][static_cast<std::size_t>(m)];
        const auto site = static_cast<std::size_t>(pool.site);
        watts[site] += there * pool.watts * p_.sites[site].pue;
        racks[site] += there * pool.racks;
        vendors[pool.vendor] += there;
        all += there;
      }
      for (std::size_t s = 0; s < p_.sites.size(); ++s) {
        if (p_.sites[s].power_w > 0) most("power", watts[s], p_.sites[s].power_w);
        if (p_.sites[s].racks > 0) most("racks", racks[s], p_.sites[s].racks);
      }
      for (const auto& [vendor, there] : vendors) most("share of " + vendor, there, p_.vendor_share * all);
    }
  }

  const Problem& p_;
  const Answer& a_;
  std::vector<std::vector<double>> held_;
  std::vector<double> cash_;
  double cost_ = 0;
  std::vector<std::string> complaints_;
};

}  // namespace ridge::fleet::tests
