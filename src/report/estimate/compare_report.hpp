// Several inference plans side by side, ranked by output per device, with ties where intervals overlap.
//
//   std::vector<InferenceAnswer> answers = ...;
//   print(to_terminal(compare_page(answers), style));
//   write_file("compare.html", compare_html(answers));        // with the roofline, if the answers are explained
//
// Pure; any thread.
#pragma once

#include <span>
#include <string>

#include "ridge/perf/answer.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

/// The plans that run, best first, then those that cannot, with the reason.
[[nodiscard]] Table compare_table(std::span<const InferenceAnswer> answers);
[[nodiscard]] Document compare_page(std::span<const InferenceAnswer> answers);
/// docs/schema/estimate.json, kind "compare": each plan as an answer of kind "infer", with its rank.
[[nodiscard]] Json compare_json(std::span<const InferenceAnswer> answers);
[[nodiscard]] std::string compare_html(std::span<const InferenceAnswer> answers);

}  // namespace ridge::report
