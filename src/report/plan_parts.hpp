// What the pages of serving and training plans share. Internal to src/report.
#pragma once

#include <string>
#include <vector>

#include "report/page.hpp"
#include "report/plan_report.hpp"

namespace ridge::report {

[[nodiscard]] Paragraph paragraph(std::string text, Emphasis emphasis = Emphasis::none);
[[nodiscard]] std::string joined_text(const std::vector<std::string>& parts, std::string_view between);
/// Devices that lost, with why; those never searched counted by reason.
void add_losers(Document& page, const std::vector<Loser>& losers);
/// "Searched 1,204,116 plans in 0.9 s (12,304 evaluated, the rest shown to be worse)."
[[nodiscard]] std::string searched_text(const PlanStatistics& statistics);
void set_statistics(Json& json, const PlanStatistics& statistics);
[[nodiscard]] Json losers_json(const std::vector<Loser>& losers);
/// "rent", in words of the goal.
[[nodiscard]] std::string limits_text(const Buyer& buyer);

}  // namespace ridge::report
