// What the pages of serving and training plans share. Internal to src/report.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/page/page.hpp"
#include "report/plan/report.hpp"

namespace ridge::report {

[[nodiscard]] Paragraph paragraph(std::string text, Emphasis emphasis = Emphasis::none);
[[nodiscard]] std::string joined_text(const std::vector<std::string>& parts, std::string_view between);
/// Devices that lost, with why; those never searched counted by reason, or with `why` each with how it could
/// come in. Of `ranked` devices nothing is said.
void add_losers(Document& page, const std::vector<Loser>& losers, const std::vector<std::string>& ranked, bool why);
/// Of the devices shown, those whose rent rests on one quote or on an estimate: "mi325x on one quote; tpu-v7 ...".
void add_thin_prices(Document& page, const std::vector<std::pair<std::string, PriceQuote>>& prices);
/// Where any way to pay was allowed: the one that each device's price is of.
void add_ways_taken(Document& page, const std::vector<std::pair<std::string, PriceQuote>>& prices);
[[nodiscard]] inline const std::string& device_of(const ServingPlan& plan) {
  return plan.query.device;
}
[[nodiscard]] inline const std::string& device_of(const TrainingPick& pick) {
  return pick.device;
}
/// "Searched 1,204,116 plans in 0.9 s (12,304 evaluated, the rest shown to be worse)."
[[nodiscard]] std::string searched_text(const PlanStatistics& statistics);
/// "and 3 devices more (--top N)".
[[nodiscard]] Paragraph and_more(std::size_t devices);
/// "Next: ridge plan … --explain 1 │ ...".
[[nodiscard]] Paragraph next_commands(const std::string& again, std::string_view next);
void set_statistics(Json& json, const PlanStatistics& statistics);
[[nodiscard]] Json losers_json(const std::vector<Loser>& losers);
/// "budget $2M a year · air-cooled", in words of the goal; `budget_of` is what the budget is of.
[[nodiscard]] std::string limits_text(const Buyer& buyer, std::string_view budget_of);

/// What is shaky about a row's dollars or speed: "one quote of 2026-06", "no kernels of its design are measured"; empty
/// if nothing is.
[[nodiscard]] std::vector<std::string> doubts(const std::optional<PriceQuote>& quote, const IntervalClass& resembles);
/// "80 %"; "> 99 %" and "< 1 %" at the ends.
[[nodiscard]] std::string chance_text(double probability);
/// "Confidence: ..." of the first plan.
[[nodiscard]] std::string evidence_text(const IntervalClass& resembles);
/// The rows that have doubts, by doubt: "! not measured: gh200-96, a30; one quote, of 2026-08: a30."; empty if none
/// has.
template <class Plan, class Name, class Doubts>
[[nodiscard]] std::string doubts_text(const std::vector<Plan>& plans, std::size_t rows, const Name& name,
                                      const Doubts& doubts_of) {
  std::vector<std::pair<std::string, std::string>> all;  // a doubt, the names that have it
  for (std::size_t i = 0; i < std::min(plans.size(), rows); ++i) {
    for (const std::string& doubt : doubts_of(plans[i])) {
      const auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == doubt; });
      if (at == all.end()) {
        all.emplace_back(doubt, name(plans[i]));
      } else {
        at->second += ", " + name(plans[i]);
      }
    }
  }
  std::string out;
  for (const auto& [doubt, names] : all) out += (out.empty() ? "! " : "; ") + doubt + ": " + names;
  return out.empty() ? out : out + ".";
}

/// The ranked plans, or what fails first and `nearest`; then why the others lost.
template <class Verdict>
void add_ranking(Document& page, const Verdict& verdict, Table ranked, Table nearest, const PlanReportOptions& options,
                 Purchase purchase) {
  if (verdict.plans.empty()) {
    page.blocks.emplace_back(paragraph("No plan meets this goal.", Emphasis::bad));
    if (!verdict.fails_first.empty()) {
      page.blocks.emplace_back(paragraph("Fails first: " + verdict.fails_first + "."));
      page.blocks.emplace_back(paragraph("Nearest feasible goal: " + marked(verdict.nearest_goal) + "."));
      nearest.title = "Nearest plans";
      page.blocks.emplace_back(std::move(nearest));
    }
  } else {
    page.blocks.emplace_back(std::move(ranked));
    if (verdict.plans.size() > options.rows) page.blocks.emplace_back(and_more(verdict.plans.size() - options.rows));
  }
  std::vector<std::pair<std::string, PriceQuote>> prices;
  for (std::size_t i = 0; i < std::min(verdict.plans.size(), options.rows); ++i) {
    const auto& plan = verdict.plans[i];
    if (plan.quote) prices.emplace_back(device_of(plan), *plan.quote);
  }
  if (purchase == Purchase::any) add_ways_taken(page, prices);
  add_thin_prices(page, prices);
  std::vector<std::string> devices;
  for (const auto& plan : verdict.plans) devices.push_back(device_of(plan));
  add_losers(page, verdict.losers, devices, options.why);
}

/// What was taken for granted, how much was searched, and `next`: the verb that takes a saved plan further.
template <class Verdict>
void add_footing(Document& page, const Verdict& verdict, const PlanReportOptions& options, std::string_view next) {
  page.blocks.emplace_back(
      paragraph("Assumed: " + joined_text(verdict.assumptions, "; ") + ". " + searched_text(options.statistics),
                Emphasis::faint));
  if (!verdict.plans.empty() && !options.again.empty()) page.blocks.emplace_back(next_commands(options.again, next));
}

/// plans, front, losers, nearest and what fails first; `object` writes one plan.
template <class Verdict, class Object>
void set_ranking(Json& json, const Verdict& verdict, const Object& object) {
  const auto list = [&](const auto& some) {
    Json out = Json::array();
    for (const auto& one : some) out.push(object(one));
    return out;
  };
  Json plans = Json::array();
  for (std::size_t i = 0; i < verdict.plans.size(); ++i) {
    plans.push(object(verdict.plans[i]).set("rank", verdict.ranks[i].place).set("tie", verdict.ranks[i].tie));
  }
  json.set("plans", std::move(plans)).set("front", list(verdict.front)).set("losers", losers_json(verdict.losers));
  json.set("nearest", verdict.plans.empty() ? list(verdict.nearest) : Json::array());
  json.set("fails_first", verdict.fails_first.empty() ? Json() : Json(verdict.fails_first));
  json.set("nearest_goal", verdict.nearest_goal.empty() ? Json() : Json(marked(verdict.nearest_goal)));
  json.set("nearest_goal_set", changes_json(verdict.nearest_goal));
}

}  // namespace ridge::report
