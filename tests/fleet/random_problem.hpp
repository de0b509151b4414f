// Estates made up by chance, small enough to try everything or as large as one likes.
#pragma once

#include "ridge/base/random.hpp"
#include "ridge/fleet/fleet.hpp"

namespace ridge::fleet::tests {

inline int below(Random& random, int n) {
  return static_cast<int>(random.uniform() * n) % n;
}

/// One to two services, kinds, months and hours; every sort of rule now and then.
inline Problem small_problem(std::uint64_t seed) {
  Random random(seed, 7);
  Problem p;
  p.start = "2026-12";
  p.months = 1 + below(random, 2);
  p.hours = 1 + below(random, 2);
  p.days = 730.0 / p.hours;
  const int kinds = 1 + below(random, 2);
  const int services = 1 + below(random, 2);
  Site site;
  site.id = "here";
  site.pue = 1.2;
  for (int h = 0; h < p.hours; ++h) site.usd_per_kwh.push_back(0.05 + 0.1 * random.uniform());
  if (below(random, 3) == 0) site.power_w = 1000 * (4 + 6 * random.uniform());
  if (below(random, 4) == 0) site.racks = 1 + below(random, 2);
  p.sites = {site};
  for (int d = 0; d < kinds; ++d) {
    Pool pool;
    pool.device = d == 0 ? "a" : "b";
    pool.vendor = d == 0 ? "A" : "B";
    pool.watts = 500 + 500 * random.uniform();
    pool.idle_watts = 100;
    pool.racks = 0.25;
    p.pools.push_back(pool);
  }
  const auto stock = [&](Way way, int pool, double most) -> Stock& {
    Stock s;
    s.way = way;
    s.pool = pool;
    s.most = most;
    s.last = p.months - 1;
    p.stocks.push_back(s);
    return p.stocks.back();
  };
  stock(Way::owned, 0, 1 + below(random, 2)).usd_month = 50 * random.uniform();
  if (below(random, 2) == 0) {
    Stock& s = stock(Way::buy, kinds - 1, 1 + below(random, 2));
    s.usd_once = 20000 + 20000 * random.uniform();
    s.charge_month = s.usd_once / 48;
    if (p.months > 1 && below(random, 2) == 0) s.first = 1;
  } else {
    Stock& s = stock(Way::lease, kinds - 1, 1 + below(random, 2));
    s.usd_month = 500 + 1000 * random.uniform();
    s.term = 1 + below(random, 2);
    s.unit = 1 + below(random, 2);
    s.most *= s.unit;
    s.trend = -0.05;
  }
  if (services == 1 || p.months * p.hours <= 2) {
    Stock& s = stock(Way::on_demand, below(random, kinds), 1 + below(random, 2));
    s.usd_hour = 1 + 3 * random.uniform();
  }
  for (int s = 0; s < services; ++s) {
    Service service;
    service.id = "s" + std::to_string(s);
    service.allowed = {true};
    for (int i = 0; i < p.months * p.hours; ++i) service.demand.push_back(3 + 9 * random.uniform());
    if (below(random, 4) == 0) service.spare = 1;
    if (below(random, 3) == 0) service.value = 0.0002 + 0.001 * random.uniform();
    service.demand_rule = static_cast<int>(p.rules.size());
    p.rules.push_back({RuleKind::demand, s, "demand of " + service.id, "x.toml:1:1", 12, "requests/s"});
    p.services.push_back(service);
    for (int d = 0; d < kinds; ++d) {
      Option option;
      option.service = s;
      option.device = p.pools[static_cast<std::size_t>(d)].device;
      option.gpus = 1;
      option.requests_per_s = 5 + 6 * random.uniform();
      option.watts = 0.9 * p.pools[static_cast<std::size_t>(d)].watts;
      p.options.push_back(option);
    }
  }
  if (below(random, 3) == 0) p.apis.push_back({0, "api", 0.0003 + 0.001 * random.uniform(), 8, true});
  if (below(random, 3) == 0) {
    Job job;
    job.id = "train";
    job.last = p.months - 1;
    job.allowed = {true};
    job.most_gpus = 2;
    for (const Pool& pool : p.pools) job.rates.push_back({pool.device, 1.0 / (300 + 500 * random.uniform()), 700, ""});
    p.jobs.push_back(job);
  }
  if (below(random, 4) == 0) p.budgets.push_back({0, p.months - 1, 3000 + 60000 * random.uniform(), -1});
  if (kinds == 2 && below(random, 4) == 0) p.vendor_share = 0.7;
  return p;
}

/// Many services, kinds, hours and months, of the size that companies have.
inline Problem large_problem(std::uint64_t seed, int services, int kinds, int months, double scale) {
  Random random(seed, 11);
  Problem p;
  p.start = "2026-12";
  p.months = months;
  for (int s = 0; s < 2; ++s) {
    Site site;
    site.id = s == 0 ? "here" : "cloud";
    site.pue = 1.3;
    site.energy_paid = s == 0;
    for (int h = 0; h < kHours; ++h) site.usd_per_kwh.push_back(h >= 8 && h < 20 ? 0.12 : 0.08);
    site.co2_kg_per_kwh = 0.3;
    p.sites.push_back(site);
  }
  std::vector<double> speed;
  double watts = 0;
  for (int d = 0; d < kinds; ++d) {
    speed.push_back(1 + 5 * random.uniform());
    Pool pool;
    pool.device = "d" + std::to_string(d);
    pool.vendor = "V" + std::to_string(d % 3);
    pool.watts = 500 + 200 * speed.back();
    pool.idle_watts = 0.2 * pool.watts;
    pool.racks = 1.0 / 32;
    p.pools.push_back(pool);
    pool.site = 1;
    p.pools.push_back(pool);
    watts = std::max(watts, pool.watts);
    const double hourly = speed.back() * (0.8 + 0.4 * random.uniform());
    const auto stock = [&](Way way, int at, int unit, double most) -> Stock& {
      Stock s;
      s.way = way;
      s.pool = 2 * d + at;
      s.unit = unit;
      s.most = most;
      s.last = p.months - 1;
      p.stocks.push_back(s);
      return p.stocks.back();
    };
    if (d % 3 == 0) stock(Way::owned, 0, 8, std::round(scale) * 8).usd_month = 40;
    Stock& buy = stock(Way::buy, 0, 8, 100000 * scale);
    buy.usd_once = hourly * 730 * 16;
    buy.charge_month = buy.usd_once / 40;
    buy.usd_month = 60;
    Stock& lease = stock(Way::lease, 1, 8, 100000 * scale);
    lease.usd_month = hourly * 730 * 0.62;
    lease.term = 12;
    Stock& rent = stock(Way::on_demand, 1, 1, 100000 * scale);
    rent.usd_hour = hourly;
  }
  for (int s = 0; s < services; ++s) {
    Service service;
    service.id = "s" + std::to_string(s);
    service.model = service.id;
    service.allowed = {true, s % 4 != 0};
    const double peak = scale * (20 + 60 * random.uniform());
    const int busiest = 9 + below(random, 12);
    for (int m = 0; m < months; ++m) {
      for (int h = 0; h < kHours; ++h) {
        const double wave = 0.6 + 0.4 * std::cos((h - busiest) * 3.14159265 / 12);
        service.demand.push_back(peak * wave * std::pow(1.03, m));
      }
    }
    service.spare = s % 2;
    service.demand_rule = static_cast<int>(p.rules.size());
    p.rules.push_back({RuleKind::demand, s, "demand of " + service.id, "x.toml:1:1", peak, "requests/s"});
    p.services.push_back(service);
    const double size = 1 + 3 * random.uniform();
    for (int d = 0; d < kinds; ++d) {
      Option option;
      option.service = s;
      option.device = p.pools[static_cast<std::size_t>(2 * d)].device;
      option.gpus = 1 << below(random, 3);
      option.requests_per_s = option.gpus * speed[static_cast<std::size_t>(d)] / size * (0.8 + 0.4 * random.uniform());
      option.watts = 0.85 * option.gpus * p.pools[static_cast<std::size_t>(2 * d)].watts;
      p.options.push_back(option);
    }
  }
  for (int j = 0; j < 2; ++j) {
    Job job;
    job.id = "job" + std::to_string(j);
    job.last = months - 1;
    job.allowed = {true, true};
    job.most_gpus = 64 * scale;
    for (int d = 0; d < kinds; ++d) {
      job.rates.push_back({p.pools[static_cast<std::size_t>(2 * d)].device,
                           speed[static_cast<std::size_t>(d)] / (60000.0 * scale), watts, ""});
    }
    p.jobs.push_back(job);
  }
  p.vendor_share = 0.7;
  p.vendor_share_rule = static_cast<int>(p.rules.size());
  p.rules.push_back({RuleKind::vendor_share, 0, "70 % of one vendor at most", "x.toml:2:1", 70, "%"});
  return p;
}

}  // namespace ridge::fleet::tests
