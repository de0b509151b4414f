#include "fleet/bill.hpp"

#include <algorithm>
#include <cmath>

#include "fleet/program/stocks.hpp"

namespace ridge::fleet {

namespace {

constexpr double kWattsInKilowatt = 1000;

/// Where routing costs nothing a program may send more than there is.
void route_no_more(const Problem& problem, Answer& answer) {
  for (std::size_t s = 0; s < problem.services.size(); ++s) {
    std::vector<Placement*> mine;
    for (Placement& p : answer.placements) {
      if (problem.options[static_cast<std::size_t>(p.option)].service == static_cast<int>(s)) mine.push_back(&p);
    }
    for (int m = 0; m < problem.months; ++m) {
      for (int h = 0; h < problem.hours; ++h) {
        const std::size_t at = problem.at(m, h);
        double left = problem.services[s].demand[at];
        for (const Elsewhere& e : answer.elsewhere) left -= e.service == static_cast<int>(s) ? e.routed[at] : 0;
        double held = 0;
        double rented = 0;
        for (const Placement* p : mine) (p->stock < 0 ? held : rented) += p->routed[at];
        const auto share = [](double most, double sum) { return sum > 0 ? std::clamp(most / sum, 0.0, 1.0) : 0; };
        const double of_held = share(left, held);
        const double of_rented = share(left - of_held * held, rented);
        for (Placement* p : mine) p->routed[at] *= p->stock < 0 ? of_held : of_rented;
      }
    }
  }
}

/// As low a level as takes `amount` in all, above what each hour has already and within its room; what is poured on by
/// hour.
std::vector<double> poured(double amount, const std::vector<double>& there, const std::vector<double>& room) {
  const auto at_level = [&](double level, std::size_t h) { return std::clamp(level - there[h], 0.0, room[h]); };
  double low = 0;
  double high = amount;
  for (std::size_t h = 0; h < there.size(); ++h) high = std::max(high, there[h] + amount);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    double sum = 0;
    for (std::size_t h = 0; h < there.size(); ++h) sum += at_level(middle, h);
    (sum < amount ? low : high) = middle;
  }
  std::vector<double> out(there.size());
  for (std::size_t h = 0; h < there.size(); ++h) out[h] = at_level(high, h);
  return out;
}

/// The hours of a day in which a job works cost the same unless power does not, and a program takes any of them: all of
/// its work in one hour, on thousands of devices. As few devices as do it, over all hours that have some to spare.
void spread_jobs(const Problem& problem, Answer& answer) {
  for (JobUse& use : answer.jobs) {
    const Site& site = problem.sites[static_cast<std::size_t>(problem.pools[static_cast<std::size_t>(use.pool)].site)];
    const bool flat = std::all_of(site.usd_per_kwh.begin(), site.usd_per_kwh.end(),
                                  [&](double usd) { return usd == site.usd_per_kwh.front(); });
    if (use.stock < 0 && site.energy_paid && !flat) continue;
    const double at_once = problem.jobs[static_cast<std::size_t>(use.job)].most_gpus;
    for (int m = 0; m < problem.months; ++m) {
      double amount = 0;
      std::vector<double> there;  // of the job, elsewhere
      std::vector<double> room;
      double held = use.stock >= 0 ? problem.stocks[static_cast<std::size_t>(use.stock)].most : 0;
      for (const Holding& holding : answer.holdings) {
        const bool here = problem.stocks[static_cast<std::size_t>(holding.stock)].pool == use.pool;
        if (use.stock < 0 && here) held += holding.held[static_cast<std::size_t>(m)];
      }
      for (int h = 0; h < problem.hours; ++h) {
        const std::size_t at = problem.at(m, h);
        amount += use.gpus[at];
        double busy = 0;
        for (const Placement& p : answer.placements) {
          if (p.stock != use.stock || p.pool != use.pool) continue;
          const Option& option = problem.options[static_cast<std::size_t>(p.option)];
          busy += option.gpus * (p.stock >= 0 ? p.replicas[at] : p.routed[at] / option.requests_per_s);
        }
        there.push_back(0);
        for (const JobUse& other : answer.jobs) {
          if (&other == &use) continue;
          if (other.stock == use.stock && other.pool == use.pool) busy += other.gpus[at];
          if (other.job == use.job) there.back() += other.gpus[at];
        }
        const double most = std::min(held - busy, at_once > 0 ? at_once - there.back() : held);
        room.push_back(std::max(use.gpus[at], most));  // the solver's tolerance aside
      }
      if (!(amount > 0)) continue;
      const std::vector<double> spread = poured(amount, there, room);
      for (int h = 0; h < problem.hours; ++h) use.gpus[problem.at(m, h)] = spread[static_cast<std::size_t>(h)];
    }
  }
}

}  // namespace

void settle(const Problem& problem, Answer& answer) {
  route_no_more(problem, answer);
  spread_jobs(problem, answer);
  answer.months.assign(static_cast<std::size_t>(problem.months), {});
  const auto bill = [&](int month) -> MonthBill& { return answer.months[static_cast<std::size_t>(month)]; };
  // `watts` of devices in one hour of every day of a month; the price of what is rented includes it.
  const auto energy = [&](int month, int hour, int pool, double watts, bool rented = false) {
    const Site& site = problem.sites[static_cast<std::size_t>(problem.pools[static_cast<std::size_t>(pool)].site)];
    const double kwh = watts / kWattsInKilowatt * site.pue * problem.days;
    bill(month).kwh += kwh;
    bill(month).co2_kg += kwh * site.co2_kg_per_kwh;
    if (!site.energy_paid || rented) return;
    const double usd = kwh * site.usd_per_kwh[static_cast<std::size_t>(hour)];
    bill(month).energy += usd;
    bill(month).cash += usd;
  };
  for (const Holding& holding : answer.holdings) {
    const Stock& stock = problem.stocks[static_cast<std::size_t>(holding.stock)];
    const Pool& pool = problem.pools[static_cast<std::size_t>(stock.pool)];
    const Site& site = problem.sites[static_cast<std::size_t>(pool.site)];
    for (int m = 0; m < problem.months; ++m) {
      const auto at = static_cast<std::size_t>(m);
      bill(m).peak_w += holding.held[at] * pool.watts * site.pue;
      for (int h = 0; h < problem.hours; ++h) energy(m, h, stock.pool, holding.held[at] * pool.idle_watts);
      if (is_kept(stock.way)) {
        const double usd = holding.held[at] * trended(stock.usd_month, stock, m);
        bill(m).upkeep += usd;
        bill(m).cash += usd;
        continue;
      }
      if (!(holding.begun[at] > 0)) continue;
      bill(m).cash += holding.begun[at] * trended(stock.usd_once, stock, m);
      const int end = held_until(problem, stock, m);
      for (int paid = m; paid < end; ++paid) {
        const double usd = holding.begun[at] * trended(stock.usd_month, stock, m);
        (stock.way == Way::buy ? bill(paid).upkeep : bill(paid).leases) += usd;
        bill(paid).cash += usd;
        bill(paid).capital += holding.begun[at] * trended(stock.charge_month, stock, m);
      }
    }
  }
  for (const Placement& p : answer.placements) {
    const Option& option = problem.options[static_cast<std::size_t>(p.option)];
    const Pool& pool = problem.pools[static_cast<std::size_t>(p.pool)];
    for (int m = 0; m < problem.months; ++m) {
      for (int h = 0; h < problem.hours; ++h) {
        const std::size_t at = problem.at(m, h);
        if (p.stock >= 0) {
          const Stock& stock = problem.stocks[static_cast<std::size_t>(p.stock)];
          const double usd = p.replicas[at] * option.gpus * trended(stock.usd_hour, stock, m) * problem.days;
          bill(m).rents += usd;
          bill(m).cash += usd;
          energy(m, h, p.pool, p.routed[at] / option.requests_per_s * option.watts, true);
          continue;
        }
        const double extra = std::max(0.0, option.watts - option.gpus * pool.idle_watts);
        energy(m, h, p.pool, p.routed[at] / option.requests_per_s * extra);
      }
    }
  }
  for (const Elsewhere& e : answer.elsewhere) {
    const Service& service = problem.services[static_cast<std::size_t>(e.service)];
    for (int m = 0; m < problem.months; ++m) {
      for (int h = 0; h < problem.hours; ++h) {
        const double requests = e.routed[problem.at(m, h)] * 3600 * problem.days;
        if (e.api >= 0) {
          const double usd = requests * problem.apis[static_cast<std::size_t>(e.api)].usd_per_request;
          bill(m).apis += usd;
          bill(m).cash += usd;
        } else {
          bill(m).lost += requests * service.value.value_or(0);
        }
      }
    }
  }
  for (const JobUse& use : answer.jobs) {
    const Job& job = problem.jobs[static_cast<std::size_t>(use.job)];
    const Pool& pool = problem.pools[static_cast<std::size_t>(use.pool)];
    double watts = 0;
    for (const JobRate& rate : job.rates) watts = rate.device == pool.device ? rate.watts : watts;
    for (int m = 0; m < problem.months; ++m) {
      for (int h = 0; h < problem.hours; ++h) {
        const double gpus = use.gpus[problem.at(m, h)];
        if (use.stock >= 0) {
          const Stock& stock = problem.stocks[static_cast<std::size_t>(use.stock)];
          const double usd = gpus * trended(stock.usd_hour, stock, m) * problem.days;
          bill(m).rents += usd;
          bill(m).cash += usd;
          energy(m, h, use.pool, gpus * watts, true);
        } else {
          energy(m, h, use.pool, gpus * std::max(0.0, watts - pool.idle_watts));
        }
      }
    }
  }
  answer.usd = 0;
  for (const MonthBill& month : answer.months) answer.usd += month.usd();
}

}  // namespace ridge::fleet
