// Bars that validation has to clear: `--require "output_tok_s@offline<=7.5/23"`.
//
//   Result<Requirement> r = parse_requirement("step_time_s<=6/16");   // median 6 %, p90 16 %
//   Result<Requirement> c = parse_requirement("step_time_s>=97");     // at least 97 % predicted
//   RequirementMet v = check(*r, lines);                                     // v.met, v.text
//
// A category without cases does not meet a bar: nothing was shown. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/validate/validation.hpp"
#include "ridge/base/result.hpp"

namespace ridge::evidence {

struct Requirement {
  std::string text;  ///< as written
  Metric metric = Metric::step_time_s;
  std::string mode;                ///< empty: every mode of the metric has to clear the bar
  std::optional<double> median;    ///< most, as a share
  std::optional<double> p90;       ///< most, as a share
  std::optional<double> coverage;  ///< least, as a share
};

/// METRIC[@MODE]<=MEDIAN[/P90] or METRIC[@MODE]>=COVERAGE, in percent. Refuses another form, naming this one.
Result<Requirement> parse_requirement(std::string_view text);

struct RequirementMet {
  bool met = false;
  std::string text;  ///< "output_tok_s offline: 6.9 / 25 % (bar 7.5 / 23): missed"
};

[[nodiscard]] std::vector<RequirementMet> check(const Requirement& requirement, std::span<const SummaryLine> lines);

}  // namespace ridge::evidence
