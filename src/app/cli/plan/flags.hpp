// The flags of `ridge plan`, and the goals they make.
//
//   PlanFlags flags;
//   flags.declare(options);
//   if (const Status s = flags.check(PlanKind::serve); !s) return s.error();   // "--tokens: is for train, not for
//   serve" Result<ServingGoal> goal = serving_goal(flags, context);
//
// Values stay text until a goal is made of them. A question file ([flags] of a plan file) and a profile fill in what
// the line leaves open.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/fields/flags.hpp"
#include "app/cli/session/file_access.hpp"
#include "ridge/search/plan.hpp"
#include "ridge/serve/workload.hpp"

namespace ridge::cli {

enum class PlanKind : unsigned { serve = ask::kPlanServe, train = ask::kPlanTrain, rl = ask::kPlanRl };
[[nodiscard]] std::string_view name(PlanKind kind);

class PlanFlags : public Flags {
 public:
  PlanFlags() : Flags({ask::plan_fields()}) {}

  void declare(Options& options) { Flags::declare(options, ask::kPlanServe | ask::kPlanTrain | ask::kPlanRl); }
  /// Refuses flags that mean nothing for the kind.
  [[nodiscard]] Status check(PlanKind kind) const;
  /// What was asked, as the same text for the same question: flags that describe it, not how it is run.
  [[nodiscard]] std::string question(PlanKind kind) const;
  /// Takes what question() wrote.
  void restore(std::string_view question);
};

/// What goals need besides the flags.
struct PlanContext {
  std::string prices_as_of;
  std::string software_as_of;
  std::string data_directory;  ///< for policy/vendors.toml
  FileAccess files;            ///< for --traffic
};

/// A workload of the data folder, or a TOML file that whoever asks may read. Traces are for `ridge simulate`.
Result<Workload> named_workload(const std::string& name, const std::string& data_directory, const FileAccess& files);

/// Refuse (bad_input, `where` = the flag): what is no number or name, and what needs another flag beside it.
Result<ServingGoal> serving_goal(const PlanFlags& flags, const PlanContext& context);
Result<TrainingGoal> training_goal(const PlanFlags& flags, const PlanContext& context);

}  // namespace ridge::cli
