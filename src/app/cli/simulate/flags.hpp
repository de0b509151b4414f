// The flags of `ridge simulate` beyond those of a deployment, and the question they make.
//
//   SimulateFlags flags;
//   flags.declare(options);
//   Result<SimulationQuestion> q = simulation_question(flags, *data + "/workloads", as_of, session.files());
//
// Values stay text until the question is made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/estimate/flags.hpp"
#include "app/cli/session/file_access.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge::cli {

class SimulateFlags : public Flags {
 public:
  SimulateFlags() : Flags({ask::simulation_fields()}) {}
  void declare(Options& options) { declare_without(options, {}); }
  /// Those of a deployment and its load but for some, for verbs that give them another meaning or none.
  void declare_without(Options& options, const std::vector<std::string_view>& names) {
    deployment.declare(options, kSimulate);
    declare_beside(options, ask::kSimulation, names);
  }

  EstimateFlags deployment;
};

struct SimulationQuestion {
  SimulationQuery query;  ///< the deployment as asked for, not yet completed
  std::vector<std::string> assumptions;
  bool find_rate = false;
};

/// Refuses (bad_input, `where` = the flag; not_found) what is no number or name, and loads that exclude each other.
Result<SimulationQuestion> simulation_question(const SimulateFlags& flags, const std::string& workloads,
                                               const std::string& as_of, const FileAccess& files);
/// What arrives alone: workload, load and limits, whatever serves it.
Result<SimulationQuestion> load_question(const SimulateFlags& flags, const std::string& workloads,
                                         const FileAccess& files);

}  // namespace ridge::cli
