#include "report/plan/agent_plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/page/page.hpp"
#include "report/plan/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

std::string memories_text(const AgentPlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.held.size(); ++i) {
    if (plan.held[i] <= 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", plan.tiers[i].name, format(Bytes(plan.held[i])));
    if (plan.tiers[i].shared) text += " in all";
  }
  return text.empty() ? "none" : text;
}

namespace {

std::string layout_of(const AgentPlan& p) {
  return fmt::format("{} × TP{}", p.replicas, std::max(1, p.deployment.tp));
}
std::string formats_of(const AgentPlan& p) {
  std::string text(p.deployment.weights ? name(*p.deployment.weights) : "");
  if (p.deployment.kv) text += fmt::format("{}{} KV", text.empty() ? "" : ", ", name(*p.deployment.kv));
  return text;
}

}  // namespace

Table agent_plan_table(const std::vector<AgentPick>& picks) {
  Table table;
  table.columns = {{.key = "device", .heading = "device"},
                   {.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number},
                   {.key = "replicas", .heading = "replicas", .kind = ColumnKind::number, .spare = 2},
                   {.key = "layout", .heading = "layout"},
                   {.key = "precision", .heading = "precision"},
                   {.key = "memory", .heading = "held by a replica below the device"},
                   {.key = "cached", .heading = "of the input found", .kind = ColumnKind::number},
                   {.key = "later_ttft_p95", .unit = "s", .heading = "later turns p95", .kind = ColumnKind::number},
                   {.key = "within", .heading = "within limits", .kind = ColumnKind::number},
                   {.key = "cost", .unit = "usd/h", .heading = "$/h", .kind = ColumnKind::number}};
  for (const AgentPick& pick : picks) {
    const AgentPlan& p = pick.plan;
    const auto usd = pick.usd_per_hour();
    table.rows.push_back({Cell(p.deployment.device), Cell(p.gpus), Cell(p.replicas), Cell(layout_of(p)),
                          Cell(formats_of(p)), Cell(memories_text(p)),
                          Cell(p.cached_share).shown_as(percent(p.cached_share)), Cell(Seconds(p.later_turn_ttft_p95)),
                          Cell(p.within).shown_as(percent(p.within, 1)), usd ? Cell(*usd) : Cell()});
  }
  return table;
}

Document agent_plan_page(const std::vector<AgentPick>& picks, const SimulationQuery& asked,
                         const std::vector<std::string>& assumptions, std::size_t rows) {
  Document page;
  const AgentPlan& best = picks.front().plan;
  page.title =
      fmt::format("{}: {}, {} requests/s", asked.deployment.model, asked.workload.name, format_number(asked.load.rate));
  const auto limit = [&](const char* what, double seconds) {
    if (seconds > 0) page.title += fmt::format(" · {} ≤ {}", what, format(Seconds(seconds)));
  };
  limit("TTFT", asked.limits.ttft);
  limit("TPOT", asked.limits.tpot);
  limit("whole request", asked.limits.e2e);
  std::string said =
      fmt::format("Best: {} × {}, {} replica{} of TP {}, {}", best.gpus, best.deployment.device, best.replicas,
                  best.replicas == 1 ? "" : "s", std::max(1, best.deployment.tp), formats_of(best));
  said += memories_text(best) == "none" ? ", no memory below the device's."
                                        : fmt::format(", each with {} below the device.", memories_text(best));
  const auto bare = std::find_if(picks.begin(), picks.end(), [&](const AgentPick& p) {
    return p.plan.tiers.empty() && p.plan.deployment.device == best.deployment.device;
  });
  if (!best.tiers.empty() && bare != picks.end()) {
    said += fmt::format(" Without it: {} GPUs.", bare->plan.gpus);
  }
  page.blocks.emplace_back(Paragraph{std::move(said), Emphasis::strong});
  Table table = agent_plan_table(picks);
  if (table.rows.size() > rows) table.rows.resize(rows);
  page.blocks.emplace_back(std::move(table));
  std::vector<std::string> slow;
  for (const AgentPick& pick : picks) {
    for (const std::string& name : pick.plan.slow) {
      if (std::find(slow.begin(), slow.end(), name) == slow.end()) slow.push_back(name);
    }
  }
  for (const std::string& name : slow) {
    page.blocks.emplace_back(
        Paragraph{fmt::format("Tier {} is slower than computing anew: most of what it held was recomputed.", name)});
  }
  add_assumptions(page, assumptions);
  return page;
}

Json agent_plan_json(const std::vector<AgentPick>& picks, const std::vector<std::string>& assumptions) {
  Json json = Json::object();
  json.set("schema", kPlanSchema).set("kind", "agents");
  Json plans = Json::array();
  for (const AgentPick& pick : picks) {
    const AgentPlan& p = pick.plan;
    Json tiers = Json::array();
    for (std::size_t i = 0; i < p.held.size(); ++i) {
      tiers.push(Json::object()
                     .set("name", p.tiers[i].name)
                     .set("held_bytes", p.held[i])
                     .set("shared", p.tiers[i].shared)
                     .set("recomputed", std::find(p.slow.begin(), p.slow.end(), p.tiers[i].name) != p.slow.end()));
    }
    const auto usd = pick.usd_per_hour();
    plans.push(Json::object()
                   .set("device", p.deployment.device)
                   .set("gpus", p.gpus)
                   .set("replicas", p.replicas)
                   .set("tp", std::max(1, p.deployment.tp))
                   .set("precision", p.deployment.weights ? Json(std::string(name(*p.deployment.weights))) : Json())
                   .set("kv_precision", p.deployment.kv ? Json(std::string(name(*p.deployment.kv))) : Json())
                   .set("tiers", std::move(tiers))
                   .set("cached_share", p.cached_share)
                   .set("first_turn_ttft_p95_s", p.first_turn_ttft_p95)
                   .set("later_turn_ttft_p95_s", p.later_turn_ttft_p95)
                   .set("tpot_p95_s", p.tpot_p95)
                   .set("task_p50_s", p.task_p50)
                   .set("within_limits", p.within)
                   .set("usd_per_hour", usd ? Json(*usd) : Json()));
  }
  return json.set("plans", std::move(plans)).set("assumptions", texts_json(assumptions));
}

}  // namespace ridge::report
