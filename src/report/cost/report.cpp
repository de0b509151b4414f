#include "report/cost/report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/cost/assumptions.hpp"
#include "report/estimate/inference_report.hpp"
#include "report/page/html.hpp"
#include "report/page/page.hpp"
#include "ridge/base/change.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

std::string_view token_word(const CostAnswer& a) {
  return a.training ? "trained" : "output";
}

bool is_line(const CostAnswer& a, std::size_t i) {
  return a.out.per_gpu_hour[i] != 0;
}

double per_million(const CostAnswer& a, double usd_per_useful_hour) {
  const CostInputs& in = a.cost_case.inputs;
  return usd_per_million(usd_per_useful_hour, in.gpus, in.output_tokens_per_s);
}

/// "0.235 (0.200–0.290)".
std::string with_interval(const CostAnswer& a) {
  const std::string middle = money(a.out.usd_per_million_tokens);
  if (!a.usd_per_million_tokens) return middle;
  return fmt::format("{} ({}–{})", middle, money(a.usd_per_million_tokens->low), money(a.usd_per_million_tokens->high));
}

std::string headline(const CostAnswer& a) {
  const CostInputs& in = a.cost_case.inputs;
  std::string text;
  if (in.mode != CostMode::api) {
    text = fmt::format("{} for a GPU-hour", money(a.out.usd_per_gpu_hour, 4));
    if (a.out.usd_per_useful_gpu_hour > a.out.usd_per_gpu_hour * 1.0005) {
      text += fmt::format(", {} for one that does useful work", money(a.out.usd_per_useful_gpu_hour, 4));
    }
    text += fmt::format("; {} a month for {} GPU{}.", money(a.out.usd_per_month), format_number(in.gpus, 7),
                        in.gpus == 1 ? "" : "s");
  }
  if (std::isfinite(a.out.usd_per_million_tokens)) {
    text += fmt::format("{}{} for a million {} tokens.", text.empty() ? "" : " ", with_interval(a), token_word(a));
  }
  if (std::isfinite(a.run_usd)) {
    text += fmt::format(" {} tokens take {} and {}.", format_count(a.run_tokens), format(Seconds(a.run_days * 86400)),
                        money(a.run_usd));
  }
  return text;
}

Table figures(const CostAnswer& a) {
  const CostInputs& in = a.cost_case.inputs;
  const CostOutputs& out = a.out;
  Table table = two_columns("Cost");
  const auto add = [&](std::string_view what, double usd, int digits = 3) {
    if (!std::isnan(usd)) table.rows.push_back({Cell(what), Cell(usd).shown_as(money(usd, digits))});
  };
  if (in.mode == CostMode::own) add("hardware, per GPU", out.capex_usd_per_gpu);
  if (in.mode != CostMode::api) {
    add("GPU-hour, paid", out.usd_per_gpu_hour, 4);
    add("GPU-hour, useful", out.usd_per_useful_gpu_hour, 4);
  }
  add(in.mode == CostMode::api ? "month" : "month, all GPUs", out.usd_per_month);
  table.rows.push_back({Cell(fmt::format("1M {} tokens, everything on them", token_word(a))), Cell(with_interval(a))});
  if (in.input_tokens_per_s > 0) {
    add("1M tokens in and out", out.usd_per_million_total_tokens);
    const char* how = in.mode == CostMode::api ? "" : ", by time";
    add(std::string("1M input tokens") + how, out.usd_per_million_input_tokens);
    add(std::string("1M output tokens") + how, out.usd_per_million_output_tokens);
  }
  add("request", out.usd_per_request);
  add("run", a.run_usd);
  return table;
}

Table energy(const CostAnswer& a) {
  Table table = two_columns("Energy at the meter");
  const CostOutputs& out = a.out;
  const auto add = [&](std::string_view what, const std::string& value) {
    table.rows.push_back({Cell(what), Cell(value)});
  };
  if (std::isfinite(out.utility_w_per_gpu))
    add("power, per GPU, everything included", format(Watts(out.utility_w_per_gpu)));
  if (std::isfinite(out.joules_per_token)) {
    add(fmt::format("energy per {} token", token_word(a)), format_number(out.joules_per_token) + " J");
    const Footprint each = footprint(out.joules_per_token * 1e6, a.cost_case.inputs.power.pue, a.cost_case.grid);
    if (std::isfinite(each.co2_kg)) add("CO2 per 1M tokens", format_number(each.co2_kg * 1000) + " g");
    if (std::isfinite(each.water_l)) add("water per 1M tokens", format_number(each.water_l) + " L");
  }
  if (a.run_footprint && std::isfinite(a.run_footprint->kwh)) {
    const Footprint& f = *a.run_footprint;
    add("run", format_number(f.kwh) + " kWh");
    add("run, as US households for a year", format_number(f.household_years));
    if (std::isfinite(f.co2_kg)) add("run, CO2", format_number(f.co2_kg / 1000) + " t");
    if (std::isfinite(f.water_l)) add("run, water", format_number(f.water_l / 1000) + " m3");
  }
  return table;
}

Table prices(const CostAnswer& a, const Catalogue& catalogue) {
  Table table;
  table.title = "Prices used";
  table.columns = {{.key = "what", .heading = "what", .overflow = Overflow::wrap},
                   {.key = "price", .heading = "price", .kind = ColumnKind::number},
                   {.key = "date", .heading = "date"},
                   {.key = "source", .heading = "source", .overflow = Overflow::wrap}};
  for (const PriceUsed& p : a.cost_case.prices) {
    table.rows.push_back({Cell(p.what), Cell(p.usd).shown_as(money(p.usd) + "/" + p.unit),
                          p.date.empty() ? Cell() : Cell(p.date), Cell(catalogue.source(p.source).title)});
  }
  return table;
}

}  // namespace

std::string money(double usd, int digits) {
  if (std::isnan(usd)) return "unknown";
  const std::string sign = usd < 0 ? "−" : "";
  const double size = std::abs(usd);
  if (size >= 1e9) return fmt::format("{}${}B", sign, format_number(size / 1e9, digits));
  if (size >= 1e6) return fmt::format("{}${}M", sign, format_number(size / 1e6, digits));
  return fmt::format("{}${}", sign, format_number(size, digits));
}

void add_assumptions(Document& page, const CostCase& c) {
  if (!c.assumptions.empty()) page.blocks.emplace_back(assumptions_table(weighed(c)));
}

std::string owner_text(const CostCase& c) {
  constexpr std::string_view kOwner = "owner: ";
  for (const Assumption& a : c.assumptions) {
    if (a.field != "profile" || !a.text.starts_with(kOwner)) continue;
    return fmt::format("Owned hardware has the prices and the cost of capital of a {} ({}).",
                       a.text.substr(kOwner.size()), named("profile"));
  }
  return "";
}

void add_warnings(Document& page, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings)
    page.blocks.emplace_back(Paragraph{"Beware: " + warning + ".", Emphasis::warning});
}

Json assumptions_json(const CostCase& c) {
  Json list = Json::array();
  for (const Assumption& a : c.assumptions) list.push(a.text);
  return list;
}

Table waterfall_table(const CostAnswer& a) {
  Table table;
  table.title = "Where each cent goes";
  table.columns = {{.key = "line", .heading = "line"},
                   {.key = "usd_per_gpu_hour", .heading = "$/useful GPU-hour", .kind = ColumnKind::number},
                   {.key = "usd_per_million_tokens", .heading = "$/1M tokens", .kind = ColumnKind::number},
                   {.key = "share", .heading = "share", .kind = ColumnKind::number},
                   {.key = "bar", .heading = ""}};
  const double all = a.out.usd_per_useful_gpu_hour;
  for (std::size_t i = 0; i < kCostLines; ++i) {
    if (!is_line(a, i)) continue;
    const double usd = a.out.per_gpu_hour[i];
    table.rows.push_back({Cell(name(static_cast<CostLine>(i))), Cell(usd), Cell(per_million(a, usd)),
                          Cell(usd / all).shown_as(fmt::format("{:.0f} %", 100 * usd / all)),
                          Cell(bar(std::max(0.0, usd / all)))});
  }
  table.rows.push_back({Cell("sum"), Cell(all), Cell(per_million(a, all)), Cell(1.0).shown_as("100 %"), Cell("")});
  return table;
}

Document cost_page(const CostAnswer& a, const Catalogue& catalogue) {
  Document page;
  page.title = a.title;
  page.blocks.emplace_back(Paragraph{headline(a), Emphasis::strong});
  add_warnings(page, a.cost_case.warnings);
  page.blocks.emplace_back(figures(a));
  if (a.cost_case.inputs.mode != CostMode::api) page.blocks.emplace_back(waterfall_table(a));
  if (Table table = energy(a); !table.rows.empty()) page.blocks.emplace_back(std::move(table));
  if (!a.cost_case.prices.empty()) page.blocks.emplace_back(prices(a, catalogue));
  add_assumptions(page, a.cost_case);
  return page;
}

Json cost_json(const CostAnswer& a, const Catalogue& catalogue) {
  const CostInputs& in = a.cost_case.inputs;
  const CostOutputs& out = a.out;
  Json json = Json::object();
  json.set("schema", kCostSchema).set("kind", name(in.mode)).set("title", a.title);
  json.set("gpus", in.gpus).set("work", a.training ? "train" : "infer");
  json.set("usd_per_gpu_hour", out.usd_per_gpu_hour);
  json.set("usd_per_useful_gpu_hour", out.usd_per_useful_gpu_hour);
  json.set("usd_per_month", out.usd_per_month);
  json.set("usd_per_million_tokens", out.usd_per_million_tokens);
  json.set("usd_per_million_tokens_predicted",
           a.usd_per_million_tokens ? interval_json(*a.usd_per_million_tokens) : Json());
  json.set("usd_per_million_total_tokens", out.usd_per_million_total_tokens);
  json.set("usd_per_million_input_tokens", out.usd_per_million_input_tokens);
  json.set("usd_per_million_output_tokens", out.usd_per_million_output_tokens);
  json.set("usd_per_request", out.usd_per_request);
  json.set("capex_usd_per_gpu", in.mode == CostMode::own ? Json(out.capex_usd_per_gpu) : Json());
  json.set("tokens_per_s", in.output_tokens_per_s).set("tokens_per_month", out.tokens_per_month);
  json.set("utilization", in.utilisation).set("goodput", in.goodput);
  Json waterfall = Json::array();
  if (in.mode != CostMode::api) {
    for (std::size_t i = 0; i < kCostLines; ++i) {
      if (!is_line(a, i)) continue;
      waterfall.push(Json::object()
                         .set("line", name(static_cast<CostLine>(i)))
                         .set("usd_per_gpu_hour", out.per_gpu_hour[i])
                         .set("usd_per_million_tokens", per_million(a, out.per_gpu_hour[i])));
    }
  }
  json.set("waterfall", std::move(waterfall));
  json.set("energy", Json::object()
                         .set("utility_w_per_gpu", out.utility_w_per_gpu)
                         .set("joules_per_token", out.joules_per_token)
                         .set("pue", in.power.pue)
                         .set("co2_kg_per_kwh", a.cost_case.grid.co2_kg_per_kwh));
  Json run;
  if (a.run_tokens > 0) {
    const Footprint& f = *a.run_footprint;
    run = Json::object()
              .set("tokens", a.run_tokens)
              .set("usd", a.run_usd)
              .set("time_s", a.run_days * 86400)
              .set("energy_j", f.kwh * kJoulesPerKilowattHour)
              .set("household_years", f.household_years)
              .set("co2_kg", f.co2_kg)
              .set("water_l", f.water_l);
  }
  json.set("run", std::move(run));
  Json list = Json::array();
  for (const PriceUsed& p : a.cost_case.prices) {
    list.push(Json::object()
                  .set("what", p.what)
                  .set("usd", p.usd)
                  .set("per", p.unit)
                  .set("currency", p.currency)
                  .set("date", p.date.empty() ? Json() : Json(p.date))
                  .set("source", catalogue.source(p.source).id));
  }
  json.set("prices", std::move(list));
  json.set("assumptions", assumptions_json(a.cost_case)).set("warnings", texts_json(a.cost_case.warnings));
  return json;
}

Waterfall cost_waterfall(const CostAnswer& a) {
  Waterfall w;
  w.title = a.title;
  const bool tokens = std::isfinite(a.out.usd_per_million_tokens);
  w.unit = tokens ? "$ per million tokens" : "$ per useful GPU-hour";
  w.subtitle = "Where each cent goes";
  const auto scaled = [&](double usd) { return tokens ? per_million(a, usd) : usd; };
  double sum = 0;
  bool paid = false;
  for (std::size_t i = 0; i < kCostLines; ++i) {
    const bool loss = i >= static_cast<std::size_t>(kFirstLoss);
    if (loss && !paid && is_line(a, i)) {
      w.steps.push_back({"paid hour", scaled(sum), true});
      paid = true;
    }
    if (!is_line(a, i)) continue;
    sum += a.out.per_gpu_hour[i];
    w.steps.push_back({std::string(name(static_cast<CostLine>(i))), scaled(a.out.per_gpu_hour[i]), false});
  }
  w.steps.push_back({"all", scaled(a.out.usd_per_useful_gpu_hour), true});
  return w;
}

std::string cost_html(const CostAnswer& a, const Catalogue& catalogue) {
  HtmlPage page(a.title);
  if (a.cost_case.inputs.mode != CostMode::api) page.add_figure(waterfall_svg(cost_waterfall(a)));
  page.add(cost_page(a, catalogue));
  return page.finish();
}

}  // namespace ridge::report
