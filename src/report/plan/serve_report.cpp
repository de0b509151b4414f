// Pages, tables and JSON of plans to serve with.
#include <fmt/format.h>

#include <algorithm>

#include "report/estimate/inference_report.hpp"
#include "report/page/page.hpp"
#include "report/plan/parts.hpp"
#include "ridge/base/text.hpp"
#include "search/buyer/sentences.hpp"

namespace ridge::report {

namespace {

/// Dollars that are uncertain by their price too.
Interval with_price(const ServingPlan& p) {
  return widened(*p.usd_per_million, p.quote ? p.quote->sigma : 0);
}

std::string money_interval(const Interval& i) {
  if (i.mid <= 0) return "0";
  return fmt::format("{} ({}–{})", format_number(i.mid), format_number(i.low, 2), format_number(i.high, 2));
}

Table table_of(const std::vector<ServingPlan>& plans, const std::vector<Rank>& ranks, std::size_t rows) {
  Table table;
  table.columns = {{.key = "rank", .heading = "rank"},
                   {.key = "device", .heading = "device"},
                   {.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
                   {.key = "layout", .heading = "layout", .spare = 1},
                   {.key = "precision", .heading = "precision", .spare = 2},
                   {.key = "cost",
                    .unit = "usd_per_million_output_tokens",
                    .heading = "$/1M out (80 %)",
                    .kind = ColumnKind::interval},
                   {.key = "cost", .unit = "usd_per_hour", .heading = "$/h", .kind = ColumnKind::number, .spare = 3},
                   {.key = "power", .unit = "w", .heading = "kW", .kind = ColumnKind::interval, .spare = 6},
                   {.key = "load", .heading = "load", .kind = ColumnKind::number},
                   {.key = "ttft_p95", .unit = "s", .heading = "TTFT p95", .kind = ColumnKind::number},
                   {.key = "tpot_p95", .unit = "s", .heading = "TPOT p95", .kind = ColumnKind::number},
                   {.key = "ttft", .unit = "s", .heading = "TTFT", .kind = ColumnKind::interval},
                   {.key = "tpot", .unit = "s", .heading = "TPOT", .kind = ColumnKind::interval},
                   {.key = "request_rate", .unit = "per_s", .heading = "req/s", .kind = ColumnKind::number},
                   {.key = "holds", .heading = "meets SLO", .kind = ColumnKind::number, .spare = 4},
                   {.key = "best", .heading = "P(best)", .kind = ColumnKind::number, .spare = 5},
                   {.key = "bound", .heading = "bound by", .overflow = Overflow::truncate, .spare = 7}};
  for (std::size_t i = 0; i < std::min(plans.size(), rows); ++i) {
    const ServingPlan& p = plans[i];
    const std::string rank = i < ranks.size() ? ranks[i].text() : std::to_string(i + 1);
    table.rows.push_back(
        {Cell(rank), Cell(p.query.device).shown_as(p.query.device + (doubts(p.quote, p.resembles).empty() ? "" : " !")),
         Cell(p.gpus), Cell(layout_text(p)), Cell(formats_text(p)),
         p.usd_per_million ? Cell::interval(*p.usd_per_million).shown_as(money_interval(with_price(p))) : Cell(),
         p.usd_per_hour ? Cell(*p.usd_per_hour) : Cell(),
         p.watts.mid > 0 ? Cell::interval(p.watts).shown_as(format_number(p.watts.mid / 1000)) : Cell(),
         p.replicas > 0 ? Cell(p.load()).shown_as(fmt::format("{:.0f} %", 100 * p.load())) : Cell(),
         p.ttft_p95_s ? Cell(*p.ttft_p95_s).shown_as(format(Seconds(*p.ttft_p95_s), 2)) : Cell(),
         p.tpot_p95_s ? Cell(*p.tpot_p95_s).shown_as(format(Seconds(*p.tpot_p95_s), 2)) : Cell(),
         Cell::interval(p.ttft_s).shown_as(format(Seconds(p.ttft_s.mid), 2)),
         Cell::interval(p.tpot_s).shown_as(format(Seconds(p.tpot_s.mid), 2)), Cell(p.rate),
         p.sure.holds ? Cell(*p.sure.holds).shown_as(chance_text(*p.sure.holds)) : Cell(),
         i < ranks.size() ? Cell(p.sure.best).shown_as(chance_text(p.sure.best)) : Cell(), Cell(p.bound_text)});
  }
  return table;
}

/// "Rank 1 costs $53.9 an hour: $39.4k a month, $472k a year of the budget of $720k."
std::string bill_text(const ServingVerdict& verdict, const ServingGoal& goal) {
  if (verdict.plans.empty() || verdict.plans.front().usd_per_hour.value_or(0) <= 0) return "";
  constexpr double kHoursOfMonth = 730;
  const double hour = *verdict.plans.front().usd_per_hour;
  std::string text = fmt::format("Rank 1 costs ${} an hour: {} a month, {} a year", format_number(hour),
                                 format(Dollars(hour * kHoursOfMonth)), format(Dollars(hour * kHoursOfMonth * 12)));
  if (goal.buyer.budget_usd > 0) text += fmt::format(" of the budget of {}", format(Dollars(goal.buyer.budget_usd)));
  return text + ".";
}

/// "GPUs (gb200-nvl72) by confidence: 4 at 50 %, 5 at 80 %, 6 at 95 %. If one run ...".
std::string ladder_text(const ServingPlan& p, const ServingGoal& goal) {
  if (p.sure.ladder.empty()) return "";
  std::string text = fmt::format("GPUs ({}) by confidence:", p.query.device);
  for (const Rung& rung : p.sure.ladder) {
    text +=
        fmt::format("{} {} at {:.0f} %", &rung == &p.sure.ladder.front() ? "" : ",", rung.gpus, 100 * rung.confidence);
  }
  if (p.sure.ladder.back().confidence < 0.95) text += ", none of this layout at 95 % (TTFT)";
  text += ".";
  if (p.sure.holds_rate && p.sure.holds_ttft && goal.ttft_s > 0) {
    text += fmt::format(" With {}, rate and TPOT are met with a probability of {}, TTFT with {}.", p.gpus,
                        chance_text(*p.sure.holds_rate), chance_text(*p.sure.holds_ttft));
  }
  if (p.sure.gpus_if_measured) {
    const int then = *p.sure.gpus_if_measured;
    text += fmt::format(" If one run of {} on it confirms the prediction, ", p.facts.engine);
    if (then < p.gpus) {
      text += fmt::format("{} {} enough", then, then == 1 ? "is" : "are");
      if (p.usd_per_hour && *p.usd_per_hour > 0) {
        text += fmt::format(": ${} an hour less", format_number(*p.usd_per_hour * (p.gpus - then) / p.gpus, 2));
      }
    } else {
      text += "as many are needed";
    }
    text += ".";
  }
  return text;
}

void add_explanation(Document& page, const ServingVerdict& verdict, int which) {
  if (which < 1 || which > static_cast<int>(verdict.plans.size())) return;
  const ServingPlan& p = verdict.plans[static_cast<std::size_t>(which - 1)];
  Table table = two_columns(fmt::format("Plan {}: {} of {}", which, layout_text(p), p.query.device), Overflow::wrap);
  const auto add = [&](const char* what, std::string value) { table.rows.push_back({Cell(what), Cell(value)}); };
  add("replicas", fmt::format("{} of {} device{}, rated at {} requests in each", p.replicas, p.query.gpus,
                              p.query.gpus == 1 ? "" : "s", format_number(p.concurrency, 4)));
  if (p.spares > 0) add("spares", fmt::format("{} of the replicas may be down at the busiest time", p.spares));
  add("one replica", fmt::format("{} requests/s within the limits", format_number(p.requests_per_s)));
  add("mean load",
      fmt::format("{} requests/s, {:.0f} % of what the replicas can do", format_number(p.rate), 100 * p.load()));
  add("formats", fmt::format("weights {}, activations {}, KV {}", name(p.facts.weights), name(p.facts.activations),
                             name(p.facts.kv)));
  add("engine", fmt::format("{}, {} tokens per step", p.facts.era.empty() ? p.facts.engine : p.facts.era,
                            format_number(p.query.max_batched_tokens, 6)));
  if (p.ttft_mean_s && p.tpot_mean_s) {
    const auto both = [](double mean, double p95) {
      return fmt::format("{} mean, {} p95, of simulated requests", format(Seconds(mean)), format(Seconds(p95)));
    };
    add("TTFT", both(*p.ttft_mean_s, *p.ttft_p95_s));
    add("TPOT", both(*p.tpot_mean_s, *p.tpot_p95_s));
  }
  const std::string full = p.ttft_mean_s ? " with every place taken" : "";
  add(("TTFT" + full).c_str(), Cell::interval<Seconds>(p.ttft_s).text());
  add(("TPOT" + full).c_str(), Cell::interval<Seconds>(p.tpot_s).text());
  add(("request" + full).c_str(), Cell::interval<Seconds>(p.e2e_s).text());
  add("power of the devices", p.watts.mid > 0 ? Cell::interval<Watts>(p.watts).text() : "not published");
  add("bound by", p.bound_text);
  if (!p.confirmed.empty()) add("confirmed", p.confirmed);
  if (p.sure.holds) add("holds rate and limits", chance_text(*p.sure.holds));
  if (p.quote) add("price", p.quote->basis);
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(paragraph("ridge estimate infer " + command_flags(p.query), Emphasis::faint));
}

/// Layout and formats of one engine, in a pool or as a replica.
void set_deployment(Json& one, const InferenceQuery& query, const DeploymentFacts& facts) {
  one.set("tp", query.tp);
  one.set("power_cap_w", query.power_cap > 0 ? Json(query.power_cap) : Json());
  one.set("pp", query.pp);
  one.set("dp", query.dp);
  one.set("ep", query.ep);
  one.set("redundant_experts", facts.redundant_experts);
  one.set("dispatch", facts.exchange ? Json(name(*facts.exchange)) : Json());
  one.set("draft_tokens", query.load.draft_tokens);
  one.set("weights", name(facts.weights));
  one.set("kv", name(facts.kv));
}

Json pool_object(const ServingPool& p) {
  Json one = Json::object();
  one.set("device", p.query.device);
  one.set("engines", p.engines);
  one.set("gpus_per_engine", p.query.gpus);
  set_deployment(one, p.query, p.facts);
  one.set("concurrency_per_engine", p.concurrency);
  return one;
}

Json pools_object(const PoolPair& pair) {
  Json one = Json::object();
  one.set("prefill", pool_object(pair.prefill));
  one.set("decode", pool_object(pair.decode));
  one.set("kv_bytes_per_request", pair.kv_bytes);
  one.set("kv_link_bytes_per_s", pair.link_bytes_per_s);
  one.set("ttft_p95_s", pair.ttft_p95_s);
  one.set("tpot_p95_s", pair.tpot_p95_s);
  return one;
}

Json plan_object(const ServingPlan& p) {
  Json one = Json::object();
  one.set("device", p.query.device);
  one.set("gpus", p.gpus);
  one.set("replicas", p.replicas);
  one.set("spare_replicas", p.spares);
  one.set("gpus_per_replica", p.query.gpus);
  set_deployment(one, p.query, p.facts);
  one.set("max_batched_tokens", p.query.max_batched_tokens);
  one.set("concurrency_per_replica", p.concurrency);
  one.set("requests_per_replica_per_s", p.requests_per_s);
  one.set("request_rate_per_s", p.rate);
  one.set("load_share", p.load());
  one.set("usd_per_gpu_hour", p.usd_per_gpu_hour ? Json(*p.usd_per_gpu_hour) : Json());
  one.set("price_quotes", p.quote ? Json(p.quote->quotes) : Json());
  one.set("price_basis", p.quote ? Json(p.quote->basis) : Json());
  one.set("usd_per_hour", p.usd_per_hour ? Json(*p.usd_per_hour) : Json());
  one.set("usd_per_million_output_tokens", p.usd_per_million ? interval_json(*p.usd_per_million) : Json());
  one.set("power_w", p.watts.mid > 0 ? interval_json(p.watts) : Json());
  one.set("ttft_s", interval_json(p.ttft_s));
  one.set("tpot_s", interval_json(p.tpot_s));
  one.set("e2e_s", interval_json(p.e2e_s));
  one.set("ttft_p95_s", p.ttft_p95_s ? Json(*p.ttft_p95_s) : Json());
  one.set("tpot_p95_s", p.tpot_p95_s ? Json(*p.tpot_p95_s) : Json());
  one.set("ttft_mean_s", p.ttft_mean_s ? Json(*p.ttft_mean_s) : Json());
  one.set("tpot_mean_s", p.tpot_mean_s ? Json(*p.tpot_mean_s) : Json());
  one.set("holds_probability", p.sure.holds ? Json(*p.sure.holds) : Json());
  one.set("holds_rate_probability", p.sure.holds_rate ? Json(*p.sure.holds_rate) : Json());
  one.set("holds_ttft_probability", p.sure.holds_ttft ? Json(*p.sure.holds_ttft) : Json());
  one.set("best_probability", p.sure.best);
  Json ladder = Json::array();
  for (const Rung& rung : p.sure.ladder) {
    Json step = Json::object();
    step.set("confidence", rung.confidence);
    step.set("gpus", rung.gpus);
    ladder.push(std::move(step));
  }
  one.set("gpus_at", std::move(ladder));
  one.set("gpus_if_measured", p.sure.gpus_if_measured ? Json(*p.sure.gpus_if_measured) : Json());
  one.set("doubts", texts_json(doubts(p.quote, p.resembles)));
  one.set("bound", p.bound_text);
  one.set("confirmed", p.confirmed.empty() ? Json() : Json(p.confirmed));
  return one;
}

/// Devices that nobody prices, by the price at which each would win.
void add_unpriced(Document& page, const ServingVerdict& verdict, const ServingGoal& goal,
                  const PlanReportOptions& options) {
  if (verdict.unpriced.empty()) return;
  Table table;
  table.title = fmt::format("No {}price is published: the price at which they would win",
                            goal.buyer.purchase == Purchase::any ? "" : std::string(name(goal.buyer.purchase)) + " ");
  table.columns = {
      {.key = "device", .heading = "device"},
      {.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
      {.key = "layout", .heading = "layout"},
      {.key = "precision", .heading = "precision"},
      {.key = "wins_below", .unit = "usd_per_gpu_hour", .heading = "wins below $/h", .kind = ColumnKind::number},
      {.key = "bought", .unit = "usd_per_gpu_hour", .heading = "bought $/h", .kind = ColumnKind::number},
      {.key = "holds", .heading = "meets SLO", .kind = ColumnKind::number}};
  for (std::size_t i = 0; i < std::min(verdict.unpriced.size(), options.rows); ++i) {
    const UnpricedPlan& one = verdict.unpriced[i];
    const auto money = [](double usd) { return Cell(usd).shown_as(fmt::format("{:.2f}", usd)); };
    const std::optional<double>& holds = one.plan.sure.holds;
    table.rows.push_back({Cell(one.plan.query.device), Cell(one.plan.gpus), Cell(layout_text(one.plan)),
                          Cell(formats_text(one.plan)), one.wins_below ? money(*one.wins_below) : Cell(),
                          one.bought ? money(one.bought->mid) : Cell(),
                          holds ? Cell(*holds).shown_as(chance_text(*holds)) : Cell()});
  }
  page.blocks.emplace_back(std::move(table));
  if (verdict.unpriced.size() > options.rows) {
    page.blocks.emplace_back(and_more(verdict.unpriced.size() - options.rows));
  }
}

/// What a month of the traffic costs, by the way capacity is had.
void add_month(Document& page, const ServingVerdict& verdict, const ServingGoal& goal) {
  if (!verdict.month || !goal.traffic) return;
  const MonthlyBill& bill = *verdict.month;
  const ServingPlan& plan = verdict.plans.front();
  const auto [least, most] = std::minmax_element(bill.replicas.begin(), bill.replicas.end());
  if (!bill.ways.empty()) {
    Table table;
    table.title =
        fmt::format("A month of {} on {}: {} to {} replicas", goal.traffic->name, plan.query.device, *least, *most);
    table.columns = {{.key = "way", .heading = "capacity"},
                     {.key = "month", .unit = "usd_per_month", .heading = "$/month", .kind = ColumnKind::number},
                     {.key = "gpu_hours", .unit = "h", .heading = "GPU-hours", .kind = ColumnKind::number}};
    for (const MonthlyWay& way : bill.ways) {
      table.rows.push_back({Cell(way.text), Cell(way.usd).shown_as(format_number(way.usd, 4)),
                            Cell(way.gpu_hours).shown_as(format_number(way.gpu_hours, 4))});
    }
    page.blocks.emplace_back(std::move(table));
  }
  std::string text;
  if (goal.growth > 0 && bill.year_usd > 0) {
    text = fmt::format("Growing by {} % a month: {} replicas in a year, ${} for the twelve months. ",
                       format_number(100 * goal.growth), bill.replicas_in_a_year, format_number(bill.year_usd));
  }
  if (bill.held_scaled) {
    text += fmt::format(
        "Simulated over the steepest climb, with replicas started by the load and serving {} later: {:.1f} % of the "
        "requests hold the limits{}.",
        format(Seconds(goal.cold_start_s)), 100 * *bill.held_scaled,
        *bill.held_scaled < 0.95 ? "; start them by the clock, or keep more of them" : "");
  }
  if (!text.empty()) page.blocks.emplace_back(paragraph(text));
}

Json month_object(const MonthlyBill& bill) {
  Json json = Json::object();
  Json ways = Json::array();
  for (const MonthlyWay& way : bill.ways) {
    ways.push(Json::object().set("capacity", way.text).set("usd_per_month", way.usd).set("gpu_hours", way.gpu_hours));
  }
  json.set("ways", std::move(ways));
  Json replicas = Json::array();
  for (const int count : bill.replicas) replicas.push(count);
  json.set("replicas_by_part", std::move(replicas));
  json.set("usd_per_year", bill.year_usd > 0 ? Json(bill.year_usd) : Json());
  json.set("replicas_in_a_year", bill.replicas_in_a_year);
  json.set("held_while_scaling_share", bill.held_scaled ? Json(*bill.held_scaled) : Json());
  return json;
}

Json unpriced_object(const UnpricedPlan& one) {
  Json json = plan_object(one.plan);
  json.set("wins_below_usd_per_gpu_hour", one.wins_below ? Json(*one.wins_below) : Json());
  json.set("bought_usd_per_gpu_hour", one.bought ? Json(one.bought->mid) : Json());
  return json;
}

}  // namespace

std::string formats_text(const ServingPlan& plan) {
  std::string text(name(plan.facts.weights));
  if (plan.facts.kv != Format::bf16) text += fmt::format(", {} KV", name(plan.facts.kv));
  return text;
}

std::string goal_text(const ServingGoal& goal) {
  std::string text = "Serve " + goal.model;
  if (goal.request_rate > 0) {
    text += fmt::format(" · {} {}/s ({} tok/s in, {} out)", format_number(goal.request_rate),
                        goal.request_rate == 1 ? "request" : "requests", format_count(goal.request_rate * goal.isl),
                        format_count(goal.request_rate * goal.osl));
  } else {
    text += fmt::format(" · as many requests as {} devices take ({} tokens in, {} out)", goal.buyer.gpus,
                        format_number(goal.isl, 7), format_number(goal.osl, 7));
  }
  if (goal.peak > 1) text += fmt::format(" · {}× at the peak", format_number(goal.peak));
  if (goal.spares.any()) text += " · " + search::spares_text(goal.spares);
  if (goal.ttft_s > 0) text += " · TTFT ≤ " + format(Seconds(goal.ttft_s));
  if (goal.tpot_s > 0) text += " · TPOT ≤ " + format(Seconds(goal.tpot_s));
  if (goal.e2e_s > 0) text += " · request ≤ " + format(Seconds(goal.e2e_s));
  text += fmt::format(" · {:.0f} % confidence", 100 * goal.confidence);
  return text + limits_text(goal.buyer, "a year");
}

std::string layout_text(const ServingPlan& plan) {
  return fmt::format("{} × {}", plan.replicas, search::degrees_text(plan.query, plan.facts));
}

/// The columns that people read: simulated latencies where there are any, means otherwise; never both. Among one nobody
/// asks which is best.
static Table for_people(Table table, bool simulated) {
  std::vector<std::string> hidden = simulated ? std::vector<std::string>{"ttft", "tpot", "request_rate"}
                                              : std::vector<std::string>{"ttft_p95", "tpot_p95"};
  if (table.rows.size() < 2) hidden.emplace_back("best");
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    if (std::find(hidden.begin(), hidden.end(), table.columns[i].key) == hidden.end()) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return table;
}

Table plan_pools_table(const ServingVerdict& verdict) {
  Table table;
  table.title = "Prompts and tokens on pools of their own";
  table.columns = {{.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
                   {.key = "prefill", .heading = "prefill"},
                   {.key = "decode", .heading = "decode"},
                   {.key = "usd_per_million_output_tokens", .heading = "$/1M out", .kind = ColumnKind::number},
                   {.key = "usd_per_hour", .heading = "$/h", .kind = ColumnKind::number},
                   {.key = "ttft_p95", .unit = "s", .heading = "TTFT p95", .kind = ColumnKind::number},
                   {.key = "tpot_p95", .unit = "s", .heading = "TPOT p95", .kind = ColumnKind::number}};
  for (const Alternative& other : verdict.alternatives) {
    if (!other.pools) continue;
    const PoolPair& pair = *other.pools;
    const auto devices = [](const ServingPool& p) { return p.engines * p.query.gpus; };
    table.rows.push_back({Cell(devices(pair.prefill) + devices(pair.decode)), Cell(search::pool_text(pair.prefill)),
                          Cell(search::pool_text(pair.decode)),
                          other.usd_per_million ? Cell(*other.usd_per_million) : Cell(),
                          other.usd_per_hour ? Cell(*other.usd_per_hour) : Cell(), Cell(Seconds(pair.ttft_p95_s)),
                          Cell(Seconds(pair.tpot_p95_s))});
  }
  return table;
}

Table plan_table(const ServingVerdict& verdict) {
  return table_of(verdict.plans, verdict.ranks, verdict.plans.size());
}

Document plan_page(const ServingQuest& quest, const ServingVerdict& verdict, const PlanReportOptions& asked) {
  Document page;
  page.title = goal_text(quest.goal);
  const bool simulated = !verdict.plans.empty() && verdict.plans.front().ttft_p95_s.has_value();
  PlanReportOptions options = asked;
  if (simulated && !asked.rows_said) {
    const auto end = std::find_if(verdict.plans.begin(), verdict.plans.end(),
                                  [](const ServingPlan& p) { return !p.ttft_p95_s.has_value(); });
    options.rows = std::min(asked.rows, static_cast<std::size_t>(end - verdict.plans.begin()));
  }
  if (quest.goal.disaggregate) {
    Table pools = plan_pools_table(verdict);
    if (pools.rows.size() > options.rows) pools.rows.resize(options.rows);
    if (pools.rows.empty()) {
      page.blocks.emplace_back(paragraph(
          "No pair of pools holds rate and limits on these devices. On engines that do both:", Emphasis::bad));
    } else {
      page.blocks.emplace_back(std::move(pools));
      page.blocks.emplace_back(paragraph("Beside them, engines that do both:", Emphasis::faint));
    }
  }
  add_ranking(page, verdict, for_people(table_of(verdict.plans, verdict.ranks, options.rows), simulated),
              for_people(table_of(verdict.nearest, {}, 3), false), options, quest.goal.buyer.purchase);
  if (const std::string bill = bill_text(verdict, quest.goal); !bill.empty()) {
    page.blocks.emplace_back(paragraph(bill));
  }
  add_unpriced(page, verdict, quest.goal, options);
  const std::string shaky = doubts_text(
      verdict.plans, options.rows, [](const ServingPlan& p) { return p.query.device; },
      [](const ServingPlan& p) { return doubts(p.quote, p.resembles); });
  if (!shaky.empty()) page.blocks.emplace_back(paragraph(shaky, Emphasis::faint));
  if (!verdict.plans.empty()) {
    const std::string ladder = ladder_text(verdict.plans.front(), quest.goal);
    if (!ladder.empty()) page.blocks.emplace_back(paragraph(ladder));
  }
  add_month(page, verdict, quest.goal);
  for (const Alternative& other : verdict.alternatives) {
    if (quest.goal.disaggregate && other.pools) continue;  // in the table above
    page.blocks.emplace_back(paragraph("Alternative: " + other.text + "."));
  }
  if (verdict.change) {
    page.blocks.emplace_back(paragraph(fmt::format("Cheapest change: {} (−${}/1M).", verdict.change->text,
                                                   format_number(verdict.change->usd_per_million, 2))));
  }
  if (verdict.front.size() > 1) {
    std::vector<ServingPlan> front = verdict.front;
    const double dearest = 8 * front.front().usd_per_hour.value_or(0);  // beyond that, nobody asks
    if (dearest > 0) {
      std::erase_if(front, [&](const ServingPlan& p) { return p.usd_per_hour.value_or(0) > dearest; });
    }
    if (front.size() > 8) {  // both ends and some between
      std::vector<ServingPlan> some;
      for (std::size_t i = 0; i < 8; ++i) some.push_back(front[i * (front.size() - 1) / 7]);
      front = std::move(some);
    }
    Table table;
    table.title =
        fmt::format("Pareto front, {} plans: faster costs more (mean latencies, not simulated)", verdict.front.size());
    table.columns = {{.key = "device", .heading = "device"},
                     {.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
                     {.key = "layout", .heading = "layout"},
                     {.key = "precision", .heading = "precision"},
                     {.key = "cost", .heading = "$/1M out", .kind = ColumnKind::number},
                     {.key = "e2e", .heading = "request", .kind = ColumnKind::number},
                     {.key = "tpot", .heading = "TPOT", .kind = ColumnKind::number},
                     {.key = "power", .heading = "kW", .kind = ColumnKind::number}};
    for (const ServingPlan& p : front) {
      table.rows.push_back({Cell(p.query.device), Cell(p.gpus), Cell(layout_text(p)), Cell(formats_text(p)),
                            p.usd_per_million ? Cell(p.usd_per_million->mid) : Cell(), Cell(Seconds(p.e2e_s.mid)),
                            Cell(Seconds(p.tpot_s.mid)), p.watts.mid > 0 ? Cell(p.watts.mid / 1000) : Cell()});
    }
    page.blocks.emplace_back(std::move(table));
  }
  if (!verdict.rationale.empty()) page.blocks.emplace_back(paragraph("Why: " + joined_text(verdict.rationale, " ")));
  if (!verdict.would_change.empty()) {
    page.blocks.emplace_back(paragraph("What would change this: " + joined_text(verdict.would_change, "; ") + "."));
  }
  add_explanation(page, verdict, options.explain);
  if (!verdict.plans.empty())
    page.blocks.emplace_back(paragraph(evidence_text(verdict.plans.front().resembles), Emphasis::faint));
  add_footing(page, verdict, options, "ridge simulate");
  return page;
}

Json plan_json(const ServingQuest& quest, const ServingVerdict& verdict, const PlanReportOptions& options) {
  const ServingGoal& goal = quest.goal;
  Json json = Json::object();
  json.set("schema", kPlanSchema);
  json.set("kind", "serve");
  json.set("feasible", !verdict.plans.empty());
  Json asked = Json::object();
  asked.set("model", goal.model);
  asked.set("peak_over_mean", goal.peak);
  asked.set("spares", goal.spares.count > 0 ? Json(goal.spares.text()) : Json());
  asked.set("rolling", goal.spares.rolling > 0 ? Json(goal.spares.rolling) : Json());
  asked.set("request_rate_per_s", goal.request_rate > 0 ? Json(goal.request_rate) : Json());
  asked.set("workload", goal.workload ? Json(goal.workload->name) : Json());
  asked.set("input_tokens", goal.isl);
  asked.set("output_tokens", goal.osl);
  asked.set("ttft_s", goal.ttft_s > 0 ? Json(goal.ttft_s) : Json());
  asked.set("tpot_s", goal.tpot_s > 0 ? Json(goal.tpot_s) : Json());
  asked.set("e2e_s", goal.e2e_s > 0 ? Json(goal.e2e_s) : Json());
  asked.set("objective", name(goal.objective));
  asked.set("confidence", goal.confidence);
  json.set("goal", std::move(asked));
  set_ranking(json, verdict, plan_object);
  Json unpriced = Json::array();
  for (const UnpricedPlan& one : verdict.unpriced) unpriced.push(unpriced_object(one));
  json.set("unpriced", std::move(unpriced));
  json.set("month", verdict.month ? month_object(*verdict.month) : Json());
  json.set("regret_share", verdict.regret);
  json.set(
      "holds_with_at_most",
      verdict.holds_with
          ? Json::object().set("confidence", verdict.holds_with->confidence).set("device", verdict.holds_with->device)
          : Json());
  Json sensitivity = Json::array();
  for (const Sensitivity& s : verdict.sensitivity) {
    sensitivity.push(Json::object()
                         .set("what", s.what)
                         .set("less", s.less)
                         .set("more", s.more)
                         .set("usd_per_million_output_tokens_at_less", s.usd_at_less)
                         .set("usd_per_million_output_tokens_at_more", s.usd_at_more));
  }
  json.set("sensitivity", std::move(sensitivity));
  json.set("would_change", texts_json(verdict.would_change));
  if (verdict.change) {
    Json change = Json::object();
    change.set("text", verdict.change->text);
    change.set("saves_usd_per_million_output_tokens", verdict.change->usd_per_million);
    json.set("cheapest_change", std::move(change));
  } else {
    json.set("cheapest_change", Json());
  }
  Json alternatives = Json::array();
  for (const Alternative& other : verdict.alternatives) {
    Json one = Json::object();
    one.set("text", other.text);
    one.set("usd_per_hour", other.usd_per_hour ? Json(*other.usd_per_hour) : Json());
    one.set("usd_per_million_output_tokens", other.usd_per_million ? Json(*other.usd_per_million) : Json());
    one.set("pools", other.pools ? pools_object(*other.pools) : Json());
    alternatives.push(std::move(one));
  }
  json.set("alternatives", std::move(alternatives));
  json.set("rationale", texts_json(verdict.rationale));
  json.set("assumptions", texts_json(verdict.assumptions));
  set_statistics(json, options.statistics);
  return json;
}

}  // namespace ridge::report
