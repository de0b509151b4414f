// Pages, tables and JSON of plans to train with.
#include <fmt/format.h>

#include <algorithm>

#include "report/estimate/inference_report.hpp"
#include "report/page/page.hpp"
#include "report/plan/parts.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr double kHoursOfDay = 24;
constexpr double kShortDays = 2;  // runs below it are told in hours

std::string in_days(double days) {
  const bool hours = days < kShortDays;
  return fmt::format("{} {}", format_number(hours ? kHoursOfDay * days : days), hours ? "hours" : "days");
}

/// Days of a run, in a column of days or of hours (`scale` 24).
std::string days_text(const Interval& i, double scale) {
  return fmt::format("{} ({}–{})", format_number(scale * i.mid), format_number(scale * i.low, 2),
                     format_number(scale * i.high, 2));
}

std::string usd_text(const Interval& i) {
  return fmt::format("{} ({}–{})", format(Dollars(i.mid)), format(Dollars(i.low), 2), format(Dollars(i.high), 2));
}

/// Days and budget have one error for the most part: both hold as often as the scarcer one.
std::optional<double> holds(const TrainingPick& p) {
  if (p.holds_days && p.holds_budget) return std::min(*p.holds_days, *p.holds_budget);
  return p.holds_days ? p.holds_days : p.holds_budget;
}

/// "With 80 %: done in 56 days for $5.4M at most. ..."
std::string sure_text(const TrainingPick& p, const TrainingGoal& goal) {
  if (!p.days_sure) return "";
  std::string text = fmt::format("With {:.0f} %, {} {} are done in {}", 100 * goal.confidence,
                                 format_number(p.plan.gpus, 7), p.device, in_days(*p.days_sure));
  if (p.usd_sure) text += " for " + format(Dollars(*p.usd_sure));
  text += " at most, failures included";
  if (p.holds_days) text += fmt::format("; by day {} with {}", format_number(goal.days), chance_text(*p.holds_days));
  if (p.holds_budget) {
    text += fmt::format("; within {} with {}", format(Dollars(goal.buyer.budget_usd)), chance_text(*p.holds_budget));
  }
  text += ".";
  if (*p.days_sure >= kShortDays) {
    const LogError left = p.error.without(kSettledByARun);
    text += fmt::format(" If its first day is as fast as predicted: {} at most.",
                        in_days(p.days->mid * left.factor(goal.confidence)));
  }
  return text;
}

Table table_of(const std::vector<TrainingPick>& plans, const std::vector<Rank>& ranks, std::size_t rows, bool run) {
  const auto is_short = [](const TrainingPick& p) { return p.days && p.days->mid < kShortDays; };
  const bool hours = !plans.empty() && std::all_of(plans.begin(), plans.end(), is_short);
  Table table;
  table.columns = {
      {.key = "rank", .heading = "rank"},
      {.key = "device", .heading = "device"},
      {.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
      {.key = "layout", .heading = "layout", .spare = 1},
      {.key = "precision", .heading = "precision", .spare = 2},
      {.key = "step_time", .unit = "s", .heading = "step", .kind = ColumnKind::interval, .spare = 6},
      {.key = "mfu", .heading = "MFU", .kind = ColumnKind::interval, .spare = 3},
      {.key = "duration",
       .unit = "days",
       .heading = hours ? "hours (80 %)" : "days (80 %)",
       .kind = ColumnKind::interval},
      {.key = "cost", .unit = "usd", .heading = run ? "cost" : "$/1B tokens", .kind = ColumnKind::interval},
      {.key = "power", .unit = "w", .heading = "MW", .kind = ColumnKind::interval, .spare = 5},
      {.key = "holds", .heading = "meets goal", .kind = ColumnKind::number, .spare = 4},
      {.key = "best", .heading = "P(best)", .kind = ColumnKind::number, .spare = 4},
      {.key = "bound", .heading = "bound by", .spare = 7}};
  for (std::size_t i = 0; i < std::min(plans.size(), rows); ++i) {
    const TrainingPick& p = plans[i];
    const TrainingEstimate& e = p.estimate;
    table.rows.push_back(
        {Cell(i < ranks.size() ? ranks[i].text() : std::to_string(i + 1)),
         Cell(p.device).shown_as(p.device + (doubts(p.quote, p.resembles).empty() ? "" : " !")), Cell(p.plan.gpus),
         Cell(layout_text(p)), Cell(std::string(name(p.precision))),
         Cell::interval(e.step_time_s).shown_as(format(Seconds(e.step_time_s.mid))),
         Cell::interval(e.mfu).shown_as(fmt::format("{:.0f} %", 100 * e.mfu.mid)),
         p.days ? Cell::interval(*p.days).shown_as(days_text(*p.days, hours ? kHoursOfDay : 1)) : Cell(),
         p.usd ? Cell::interval(*p.usd).shown_as(usd_text(*p.usd)) : Cell(),
         e.power_w.mid > 0 ? Cell::interval(e.power_w).shown_as(format_number(e.power_w.mid * 1e-6)) : Cell(),
         holds(p) ? Cell(*holds(p)).shown_as(chance_text(*holds(p))) : Cell(),
         i < ranks.size() ? Cell(p.best).shown_as(chance_text(p.best)) : Cell(), Cell(spaced(name(e.bound)))});
  }
  return table;
}

void without_column(Table& table, std::string_view key) {
  const auto at =
      std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& c) { return c.key == key; });
  if (at == table.columns.end()) return;
  const auto index = at - table.columns.begin();
  table.columns.erase(at);
  for (auto& row : table.rows) row.erase(row.begin() + index);
}

Json pick_object(const TrainingPick& p) {
  const TrainingEstimate& e = p.estimate;
  Json one = Json::object();
  one.set("device", p.device);
  one.set("gpus", p.plan.gpus);
  one.set("precision", name(p.precision));
  one.set("power_cap_w", p.power_cap > 0 ? Json(p.power_cap) : Json());
  one.set("tp", p.plan.tp);
  one.set("pp", p.plan.pp);
  one.set("vp", p.plan.vp);
  one.set("cp", p.plan.cp);
  one.set("ep", p.plan.ep);
  one.set("dp", p.dp);
  one.set("micro_batch", p.plan.micro_batch);
  one.set("global_batch", p.plan.global_batch);
  one.set("sequence_tokens", p.plan.sequence);
  one.set("sharding", name(e.sharding));
  one.set("recompute", name(e.recompute));
  one.set("schedule", name(p.plan.schedule));
  one.set("offload_share", static_cast<double>(p.plan.offload));
  one.set("offload_optimizer", p.plan.offload_optimizer);
  one.set("step_s", interval_json(e.step_time_s));
  one.set("tokens_per_s", interval_json(e.tokens_per_s));
  one.set("mfu", interval_json(e.mfu));
  one.set("duration_days", p.days ? interval_json(*p.days) : Json());
  one.set("duration_p95_days", p.days_p95 ? Json(*p.days_p95) : Json());
  one.set("goodput", p.goodput);
  one.set("cost_usd", p.usd ? interval_json(*p.usd) : Json());
  one.set("usd_per_hour", p.usd_per_hour ? Json(*p.usd_per_hour) : Json());
  one.set("price_quotes", p.quote ? Json(p.quote->quotes) : Json());
  one.set("price_basis", p.quote ? Json(p.quote->basis) : Json());
  one.set("power_w", e.power_w.mid > 0 ? interval_json(e.power_w) : Json());
  one.set("joules_per_token", p.joules_per_token > 0 ? Json(p.joules_per_token) : Json());
  one.set("days_at_confidence", p.days_sure ? Json(*p.days_sure) : Json());
  one.set("usd_at_confidence", p.usd_sure ? Json(*p.usd_sure) : Json());
  one.set("holds_days_probability", p.holds_days ? Json(*p.holds_days) : Json());
  one.set("holds_budget_probability", p.holds_budget ? Json(*p.holds_budget) : Json());
  one.set("best_probability", p.best);
  one.set("doubts", texts_json(doubts(p.quote, p.resembles)));
  one.set("bound", name(e.bound));
  one.set("confirmed", p.confirmed.empty() ? Json() : Json(p.confirmed));
  return one;
}

void add_explanation(Document& page, const TrainingVerdict& verdict, int which) {
  if (which < 1 || which > static_cast<int>(verdict.plans.size())) return;
  const TrainingPick& p = verdict.plans[static_cast<std::size_t>(which - 1)];
  const TrainingEstimate& e = p.estimate;
  Table table =
      two_columns(fmt::format("Plan {}: {} {}, {}", which, p.plan.gpus, p.device, layout_text(p)), Overflow::wrap);
  const auto add = [&](const std::string& what, std::string value) { table.rows.push_back({Cell(what), Cell(value)}); };
  add("sharding", std::string(name(e.sharding)));
  add("recompute", fmt::format("{} ({:.0f} % of the forward pass again)", name(e.recompute), 100 * e.recompute_share));
  add("tokens", fmt::format("{} tok/s", format_number(e.tokens_per_s.mid)));
  double memory = 0;
  for (const double bytes : e.memory_bytes) memory += bytes;
  add("memory", fmt::format("{} on the fullest device", format(Bytes(memory))));
  for (std::size_t i = 0; i < kTrainingPhases; ++i) {
    const double share = e.phases_s[i] / e.step_time_s.mid;
    if (share > 0.001) add(spaced(name(static_cast<TrainingPhase>(i))), fmt::format("{:.1f} %", 100 * share));
  }
  if (!p.confirmed.empty()) add("confirmed", p.confirmed);
  page.blocks.emplace_back(std::move(table));
}

}  // namespace

std::string goal_text(const TrainingGoal& goal) {
  std::string text = "Train " + goal.model;
  if (goal.tokens > 0) text += fmt::format(" on {} tokens", format_count(goal.tokens));
  if (goal.days > 0) text += fmt::format(" in {} days", format_number(goal.days));
  if (goal.days > 0 || goal.buyer.budget_usd > 0)
    text += fmt::format(" with {:.0f} % confidence", 100 * goal.confidence);
  if (goal.gpus.size() == 1) text += fmt::format(" on {} devices", format_number(goal.gpus.front(), 7));
  text +=
      fmt::format(" · sequences of {}, batch {}", format_number(goal.sequence, 7), format_number(goal.global_batch, 7));
  return text + limits_text(goal.buyer, "for the run");
}

std::string layout_text(const TrainingPick& p) {
  std::string text = fmt::format("TP{} PP{}", p.plan.tp, p.plan.pp);
  if (p.plan.vp > 1) text += fmt::format("×{}", p.plan.vp);
  if (p.plan.cp > 1) text += fmt::format(" CP{}", p.plan.cp);
  if (p.plan.ep > 1) text += fmt::format(" EP{}", p.plan.ep);
  text += fmt::format(" DP{}, mbs {}", p.dp, p.plan.micro_batch);
  if (p.estimate.sharding == Sharding::zero3 || p.estimate.sharding == Sharding::hsdp) {
    text += fmt::format(", {}", name(p.estimate.sharding));
  }
  if (p.plan.schedule == Schedule::zero_bubble || p.plan.schedule == Schedule::dual_pipe) {
    text += fmt::format(", {}", name(p.plan.schedule));
  }
  if (p.plan.offload > 0) text += fmt::format(", offload {:.0f} %", 100 * static_cast<double>(p.plan.offload));
  if (p.power_cap > 0) text += fmt::format(" at {:.0f} W", p.power_cap);
  return text;
}

Table plan_table(const TrainingVerdict& verdict) {
  return table_of(verdict.plans, verdict.ranks, verdict.plans.size(), true);
}

Document plan_page(const TrainingQuest& quest, const TrainingVerdict& verdict, const PlanReportOptions& options) {
  Document page;
  const bool run = quest.goal.tokens > 0;
  page.title = goal_text(quest.goal);
  add_ranking(page, verdict, table_of(verdict.plans, verdict.ranks, options.rows, run),
              table_of(verdict.nearest, {}, 3, run), options, quest.goal.buyer.purchase);
  const std::string shaky = doubts_text(
      verdict.plans, options.rows, [](const TrainingPick& p) { return p.device; },
      [](const TrainingPick& p) { return doubts(p.quote, p.resembles); });
  if (!shaky.empty()) page.blocks.emplace_back(paragraph(shaky, Emphasis::faint));
  if (!verdict.plans.empty()) {
    const std::string sure = sure_text(verdict.plans.front(), quest.goal);
    if (!sure.empty()) page.blocks.emplace_back(paragraph(sure));
  }
  if (verdict.front.size() > 1) {
    Table table = table_of(verdict.front, {}, 8, run);
    table.title =
        fmt::format("Pareto front, {} plans: nothing is better in time, cost and energy at once", verdict.front.size());
    for (const std::string_view beside : {"best", "holds", "rank"}) without_column(table, beside);
    page.blocks.emplace_back(std::move(table));
  }
  if (!verdict.rationale.empty()) page.blocks.emplace_back(paragraph("Why: " + joined_text(verdict.rationale, " ")));
  add_explanation(page, verdict, options.explain);
  if (!verdict.plans.empty()) {
    page.blocks.emplace_back(paragraph(evidence_text(verdict.plans.front().resembles), Emphasis::faint));
  }
  add_footing(page, verdict, options, "ridge estimate train");
  return page;
}

Json plan_json(const TrainingQuest& quest, const TrainingVerdict& verdict, const PlanReportOptions& options) {
  const TrainingGoal& goal = quest.goal;
  Json json = Json::object();
  json.set("schema", kPlanSchema);
  json.set("kind", "train");
  json.set("feasible", !verdict.plans.empty());
  Json asked = Json::object();
  asked.set("model", goal.model);
  asked.set("tokens", goal.tokens > 0 ? Json(goal.tokens) : Json());
  asked.set("days", goal.days > 0 ? Json(goal.days) : Json());
  asked.set("sequence_tokens", goal.sequence);
  asked.set("global_batch", goal.global_batch);
  asked.set("objective", name(goal.objective));
  asked.set("confidence", goal.confidence);
  json.set("goal", std::move(asked));
  set_ranking(json, verdict, pick_object);
  json.set("regret_share", verdict.regret);
  json.set("cheapest_change", Json());
  json.set("rationale", texts_json(verdict.rationale));
  json.set("assumptions", texts_json(verdict.assumptions));
  set_statistics(json, options.statistics);
  return json;
}

}  // namespace ridge::report
