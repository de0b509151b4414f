// What `ridge cost` prints about one way to pay: a page, a table, JSON (docs/schema/cost.json), a waterfall.
#pragma once

#include <string>
#include <string_view>

#include "economics/cost_answer.hpp"
#include "report/chart/money_charts.hpp"
#include "report/page/page.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

inline constexpr std::string_view kCostSchema = "ridge.cost/1";

[[nodiscard]] Document cost_page(const CostAnswer& answer, const Catalogue& catalogue);
[[nodiscard]] Json cost_json(const CostAnswer& answer, const Catalogue& catalogue);
/// One row for each line of the waterfall.
[[nodiscard]] Table waterfall_table(const CostAnswer& answer);
[[nodiscard]] Waterfall cost_waterfall(const CostAnswer& answer);
/// The page with the waterfall drawn.
[[nodiscard]] std::string cost_html(const CostAnswer& answer, const Catalogue& catalogue);

// Shared by the other pages of `ridge cost`.
/// "$0.543", "$162,816", "$40.2M", "unknown".
[[nodiscard]] std::string money(double usd, int digits = 3);
void add_assumptions(Document& page, const CostCase& cost_case);
/// "Hardware is bought and run as a hyperscaler does (⟦profile⟧)." Empty where somebody said who it is.
[[nodiscard]] std::string owner_text(const CostCase& cost_case);
void add_warnings(Document& page, const std::vector<std::string>& warnings);
[[nodiscard]] Json assumptions_json(const CostCase& cost_case);

}  // namespace ridge::report
