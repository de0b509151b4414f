// What `ridge goodput` prints: a page, a table, JSON (docs/schema/goodput.json), the curve over checkpoint intervals.
#pragma once

#include <string>
#include <string_view>

#include "economics/goodput/case.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

inline constexpr std::string_view kGoodputSchema = "ridge.goodput/1";

[[nodiscard]] Document goodput_page(const GoodputAnswer& answer);
[[nodiscard]] Json goodput_json(const GoodputAnswer& answer, const Catalogue& catalogue);
/// Lost GPU-hours, by kind and by cause.
[[nodiscard]] Table loss_table(const GoodputAnswer& answer);
[[nodiscard]] std::string goodput_html(const GoodputAnswer& answer);

}  // namespace ridge::report
