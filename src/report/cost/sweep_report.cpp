// Curves of cost: over utilisation and volume, over a power cap, and over what is not known.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart/money_charts.hpp"
#include "report/cost/decision_report.hpp"
#include "report/cost/report.hpp"
#include "report/estimate/inference_report.hpp"
#include "report/page/html.hpp"
#include "report/page/page.hpp"
#include "report/table/optional_json.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

double at_utilisation(CostInputs in, double utilisation, bool idle_is_paid) {
  in.utilisation = utilisation;
  in.idle_is_paid = idle_is_paid;
  const CostOutputs out = evaluate(in);
  return std::isfinite(out.usd_per_million_tokens) ? out.usd_per_million_tokens : out.usd_per_useful_gpu_hour;
}

bool knows_tokens(const BreakEvenCost& b) {
  return std::isfinite(b.own.cost_case.inputs.output_tokens_per_s);
}

std::vector<double> utilisations() {
  std::vector<double> all;
  for (int i = 1; i <= 20; ++i) all.push_back(i / 20.0);
  return all;
}

std::optional<BreakEvenVolume> volume(const CostAnswer& reserved, const BreakEvenCost& b) {
  if (!b.api || !knows_tokens(b)) return std::nullopt;
  return break_even_volume(reserved.cost_case.inputs, b.api->cost_case.inputs);
}

std::string volume_text(const std::optional<BreakEvenVolume>& v) {
  if (!v) return "unknown";
  if (!v->fits) {
    return fmt::format("never: it would take {} output tokens a month, more than one deployment makes",
                       format_count(v->tokens_per_month));
  }
  return fmt::format("above {} output tokens a month", format_count(v->tokens_per_month));
}

CurveChart utilisation_chart(const BreakEvenCost& b) {
  CurveChart chart;
  chart.title = "Cost by utilisation";
  chart.subtitle = b.title;
  chart.x_axis = "share of the time with work, %";
  chart.y_axis = knows_tokens(b) ? "$ per million tokens" : "$ per useful GPU-hour";
  chart.logarithmic_y = true;
  const auto series = [&](std::string name, const CostInputs& in, bool idle_is_paid, bool dashed) {
    CurveSeries s{.name = std::move(name), .points = {}, .dashed = dashed, .marks = false};
    for (const double u : utilisations()) s.points.push_back({100 * u, at_utilisation(in, u, idle_is_paid)});
    chart.series.push_back(std::move(s));
  };
  series("own", b.own.cost_case.inputs, true, false);
  series("rent, reserved", b.rent.cost_case.inputs, true, false);
  series("rent, used hours", b.rent.cost_case.inputs, false, true);
  if (b.api) series("API", b.api->cost_case.inputs, false, true);
  if (const auto u = break_even_utilisation(b.own.cost_case.inputs, b.rent.cost_case.inputs); u && *u > 0) {
    chart.notes.push_back(
        {100 * *u, at_utilisation(b.own.cost_case.inputs, *u, true), fmt::format("own = rent at {}", percent(*u, 0))});
  }
  return chart;
}

CurveChart volume_chart(const BreakEvenCost& b) {
  CurveChart chart;
  chart.title = "Bill by volume";
  chart.subtitle = "as many deployments as it takes, each at most 80 % busy";
  chart.x_axis = "output tokens a month";
  chart.y_axis = "$ a month";
  chart.logarithmic_x = chart.logarithmic_y = true;
  CostInputs full = b.own.cost_case.inputs;
  full.utilisation = 1;
  const double capacity = evaluate(full).tokens_per_month;
  const auto series = [&](std::string name, auto&& bill) {
    CurveSeries s{.name = std::move(name), .points = {}, .dashed = false, .marks = false};
    for (int i = 0; i <= 240; ++i) {
      const double tokens = capacity * std::pow(10, -2.5 + 4.0 * i / 240);
      s.points.push_back({tokens, bill(tokens)});
    }
    chart.series.push_back(std::move(s));
  };
  series("own", [&](double t) { return reserved_usd_per_month(b.own.cost_case.inputs, t, 0.8); });
  series("rent, reserved", [&](double t) { return reserved_usd_per_month(b.rent.cost_case.inputs, t, 0.8); });
  if (b.api) series("API", [&](double t) { return t / 1e6 * b.api->out.usd_per_million_tokens; });
  if (const auto v = volume(b.own, b); v && v->fits) {
    chart.notes.push_back(
        {v->tokens_per_month, v->tokens_per_month / 1e6 * b.api->out.usd_per_million_tokens, "own = API"});
  }
  return chart;
}

const PowerCapPoint& best(const PowerCapSweep& s, double PowerCapPoint::*field, bool least) {
  return *std::min_element(s.points.begin(), s.points.end(), [&](const PowerCapPoint& a, const PowerCapPoint& b) {
    return least ? a.*field < b.*field : a.*field > b.*field;
  });
}

}  // namespace

Table break_even_table(const BreakEvenCost& b) {
  Table table;
  table.title = "By utilisation";
  const char* unit = knows_tokens(b) ? "usd_per_million_tokens" : "usd_per_useful_gpu_hour";
  table.columns = {
      {.key = "utilization", .heading = "utilisation", .kind = ColumnKind::number},
      {.key = std::string("own_") + unit, .heading = "own", .kind = ColumnKind::number},
      {.key = std::string("rent_reserved_") + unit, .heading = "rent, reserved", .kind = ColumnKind::number},
      {.key = std::string("rent_used_") + unit, .heading = "rent, used hours", .kind = ColumnKind::number}};
  if (b.api) table.columns.push_back({.key = std::string("api_") + unit, .heading = "API", .kind = ColumnKind::number});
  for (const double u : {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}) {
    const auto cell = [&](const CostInputs& in, bool paid) {
      const double usd = at_utilisation(in, u, paid);
      return Cell(usd).shown_as(money(usd));
    };
    std::vector<Cell> row = {Cell(u).shown_as(percent(u, 0)), cell(b.own.cost_case.inputs, true),
                             cell(b.rent.cost_case.inputs, true), cell(b.rent.cost_case.inputs, false)};
    if (b.api) row.push_back(cell(b.api->cost_case.inputs, false));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Document break_even_page(const BreakEvenCost& b) {
  Document page;
  page.title = b.title;
  const auto u = break_even_utilisation(b.own.cost_case.inputs, b.rent.cost_case.inputs);
  const auto years = payback_years(b.own.cost_case.inputs, b.rent.cost_case.inputs);
  page.blocks.emplace_back(Paragraph{
      u ? fmt::format("Owning beats renting by the hour if there is work more than {} of the time.", percent(*u, 0))
        : "Renting by the hour is cheaper than owning at any utilisation.",
      Emphasis::strong});
  add_warnings(page, b.own.cost_case.warnings);
  add_warnings(page, b.rent.cost_case.warnings);
  Table table = two_columns("Where they break even");
  const auto add = [&](const char* what, const std::string& value) { table.rows.push_back({Cell(what), Cell(value)}); };
  add("own, GPU-hour", money(b.own.out.usd_per_gpu_hour, 4));
  add("rent, GPU-hour", money(b.rent.out.usd_per_gpu_hour, 4));
  add("own beats rent (used hours)", u ? fmt::format("above {} utilisation", percent(*u, 0)) : "never");
  add("hardware is paid back", years ? fmt::format("after {:.1f} years against reserved rent", *years) : "never");
  if (b.api) {
    add("API, 1M output tokens, everything on them", money(b.api->out.usd_per_million_tokens));
    add("own beats API", volume_text(volume(b.own, b)));
    add("rent (reserved) beats API", volume_text(volume(b.rent, b)));
  }
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(break_even_table(b));
  add_assumptions(page, b.own.cost_case);
  return page;
}

Json break_even_json(const BreakEvenCost& b) {
  const auto v = volume(b.own, b);
  const auto rent = volume(b.rent, b);
  const auto tokens = [](const std::optional<BreakEvenVolume>& x) {
    return x && x->fits ? Json(x->tokens_per_month) : Json();
  };
  return Json::object()
      .set("schema", kCostSchema)
      .set("kind", "break-even")
      .set("title", b.title)
      .set("own_usd_per_gpu_hour", b.own.out.usd_per_gpu_hour)
      .set("rent_usd_per_gpu_hour", b.rent.out.usd_per_gpu_hour)
      .set("api_usd_per_million_tokens", b.api ? Json(b.api->out.usd_per_million_tokens) : Json())
      .set("own_over_rent_utilization",
           optional_json(break_even_utilisation(b.own.cost_case.inputs, b.rent.cost_case.inputs)))
      .set("payback_years", optional_json(payback_years(b.own.cost_case.inputs, b.rent.cost_case.inputs)))
      .set("own_over_api_tokens_per_month", tokens(v))
      .set("rent_over_api_tokens_per_month", tokens(rent))
      .set("curve", to_json(break_even_table(b)))
      .set("assumptions", assumptions_json(b.own.cost_case))
      .set("warnings", texts_json(b.own.cost_case.warnings));
}

std::string break_even_html(const BreakEvenCost& b) {
  HtmlPage page(b.title);
  page.add_figure(curve_svg(utilisation_chart(b)));
  if (knows_tokens(b)) page.add_figure(curve_svg(volume_chart(b)));
  page.add(break_even_page(b));
  return page.finish();
}

Table power_cap_table(const PowerCapSweep& s) {
  Table table;
  table.title = "By power cap of each device";
  table.columns = {{.key = "cap", .unit = "w", .heading = "cap", .kind = ColumnKind::number},
                   {.key = "tokens_per_s", .heading = "tok/s", .kind = ColumnKind::number},
                   {.key = "loss", .heading = "loss", .kind = ColumnKind::number},
                   {.key = "device_power", .unit = "w", .heading = "device", .kind = ColumnKind::number},
                   {.key = "utility_power", .unit = "w", .heading = "at the meter", .kind = ColumnKind::number},
                   {.key = "tokens_per_joule", .heading = "tokens/J", .kind = ColumnKind::number},
                   {.key = "usd_per_million_tokens", .heading = "1M tokens", .kind = ColumnKind::number},
                   {.key = "best", .heading = ""}};
  const PowerCapPoint& joule = best(s, &PowerCapPoint::tokens_per_joule, false);
  const PowerCapPoint& dollar = best(s, &PowerCapPoint::usd_per_million, true);
  const double full = s.points.back().tokens_per_s;
  for (const PowerCapPoint& p : s.points) {
    std::string words;
    if (&p == &joule) words = "most per joule";
    if (&p == &dollar) words += words.empty() ? "most per dollar" : ", most per dollar";
    const double loss = 1 - p.tokens_per_s / full;
    table.rows.push_back({Cell(Watts(p.cap_w)), Cell(p.tokens_per_s), Cell(loss).shown_as(percent(loss, 1)),
                          Cell(Watts(p.device_w)), Cell(Watts(p.utility_w)), Cell(p.tokens_per_joule),
                          Cell(p.usd_per_million).shown_as(money(p.usd_per_million)),
                          Cell(words).with(Emphasis::good)});
  }
  return table;
}

Document power_cap_page(const PowerCapSweep& s) {
  Document page;
  page.title = s.title;
  const PowerCapPoint& joule = best(s, &PowerCapPoint::tokens_per_joule, false);
  const PowerCapPoint& dollar = best(s, &PowerCapPoint::usd_per_million, true);
  const PowerCapPoint& full = s.points.back();
  const std::string_view edge = &joule == &s.points.front() ? ", the lowest cap swept" : "";
  page.blocks.emplace_back(Paragraph{
      fmt::format(
          "Most tokens per joule at {}{}: {} less throughput, {} less energy a token. Most per dollar at {}: {} "
          "for a million tokens.",
          format(Watts(joule.cap_w)), edge, percent(1 - joule.tokens_per_s / full.tokens_per_s),
          percent(1 - full.tokens_per_joule / joule.tokens_per_joule), format(Watts(dollar.cap_w)),
          money(dollar.usd_per_million)),
      Emphasis::strong});
  page.blocks.emplace_back(power_cap_table(s));
  add_assumptions(page, s.cost_case);
  return page;
}

Json power_cap_json(const PowerCapSweep& s) {
  return Json::object()
      .set("schema", kCostSchema)
      .set("kind", "power-cap")
      .set("title", s.title)
      .set("gpus", s.gpus)
      .set("best_tokens_per_joule_cap_w", best(s, &PowerCapPoint::tokens_per_joule, false).cap_w)
      .set("best_tokens_per_dollar_cap_w", best(s, &PowerCapPoint::usd_per_million, true).cap_w)
      .set("points", to_json(power_cap_table(s)))
      .set("assumptions", assumptions_json(s.cost_case));
}

std::string power_cap_html(const PowerCapSweep& s) {
  HtmlPage page(s.title);
  CurveChart chart;
  chart.title = "Throughput and efficiency by power cap";
  chart.subtitle = s.title;
  chart.x_axis = "power cap of each device, W";
  chart.y_axis = "relative to no cap, %";
  chart.from_zero = false;
  const PowerCapPoint& full = s.points.back();
  const auto series = [&](std::string name, auto&& value) {
    CurveSeries c{.name = std::move(name), .points = {}};
    for (const PowerCapPoint& p : s.points) {
      c.points.push_back({p.cap_w, 100 * value(p) / value(full),
                          fmt::format("{}: {}", format(Watts(p.cap_w)), format_number(value(p)))});
    }
    chart.series.push_back(std::move(c));
  };
  series("tokens/s", [](const PowerCapPoint& p) { return p.tokens_per_s; });
  series("watts at the meter", [](const PowerCapPoint& p) { return p.utility_w; });
  series("tokens per joule", [](const PowerCapPoint& p) { return p.tokens_per_joule; });
  series("tokens per dollar", [](const PowerCapPoint& p) { return 1 / p.usd_per_million; });
  const PowerCapPoint& joule = best(s, &PowerCapPoint::tokens_per_joule, false);
  chart.notes.push_back({joule.cap_w, 100 * joule.tokens_per_joule / full.tokens_per_joule, "best per joule"});
  page.add_figure(curve_svg(chart));
  page.add(power_cap_page(s));
  return page.finish();
}

namespace {

Json tornado_json(const RiskCost& r) {
  Json list = Json::array();
  for (const TornadoLine& l : r.lines) {
    list.push(Json::object()
                  .set("input", l.name)
                  .set("low_input", l.low_input)
                  .set("mid_input", l.mid_input)
                  .set("high_input", l.high_input)
                  .set("cost_at_low", l.at_low)
                  .set("cost_at_high", l.at_high));
  }
  return list;
}

}  // namespace

Table tornado_table(const RiskCost& r) {
  Table table;
  table.title = "What moves the answer most, each alone";
  table.columns = {{.key = "input", .heading = "input"},
                   {.key = "low_input", .heading = "low", .kind = ColumnKind::number},
                   {.key = "mid_input", .heading = "middle", .kind = ColumnKind::number},
                   {.key = "high_input", .heading = "high", .kind = ColumnKind::number},
                   {.key = "cost_at_low", .heading = "cost at low", .kind = ColumnKind::number},
                   {.key = "cost_at_high", .heading = "cost at high", .kind = ColumnKind::number},
                   {.key = "bar", .heading = ""}};
  const double widest = r.lines.empty() ? 1 : std::abs(r.lines[0].at_high - r.lines[0].at_low);
  for (const TornadoLine& l : r.lines) {
    table.rows.push_back({Cell(l.name), Cell(l.low_input), Cell(l.mid_input), Cell(l.high_input),
                          Cell(l.at_low).shown_as(money(l.at_low)), Cell(l.at_high).shown_as(money(l.at_high)),
                          Cell(bar(std::abs(l.at_high - l.at_low) / widest))});
  }
  return table;
}

Document risk_page(const RiskCost& r) {
  Document page;
  page.title = r.title;
  page.blocks.emplace_back(
      Paragraph{fmt::format("{} {}, between {} and {} in 80 % of {} draws.", money(r.risk.cost.mid),
                            scenario_unit(r.scenario).substr(2), money(r.risk.cost.low), money(r.risk.cost.high),
                            format_number(r.risk.draws, 9)),
                Emphasis::strong});
  page.blocks.emplace_back(tornado_table(r));
  page.blocks.emplace_back(Paragraph{
      "Low and high are what a tenth of the draws fall below and above. All inputs vary at once in the draws, "
      "independently.",
      Emphasis::faint});
  add_assumptions(page, r.cost_case);
  return page;
}

Json risk_json(const RiskCost& r) {
  const bool tokens = std::isfinite(r.scenario.cost.output_tokens_per_s);
  return Json::object()
      .set("schema", kCostSchema)
      .set("kind", "risk")
      .set("title", r.title)
      .set("mode", name(r.scenario.cost.mode))
      .set(tokens ? "usd_per_million_tokens" : "usd_per_useful_gpu_hour", interval_json(r.risk.cost))
      .set("mean", r.risk.mean)
      .set("middle_of_inputs", r.middle)
      .set("draws", r.risk.draws)
      .set("tornado", tornado_json(r))
      .set("assumptions", assumptions_json(r.cost_case));
}

std::string risk_html(const RiskCost& r) {
  HtmlPage page(r.title);
  Tornado t;
  t.title = "What moves the answer most";
  t.subtitle = r.title;
  t.axis = std::string(scenario_unit(r.scenario));
  t.middle = r.middle;
  for (const TornadoLine& l : r.lines) {
    t.bars.push_back({l.name, l.at_low, l.at_high, format_number(l.low_input), format_number(l.high_input)});
  }
  page.add_figure(tornado_svg(t));
  page.add(risk_page(r));
  return page.finish();
}

}  // namespace ridge::report
