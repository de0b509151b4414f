// The answer to a question about images, for people and for programs.
//
//   DiffusionAnswer a{query, pipeline->assumptions, outcome, sweep};
//   print(to_terminal(diffusion_page(a), style));
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/page/page.hpp"
#include "ridge/perf/diffusion.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

/// The same pipeline with another load.
struct DiffusionPoint {
  DiffusionLoad load;
  DiffusionOutcome outcome;
};

struct DiffusionAnswer {
  DiffusionQuery query;  ///< devices and layout filled in
  std::vector<std::string> assumptions;
  DiffusionOutcome outcome;
  std::vector<DiffusionPoint> sweep;  ///< other resolutions, batches and steps
};

[[nodiscard]] Document diffusion_page(const DiffusionAnswer& answer);
/// docs/schema/estimate.json, kind "diffusion".
[[nodiscard]] Json diffusion_json(const DiffusionAnswer& answer);
/// One row for each load.
[[nodiscard]] Table diffusion_table(const DiffusionAnswer& answer);
/// Why it cannot run, in a sentence.
[[nodiscard]] std::string diffusion_refusal(const DiffusionAnswer& answer);

}  // namespace ridge::report
