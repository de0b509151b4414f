#include "fleet/program/program.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "fleet/program/stocks.hpp"

namespace ridge::fleet {

namespace {

constexpr double kWattsPerKilowatt = 1000;
constexpr double kSlack = 1e-9;

}  // namespace

Program::Program(const Problem& problem, Bands bands)
    : problem_(problem),
      bands_(std::move(bands)),
      size_(static_cast<std::size_t>(bands_.count), 0.0),
      days_(problem.days),
      is_budgeted_(!problem.budgets.empty()),
      cash_(static_cast<std::size_t>(problem.months)) {
  for (const int band : bands_.of_hour) size_[static_cast<std::size_t>(band)] += 1;
  const auto months = static_cast<std::size_t>(problem.months);
  const std::size_t steps = months * static_cast<std::size_t>(bands_.count);
  pool_rows_.assign(problem.pools.size(), Columns(months, -1));
  busy_rows_.assign(problem.pools.size(), Columns(steps, -1));
  able_rows_.assign(problem.services.size(), Columns(months, -1));
  served_rows_.assign(problem.services.size(), Columns(steps, -1));
  add_stocks();
  add_services();
  add_jobs();
  add_limits();
}

double Program::demand(const Service& service, int month, int band) const {
  double most = 0;
  double sum = 0;
  for (int h = 0; h < problem_.hours; ++h) {
    if (bands_.of_hour[static_cast<std::size_t>(h)] != band) continue;
    const double now = service.demand[problem_.at(month, h)];
    most = std::max(most, now);
    sum += now;
  }
  return bands_.demand == BandDemand::greatest ? most : sum / size_[static_cast<std::size_t>(band)];
}

double Program::kwh_price(const Site& site, int band) const {
  if (!site.energy_paid) return 0;
  double least = kNoLimit;
  double sum = 0;
  for (int h = 0; h < problem_.hours; ++h) {
    if (bands_.of_hour[static_cast<std::size_t>(h)] != band) continue;
    const double price = site.usd_per_kwh[static_cast<std::size_t>(h)];
    least = std::min(least, price);
    sum += price;
  }
  return bands_.demand == BandDemand::greatest ? sum / size_[static_cast<std::size_t>(band)] : least;
}

void Program::hold_terms(int pool, int month, double times, std::vector<Term>& terms) const {
  for (std::size_t k = 0; k < problem_.stocks.size(); ++k) {
    const Stock& stock = problem_.stocks[k];
    if (stock.pool != pool || !is_held(stock.way)) continue;
    if (const int column = at_hand_[k][static_cast<std::size_t>(month)]; column >= 0) {
      terms.push_back({column, times * stock.unit});
      continue;
    }
    for (int m = stock.first; m <= std::min(stock.last, month); ++m) {
      const bool covers = is_kept(stock.way) ? m == month : month < held_until(problem_, stock, m);
      if (covers) terms.push_back({begun_[k][static_cast<std::size_t>(m)], times * stock.unit});
    }
  }
}

void Program::add_stocks() {
  for (std::size_t k = 0; k < problem_.stocks.size(); ++k) {
    const Stock& stock = problem_.stocks[k];
    const Pool& pool = problem_.pools[static_cast<std::size_t>(stock.pool)];
    const Site& site = problem_.sites[static_cast<std::size_t>(pool.site)];
    Columns& columns = begun_.emplace_back(static_cast<std::size_t>(problem_.months), -1);
    Columns& hand = at_hand_.emplace_back(static_cast<std::size_t>(problem_.months), -1);
    if (!is_held(stock.way)) continue;
    const double units = pool.forbidden >= 0 && !is_kept(stock.way) ? 0 : std::floor(stock.most / stock.unit + kSlack);
    double idle_month = 0;  // dollars of one idle device
    for (int h = 0; h < problem_.hours && site.energy_paid; ++h) {
      const double price = site.usd_per_kwh[static_cast<std::size_t>(h)];
      idle_month += pool.idle_watts / kWattsPerKilowatt * site.pue * price * days_;
    }
    const double each = stock.unit;
    std::vector<Term> all;
    for (int m = stock.first; m <= std::min(stock.last, problem_.months - 1); ++m) {
      const int end = is_kept(stock.way) ? m + 1 : held_until(problem_, stock, m);
      const double months = end - m;
      const double rent = trended(stock.usd_month, stock, m);
      const double cost = each * months * (rent + trended(stock.charge_month, stock, m) + idle_month);
      const int column = columns[static_cast<std::size_t>(m)] = add(cost, units, true, is_kept(stock.way) ? m : -1);
      pay(column, m, each * trended(stock.usd_once, stock, m));
      for (int paid = m; paid < end; ++paid) pay(column, paid, each * (rent + idle_month));
      all.push_back({column, 1});
      if (is_kept(stock.way) && m > stock.first) {  // what is retired stays so
        linear_.row(0, kNoLimit, {{columns[static_cast<std::size_t>(m) - 1], 1}, {column, -1}});
      }
    }
    if (!is_kept(stock.way) && all.size() > 1) linear_.row(-kNoLimit, units, all);
    for (int m = stock.first; m < problem_.months && is_relaxed() && !is_kept(stock.way); ++m) {
      // So that months share nothing but these rows, and can be taken apart at them.
      std::vector<Term> begun;
      for (int b = stock.first; b <= std::min(stock.last, m); ++b) {
        if (m < held_until(problem_, stock, b)) begun.push_back({columns[static_cast<std::size_t>(b)], -1});
      }
      if (begun.empty()) continue;
      hand[static_cast<std::size_t>(m)] = add(0, units, true, m);
      begun.push_back({hand[static_cast<std::size_t>(m)], 1});
      linear_.row(0, 0, begun);
    }
    if (stock.follows >= 0 && columns[static_cast<std::size_t>(stock.first)] >= 0 && stock.first > 0) {
      const Columns& before = begun_[static_cast<std::size_t>(stock.follows)];
      linear_.row(0, kNoLimit,
                  {{before[static_cast<std::size_t>(stock.first) - 1], 1},
                   {columns[static_cast<std::size_t>(stock.first)], -1}});
    }
  }
}

void Program::add_services() {
  const auto steps = static_cast<std::size_t>(problem_.months * bands_.count);
  largest_.assign(problem_.services.size(), Columns(static_cast<std::size_t>(problem_.months), -1));
  able_ = largest_;
  paid_.assign(problem_.services.size(), std::vector<std::vector<Paid>>(static_cast<std::size_t>(problem_.months)));
  for (std::size_t s = 0; s < problem_.services.size(); ++s) {
    const Service& service = problem_.services[s];
    const double most = *std::max_element(service.demand.begin(), service.demand.end());
    const std::size_t first_held = held_.size();
    const std::size_t first_rented = rented_.size();
    const std::size_t first_outside = outside_.size();
    const auto may = [&](const Pool& pool) {
      return pool.forbidden < 0 && service.allowed[static_cast<std::size_t>(pool.site)];
    };
    for (std::size_t o = 0; o < problem_.options.size(); ++o) {
      const Option& option = problem_.options[o];
      if (option.service != static_cast<int>(s)) continue;
      const double cap = std::ceil(most / option.requests_per_s) + service.spare;
      for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
        const Pool& pool = problem_.pools[p];
        if (pool.device != option.device || !may(pool)) continue;
        const bool any = std::any_of(problem_.stocks.begin(), problem_.stocks.end(),
                                     [&](const Stock& k) { return k.pool == static_cast<int>(p) && is_held(k.way); });
        if (!any) continue;
        const Site& site = problem_.sites[static_cast<std::size_t>(pool.site)];
        Held held{static_cast<int>(o), static_cast<int>(p), {}, Columns(steps, -1), {}, Columns(steps, -1)};
        const double extra = std::max(0.0, option.watts - option.gpus * pool.idle_watts) / option.requests_per_s /
                             kWattsPerKilowatt * site.pue;
        for (int m = 0; m < problem_.months; ++m) {
          held.replicas.push_back(add(0, cap, true, m));
          if (service.spare > 0) {
            held.used.push_back(add(0, 1, true, m));
            linear_.row(-kNoLimit, 0, {{held.replicas.back(), 1}, {held.used.back(), -cap}});
          }
          for (int b = 0; b < bands_.count; ++b) {
            const double usd = extra * kwh_price(site, b) * hours(b);
            const int column = add(usd, kNoLimit, false, m);
            held.routed[step(m, b)] = column;
            pay(column, m, usd);
            held.routed_rows[step(m, b)] =
                linear_.row(-kNoLimit, 0, {{column, 1}, {held.replicas.back(), -option.requests_per_s}});
          }
        }
        held_.push_back(std::move(held));
      }
      for (std::size_t k = 0; k < problem_.stocks.size(); ++k) {
        const Stock& stock = problem_.stocks[k];
        const Pool& pool = problem_.pools[static_cast<std::size_t>(stock.pool)];
        if (is_held(stock.way) || pool.device != option.device || !may(pool)) continue;
        if (stock.way == Way::spot && !service.spot) continue;
        if (is_relaxed() && is_rented_for_less(problem_, option, stock)) continue;
        Rented rented{static_cast<int>(o), static_cast<int>(k), Columns(steps, -1), {}};
        for (int m = 0; m < problem_.months; ++m) {
          const bool offered = m >= stock.first && m <= stock.last;
          // A bound does not ask how large what is rented is.
          if (service.spare > 0 && !is_relaxed()) rented.used.push_back(add(0, offered ? 1 : 0, true, m));
          for (int b = 0; b < bands_.count && offered; ++b) {
            const double usd = trended(stock.usd_hour, stock, m) * option.gpus * hours(b);
            // Means of whole numbers are not whole: a bound lets go of that.
            const int column = add(usd, cap, !is_relaxed(), m);
            rented.replicas[step(m, b)] = column;
            pay(column, m, usd);
            if (!rented.used.empty()) linear_.row(-kNoLimit, 0, {{column, 1}, {rented.used.back(), -cap}});
          }
        }
        rented_.push_back(std::move(rented));
      }
    }
    const auto outside = [&](int api, double usd_per_request, double limit) {
      Outside out{static_cast<int>(s), api, Columns(steps, -1)};
      for (int m = 0; m < problem_.months; ++m) {
        for (int b = 0; b < bands_.count; ++b) {
          const double usd = usd_per_request * 3600 * hours(b);
          out.routed[step(m, b)] = add(usd, limit > 0 ? limit : kNoLimit, false, m);
          if (api >= 0) pay(out.routed[step(m, b)], m, usd);
        }
      }
      outside_.push_back(std::move(out));
    };
    for (std::size_t a = 0; a < problem_.apis.size(); ++a) {
      const Api& api = problem_.apis[a];
      if (api.service == static_cast<int>(s) && api.allowed)
        outside(static_cast<int>(a), api.usd_per_request, api.most);
    }
    if (service.value) outside(-1, *service.value, 0);

    const bool steady = rented_.size() == first_rented && outside_.size() == first_outside;
    for (int m = 0; m < problem_.months; ++m) {
      std::vector<Term> placed;
      for (std::size_t i = first_held; i < held_.size(); ++i) {
        const Option& option = problem_.options[static_cast<std::size_t>(held_[i].option)];
        placed.push_back({held_[i].replicas[static_cast<std::size_t>(m)], option.requests_per_s});
      }
      double peak = 0;
      for (int h = 0; h < problem_.hours; ++h) peak = std::max(peak, service.demand[problem_.at(m, h)]);
      // Where nothing else serves, replicas hold the busiest hour, whatever its band means.
      // A relaxed program has the same in the rows of its bands' hours.
      if (steady && !is_relaxed()) linear_.row(peak, kNoLimit, placed);
      if (service.spare > 0) {
        const int largest = largest_[s][static_cast<std::size_t>(m)] = add(0, kNoLimit, false, m);
        const auto in_use = [&](int option, int used) {
          const double each = problem_.options[static_cast<std::size_t>(option)].requests_per_s * service.spare;
          linear_.row(0, kNoLimit, {{largest, 1}, {used, -each}});
        };
        for (std::size_t i = first_held; i < held_.size(); ++i) {
          in_use(held_[i].option, held_[i].used[static_cast<std::size_t>(m)]);
        }
        for (std::size_t i = first_rented; i < rented_.size() && !is_relaxed(); ++i) {
          in_use(rented_[i].option, rented_[i].used[static_cast<std::size_t>(m)]);
        }
        if (steady && !is_relaxed()) {
          std::vector<Term> terms = placed;
          terms.push_back({largest, -1});
          linear_.row(peak, kNoLimit, terms);
        }
      }
      std::vector<std::vector<Term>> elsewhere(static_cast<std::size_t>(bands_.count));
      for (int b = 0; b < bands_.count; ++b) {
        std::vector<Term> served;
        std::vector<Term> standing = placed;
        for (std::size_t i = first_held; i < held_.size(); ++i) served.push_back({held_[i].routed[step(m, b)], 1});
        for (std::size_t i = first_rented; i < rented_.size(); ++i) {
          const int column = rented_[i].replicas[step(m, b)];
          if (column < 0) continue;
          const double each = problem_.options[static_cast<std::size_t>(rented_[i].option)].requests_per_s;
          served.push_back({column, each});
          standing.push_back({column, each});
        }
        for (std::size_t i = first_outside; i < outside_.size(); ++i) {
          served.push_back({outside_[i].routed[step(m, b)], 1});
          standing.push_back({outside_[i].routed[step(m, b)], 1});
        }
        const double need = demand(service, m, b);
        served_rows_[s][step(m, b)] = linear_.row(need, kNoLimit, served);
        if (is_relaxed()) add_hours_of_band(service, m, b, placed, s, standing);
        elsewhere[static_cast<std::size_t>(b)].assign(standing.begin() + static_cast<std::ptrdiff_t>(placed.size()),
                                                      standing.end());
        if (service.spare > 0 && !steady && !is_relaxed()) {
          standing.push_back({largest_[s][static_cast<std::size_t>(m)], -1});
          linear_.row(need, kNoLimit, standing);
        }
      }
      if (service.spare > 0 && !bands_.thin)
        add_sizes(service, m, placed, largest_[s][static_cast<std::size_t>(m)], elsewhere);
      if (is_relaxed() && !steady && !bands_.thin)
        add_rent_steps(service, static_cast<int>(s), m, first_rented, first_outside);
    }
  }
}

void Program::add_jobs() {
  const auto steps = static_cast<std::size_t>(problem_.months * bands_.count);
  for (std::size_t j = 0; j < problem_.jobs.size(); ++j) {
    const Job& job = problem_.jobs[j];
    std::vector<int>& kinds = job_kinds_.emplace_back();
    const std::size_t first = uses_.size();
    std::vector<Term> chosen;
    std::vector<Term> work;
    for (std::size_t r = 0; r < job.rates.size(); ++r) {
      const JobRate& rate = job.rates[r];
      kinds.push_back(job.mixed ? -1 : add(0, 1, true, -1));
      if (!job.mixed) chosen.push_back({kinds.back(), 1});
      const auto use = [&](int p, int k, double usd_per_gpu_hour, double kept) {
        // More than all the work in one hour is never of use.
        const double at_most = job.most_gpus > 0 ? job.most_gpus : 1 / (rate.share_per_gpu_hour * kept * days_);
        Use u{static_cast<int>(j), p, k, static_cast<int>(r), Columns(steps, -1)};
        const Pool& pool = problem_.pools[static_cast<std::size_t>(p)];
        const Site& site = problem_.sites[static_cast<std::size_t>(pool.site)];
        for (int m = job.first; m <= job.last; ++m) {
          if (k >= 0) {
            const Stock& stock = problem_.stocks[static_cast<std::size_t>(k)];
            if (m < stock.first || m > stock.last) continue;
          }
          for (int b = 0; b < bands_.count; ++b) {
            const double energy = k >= 0 ? 0
                                         : std::max(0.0, rate.watts - pool.idle_watts) / kWattsPerKilowatt * site.pue *
                                               kwh_price(site, b);
            const double rent = k >= 0 ? trended(usd_per_gpu_hour, problem_.stocks[static_cast<std::size_t>(k)], m) : 0;
            const int column = u.gpus[step(m, b)] = add((energy + rent) * hours(b), at_most, false, m);
            pay(column, m, (energy + rent) * hours(b));
            work.push_back({column, rate.share_per_gpu_hour * kept * hours(b)});
          }
        }
        uses_.push_back(std::move(u));
      };
      const auto may = [&](const Pool& pool) {
        return pool.device == rate.device && pool.forbidden < 0 && job.allowed[static_cast<std::size_t>(pool.site)];
      };
      for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
        const bool any = std::any_of(problem_.stocks.begin(), problem_.stocks.end(),
                                     [&](const Stock& k) { return k.pool == static_cast<int>(p) && is_held(k.way); });
        if (any && may(problem_.pools[p])) use(static_cast<int>(p), -1, 0, 1);
      }
      for (std::size_t k = 0; k < problem_.stocks.size(); ++k) {
        const Stock& stock = problem_.stocks[k];
        if (is_held(stock.way) || !may(problem_.pools[static_cast<std::size_t>(stock.pool)])) continue;
        if (stock.way == Way::spot && !job.spot) continue;
        use(stock.pool, static_cast<int>(k), stock.usd_hour, stock.kept);
      }
    }
    linear_.row(1, kNoLimit, work);
    if (!job.mixed) linear_.row(-kNoLimit, 1, chosen);
    for (std::size_t r = 0; r < job.rates.size(); ++r) {
      // More than all the work in one hour is never of use.
      const double most = job.most_gpus > 0 ? job.most_gpus : 1 / (job.rates[r].share_per_gpu_hour * days_);
      for (int m = job.first; m <= job.last; ++m) {
        for (int b = 0; b < bands_.count; ++b) {
          std::vector<Term> at_once;
          for (std::size_t i = first; i < uses_.size(); ++i) {
            if (job.mixed ? r > 0 : uses_[i].rate != static_cast<int>(r)) continue;
            if (uses_[i].gpus[step(m, b)] >= 0) at_once.push_back({uses_[i].gpus[step(m, b)], 1});
          }
          if (at_once.empty()) continue;
          if (!job.mixed) {
            at_once.push_back({kinds[r], -most});
            linear_.row(-kNoLimit, 0, at_once);
          } else if (job.most_gpus > 0) {
            linear_.row(-kNoLimit, job.most_gpus, at_once);
          }
        }
      }
    }
  }
}

void Program::add_limits() {
  // Devices of a pool: those of replicas, and in each hour what they leave to jobs.
  for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
    for (int m = 0; m < problem_.months; ++m) {
      std::vector<Term> placed;
      for (const Held& held : held_) {
        if (held.pool != static_cast<int>(p)) continue;
        const double gpus = problem_.options[static_cast<std::size_t>(held.option)].gpus;
        placed.push_back({held.replicas[static_cast<std::size_t>(m)], gpus});
      }
      if (!placed.empty()) {
        hold_terms(static_cast<int>(p), m, -1, placed);
        pool_rows_[p][static_cast<std::size_t>(m)] = linear_.row(-kNoLimit, 0, placed);
      }
      for (int b = 0; b < bands_.count; ++b) {
        std::vector<Term> busy;
        for (const Use& use : uses_) {
          if (use.pool == static_cast<int>(p) && use.stock < 0 && use.gpus[step(m, b)] >= 0) {
            busy.push_back({use.gpus[step(m, b)], 1});
          }
        }
        if (busy.empty()) continue;
        for (const Held& held : held_) {
          if (held.pool != static_cast<int>(p)) continue;
          const Option& option = problem_.options[static_cast<std::size_t>(held.option)];
          busy.push_back({held.routed[step(m, b)], option.gpus / option.requests_per_s});
        }
        hold_terms(static_cast<int>(p), m, -1, busy);
        busy_rows_[p][step(m, b)] = linear_.row(-kNoLimit, 0, busy);
      }
    }
  }
  for (std::size_t k = 0; k < problem_.stocks.size(); ++k) {
    const Stock& stock = problem_.stocks[k];
    if (is_held(stock.way) || !(stock.most < kNoLimit)) continue;
    for (int m = std::max(0, stock.first); m <= std::min(stock.last, problem_.months - 1); ++m) {
      for (int b = 0; b < bands_.count; ++b) {
        std::vector<Term> rented;
        for (const Rented& r : rented_) {
          const int column = r.stock == static_cast<int>(k) ? r.replicas[step(m, b)] : -1;
          const double gpus = problem_.options[static_cast<std::size_t>(r.option)].gpus;
          if (column >= 0) rented.push_back({column, gpus});
        }
        for (const Use& use : uses_) {
          const int column = use.stock == static_cast<int>(k) ? use.gpus[step(m, b)] : -1;
          if (column >= 0) rented.push_back({column, 1});
        }
        if (!rented.empty()) linear_.row(-kNoLimit, stock.most, rented);
      }
    }
  }
  std::map<std::string, std::vector<int>> vendors;
  for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
    vendors[problem_.pools[p].vendor].push_back(static_cast<int>(p));
  }
  for (int m = 0; m < problem_.months; ++m) {
    for (std::size_t s = 0; s < problem_.sites.size(); ++s) {
      const Site& site = problem_.sites[s];
      std::vector<Term> watts;
      std::vector<Term> racks;
      for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
        const Pool& pool = problem_.pools[p];
        if (pool.site != static_cast<int>(s)) continue;
        if (site.power_w > 0) hold_terms(static_cast<int>(p), m, pool.watts * site.pue / site.power_w, watts);
        if (site.racks > 0) hold_terms(static_cast<int>(p), m, pool.racks / site.racks, racks);
      }
      if (!watts.empty()) linear_.row(-kNoLimit, 1, watts);
      if (!racks.empty()) linear_.row(-kNoLimit, 1, racks);
    }
    for (const auto& [vendor, pools] : vendors) {
      if (problem_.vendor_share >= 1) break;
      std::vector<Term> terms;
      for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
        const bool own = problem_.pools[p].vendor == vendor;
        hold_terms(static_cast<int>(p), m, (own ? 1 : 0) - problem_.vendor_share, terms);
      }
      if (!terms.empty()) linear_.row(-kNoLimit, 0, terms);
    }
  }
  for (const Budget& budget : problem_.budgets) {
    std::vector<double> by_column(static_cast<std::size_t>(linear_.columns()), 0.0);
    for (int m = budget.first; m <= budget.last; ++m) {
      for (const Term& term : cash_[static_cast<std::size_t>(m)]) {
        by_column[static_cast<std::size_t>(term.column)] += term.times;
      }
    }
    const double scale = std::max(1.0, budget.usd);
    std::vector<Term> terms;
    for (std::size_t c = 0; c < by_column.size(); ++c) {
      if (by_column[c] != 0) terms.push_back({static_cast<int>(c), by_column[c] / scale});
    }
    linear_.row(-kNoLimit, budget.usd / scale, terms);
  }
}

Answer Program::answer(const std::vector<double>& x) const {
  Answer a;
  a.found = true;
  a.bands = bands_.count;
  const auto value = [&](int column) { return column < 0 ? 0.0 : std::max(0.0, x[static_cast<std::size_t>(column)]); };
  const auto months = static_cast<std::size_t>(problem_.months);
  const std::size_t steps = months * static_cast<std::size_t>(problem_.hours);
  const auto by_hour = [&](const Columns& columns) {
    std::vector<double> out(steps, 0.0);
    for (int m = 0; m < problem_.months; ++m) {
      for (int h = 0; h < problem_.hours; ++h) {
        out[problem_.at(m, h)] = value(columns[step(m, bands_.of_hour[static_cast<std::size_t>(h)])]);
      }
    }
    return out;
  };
  const auto any = [](const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [](double v) { return v > 1e-9; });
  };
  for (std::size_t k = 0; k < begun_.size(); ++k) {
    const Stock& stock = problem_.stocks[k];
    if (!is_held(stock.way)) continue;
    Holding holding{static_cast<int>(k), std::vector<double>(months, 0.0), std::vector<double>(months, 0.0)};
    for (int m = stock.first; m <= std::min(stock.last, problem_.months - 1); ++m) {
      const double gpus = value(begun_[k][static_cast<std::size_t>(m)]) * stock.unit;
      if (is_kept(stock.way)) {
        holding.held[static_cast<std::size_t>(m)] = gpus;
        if (m == stock.first) holding.begun[static_cast<std::size_t>(m)] = gpus;
        continue;
      }
      holding.begun[static_cast<std::size_t>(m)] = gpus;
      for (int held = m; held < held_until(problem_, stock, m); ++held) {
        holding.held[static_cast<std::size_t>(held)] += gpus;
      }
      if (stock.term > 0) {
        a.commitments += gpus * trended(stock.usd_month, stock, m) * std::max(0, m + stock.term - problem_.months);
      }
    }
    if (any(holding.held) || is_kept(stock.way)) a.holdings.push_back(std::move(holding));
  }
  for (const Held& held : held_) {
    Placement placement{held.option, held.pool, -1, {}, by_hour(held.routed)};
    for (const int column : held.replicas) placement.replicas.push_back(value(column));
    if (any(placement.replicas)) a.placements.push_back(std::move(placement));
  }
  for (const Rented& rented : rented_) {
    Placement placement{rented.option,
                        problem_.stocks[static_cast<std::size_t>(rented.stock)].pool,
                        rented.stock,
                        by_hour(rented.replicas),
                        {}};
    if (!any(placement.replicas)) continue;
    placement.routed = placement.replicas;
    for (double& r : placement.routed) r *= problem_.options[static_cast<std::size_t>(rented.option)].requests_per_s;
    a.placements.push_back(std::move(placement));
  }
  for (const Outside& outside : outside_) {
    Elsewhere elsewhere{outside.service, outside.api, by_hour(outside.routed)};
    if (any(elsewhere.routed)) a.elsewhere.push_back(std::move(elsewhere));
  }
  for (const Use& use : uses_) {
    JobUse job{use.job, use.pool, use.stock, by_hour(use.gpus)};
    if (any(job.gpus)) a.jobs.push_back(std::move(job));
  }
  return a;
}

}  // namespace ridge::fleet
