// From names to a goodput question, and its whole answer: closed form, simulation, other strategies, money.
//
//   GoodputQuery q;
//   q.gpus = 16384; q.parameters = 405e9; q.record = "llama3-405b"; q.tier = "tectonic"; q.calendar_s = 54 * 86400;
//   Result<GoodputAnswer> a = answer_goodput(q, catalogue, data);
//
// Every default is among the assumptions. Reproducible from the seed; any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "economics/cost_case.hpp"
#include "economics/economics_data.hpp"
#include "ridge/economics/goodput.hpp"

namespace ridge {

struct GoodputQuery {
  double gpus = 0;
  double parameters = 0;  ///< of the model; 0 = unknown
  std::string device, system;
  std::string record, practice, tier;  ///< ids; empty = chosen
  std::optional<CheckpointStrategy> strategy;
  double useful_s = 0;                                 ///< the run without failures
  double calendar_s = 0;                               ///< or the time it may take with them
  std::vector<std::pair<FailureCause, double>> rates;  ///< per GPU-hour, over the record's
  // What is said directly.
  std::optional<double> checkpoint_bytes, storage_bytes_per_s, interval_s, spare_gpus, detection_s, restart_s, repair_s,
      straggler_share, engineer_hours, unit_gpus, domain_gpus;
  double usd_per_gpu_hour = kUnknown;
  double usd_per_engineer_hour = 150;
  double tokens = 0;  ///< of the run
  int trials = 400;
  std::uint64_t seed = 1;
  Patience patience;  ///< once it is over, so is the answer: the caller refuses it
};

struct StrategyLine {
  CheckpointStrategy strategy = CheckpointStrategy::full;
  CheckpointCost cost;
  GoodputOutputs out;
};

struct GoodputAnswer {
  std::string title;
  GoodputInputs inputs;
  CheckpointSetup setup;
  GoodputOutputs closed;
  GoodputSample sample;
  std::vector<StrategyLine> strategies;  ///< every strategy on the same storage, closed form
  IntervalCurve curve;                   ///< by simulation
  std::string record_name;
  SourceId record_source;
  double tokens = 0;
  double run_usd = kUnknown;   ///< GPUs, spares and engineers
  double lost_usd = kUnknown;  ///< of it, for nothing
  double usd_per_million_useful_tokens = kUnknown;
  double usd_per_million_tokens = kUnknown;  ///< if nothing ever failed
  std::vector<std::string> assumptions;
};

/// The question alone, nothing simulated: for searches, which call expected_goodput(). Refuses as answer_goodput()
/// does.
Result<GoodputInputs> goodput_inputs(const GoodputQuery& query, const Catalogue& catalogue, const EconomicsData& data);

/// `progress` is called with the share that is done. Refuses (bad_input, not_found) names that do not exist and what
/// check() refuses; (refused) a run whose length nobody said.
Result<GoodputAnswer> answer_goodput(const GoodputQuery& query, const Catalogue& catalogue, const EconomicsData& data,
                                     const std::function<void(double)>& progress = {});

}  // namespace ridge
