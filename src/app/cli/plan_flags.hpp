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

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/file_access.hpp"
#include "app/cli/options.hpp"
#include "ridge/plan.hpp"

namespace ridge::cli {

enum class PlanKind : std::uint8_t { serve = 1, train = 2, rl = 4 };
[[nodiscard]] std::string_view name(PlanKind kind);

class PlanFlags {
 public:
  PlanFlags();

  /// The flags object must outlive the parsing.
  void declare(Options& options);

  /// The value as given, empty if it was not; "true" for a switch that is on. The name must be one of them (assert).
  [[nodiscard]] const std::string& value(std::string_view flag) const;
  [[nodiscard]] bool given(std::string_view flag) const { return !value(flag).empty(); }
  /// Sets what is not given; false if there is no such flag.
  bool fill(std::string_view flag, const std::string& value);
  [[nodiscard]] std::vector<std::string_view> names() const;
  /// Once the line is parsed: switches become values.
  void settle();
  /// Refuses flags that mean nothing for the kind.
  [[nodiscard]] Status check(PlanKind kind) const;
  /// Refuses a value that is none of its flag, also one that fill() or restore() put there.
  [[nodiscard]] Status valid(Session& session) const;
  /// What was asked, as the same text for the same question: flags that describe it, not how it is run.
  [[nodiscard]] std::string question(PlanKind kind) const;
  /// Takes what question() wrote.
  void restore(std::string_view question);

 private:
  struct Flag {
    std::string name;
    std::string value_name;  ///< empty for a switch
    std::string help;
    unsigned kinds;
    bool describes;  ///< the question, not how it is run
    Takes takes;
    std::string value = {};
    bool on = false;
  };
  [[nodiscard]] const Flag& find(std::string_view flag) const;
  std::deque<Flag> flags_;
};

/// What goals need besides the flags.
struct PlanContext {
  std::string prices_as_of;
  std::string software_as_of;
  std::string data_directory;  ///< for policy/vendors.toml
  FileAccess files;            ///< for --traffic
};

/// Refuse (bad_input, `where` = the flag): what is no number or name, and what needs another flag beside it.
Result<ServingGoal> serving_goal(const PlanFlags& flags, const PlanContext& context);
Result<TrainingGoal> training_goal(const PlanFlags& flags, const PlanContext& context);

}  // namespace ridge::cli
