// The work a cost is about: from the flags of estimate, from an MFU, or from a throughput that is given.
//
//   Result<CostWork> work = cost_work(session, estimate_flags, cost_flags);
//   Result<CostAnswer> answer = cost_of(session, *work, cost_flags, CostMode::own);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/cost/flags.hpp"
#include "app/cli/estimate/estimate.hpp"
#include "economics/cost_answer.hpp"
#include "economics/economics_data.hpp"

namespace ridge::cli {

struct CostWork {
  std::string title;  ///< "llama3.3-70b on 2 × h200-sxm", or empty
  std::string model;  ///< id, or empty
  std::string device;
  std::string system;
  double gpus = 1;
  bool training = false;
  std::optional<Interval> tokens_per_s;  ///< output or trained
  double input_tokens_per_s = 0;
  double requests_per_s = 0;
  double prefill_share = 0;
  double device_power_w = kUnknown;
  double power_cap_w = 0;
  double run_tokens = 0;
  std::vector<std::string> assumptions;
  std::optional<InferenceQuery> inference;  ///< the plan as completed, to be asked again
  std::optional<TrainingAnswer> training_answer;
};

/// Runs the estimate if there is a model and nothing says its throughput. Refuses what estimate refuses, and a plan
/// that cannot run.
Result<CostWork> cost_work(Session& session, const EstimateFlags& estimate, const CostFlags& cost);

/// The work of a deployment that is known already. Refuses as above.
Result<CostWork> work_of(Session& session, const InferenceQuestion& question);
Result<CostWork> work_of(Session& session, const TrainingQuestion& question);

/// The same work, in the layout it was given, on devices under a power cap. `work` must hold an estimate.
Result<CostWork> capped_work(Session& session, const CostWork& work, double cap_w);

/// What the work costs in one mode. Refuses what is unknown or absurd.
Result<CostAnswer> cost_of(Session& session, const EconomicsData& data, const CostWork& work, const CostFlags& flags,
                           CostMode mode);

}  // namespace ridge::cli
