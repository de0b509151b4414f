// Pieces that the pages of all answers share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ridge/perf/answer.hpp"
#include "ridge/perf/perf.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

/// A list of names and values. Values that are sentences wrap everywhere, others in terminals too narrow for them.
[[nodiscard]] Table two_columns(std::string title, Overflow values = Overflow::keep);
/// Predictions for spreadsheets: quantity, unit, low, mid, high.
[[nodiscard]] Table quantities_table();
void add_quantity(Table& table, std::string_view what, std::string_view unit, const Interval& interval);
/// Where a whole goes, without headings: `what` ("phase"), `amount` ("time"), its share and a bar.
[[nodiscard]] Table shares_table(std::string title, std::string what, std::string amount = "time");
void add_share(Table& table, const std::string& what, Cell amount, double share, int decimals = 0);
/// "17 %".
[[nodiscard]] std::string percent(double share, int decimals = 0);
/// A prediction in one unit throughout: "1,537 tok/s (1,076–2,152)".
[[nodiscard]] std::string in_unit(const Interval& interval, std::string_view unit, double scale = 1);
/// A time in the unit that suits it, with its interval where it has one.
[[nodiscard]] Cell time_cell(const Interval& interval);
/// A bar of at most `width` characters for a share in [0, 1].
[[nodiscard]] std::string bar(double share, int width = 20);
/// "data_parallel" → "data parallel".
[[nodiscard]] std::string spaced(std::string_view name);
/// "scale_up" → "scale-up".
[[nodiscard]] std::string spoken(Term term);
/// "Assumed: a; b." Nothing if there is nothing.
void add_assumptions(Document& page, const std::vector<std::string>& assumptions);
[[nodiscard]] Json interval_json(const Interval& interval);
[[nodiscard]] Json texts_json(const std::vector<std::string>& assumptions);
/// {"tp": 8, "power_cap": "500W"}: to be put into a question as it is.
[[nodiscard]] Json changes_json(const Changes& changes);
/// What works instead: "change" in words, "effect", and "set", the change as fields.
[[nodiscard]] Json nearest_json(const NearestPlan& plan);

}  // namespace ridge::report
