// The words of a verdict, built from its numbers.
#pragma once

#include "ridge/plan.hpp"

namespace ridge::search {

/// "HBM bandwidth", "arithmetic", ...
[[nodiscard]] std::string spoken(Bound bound);
/// One line for each, indented.
[[nodiscard]] std::string list_of(const std::vector<Loser>& losers);
/// "1.2s", "350kW": a quantity that a flag takes without quotes.
template <class Dim>
[[nodiscard]] std::string compact(Quantity<Dim> quantity);

/// The plan of one finding in full.
[[nodiscard]] ServingPlan serving_plan(const ServingQuest& quest, std::size_t group, const Scored& scored,
                                       const Knowledge& knowledge);
[[nodiscard]] TrainingPick training_pick(const TrainingQuest& quest, std::size_t group, const Scored& scored);

/// What would make the best plan cheaper, of the changes that the space does not hold; empty if nothing does.
[[nodiscard]] std::optional<CheapestChange> cheapest_change(const ServingQuest& quest, const ServingPlan& best,
                                                            const Knowledge& knowledge);
[[nodiscard]] std::vector<std::string> rationale(const ServingQuest& quest, const ServingVerdict& verdict);
[[nodiscard]] std::vector<std::string> rationale(const TrainingQuest& quest, const TrainingVerdict& verdict);

}  // namespace ridge::search
