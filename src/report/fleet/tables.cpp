#include "report/fleet/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace ridge::report {

namespace {

using fleet::Answer;
using fleet::Holding;
using fleet::Option;
using fleet::Placement;
using fleet::Pool;
using fleet::Problem;
using fleet::Stock;
using fleet::Way;

}  // namespace

std::vector<FleetAction> fleet_actions_of(const FleetView& view) {
  const Problem& p = view.problem;
  std::vector<FleetAction> out;
  for (const Holding& h : view.answer.holdings) {
    const Stock& stock = fleet_at(p.stocks, h.stock);
    const bool kept = stock.way == Way::owned || stock.way == Way::extend;
    for (int m = stock.first; m <= std::min(stock.last, p.months - 1); ++m) {
      const double now = h.held[static_cast<std::size_t>(m)];
      const double trend = std::pow(1 + stock.trend, m);
      if (!kept) {
        const double begun = h.begun[static_cast<std::size_t>(m)];
        if (!(begun > 0)) continue;
        const double usd = stock.way == Way::buy ? stock.usd_once : stock.usd_month;
        out.push_back({m, std::string(fleet::name(stock.way)), begun, &stock, begun * usd * trend});
        continue;
      }
      double before = m == stock.first ? stock.most : h.held[static_cast<std::size_t>(m) - 1];
      if (m == stock.first && stock.follows >= 0) {
        for (const Holding& other : view.answer.holdings) {
          if (other.stock == stock.follows) before = other.held[static_cast<std::size_t>(m) - 1];
        }
      }
      if (m == stock.first && now > 0) {
        out.push_back({m, stock.way == Way::owned ? "keep" : "extend", now, &stock, now * stock.usd_month});
      }
      if (before - now > 0.5 && stock.way == Way::owned) out.push_back({m, "retire", before - now, &stock, 0});
      if (before - now > 0.5 && stock.way == Way::extend) {
        out.push_back({m, m == stock.first ? "let go" : "retire", before - now, &stock, 0});
      }
    }
  }
  std::map<int, std::vector<double>> rented;  // by stock: devices, of all services and jobs together
  const auto rent = [&](int stock, const std::vector<double>& gpus, double each) {
    std::vector<double>& sum = rented.try_emplace(stock, gpus.size(), 0.0).first->second;
    for (std::size_t i = 0; i < gpus.size(); ++i) sum[i] += gpus[i] * each;
  };
  for (const Placement& placement : view.answer.placements) {
    if (placement.stock >= 0) rent(placement.stock, placement.replicas, fleet_at(p.options, placement.option).gpus);
  }
  for (const fleet::JobUse& use : view.answer.jobs) {
    if (use.stock >= 0) rent(use.stock, use.gpus, 1);
  }
  for (const auto& [stock, gpus] : rented) {
    const auto first = std::find_if(gpus.begin(), gpus.end(), [](double v) { return v > 1e-6; });
    if (first == gpus.end()) continue;
    out.push_back({static_cast<int>(first - gpus.begin()) / p.hours,
                   std::string(fleet::name(fleet_at(p.stocks, stock).way)), *std::max_element(gpus.begin(), gpus.end()),
                   &fleet_at(p.stocks, stock), 0});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const FleetAction& a, const FleetAction& b) { return a.month < b.month; });
  return out;
}

Table fleet_placements(const FleetView& view) {
  const Problem& p = view.problem;
  Table table;
  table.title = "What runs where";
  table.columns = {{.key = "service", .heading = "service"},
                   {.key = "device", .heading = "device"},
                   {.key = "site", .heading = "site"},
                   {.key = "layout", .heading = "layout"},
                   {.key = "replicas_first", .heading = "replicas", .kind = ColumnKind::number},
                   {.key = "replicas_last", .heading = "at the end", .kind = ColumnKind::number},
                   {.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
                   {.key = "capacity", .unit = "requests_per_s", .heading = "req/s each", .kind = ColumnKind::number},
                   {.key = "share", .heading = "of requests", .kind = ColumnKind::number},
                   {.key = "busiest", .heading = "busiest hour", .kind = ColumnKind::number}};
  for (const Placement& placement : view.answer.placements) {
    const Option& option = fleet_at(p.options, placement.option);
    const fleet::Service& service = fleet_at(p.services, option.service);
    double routed = 0;
    double all = 0;
    double busiest = 0;
    double first = 0;
    double last = 0;
    double most = 0;
    for (int m = 0; m < p.months; ++m) {
      for (int h = 0; h < p.hours; ++h) {
        const double replicas = placement.replicas[placement.stock < 0 ? static_cast<std::size_t>(m) : p.at(m, h)];
        routed += placement.routed[p.at(m, h)];
        all += service.demand[p.at(m, h)];
        if (replicas > 0)
          busiest = std::max(busiest, placement.routed[p.at(m, h)] / (replicas * option.requests_per_s));
        if (m == 0) first = std::max(first, replicas);
        if (m == p.months - 1) last = std::max(last, replicas);
        most = std::max(most, replicas);
      }
    }
    const std::string where = fleet_at(p.sites, fleet_at(p.pools, placement.pool).site).id;
    table.rows.push_back(
        {Cell(service.id), Cell(option.device),
         Cell(placement.stock < 0 ? where
                                  : where + ", " + std::string(fleet::name(fleet_at(p.stocks, placement.stock).way))),
         Cell(option.layout), Cell(first), Cell(last), Cell(most * option.gpus), Cell(option.requests_per_s),
         Cell(all > 0 ? routed / all : 0).shown_as(fmt::format("{:.0f} %", all > 0 ? 100 * routed / all : 0)),
         Cell(busiest).shown_as(fmt::format("{:.0f} %", 100 * busiest))});
  }
  return table;
}

Table fleet_jobs(const FleetView& view) {
  const Problem& p = view.problem;
  Table table;
  table.title = "Training";
  table.columns = {{.key = "job", .heading = "job"},
                   {.key = "device", .heading = "device"},
                   {.key = "on", .heading = "on"},
                   {.key = "first", .heading = "from"},
                   {.key = "last", .heading = "to"},
                   {.key = "gpu_hours", .heading = "GPU-hours", .kind = ColumnKind::number},
                   {.key = "most_gpus", .heading = "GPUs at most", .kind = ColumnKind::number},
                   {.key = "night", .heading = "22 to 6 h", .kind = ColumnKind::number}};
  for (const fleet::JobUse& use : view.answer.jobs) {
    double hours = 0;
    double night = 0;
    double most = 0;
    int first = p.months;
    int last = 0;
    for (int m = 0; m < p.months; ++m) {
      for (int h = 0; h < p.hours; ++h) {
        const double gpus = use.gpus[p.at(m, h)];
        if (!(gpus > 1e-9)) continue;
        hours += gpus * p.days;
        if (h >= 22 || h < 6) night += gpus * p.days;
        most = std::max(most, gpus);
        first = std::min(first, m);
        last = std::max(last, m);
      }
    }
    const Pool& pool = fleet_at(p.pools, use.pool);
    const std::string on = use.stock < 0 ? "what serving leaves free in " + fleet_at(p.sites, pool.site).id
                                         : std::string(fleet::name(fleet_at(p.stocks, use.stock).way)) + " in " +
                                               fleet_at(p.sites, pool.site).id;
    table.rows.push_back({Cell(fleet_at(p.jobs, use.job).id), Cell(pool.device), Cell(on), Cell(p.month_name(first)),
                          Cell(p.month_name(last)), Cell(hours), Cell(most),
                          Cell(night / hours).shown_as(fmt::format("{:.0f} %", 100 * night / hours))});
  }
  return table;
}

Table fleet_months(const FleetView& view) {
  Table table;
  table.title = "The bill";
  table.columns = {{.key = "month", .heading = "month"},
                   {.key = "cost", .unit = "usd", .heading = "cost", .kind = ColumnKind::number},
                   {.key = "capital", .unit = "usd", .heading = "purchases", .kind = ColumnKind::number},
                   {.key = "leases", .unit = "usd", .heading = "leases", .kind = ColumnKind::number},
                   {.key = "upkeep", .unit = "usd", .heading = "upkeep", .kind = ColumnKind::number},
                   {.key = "rents", .unit = "usd", .heading = "rents", .kind = ColumnKind::number},
                   {.key = "energy", .unit = "usd", .heading = "energy", .kind = ColumnKind::number},
                   {.key = "apis", .unit = "usd", .heading = "APIs", .kind = ColumnKind::number},
                   {.key = "cash", .unit = "usd", .heading = "cash", .kind = ColumnKind::number},
                   {.key = "power", .unit = "w", .heading = "power", .kind = ColumnKind::number},
                   {.key = "energy", .unit = "j", .heading = "energy", .kind = ColumnKind::number},
                   {.key = "co2", .unit = "kg", .heading = "CO2", .kind = ColumnKind::number}};
  for (std::size_t m = 0; m < view.answer.months.size(); ++m) {
    const fleet::MonthBill& b = view.answer.months[m];
    table.rows.push_back({Cell(view.problem.month_name(static_cast<int>(m))), Cell(Dollars(b.usd())),
                          Cell(Dollars(b.capital)), Cell(Dollars(b.leases)), Cell(Dollars(b.upkeep)),
                          Cell(Dollars(b.rents)), Cell(Dollars(b.energy)), Cell(Dollars(b.apis)), Cell(Dollars(b.cash)),
                          Cell(Watts(b.peak_w)),
                          Cell(Joules(b.kwh * 3.6e6)).shown_as(fmt::format("{} MWh", format_number(b.kwh / 1000))),
                          Cell(b.co2_kg).shown_as(fmt::format("{} t", format_number(b.co2_kg / 1000)))});
  }
  return table;
}

Table fleet_reasons(const FleetView& view) {
  const Problem& p = view.problem;
  Table table;
  table.title = "What a request per second costs a month, by the way it is served";
  table.columns = {{.key = "service", .heading = "service"},
                   {.key = "device", .heading = "device"},
                   {.key = "how", .heading = "how"},
                   {.key = "cost", .unit = "usd_per_month", .heading = "$/month", .kind = ColumnKind::number},
                   {.key = "share", .heading = "of requests", .kind = ColumnKind::number},
                   {.key = "why", .heading = "why not more", .overflow = Overflow::wrap}};
  for (std::size_t s = 0; s < p.services.size(); ++s) {
    struct Line {
      double usd, routed;
      bool used;
      std::string device, how, why;
    };
    std::vector<Line> lines;
    double all = 0;
    for (const double d : p.services[s].demand) all += d;
    for (std::size_t o = 0; o < p.options.size(); ++o) {
      const Option& option = p.options[o];
      if (option.service != static_cast<int>(s)) continue;
      for (std::size_t k = 0; k < p.stocks.size(); ++k) {
        const Stock& stock = p.stocks[k];
        const Pool& pool = fleet_at(p.pools, stock.pool);
        if (pool.device != option.device) continue;
        const bool by_hour = stock.way == Way::on_demand || stock.way == Way::spot;
        const double gpu_month = by_hour ? stock.usd_hour * p.hours_of_month() : stock.usd_month + stock.charge_month;
        const fleet::Site& site = fleet_at(p.sites, pool.site);
        double kwh = 0;
        for (const double price : site.usd_per_kwh) kwh += price / static_cast<double>(p.hours);
        const double energy =
            site.energy_paid && !by_hour ? option.watts / 1000 * site.pue * kwh * p.hours_of_month() : 0;
        double routed = 0;
        for (const Placement& placement : view.answer.placements) {
          const bool same = placement.option == static_cast<int>(o) && placement.pool == stock.pool &&
                            (by_hour ? placement.stock == static_cast<int>(k) : placement.stock < 0);
          if (same) {
            for (const double r : placement.routed) routed += r;
          }
        }
        double held = 0;
        double most_held = 0;
        for (const Holding& h : view.answer.holdings) {
          if (h.stock != static_cast<int>(k)) continue;
          for (const double v : h.begun) held += v;
          for (const double v : h.held) most_held = std::max(most_held, v);
        }
        std::string why;
        if (pool.forbidden >= 0) {
          why = fleet_at(p.rules, pool.forbidden).text;
          for (const int rule : pool.forbidden_too) why += "; " + fleet_at(p.rules, rule).text;
        } else if (!p.services[s].allowed[static_cast<std::size_t>(pool.site)]) {
          why = fleet_at(p.rules, p.services[s].residency_rule).text;
        } else if (stock.way == Way::spot && !p.services[s].spot) {
          why = "spot may be preempted";
        } else if (!by_hour && std::max(held, most_held) >= stock.most - 0.5) {
          why = stock.way == Way::owned || stock.way == Way::extend ? "no more of them are there"
                                                                    : "no more of them are on offer";
        }
        const double usd = (gpu_month * option.gpus + energy) / option.requests_per_s;
        const std::string how =
            by_hour || stock.way == Way::owned ? stock.name : fmt::format("{}, {}", stock.name, site.id);
        const bool used = by_hour ? routed > 0 : held > 0 || most_held > 0;
        lines.push_back({usd, routed, used, option.device, how, why});
      }
    }
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.usd < b.usd; });
    const auto main = std::max_element(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
      return (a.used ? a.routed : 0) < (b.used ? b.routed : 0);
    });
    for (Line& line : lines) {
      const bool asked =
          view.why_of.empty() || std::find(view.why_of.begin(), view.why_of.end(), line.device) != view.why_of.end();
      if (!asked) continue;
      if (line.why.empty() && !line.used && main->used && line.usd > main->usd && main->usd > 0) {
        line.why = fmt::format("{} {} costs {:.0f} % less", main->device, main->how, 100 * (1 - main->usd / line.usd));
      }
      table.rows.push_back(
          {Cell(p.services[s].id), Cell(line.device), Cell(line.how), Cell(Dollars(line.usd)),
           line.used ? Cell(line.routed / all).shown_as(fmt::format("{:.0f} %", 100 * line.routed / all)) : Cell(),
           Cell(line.why)});
    }
  }
  return table;
}

Table fleet_without(const FleetView& view) {
  const Problem& p = view.problem;
  const Answer& a = view.answer;
  Table table;
  table.title = "What it would cost without (solved again; about: without whole numbers)";
  table.columns = {{.key = "how", .heading = "how"},
                   {.key = "device", .heading = "device"},
                   {.key = "site", .heading = "site"},
                   {.key = "usd", .unit = "usd", .heading = "$", .kind = ColumnKind::number},
                   {.key = "more", .heading = "more", .kind = ColumnKind::number}};
  for (const fleet::Without& one : a.without) {
    const Stock& stock = fleet_at(p.stocks, one.stocks.front());
    const Pool& pool = fleet_at(p.pools, stock.pool);
    const bool all = one.stocks.size() > 1;
    const bool possible = std::isfinite(one.usd);
    const double more = one.usd / a.usd - 1;
    table.rows.push_back(
        {Cell(all ? std::string(fleet::name(stock.way)) : stock.name), Cell(all ? std::string("any") : pool.device),
         Cell(all ? std::string("any") : fleet_at(p.sites, pool.site).id),
         possible ? Cell(Dollars(one.usd)).shown_as((one.relaxed ? "about " : "") + fleet_money(one.usd))
                  : Cell("not possible"),
         !possible              ? Cell()
         : more <= a.gap + 5e-4 ? Cell(more).shown_as("within the gap")
                                : Cell(more).shown_as(fmt::format("{:.1f} %", 100 * more))});
  }
  return table;
}

Table fleet_actions(const FleetView& view) {
  const Problem& p = view.problem;
  Table table;
  table.title = "What to do";
  table.columns = {{.key = "month", .heading = "month"},
                   {.key = "action", .heading = "action"},
                   {.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
                   {.key = "device", .heading = "device"},
                   {.key = "site", .heading = "site"},
                   {.key = "stock", .heading = "how"},
                   {.key = "cash", .unit = "usd", .heading = "$", .kind = ColumnKind::number}};
  for (const FleetAction& action : fleet_actions_of(view)) {
    const Pool& pool = fleet_at(p.pools, action.stock->pool);
    const std::string often = action.stock->way == Way::buy || action.usd == 0 ? "" : " a month";
    table.rows.push_back(
        {Cell(p.month_name(action.month)), Cell(action.what), Cell(std::ceil(action.gpus - 1e-6)), Cell(pool.device),
         Cell(fleet_at(p.sites, pool.site).id), Cell(action.stock->name),
         action.usd > 0 ? Cell(Dollars(action.usd)).shown_as(fleet_money(action.usd) + often) : Cell()});
  }
  return table;
}

std::vector<FleetUse> fleet_use(const FleetView& view) {
  const Problem& p = view.problem;
  const Answer& a = view.answer;
  std::vector<FleetUse> out;
  for (std::size_t pool = 0; pool < p.pools.size(); ++pool) {
    const auto months = static_cast<std::size_t>(p.months);
    FleetUse use{p.pools[pool].device, fleet_at(p.sites, p.pools[pool].site).id, std::vector<double>(months, 0.0), {}};
    for (const Holding& h : a.holdings) {
      if (fleet_at(p.stocks, h.stock).pool != static_cast<int>(pool)) continue;
      for (std::size_t m = 0; m < months; ++m) use.gpus[m] += h.held[m];
    }
    if (std::all_of(use.gpus.begin(), use.gpus.end(), [](double v) { return v <= 0; })) continue;
    for (int m = 0; m < p.months; ++m) {
      const double there = use.gpus[static_cast<std::size_t>(m)];
      std::vector<double>& row = use.share.emplace_back();
      for (int h = 0; h < p.hours; ++h) {
        double busy = 0;
        for (const Placement& placement : a.placements) {
          const Option& option = fleet_at(p.options, placement.option);
          if (placement.stock < 0 && placement.pool == static_cast<int>(pool))
            busy += placement.routed[p.at(m, h)] / option.requests_per_s * option.gpus;
        }
        for (const fleet::JobUse& job : a.jobs) {
          if (job.stock < 0 && job.pool == static_cast<int>(pool)) busy += job.gpus[p.at(m, h)];
        }
        row.push_back(there > 0 ? busy / there : 0);
      }
    }
    out.push_back(std::move(use));
  }
  return out;
}

}  // namespace ridge::report
