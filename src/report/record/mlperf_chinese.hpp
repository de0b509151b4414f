// Tables of MLPerf results in Chinese: headings, fixed texts and units. Names and numbers stay.
//
//   Table table = mlperf_rule_table(results);
//   to_chinese(table);
//
// Pure; any thread.
#pragma once

#include <string>

#include "ridge/report/report.hpp"

namespace ridge::report {

/// "tokens/s per accelerator" to "每加速器 tokens/s"; other units stay.
[[nodiscard]] std::string unit_in_chinese(std::string unit);
void to_chinese(Table& table);

}  // namespace ridge::report
