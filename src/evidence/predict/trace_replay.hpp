// Logs of real engines, request by request, beside the simulator.
//
//   Result<std::vector<TraceComparison>> c = replay_traces("data/evidence/traces", knowledge);
//   (*c)[0].error();     // of the median
//   (*c)[0].distance;    // Kolmogorov and Smirnov: the greatest gap between the two distributions
//
// index.csv names the deployment of each log; a log has arrival_s, isl, osl, first_token_s, last_token_s of the
// scheduler's own clock. Refuses (bad_input, not_found) files that are missing or malformed, and deployments that
// cannot run. Reads files, else pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "ridge/perf/inference.hpp"

namespace ridge::evidence {

struct TraceComparison {
  std::string file;
  std::string measure;  ///< "TTFT", "TPOT", "end to end"
  double requests = 0;
  double measured = 0;  ///< median, seconds
  double simulated = 0;
  double distance = 0;
  [[nodiscard]] double error() const { return simulated / measured - 1; }
};

Result<std::vector<TraceComparison>> replay_traces(const std::string& folder, const Knowledge& knowledge);

}  // namespace ridge::evidence
