// Plans as files that other verbs take, and the profiles that fill in goals.
#pragma once

#include <string>

#include "app/cli/plan/flags.hpp"
#include "ridge/search/plan.hpp"

namespace ridge::cli {

/// Writes DIR/1.toml, DIR/2.toml, ... (docs: plan files), and pairs of pools as DIR/pools-1.toml, ..., making the
/// folder. The number of files. `given` is the model as it was named: a repository stays in the files.
Result<int> save_plans(const FileAccess& files, const std::string& directory, const ServingQuest& quest,
                       const ServingVerdict& verdict, const std::string& given, const Knowledge& knowledge);
Result<int> save_plans(const FileAccess& files, const std::string& directory, const TrainingQuest& quest,
                       const TrainingVerdict& verdict, const std::string& given, const Knowledge& knowledge);

/// The plan as a question of its own: all that the estimate of the search was made with.
[[nodiscard]] TrainingQuery training_query(const TrainingGoal& goal, const TrainingPick& pick,
                                           const std::string& given);

/// What buyers of this kind usually ask, where the flags leave it open: data/buyers/NAME.toml.
Status take_profile(const std::string& data_directory, const std::string& profile, PlanFlags& flags, PlanKind kind);

}  // namespace ridge::cli
