// Time to first token against the length of a prompt, for people and for programs.
//
//   print(context_page({query, curve}));
//   print(context_json({query, curve}).text());          // docs/schema/estimate.json, kind "context"
//
// Pure; any thread.
#pragma once

#include "ridge/perf/long_context.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

struct ContextAnswer {
  InferenceQuery query;
  ContextCurve curve;
};

[[nodiscard]] Document context_page(const ContextAnswer& answer);
[[nodiscard]] Json context_json(const ContextAnswer& answer);
/// One row for each length.
[[nodiscard]] Table context_table(const ContextAnswer& answer);
/// Why none of the lengths can run, and what would.
[[nodiscard]] std::string context_refusal(const ContextAnswer& answer);

}  // namespace ridge::report
