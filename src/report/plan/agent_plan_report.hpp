// Plans of devices and memories for sessions, for people and for programs.
//
//   print(to_terminal(agent_plan_page(picks, "agent", 40), style));
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ridge/report/report.hpp"
#include "ridge/serve/agent_plan.hpp"

namespace ridge::report {

struct AgentPick {
  AgentPlan plan;
  std::optional<double> usd_per_gpu_hour;
  [[nodiscard]] std::optional<double> usd_per_hour() const {
    if (!usd_per_gpu_hour) return std::nullopt;
    return *usd_per_gpu_hour * plan.gpus;
  }
};

/// "host 120 GB, ssd 2.10 TB", what was held; "none".
[[nodiscard]] std::string memories_text(const AgentPlan& plan);
[[nodiscard]] Table agent_plan_table(const std::vector<AgentPick>& picks);
/// Of at least one plan, the best first.
[[nodiscard]] Document agent_plan_page(const std::vector<AgentPick>& picks, const SimulationQuery& asked,
                                       const std::vector<std::string>& assumptions, std::size_t rows);
/// docs/schema/plan.json, kind "agents".
[[nodiscard]] Json agent_plan_json(const std::vector<AgentPick>& picks, const std::vector<std::string>& assumptions);

}  // namespace ridge::report
