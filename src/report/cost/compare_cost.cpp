// Ways to pay side by side, and devices by what a dollar buys.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/cost/assumptions.hpp"
#include "report/cost/decision_report.hpp"
#include "report/cost/report.hpp"
#include "report/estimate/inference_report.hpp"
#include "report/page/html.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

Cell dollars_cell(double usd, int digits = 3) {
  return std::isnan(usd) ? Cell("unknown").with(Emphasis::faint) : Cell(usd).shown_as(money(usd, digits));
}

Table limits(const CompareCost& c) {
  Table table;
  table.title = "Differences other than price";
  table.columns = {{.key = "what", .heading = ""}};
  for (const DeploymentKind& d : c.deployments) {
    table.columns.push_back({.key = d.id, .heading = d.name, .overflow = Overflow::wrap});
  }
  const std::pair<const char*, std::string DeploymentKind::*> rows[] = {
      {"latency", &DeploymentKind::latency},       {"model size", &DeploymentKind::model_size},
      {"rate", &DeploymentKind::rate_limit},       {"context", &DeploymentKind::context},
      {"cold start", &DeploymentKind::cold_start}, {"can be changed", &DeploymentKind::customisation},
      {"privacy", &DeploymentKind::privacy}};
  for (const auto& [what, field] : rows) {
    std::vector<Cell> row = {Cell(what)};
    for (const DeploymentKind& d : c.deployments) row.emplace_back(d.*field);
    table.rows.push_back(std::move(row));
  }
  return table;
}

const CostWay* cheapest(const CompareCost& c) {
  const CostWay* best = nullptr;
  const auto cost = [](const CostWay& w) {
    const CostOutputs& out = w.answer->out;
    return std::isfinite(out.usd_per_million_tokens) ? out.usd_per_million_tokens : out.usd_per_useful_gpu_hour;
  };
  for (const CostWay& way : c.ways) {
    if (!way.answer || !std::isfinite(cost(way))) continue;
    if (best == nullptr || cost(way) < cost(*best)) best = &way;
  }
  return best;
}

}  // namespace

Table compare_cost_table(const CompareCost& c) {
  Table table;
  table.title = "Ways to pay";
  table.columns = {{.key = "way", .heading = "way"},
                   {.key = "usd_per_gpu_hour", .heading = "GPU-hour", .kind = ColumnKind::number},
                   {.key = "usd_per_useful_gpu_hour", .heading = "useful hour", .kind = ColumnKind::number},
                   {.key = "usd_per_million_tokens", .heading = "1M tokens", .kind = ColumnKind::number},
                   {.key = "usd_per_month", .heading = "a month, all GPUs", .kind = ColumnKind::number},
                   {.key = "note", .heading = "", .overflow = Overflow::wrap}};
  const CostWay* best = cheapest(c);
  for (const CostWay& way : c.ways) {
    if (!way.answer) {
      table.rows.push_back({Cell(way.name), Cell(), Cell(), dollars_cell(kUnknown), Cell(), Cell(way.unknown)});
      continue;
    }
    const CostOutputs& out = way.answer->out;
    const bool api = way.answer->cost_case.inputs.mode == CostMode::api;
    table.rows.push_back({Cell(way.name), api ? Cell() : dollars_cell(out.usd_per_gpu_hour),
                          api ? Cell() : dollars_cell(out.usd_per_useful_gpu_hour),
                          dollars_cell(out.usd_per_million_tokens), dollars_cell(out.usd_per_month),
                          Cell(&way == best ? "cheapest" : "").with(Emphasis::good)});
  }
  return table;
}

Document compare_cost_page(const CompareCost& c, const Catalogue& catalogue) {
  Document page;
  page.title = c.title;
  if (const CostWay* best = cheapest(c)) {
    const CostOutputs& out = best->answer->out;
    std::string text =
        std::isfinite(out.usd_per_million_tokens)
            ? fmt::format("Cheapest: {}, {} for a million tokens.", best->name, money(out.usd_per_million_tokens))
            : fmt::format("Cheapest: {}, {} for a useful GPU-hour.", best->name, money(out.usd_per_useful_gpu_hour));
    if (const std::string owner = owner_text(best->answer->cost_case); !owner.empty()) text += " " + owner;
    page.blocks.emplace_back(Paragraph{text, Emphasis::strong});
  }
  page.blocks.emplace_back(compare_cost_table(c));
  page.blocks.emplace_back(limits(c));
  std::string sources;
  for (const DeploymentKind& d : c.deployments) {
    const std::string& title = catalogue.source(d.source).title;
    if (sources.find(title) == std::string::npos) sources += (sources.empty() ? "" : "; ") + title;
  }
  page.blocks.emplace_back(Paragraph{"Limits from: " + sources + ".", Emphasis::faint});
  std::vector<std::string> warnings;
  std::vector<Weighed> assumed;
  for (const CostWay& way : c.ways) {
    if (!way.answer) continue;
    for (const std::string& w : way.answer->cost_case.warnings) {
      if (std::find(warnings.begin(), warnings.end(), w) == warnings.end()) warnings.push_back(w);
    }
    join_weighed(assumed, weighed(way.answer->cost_case));
  }
  add_warnings(page, warnings);
  if (!assumed.empty()) page.blocks.emplace_back(assumptions_table(assumed));
  return page;
}

Json compare_cost_json(const CompareCost& c, const Catalogue& catalogue) {
  Json ways = Json::array();
  for (const CostWay& way : c.ways) {
    Json one = Json::object().set("way", way.name);
    one.set("cost", way.answer ? cost_json(*way.answer, catalogue) : Json());
    ways.push(one.set("unknown", way.unknown.empty() ? Json() : Json(way.unknown)));
  }
  Json limits_list = Json::array();
  for (const DeploymentKind& d : c.deployments) {
    limits_list.push(Json::object()
                         .set("deployment", d.id)
                         .set("latency", d.latency)
                         .set("model_size", d.model_size)
                         .set("rate_limit", d.rate_limit)
                         .set("context", d.context)
                         .set("cold_start", d.cold_start)
                         .set("customisation", d.customisation)
                         .set("privacy", d.privacy)
                         .set("source", catalogue.source(d.source).id));
  }
  const CostWay* best = cheapest(c);
  return Json::object()
      .set("schema", kCostSchema)
      .set("kind", "compare")
      .set("title", c.title)
      .set("cheapest", best == nullptr ? Json() : Json(best->name))
      .set("ways", std::move(ways))
      .set("deployments", std::move(limits_list));
}

std::string compare_cost_html(const CompareCost& c, const Catalogue& catalogue) {
  HtmlPage page(c.title);
  page.add(compare_cost_page(c, catalogue));
  for (const CostWay& way : c.ways) {
    if (way.answer && way.answer->cost_case.inputs.mode != CostMode::api) {
      Waterfall w = cost_waterfall(*way.answer);
      w.title = way.name;
      page.add_figure(waterfall_svg(w));
    }
  }
  return page.finish();
}

Table devices_table(const DevicesCost& d) {
  Table table;
  table.title = "What a dollar buys";
  table.columns = {{.key = "device", .heading = "device"},
                   {.key = "buy_usd", .heading = "buy", .kind = ColumnKind::number},
                   {.key = "usd_per_pflops", .heading = "$/dense PFLOP/s", .kind = ColumnKind::number},
                   {.key = "rent_usd", .heading = "rent/h", .kind = ColumnKind::number},
                   {.key = "offers", .heading = "offers", .kind = ColumnKind::number},
                   {.key = "spot_usd", .heading = "spot/h", .kind = ColumnKind::number},
                   {.key = "usd_per_gb_hour", .heading = "$/GB-hour", .kind = ColumnKind::number}};
  if (d.with_tokens) {
    table.columns.push_back({.key = "tokens_per_s", .heading = "tok/s/GPU", .kind = ColumnKind::number});
    table.columns.push_back({.key = "usd_per_million_tokens", .heading = "1M tokens", .kind = ColumnKind::number});
    table.columns.push_back({.key = "note", .heading = "", .overflow = Overflow::truncate});
  }
  for (const DevicePrice& p : d.prices) {
    std::vector<Cell> row = {Cell(p.device), dollars_cell(p.buy_usd),  Cell(p.usd_per_pflops), dollars_cell(p.rent_usd),
                             Cell(p.offers), dollars_cell(p.spot_usd), Cell(p.usd_per_gb_hour)};
    if (d.with_tokens) {
      row.emplace_back(p.tokens_per_s);
      row.push_back(dollars_cell(p.usd_per_million_tokens));
      row.emplace_back(p.note);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Document devices_page(const DevicesCost& d) {
  Document page;
  page.title = d.title;
  Table best;
  best.title = "Winners";
  best.columns = {{.key = "scenario", .heading = "for"},
                  {.key = "device", .heading = "device"},
                  {.key = "value", .heading = "value", .kind = ColumnKind::number},
                  {.key = "unit", .heading = ""},
                  {.key = "runner_up", .heading = "next"},
                  {.key = "margin", .heading = "by", .kind = ColumnKind::number}};
  for (const ScenarioWinner& w : winners(d.prices)) {
    best.rows.push_back({Cell(w.scenario), Cell(w.device), Cell(w.value), Cell(w.unit), Cell(w.runner_up),
                         Cell(w.margin).shown_as(std::isnan(w.margin) ? "–" : fmt::format("{:.2f}×", w.margin))});
  }
  if (d.with_tokens && !d.prices.empty() && std::isfinite(d.prices.front().usd_per_million_tokens)) {
    const DevicePrice& first = d.prices.front();
    page.blocks.emplace_back(Paragraph{fmt::format("Cheapest: {}, {} for a million tokens: {}.", first.device,
                                                   money(first.usd_per_million_tokens), first.note),
                                       Emphasis::strong});
  }
  page.blocks.emplace_back(std::move(best));
  page.blocks.emplace_back(devices_table(d));
  page.blocks.emplace_back(
      Paragraph{"Rents are medians of what the catalogue lists on demand; dense peaks only, never sparse ones. A price "
                "that nobody published is unknown.",
                Emphasis::faint});
  add_assumptions(page, d.assumptions);
  return page;
}

Json devices_json(const DevicesCost& d) {
  Json list = Json::array();
  for (const DevicePrice& p : d.prices) {
    list.push(Json::object()
                  .set("device", p.device)
                  .set("buy_usd", p.buy_usd)
                  .set("buy_date", p.buy_date.empty() ? Json() : Json(p.buy_date))
                  .set("usd_per_pflops", p.usd_per_pflops)
                  .set("rent_usd_per_gpu_hour", p.rent_usd)
                  .set("lowest_rent_usd_per_gpu_hour", p.rent_low_usd)
                  .set("spot_usd_per_gpu_hour", p.spot_usd)
                  .set("offers", p.offers)
                  .set("usd_per_gb_hour", p.usd_per_gb_hour)
                  .set("tokens_per_s", p.tokens_per_s)
                  .set("usd_per_million_tokens", p.usd_per_million_tokens)
                  .set("spot_usd_per_million_tokens", p.spot_usd_per_million_tokens)
                  .set("joules_per_token", p.joules_per_token)
                  .set("note", p.note.empty() ? Json() : Json(p.note)));
  }
  Json best = Json::array();
  for (const ScenarioWinner& w : winners(d.prices)) {
    best.push(Json::object()
                  .set("scenario", w.scenario)
                  .set("device", w.device)
                  .set("value", w.value)
                  .set("unit", w.unit)
                  .set("runner_up", w.runner_up.empty() ? Json() : Json(w.runner_up))
                  .set("margin", w.margin)
                  .set("how", w.how.empty() ? Json() : Json(w.how)));
  }
  return Json::object()
      .set("schema", kCostSchema)
      .set("kind", "devices")
      .set("title", d.title)
      .set("devices", std::move(list))
      .set("winners", std::move(best))
      .set("assumptions", texts_json(d.assumptions));
}

}  // namespace ridge::report
