// The flags of `ridge simulate` beyond those of a deployment, and the question they make.
//
//   SimulateFlags flags;
//   flags.declare(options);
//   Result<SimulationQuestion> q = simulation_question(flags, *data + "/workloads", as_of, session.files());
//
// Values stay text until the question is made.
#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/estimate_flags.hpp"
#include "app/cli/file_access.hpp"
#include "ridge/simulation.hpp"

namespace ridge::cli {

class SimulateFlags {
 public:
  SimulateFlags();
  /// The flags object must outlive the parsing.
  void declare(Options& options) { declare_without(options, {}); }
  /// Those of a deployment and its load but for some, for verbs that give them another meaning or none.
  void declare_without(Options& options, std::initializer_list<std::string_view> names);

  [[nodiscard]] const std::string& value(std::string_view flag) const;
  [[nodiscard]] bool given(std::string_view flag) const { return !value(flag).empty(); }
  [[nodiscard]] bool is_on(std::string_view flag) const;

  /// `otherwise` if it was not given.
  [[nodiscard]] Result<double> number(std::string_view flag, double otherwise, double low, double high) const;
  [[nodiscard]] Result<int> whole(std::string_view flag, int otherwise, int low, int high) const;
  [[nodiscard]] Result<double> time(std::string_view flag, double otherwise) const;

  EstimateFlags deployment;

 private:
  struct Flag {
    std::string name;
    std::string value_name;  ///< empty for a switch
    std::string help;
    Takes takes;
    std::string value = {};
    bool on = false;
  };
  [[nodiscard]] const Flag& find(std::string_view flag) const;
  std::deque<Flag> flags_;
};

/// Steps that a policy may wait.
inline constexpr int kMostSteps = 100'000;

/// Values that are more than a number or a word: "gamma:2", "0.9:20", "2P1D", "0:8", "2@30s", "42". Refuse (bad_input)
/// others.
[[nodiscard]] Status read_arrivals(std::string_view text, ArrivalProcess& into);
[[nodiscard]] Status read_gathering(std::string_view text, PromptGathering& into);
[[nodiscard]] Status read_pools(std::string_view text, int& prefill, int& decode);
[[nodiscard]] Status read_autoscale(std::string_view text, Autoscaling& into);
[[nodiscard]] Status read_kill(std::string_view text, int& engine, double& when);
[[nodiscard]] Status read_seed(std::string_view text, std::uint64_t& into);

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
