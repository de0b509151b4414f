#include <algorithm>
#include <cmath>

#include "report/fleet/tables.hpp"

namespace ridge::report {

namespace {

using fleet::Answer;
using fleet::Holding;
using fleet::Pool;
using fleet::Problem;
using fleet::Rule;
using fleet::Stock;

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
    one.set("service", fleet_at(p.services, h.service).id)
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
    const Stock& stock = fleet_at(p.stocks, h.stock);
    const Pool& pool = fleet_at(p.pools, stock.pool);
    Json gpus = Json::array();
    for (const double held : h.held) gpus.push(held);
    Json one = Json::object();
    one.set("device", pool.device)
        .set("site", fleet_at(p.sites, pool.site).id)
        .set("way", std::string(fleet::name(stock.way)))
        .set("how", stock.name)
        .set("gpus", std::move(gpus));
    out.push(std::move(one));
  }
  return out;
}

}  // namespace

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
      const Rule& rule = fleet_at(p.rules, m.rule);
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
    Json without = Json::array();
    for (const fleet::Without& w : a.without) {
      Json stocks = Json::array();
      for (const int k : w.stocks) {
        const fleet::Stock& stock = fleet_at(p.stocks, k);
        const fleet::Pool& pool = fleet_at(p.pools, stock.pool);
        Json one = Json::object();
        one.set("how", stock.name).set("device", pool.device).set("site", fleet_at(p.sites, pool.site).id);
        stocks.push(std::move(one));
      }
      Json one = Json::object();
      one.set("stocks", std::move(stocks))
          .set("usd", std::isfinite(w.usd) ? Json(w.usd) : Json())
          .set("relaxed", w.relaxed);
      without.push(std::move(one));
    }
    json.set("without", std::move(without));
    if (view.why) json.set("why", to_json(fleet_reasons(view)));
  }
  if (a.clash) {
    Json clash = Json::object();
    Json rules = Json::array();
    for (const int rule : a.clash->rules) {
      Json one = Json::object();
      one.set("where", fleet_at(p.rules, rule).where).set("rule", fleet_at(p.rules, rule).text);
      rules.push(std::move(one));
    }
    Json changes = Json::array();
    for (const fleet::Clash::Change& change : a.clash->changes) {
      Json one = Json::object();
      const Rule& rule = fleet_at(p.rules, change.rule);
      one.set("where", rule.where)
          .set("from", rule.amount)
          .set("to", change.to)
          .set("unit", rule.unit)
          .set("text", fleet_change(change, p));
      changes.push(std::move(one));
    }
    Json together = Json::array();
    for (const int rule : a.clash->together) together.push(fleet_at(p.rules, rule).where);
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
