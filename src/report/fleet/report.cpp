#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/fleet/tables.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

using fleet::Answer;
using fleet::Pool;
using fleet::Problem;
using fleet::Rule;
using fleet::Stock;

std::string fleet_spoken(const FleetAction& action, const Problem& p) {
  const Pool& pool = fleet_at(p.pools, action.stock->pool);
  const std::string devices = fmt::format("{} {} in {}", format_number(std::ceil(action.gpus - 1e-6), 7), pool.device,
                                          fleet_at(p.sites, pool.site).id);
  if (action.what == "on demand" || action.what == "spot")
    return fmt::format("rent up to {} {}", devices, action.what == "spot" ? "as spot" : action.what);
  if (action.what == "lease") return fmt::format("lease {} for {} months", devices, action.stock->term);
  if (action.what == "reserved") return fmt::format("reserve {} for {} months", devices, action.stock->term);
  return action.what + " " + devices;
}

std::string fleet_marginal(const fleet::Marginal& marginal, const Problem& p) {
  const Rule& rule = fleet_at(p.rules, marginal.rule);
  return fmt::format("{} ({}): {} more {} worth {} a month", rule.text, rule.where,
                     fleet_amount(marginal.more, rule.unit),
                     rule.unit == "GPUs" || rule.unit == "racks" ? (marginal.more > 1 ? "are" : "is") : "are",
                     fleet_money(marginal.usd_month));
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
      fleet_at(p.services, worst.hour->service).id, worst.hour->hour, p.month_name(worst.day->month),
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
    page.blocks.emplace_back(Paragraph{
        fmt::format("  {}: {}", fleet_at(view.problem.rules, rule).where, fleet_at(view.problem.rules, rule).text)});
  }
  if (!clash.together.empty()) {
    std::string all;
    for (const int rule : clash.together) {
      all += fmt::format("{}that {} ({})", all.empty() ? "" : ", and ", fleet_at(view.problem.rules, rule).text,
                         fleet_at(view.problem.rules, rule).where);
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

std::string fleet_amount(double value, const std::string& unit) {
  if (unit == "$") return fleet_money(value);
  if (unit == "kW") return format(Watts(1000 * value));
  if (unit == "%") return fmt::format("{:.0f} %", value);
  const bool one = value == 1 && unit.ends_with('s') && unit.find('/') == std::string::npos;
  return fmt::format("{} {}", format_number(value), one ? unit.substr(0, unit.size() - 1) : unit);
}

std::string fleet_change(const fleet::Clash::Change& change, const Problem& p) {
  const Rule& rule = fleet_at(p.rules, change.rule);
  if (rule.kind == fleet::RuleKind::forbidden || rule.kind == fleet::RuleKind::residency) {
    return fmt::format("give up that {} ({})", rule.text, rule.where);
  }
  // Nothing of it is left: no smaller rate or job helps.
  if (rule.kind == fleet::RuleKind::demand && change.to <= 0)
    return fmt::format("leave {} out altogether ({})", fleet_at(p.services, rule.index).id, rule.where);
  if (rule.kind == fleet::RuleKind::deadline && change.to <= 0)
    return fmt::format("leave {} out altogether ({})", fleet_at(p.jobs, rule.index).id, rule.where);
  return fmt::format("where {}, {} instead of {} ({})", rule.text, fleet_amount(change.to, rule.unit),
                     fleet_amount(rule.amount, rule.unit), rule.where);
}

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

Document fleet_page(const FleetView& view) {
  if (view.answer.clash) return fleet_clash_page(view);
  const Problem& p = view.problem;
  const Answer& a = view.answer;
  Document page;
  page.title = fleet_title(view);
  if (!a.found) {
    page.blocks.emplace_back(
        Paragraph{"Time was over before any plan was found: give it more by ⟦time_limit⟧.", Emphasis::bad});
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
  const bool buys = std::any_of(a.months.begin(), a.months.end(), [](const auto& m) { return m.capital > 0; });
  page.blocks.emplace_back(Paragraph{fmt::format(
      "It costs {} in {} month{} ({} a month){}; {} MWh, {} t CO2. {}No plan costs less than {}: the gap is {:.2f} "
      "%{}{}.",
      fleet_money(a.usd), p.months, p.months == 1 ? "" : "s", fleet_money(a.usd / p.months),
      a.commitments > 0 ? fmt::format(", and leases bind {} after that", fleet_money(a.commitments)) : "",
      format_number(kwh / 1000), format_number(co2 / 1000),
      buys ? fmt::format("Purchases count by their months; {} is paid in these. ", fleet_money(cash)) : "",
      fleet_money(a.bound), 100 * a.gap,
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
  if (!a.without.empty()) page.blocks.emplace_back(fleet_without(view));
  if (!view.days.empty())
    page.blocks.emplace_back(
        Paragraph{fleet_replay_text(view.days, p), fleet_holds(view.days) ? Emphasis::none : Emphasis::warning});
  if (view.why) page.blocks.emplace_back(fleet_reasons(view));
  std::string assumed = "Assumed: ";
  for (std::size_t i = 0; i < p.assumptions.size(); ++i) assumed += (i > 0 ? "; " : "") + p.assumptions[i];
  page.blocks.emplace_back(Paragraph{assumed + ".", Emphasis::faint});
  page.blocks.emplace_back(Paragraph{
      fmt::format("Solved by {}.{}", view.solver, view.why ? "" : " Next: ⟦why⟧ says what each way to serve costs."),
      Emphasis::faint});
  return page;
}

}  // namespace ridge::report
