// Where experts live and how tokens reach them: the part of a deployment that models with experts have.
//
//   std::vector<std::string> said = place_experts(r, model, {query.experts, traits, device, nic, domain, Format::fp8},
//                                                 calibration);
//
// Reads r.tp, dp, ep and expert_ranks; sets r.redundant, ranks_inside, exchange, expert_imbalance and what belongs to
// them, or r.reason. Returns what was assumed, in words. Used by resolve() only.
#pragma once

#include <string>
#include <vector>

#include "perf/inference/resolved.hpp"

namespace ridge::perf {

struct ExpertSetting {
  const ExpertPlan& plan;
  const ServingTraits& traits;
  const Device& device;
  double nic = 0;                 ///< bytes/s per device and direction
  double domain = 1;              ///< devices that the scale-up fabric joins; 1 if there is none of its own
  Format sent = Format::bf16;     ///< of activations
  Format weights = Format::bf16;  ///< MXFP4: of routed experts alone
};
std::vector<std::string> place_experts(ResolvedInference& r, const Model& model, const ExpertSetting& setting,
                                       const Calibration& calibration);

}  // namespace ridge::perf
