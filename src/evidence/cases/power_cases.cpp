#include "evidence/cases/power_cases.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace ridge::evidence {

PowerCase read_power_case(CaseRow& row) {
  static constexpr std::array<std::pair<std::string_view, PowerWork>, 5> kWorks{{{"idle", PowerWork::idle},
                                                                                 {"copy", PowerWork::copy},
                                                                                 {"gemm8192", PowerWork::gemm8192},
                                                                                 {"prefill", PowerWork::prefill},
                                                                                 {"decode", PowerWork::decode}}};
  PowerCase c;
  row.require("device");
  c.device = row.text("device");
  c.model = row.text("model");
  c.gpus = row.integer("gpus", 1, 1'000'000).value_or(1);
  bool known = false;
  for (const auto& [text, work] : kWorks) {
    if (row.word("what") != text) continue;
    c.work = work;
    known = true;
  }
  if (!known) {
    row.refuse("what", fmt::format("'{}' is not known: idle, copy, gemm8192, prefill or decode", row.text("what")));
  }
  c.precision = row.format("precision");
  c.batch = row.number("batch", 1, 1e7).value_or(1);
  c.isl = row.number("isl", 0, 1e8).value_or(0);
  c.context = row.number("ctx", 0, 1e8).value_or(0);
  if (c.work == PowerWork::prefill || c.work == PowerWork::decode) row.require("model");
  return c;
}

}  // namespace ridge::evidence
