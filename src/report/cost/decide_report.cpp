// ridge cost decide: perf per TCO, fair prices, when and how to buy, where to put it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart/money_charts.hpp"
#include "report/cost/decision_report.hpp"
#include "report/cost/report.hpp"
#include "report/page/html.hpp"
#include "report/page/page.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

Table tco_table(const PerfPerTco& p) {
  Table table;
  table.title = "A useful GPU-hour, line by line";
  table.columns = {{.key = "line", .heading = "line"},
                   {.key = "a", .heading = p.a_name, .kind = ColumnKind::number},
                   {.key = "b", .heading = p.b_name, .kind = ColumnKind::number},
                   {.key = "ratio", .heading = "ratio", .kind = ColumnKind::number}};
  const auto add = [&](std::string_view line, double a, double b) {
    table.rows.push_back(
        {Cell(line), Cell(a).shown_as(money(a)), Cell(b).shown_as(money(b)), b != 0 ? Cell(a / b) : Cell()});
  };
  for (std::size_t i = 0; i < kCostLines; ++i) {
    const double a = p.a.out.per_gpu_hour[i];
    const double b = p.b.out.per_gpu_hour[i];
    if (a != 0 || b != 0) add(name(static_cast<CostLine>(i)), a, b);
  }
  if (std::isfinite(p.a.out.usd_per_million_tokens) && std::isfinite(p.b.out.usd_per_million_tokens)) {
    add("1M tokens", p.a.out.usd_per_million_tokens, p.b.out.usd_per_million_tokens);
  }
  add("useful GPU-hour", p.a.out.usd_per_useful_gpu_hour, p.b.out.usd_per_useful_gpu_hour);
  add("hardware, all in, per GPU", p.a.out.capex_usd_per_gpu, p.b.out.capex_usd_per_gpu);
  const auto watts = [](double w) { return Cell(Watts(w)); };
  table.rows.push_back({Cell("power at the meter, per GPU"), watts(p.a.out.utility_w_per_gpu),
                        watts(p.b.out.utility_w_per_gpu), Cell(p.a.out.utility_w_per_gpu / p.b.out.utility_w_per_gpu)});
  return table;
}

std::string verdict(const PerfPerTco& p) {
  std::string text = fmt::format("{} has to be {:.2f} times as fast as {} for a token to cost the same.", p.a_name,
                                 p.required, p.b_name);
  if (std::isfinite(p.speedup)) {
    const double advantage = p.speedup / p.required;
    text += fmt::format(" It is {:.2f} times as fast: {:.0f} % {} work for a dollar.", p.speedup,
                        100 * std::abs(advantage - 1), advantage >= 1 ? "more" : "less");
    if (!p.a_how.empty()) text += fmt::format(" {} wins: {} against {}.", p.winner(), p.a_how, p.b_how);
  }
  return text;
}

Table fair_table(const DecideCost& d) {
  Table table;
  table.title = d.rent ? fmt::format("Fair price of a cloud that runs slower, against {} for a GPU-hour",
                                     money(d.rent->out.usd_per_gpu_hour))
                       : "Fair price of a cloud that runs slower";
  table.columns = {{.key = "slower", .heading = "slower by", .kind = ColumnKind::number},
                   {.key = "fair_usd_per_gpu_hour", .heading = "GPU-hour", .kind = ColumnKind::number}};
  for (const auto& [slower, usd] : d.fair) {
    table.rows.push_back({Cell(slower).shown_as(percent(slower)), Cell(usd).shown_as(money(usd))});
  }
  return table;
}

Table regions_table(const DecideCost& d) {
  Table table;
  table.title = "An owned GPU-hour by region, from the cheapest";
  table.columns = {{.key = "region", .heading = "region"},
                   {.key = "usd_per_gpu_hour", .heading = "GPU-hour", .kind = ColumnKind::number},
                   {.key = "adder", .heading = "against here", .kind = ColumnKind::number}};
  for (const auto& [region, usd] : d.regions) {
    const double adder = usd - d.own.out.usd_per_gpu_hour;
    table.rows.push_back({Cell(region), Cell(usd).shown_as(money(usd)),
                          Cell(adder).shown_as(fmt::format("{}{}", adder >= 0 ? "+" : "", money(adder, 2)))});
  }
  return table;
}

}  // namespace

Table decide_table(const DecideCost& d) {
  Table table;
  const bool known = d.decline_low == d.decline_high;
  table.title =
      fmt::format("One GPU for {:g} years in today's dollars, prices moving by {:+.0f} %{} a year", d.horizon_years,
                  -100 * d.decline + 0.0,
                  known ? "" : fmt::format(" ({:+.0f} to {:+.0f} %)", -100 * d.decline_high, -100 * d.decline_low));
  table.columns = {{.key = "way", .heading = "way"},
                   {.key = "present_value_usd", .heading = "in all", .kind = ColumnKind::number},
                   {.key = "usd_per_gpu_hour", .heading = "GPU-hour", .kind = ColumnKind::number},
                   {.key = "paid_today_usd", .heading = "paid today", .kind = ColumnKind::number}};
  const double gpus = d.own.cost_case.inputs.gpus;
  if (gpus > 1) {
    table.columns.push_back({.key = "all_gpus_present_value_usd",
                             .heading = fmt::format("all {} GPUs", format_number(gpus, 7)),
                             .kind = ColumnKind::number});
  }
  for (const Acquisition& way : d.ways) {
    const std::string in_all =
        known ? money(way.usd) : fmt::format("{} ({}–{})", money(way.usd), money(way.usd_low), money(way.usd_high));
    table.rows.push_back({Cell(way.name), Cell(way.usd).shown_as(in_all),
                          Cell(way.usd_per_gpu_hour).shown_as(money(way.usd_per_gpu_hour)),
                          Cell(way.paid_today).shown_as(money(way.paid_today))});
    if (gpus > 1) table.rows.back().push_back(Cell(way.usd * gpus).shown_as(money(way.usd * gpus)));
  }
  return table;
}

Document decide_page(const DecideCost& d) {
  Document page;
  page.title = d.title;
  if (d.against) page.blocks.emplace_back(Paragraph{verdict(*d.against), Emphasis::strong});
  if (!d.ways.empty()) {
    const Acquisition& best = d.ways.front();
    const double gpus = d.own.cost_case.inputs.gpus;
    std::string text = fmt::format("Cheapest way to have {} for {:g} years: {}",
                                   gpus > 1 ? format_number(gpus, 7) + " GPUs" : "one", d.horizon_years, best.name);
    if (gpus > 1) text += fmt::format(", {} in today's dollars", money(best.usd * gpus));
    if (d.ways.size() > 1) {
      text += fmt::format("; {} costs {:.0f} % more", d.ways[1].name, 100 * (d.ways[1].usd / best.usd - 1));
    }
    page.blocks.emplace_back(Paragraph{text + ". " + owner_text(d.own.cost_case), Emphasis::strong});
  }
  add_warnings(page, d.own.cost_case.warnings);
  if (d.against) page.blocks.emplace_back(tco_table(*d.against));
  if (!d.ways.empty()) {
    page.blocks.emplace_back(decide_table(d));
    page.blocks.emplace_back(
        Paragraph{"Hardware is sold at the end for the price of that day less what its age has taken; contracts are "
                  "renewed at the price of that day.",
                  Emphasis::faint});
  }
  if (!d.fair.empty()) page.blocks.emplace_back(fair_table(d));
  if (!d.regions.empty()) {
    Table regions = regions_table(d);
    constexpr std::size_t kCheapest = 10, kMostExpensive = 4;
    if (regions.rows.size() > kCheapest + kMostExpensive) {
      const std::size_t between = regions.rows.size() - kCheapest - kMostExpensive;
      regions.title =
          fmt::format("An owned GPU-hour by region: {} cheapest and {} most expensive of {} (⟦json⟧ has all)",
                      kCheapest, kMostExpensive, regions.rows.size());
      const auto from = regions.rows.begin() + kCheapest;
      regions.rows.erase(from, from + static_cast<std::ptrdiff_t>(between));
    }
    page.blocks.emplace_back(std::move(regions));
    if (d.forbidden_regions > 0) {
      page.blocks.emplace_back(Paragraph{
          fmt::format("{} regions where this device needs an export licence are left out.", d.forbidden_regions),
          Emphasis::faint});
    }
  }
  if (std::isfinite(d.liquid_saving)) {
    page.blocks.emplace_back(Paragraph{
        fmt::format(
            "Liquid cooling at a PUE of {:.2f} saves {} for a GPU-hour: over the life of the hardware it may cost "
            "up to {} a GPU more to install.",
            d.liquid_pue, money(d.liquid_saving), money(d.liquid_worth)),
        Emphasis::none});
  }
  add_assumptions(page, d.own.cost_case);
  return page;
}

Json decide_json(const DecideCost& d) {
  Json json = Json::object().set("schema", kCostSchema).set("kind", "decide").set("title", d.title);
  json.set("usd_per_gpu_hour", d.own.out.usd_per_gpu_hour);
  Json against;
  if (d.against) {
    Json lines = Json::array();
    for (std::size_t i = 0; i < kCostLines; ++i) {
      const double a = d.against->a.out.per_gpu_hour[i];
      const double b = d.against->b.out.per_gpu_hour[i];
      if (a == 0 && b == 0) continue;
      lines.push(Json::object()
                     .set("line", name(static_cast<CostLine>(i)))
                     .set("usd_per_gpu_hour", a)
                     .set("against_usd_per_gpu_hour", b));
    }
    against = Json::object()
                  .set("device", d.against->a_name)
                  .set("against", d.against->b_name)
                  .set("tco_ratio", d.against->required)
                  .set("capex_ratio", d.against->a.out.capex_usd_per_gpu / d.against->b.out.capex_usd_per_gpu)
                  .set("required_speedup", d.against->required)
                  .set("speedup", d.against->speedup)
                  .set("perf_per_tco", d.against->speedup / d.against->required)
                  .set("winner", d.against->winner().empty() ? Json() : Json(d.against->winner()))
                  .set("lines", std::move(lines));
  }
  json.set("against", std::move(against));
  json.set("horizon_s", d.horizon_years * 31'536'000).set("price_decline_per_year", d.decline);
  json.set("price_decline_low_per_year", d.decline_low).set("price_decline_high_per_year", d.decline_high);
  json.set("ways", to_json(decide_table(d)));
  json.set("fair_prices", to_json(fair_table(d)));
  json.set("regions", to_json(regions_table(d)));
  json.set("liquid_cooling", std::isfinite(d.liquid_saving) ? Json::object()
                                                                  .set("pue", d.liquid_pue)
                                                                  .set("saving_usd_per_gpu_hour", d.liquid_saving)
                                                                  .set("worth_usd_per_gpu", d.liquid_worth)
                                                            : Json());
  return json.set("assumptions", assumptions_json(d.own.cost_case))
      .set("warnings", texts_json(d.own.cost_case.warnings));
}

std::string decide_html(const DecideCost& d) {
  HtmlPage page(d.title);
  const auto figure = [&](const CostAnswer& a, const std::string& title) {
    Waterfall w = cost_waterfall(a);
    w.title = title;
    page.add_figure(waterfall_svg(w));
  };
  if (d.against) {
    figure(d.against->a, d.against->a_name);
    figure(d.against->b, d.against->b_name);
  } else {
    figure(d.own, d.title);
  }
  page.add(decide_page(d));
  return page.finish();
}

}  // namespace ridge::report
