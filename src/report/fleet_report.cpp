#include "report/fleet_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ridge/text.hpp"

namespace ridge::report {

namespace {

using fleet::Answer;
using fleet::Holding;
using fleet::Option;
using fleet::Placement;
using fleet::Pool;
using fleet::Problem;
using fleet::Rule;
using fleet::Stock;
using fleet::Way;

std::string fleet_money(double usd) {
  return format(Dollars(usd));
}

template <class T>
const T& at(const std::vector<T>& list, int index) {
  return list[static_cast<std::size_t>(index)];
}

/// Something that is done in a month.
struct FleetAction {
  int month = 0;
  std::string what;  ///< "keep", "retire", "buy", ...
  double gpus = 0;
  const Stock* stock = nullptr;
  double usd = 0;  ///< cash of that month, or of each month of a lease
};

std::vector<FleetAction> fleet_actions_of(const FleetView& view) {
  const Problem& p = view.problem;
  std::vector<FleetAction> out;
  for (const Holding& h : view.answer.holdings) {
    const Stock& stock = at(p.stocks, h.stock);
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
  std::map<int, std::pair<int, double>> rented;  // by stock: first month and most devices at once
  const auto rent = [&](int stock, const std::vector<double>& gpus, double each) {
    for (int m = 0; m < p.months; ++m) {
      for (int h = 0; h < p.hours; ++h) {
        const double now = gpus[p.at(m, h)] * each;
        if (!(now > 1e-6)) continue;
        auto& [first, most] = rented.emplace(stock, std::make_pair(m, 0.0)).first->second;
        first = std::min(first, m);
        most = std::max(most, now);
      }
    }
  };
  for (const Placement& placement : view.answer.placements) {
    if (placement.stock >= 0) rent(placement.stock, placement.replicas, at(p.options, placement.option).gpus);
  }
  for (const fleet::JobUse& use : view.answer.jobs) {
    if (use.stock >= 0) rent(use.stock, use.gpus, 1);
  }
  for (const auto& [stock, when] : rented) {
    out.push_back(
        {when.first, std::string(fleet::name(at(p.stocks, stock).way)), when.second, &at(p.stocks, stock), 0});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const FleetAction& a, const FleetAction& b) { return a.month < b.month; });
  return out;
}

std::string fleet_spoken(const FleetAction& action, const Problem& p) {
  const Pool& pool = at(p.pools, action.stock->pool);
  const std::string devices =
      fmt::format("{:.0f} {} in {}", std::ceil(action.gpus - 1e-6), pool.device, at(p.sites, pool.site).id);
  if (action.what == "on demand" || action.what == "spot")
    return fmt::format("rent up to {} {}", devices, action.what == "spot" ? "as spot" : action.what);
  if (action.what == "lease") return fmt::format("lease {} for {} months", devices, action.stock->term);
  if (action.what == "reserved") return fmt::format("reserve {} for {} months", devices, action.stock->term);
  return action.what + " " + devices;
}

/// "Keep 64 a100-sxm-80 in berlin. From 2027-03: lease 32 h200-sxm ..."
std::string fleet_recommendation(const FleetView& view) {
  const Problem& p = view.problem;
  std::string out;
  int month = -1;
  for (const FleetAction& action : fleet_actions_of(view)) {
    if (action.month != month) {
      if (!out.empty()) out += ". ";
      out += p.month_name(action.month) + ": ";
      month = action.month;
    } else {
      out += "; ";
    }
    out += fleet_spoken(action, p);
  }
  if (out.empty()) out = "Nothing is bought, leased or kept";
  double api = 0;
  double lost = 0;
  double all = 0;
  for (const fleet::Service& s : p.services) {
    for (const double d : s.demand) all += d;
  }
  for (const fleet::Elsewhere& e : view.answer.elsewhere) {
    for (const double r : e.routed) (e.api >= 0 ? api : lost) += r;
  }
  if (api > 0) out += fmt::format(". APIs take {:.1f} % of the requests", 100 * api / all);
  if (lost > 0) out += fmt::format(". {:.1f} % of the requests are not worth serving", 100 * lost / all);
  return out + ".";
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
    const Option& option = at(p.options, placement.option);
    const fleet::Service& service = at(p.services, option.service);
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
    const std::string where = at(p.sites, at(p.pools, placement.pool).site).id;
    table.rows.push_back(
        {Cell(service.id), Cell(option.device),
         Cell(placement.stock < 0 ? where : where + ", " + std::string(fleet::name(at(p.stocks, placement.stock).way))),
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
    const Pool& pool = at(p.pools, use.pool);
    const std::string on =
        use.stock < 0 ? "what serving leaves free in " + at(p.sites, pool.site).id
                      : std::string(fleet::name(at(p.stocks, use.stock).way)) + " in " + at(p.sites, pool.site).id;
    table.rows.push_back({Cell(at(p.jobs, use.job).id), Cell(pool.device), Cell(on), Cell(p.month_name(first)),
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

std::string fleet_amount(double value, const std::string& unit) {
  if (unit == "$") return fleet_money(value);
  if (unit == "kW") return format(Watts(1000 * value));
  if (unit == "%") return fmt::format("{:.0f} %", value);
  return fmt::format("{} {}", format_number(value), unit);
}

std::string fleet_marginal(const fleet::Marginal& marginal, const Problem& p) {
  const Rule& rule = at(p.rules, marginal.rule);
  return fmt::format("{} ({}): {} more {} worth {} a month", rule.text, rule.where,
                     fleet_amount(marginal.more, rule.unit),
                     rule.unit == "GPUs" || rule.unit == "racks" ? (marginal.more > 1 ? "are" : "is") : "are",
                     fleet_money(marginal.usd_month));
}

std::string fleet_change(const fleet::Clash::Change& change, const Problem& p) {
  const Rule& rule = at(p.rules, change.rule);
  if (rule.kind == fleet::RuleKind::forbidden || rule.kind == fleet::RuleKind::residency) {
    return fmt::format("give up that {} ({})", rule.text, rule.where);
  }
  return fmt::format("where {}, {} instead of {} ({})", rule.text, fleet_amount(change.to, rule.unit),
                     fleet_amount(rule.amount, rule.unit), rule.where);
}

/// What each way to serve costs: the cheapest stock of each option, for one request per second and month.
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
      double usd;
      std::vector<Cell> cells;
    };
    std::vector<Line> lines;
    double all = 0;
    for (const double d : p.services[s].demand) all += d;
    for (std::size_t o = 0; o < p.options.size(); ++o) {
      const Option& option = p.options[o];
      if (option.service != static_cast<int>(s)) continue;
      for (std::size_t k = 0; k < p.stocks.size(); ++k) {
        const Stock& stock = p.stocks[k];
        const Pool& pool = at(p.pools, stock.pool);
        if (pool.device != option.device) continue;
        const bool by_hour = stock.way == Way::on_demand || stock.way == Way::spot;
        const double gpu_month = by_hour ? stock.usd_hour * p.hours_of_month() : stock.usd_month + stock.charge_month;
        const fleet::Site& site = at(p.sites, pool.site);
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
          why = at(p.rules, pool.forbidden).text;
        } else if (!p.services[s].allowed[static_cast<std::size_t>(pool.site)]) {
          why = at(p.rules, p.services[s].residency_rule).text;
        } else if (stock.way == Way::spot && !p.services[s].spot) {
          why = "spot may be taken back";
        } else if (!by_hour && std::max(held, most_held) >= stock.most - 0.5) {
          why = "all of them are in use";
        }
        const double usd = (gpu_month * option.gpus + energy) / option.requests_per_s;
        const std::string how =
            by_hour || stock.way == Way::owned ? stock.name : fmt::format("{}, {}", stock.name, site.id);
        const bool used = by_hour ? routed > 0 : held > 0 || most_held > 0;
        lines.push_back(
            {usd,
             {Cell(p.services[s].id), Cell(option.device), Cell(how), Cell(Dollars(usd)),
              used ? Cell(routed / all).shown_as(fmt::format("{:.0f} %", 100 * routed / all)) : Cell(), Cell(why)}});
      }
    }
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.usd < b.usd; });
    for (Line& line : lines) table.rows.push_back(std::move(line.cells));
  }
  return table;
}

/// The hour that holds its limits least, and its month.
struct WorstHour {
  const fleet::Replay* day = nullptr;
  const fleet::ReplayHour* hour = nullptr;
};
WorstHour fleet_worst_hour(const std::vector<fleet::Replay>& days) {
  WorstHour worst;
  for (const fleet::Replay& day : days) {
    for (const fleet::ReplayHour& hour : day.hours) {
      if (hour.rate > 0 && (worst.hour == nullptr || hour.within < worst.hour->within)) worst = {&day, &hour};
    }
  }
  return worst;
}

bool fleet_holds(const std::vector<fleet::Replay>& days) {
  return std::all_of(days.begin(), days.end(), [](const fleet::Replay& day) { return day.holds; });
}

std::string fleet_replay_text(const std::vector<fleet::Replay>& days, const Problem& p) {
  const WorstHour worst = fleet_worst_hour(days);
  if (worst.hour == nullptr) return "No request comes to devices of this estate.";
  double requests = 0;
  for (const fleet::Replay& day : days) requests += day.requests;
  return fmt::format(
      "A day of {} was simulated hour by hour, {} requests, steps as slow as {:.0f} % allow: {}. Worst hour: {} from "
      "{} h in {}, {:.1f} % within the limits, TTFT p95 {}, TPOT p95 {}.",
      days.size() == 1 ? p.month_name(0) : fmt::format("each of the {} months", days.size()), format_number(requests),
      100 * p.confidence,
      fleet_holds(days) ? "every hour holds its limits for 95 % of the requests or more"
                        : "not every hour holds its limits",
      at(p.services, worst.hour->service).id, worst.hour->hour, p.month_name(worst.day->month),
      100 * worst.hour->within, format(Seconds(worst.hour->ttft_p95_s), 2), format(Seconds(worst.hour->tpot_p95_s), 2));
}

std::string fleet_title(const FleetView& view) {
  const Problem& p = view.problem;
  std::set<std::string> kinds;
  for (const Pool& pool : p.pools) kinds.insert(pool.device);
  return fmt::format("Fleet {} · {} service{} · {} job{} · {} kind{} of devices · {} month{} from {} · with {:.0f} %",
                     view.estate.file, p.services.size(), p.services.size() == 1 ? "" : "s", p.jobs.size(),
                     p.jobs.size() == 1 ? "" : "s", kinds.size(), kinds.size() == 1 ? "" : "s", p.months,
                     p.months == 1 ? "" : "s", p.start, 100 * p.confidence);
}

/// The month of the worst hour in full, of the others whether they hold.
Json fleet_replay_json(const FleetView& view) {
  const Problem& p = view.problem;
  const WorstHour worst = fleet_worst_hour(view.days);
  const fleet::Replay& shown = worst.day != nullptr ? *worst.day : view.days.front();
  double requests = 0;
  Json months = Json::array();
  for (const fleet::Replay& day : view.days) {
    requests += day.requests;
    double within = 1;
    for (const fleet::ReplayHour& h : day.hours) within = std::min(within, h.within);
    Json one = Json::object();
    one.set("month", p.month_name(day.month)).set("holds", day.holds).set("worst_within", within);
    months.push(std::move(one));
  }
  Json hours = Json::array();
  for (const fleet::ReplayHour& h : shown.hours) {
    Json one = Json::object();
    one.set("service", at(p.services, h.service).id)
        .set("hour", h.hour)
        .set("rate", h.rate)
        .set("replicas", h.replicas)
        .set("within", h.within)
        .set("ttft_p95_s", h.ttft_p95_s)
        .set("tpot_p95_s", h.tpot_p95_s)
        .set("utilisation", h.utilisation);
    hours.push(std::move(one));
  }
  Json replay = Json::object();
  replay.set("month", p.month_name(shown.month))
      .set("requests", requests)
      .set("holds", fleet_holds(view.days))
      .set("months", std::move(months))
      .set("hours", std::move(hours));
  return replay;
}

/// What is had from when to when.
Json fleet_holdings_json(const FleetView& view) {
  const Problem& p = view.problem;
  Json out = Json::array();
  for (const Holding& h : view.answer.holdings) {
    if (std::all_of(h.held.begin(), h.held.end(), [](double v) { return v <= 0; })) continue;
    const Stock& stock = at(p.stocks, h.stock);
    const Pool& pool = at(p.pools, stock.pool);
    Json gpus = Json::array();
    for (const double held : h.held) gpus.push(held);
    Json one = Json::object();
    one.set("device", pool.device)
        .set("site", at(p.sites, pool.site).id)
        .set("way", std::string(fleet::name(stock.way)))
        .set("how", stock.name)
        .set("gpus", std::move(gpus));
    out.push(std::move(one));
  }
  return out;
}

Document fleet_clash_page(const FleetView& view) {
  Document page;
  page.title = fleet_title(view);
  const fleet::Clash& clash = *view.answer.clash;
  page.blocks.emplace_back(Paragraph{
      clash.rules.size() == 1 ? "No plan keeps this, whatever else is given up:"
      : clash.minimal         ? "No plan keeps all of these together; without any one of them the others can be kept:"
                      : "No plan keeps all of these together (time was over before it was shown that each is needed):",
      Emphasis::bad});
  for (const int rule : clash.rules) {
    page.blocks.emplace_back(
        Paragraph{fmt::format("  {}: {}", at(view.problem.rules, rule).where, at(view.problem.rules, rule).text)});
  }
  if (!clash.together.empty()) {
    std::string all;
    for (const int rule : clash.together) {
      all += fmt::format("{}that {} ({})", all.empty() ? "" : ", and ", at(view.problem.rules, rule).text,
                         at(view.problem.rules, rule).where);
    }
    page.blocks.emplace_back(
        Paragraph{"Other rules clash with these too. There is a plan if you give up " + all + "."});
    return page;
  }
  if (clash.changes.empty()) {
    page.blocks.emplace_back(Paragraph{"No change of one of them alone makes a plan possible."});
    return page;
  }
  page.blocks.emplace_back(Paragraph{"Smallest change: " + fleet_change(clash.changes.front(), view.problem) + "."});
  for (std::size_t i = 1; i < clash.changes.size(); ++i) {
    page.blocks.emplace_back(Paragraph{"Or " + fleet_change(clash.changes[i], view.problem) + "."});
  }
  return page;
}

}  // namespace

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
    const Pool& pool = at(p.pools, action.stock->pool);
    const std::string often = action.stock->way == Way::buy || action.usd == 0 ? "" : " a month";
    table.rows.push_back(
        {Cell(p.month_name(action.month)), Cell(action.what), Cell(action.gpus), Cell(pool.device),
         Cell(at(p.sites, pool.site).id), Cell(action.stock->name),
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
    FleetUse use{p.pools[pool].device, at(p.sites, p.pools[pool].site).id, std::vector<double>(months, 0.0), {}};
    for (const Holding& h : a.holdings) {
      if (at(p.stocks, h.stock).pool != static_cast<int>(pool)) continue;
      for (std::size_t m = 0; m < months; ++m) use.gpus[m] += h.held[m];
    }
    if (std::all_of(use.gpus.begin(), use.gpus.end(), [](double v) { return v <= 0; })) continue;
    for (int m = 0; m < p.months; ++m) {
      const double there = use.gpus[static_cast<std::size_t>(m)];
      std::vector<double>& row = use.share.emplace_back();
      for (int h = 0; h < p.hours; ++h) {
        double busy = 0;
        for (const Placement& placement : a.placements) {
          const Option& option = at(p.options, placement.option);
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

Document fleet_page(const FleetView& view) {
  if (view.answer.clash) return fleet_clash_page(view);
  const Problem& p = view.problem;
  const Answer& a = view.answer;
  Document page;
  page.title = fleet_title(view);
  if (!a.found) {
    page.blocks.emplace_back(
        Paragraph{"Time was over before any plan was found: give it more by --time-limit.", Emphasis::bad});
    return page;
  }
  page.blocks.emplace_back(Paragraph{fleet_recommendation(view), Emphasis::strong});
  double cash = 0;
  double co2 = 0;
  double kwh = 0;
  for (const fleet::MonthBill& m : a.months) {
    cash += m.cash;
    co2 += m.co2_kg;
    kwh += m.kwh;
  }
  page.blocks.emplace_back(Paragraph{fmt::format(
      "It costs {} in {} month{} ({} a month), {} of it in cash{}; {} MWh, {} t CO2. No plan costs less than {}: the "
      "gap is {:.2f} %{}{}.",
      fleet_money(a.usd), p.months, p.months == 1 ? "" : "s", fleet_money(a.usd / p.months), fleet_money(cash),
      a.commitments > 0 ? fmt::format(", and leases bind {} after that", fleet_money(a.commitments)) : "",
      format_number(kwh / 1000), format_number(co2 / 1000), fleet_money(a.bound), 100 * a.gap,
      a.bands < p.hours ? fmt::format(", hours put together in {} bands included", a.bands) : "",
      a.stopped ? " (time was over: the best so far)" : "")});
  page.blocks.emplace_back(fleet_actions(view));
  if (!a.placements.empty()) page.blocks.emplace_back(fleet_placements(view));
  if (!a.jobs.empty()) page.blocks.emplace_back(fleet_jobs(view));
  page.blocks.emplace_back(fleet_months(view));
  if (!a.marginals.empty()) {
    const bool relaxed = a.marginals.front().relaxed;
    page.blocks.emplace_back(Paragraph{relaxed ? "What limits are worth (solved again without whole numbers):"
                                               : "What limits are worth (solved again with more of each):"});
    for (const fleet::Marginal& marginal : a.marginals)
      page.blocks.emplace_back(Paragraph{"  " + fleet_marginal(marginal, p)});
  }
  if (!view.days.empty())
    page.blocks.emplace_back(
        Paragraph{fleet_replay_text(view.days, p), fleet_holds(view.days) ? Emphasis::none : Emphasis::warning});
  if (view.why) page.blocks.emplace_back(fleet_reasons(view));
  std::string assumed = "Assumed: ";
  for (std::size_t i = 0; i < p.assumptions.size(); ++i) assumed += (i > 0 ? "; " : "") + p.assumptions[i];
  page.blocks.emplace_back(Paragraph{assumed + ".", Emphasis::faint});
  page.blocks.emplace_back(Paragraph{
      fmt::format("Solved by {}.{}", view.solver, view.why ? "" : " Next: --why says what each way to serve costs."),
      Emphasis::faint});
  return page;
}

Json fleet_json(const FleetView& view) {
  const Problem& p = view.problem;
  const Answer& a = view.answer;
  Json json = Json::object();
  json.set("schema", kFleetSchema);
  json.set("file", view.estate.file);
  json.set("start", p.start);
  json.set("months", p.months);
  json.set("confidence", p.confidence);
  json.set("found", a.found);
  if (a.found) {
    json.set("recommendation", fleet_recommendation(view));
    json.set("cost_usd", a.usd);
    json.set("bound_usd", a.bound);
    json.set("gap", a.gap);
    json.set("bands", a.bands);
    json.set("aggregation_error", a.aggregation);
    json.set("commitments_usd", a.commitments);
    json.set("actions", to_json(fleet_actions(view)));
    json.set("placements", to_json(fleet_placements(view)));
    json.set("training", to_json(fleet_jobs(view)));
    Json months = Json::array();
    for (std::size_t m = 0; m < a.months.size(); ++m) {
      const fleet::MonthBill& b = a.months[m];
      Json month = Json::object();
      month.set("month", p.month_name(static_cast<int>(m)));
      month.set("cost_usd", b.usd()).set("cash_usd", b.cash).set("capital_usd", b.capital).set("leases_usd", b.leases);
      month.set("upkeep_usd", b.upkeep)
          .set("rents_usd", b.rents)
          .set("energy_usd", b.energy)
          .set("apis_usd", b.apis)
          .set("lost_usd", b.lost);
      month.set("power_w", b.peak_w).set("energy_kwh", b.kwh).set("co2_kg", b.co2_kg);
      months.push(std::move(month));
    }
    json.set("bill", std::move(months));
    json.set("holdings", fleet_holdings_json(view));
    Json use = Json::array();  // of devices held, by pool, month and hour
    for (const FleetUse& pool : fleet_use(view)) {
      Json rows = Json::array();
      Json devices = Json::array();
      for (std::size_t m = 0; m < pool.gpus.size(); ++m) {
        devices.push(pool.gpus[m]);
        Json row = Json::array();
        for (const double share : pool.share[m])
          row.push(pool.gpus[m] > 0 ? Json(std::round(1e4 * share) / 1e4) : Json());
        rows.push(std::move(row));
      }
      Json one = Json::object();
      one.set("device", pool.device)
          .set("site", pool.site)
          .set("gpus", std::move(devices))
          .set("utilisation", std::move(rows));
      use.push(std::move(one));
    }
    json.set("utilisation", std::move(use));
    Json marginals = Json::array();
    for (const fleet::Marginal& m : a.marginals) {
      const Rule& rule = at(p.rules, m.rule);
      Json one = Json::object();
      one.set("limit", rule.text)
          .set("where", rule.where)
          .set("more", m.more)
          .set("unit", rule.unit)
          .set("usd_per_month", m.usd_month)
          .set("relaxed", m.relaxed);
      marginals.push(std::move(one));
    }
    json.set("marginal_values", std::move(marginals));
    if (view.why) json.set("why", to_json(fleet_reasons(view)));
  }
  if (a.clash) {
    Json clash = Json::object();
    Json rules = Json::array();
    for (const int rule : a.clash->rules) {
      Json one = Json::object();
      one.set("where", at(p.rules, rule).where).set("rule", at(p.rules, rule).text);
      rules.push(std::move(one));
    }
    Json changes = Json::array();
    for (const fleet::Clash::Change& change : a.clash->changes) {
      Json one = Json::object();
      const Rule& rule = at(p.rules, change.rule);
      one.set("where", rule.where)
          .set("from", rule.amount)
          .set("to", change.to)
          .set("unit", rule.unit)
          .set("text", fleet_change(change, p));
      changes.push(std::move(one));
    }
    Json together = Json::array();
    for (const int rule : a.clash->together) together.push(at(p.rules, rule).where);
    clash.set("together", std::move(together));
    clash.set("rules", std::move(rules)).set("minimal", a.clash->minimal).set("changes", std::move(changes));
    json.set("clash", std::move(clash));
  }
  if (!view.days.empty()) json.set("replay", fleet_replay_json(view));
  Json assumptions = Json::array();
  for (const std::string& text : p.assumptions) assumptions.push(text);
  json.set("assumptions", std::move(assumptions));
  Json statistics = Json::object();
  statistics.set("solver", view.solver).set("seconds", view.seconds).set("stopped", a.stopped);
  json.set("statistics", std::move(statistics));
  return json;
}

}  // namespace ridge::report
