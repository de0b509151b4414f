// The words of a verdict, built from its numbers.
#pragma once

#include <string_view>

#include "ridge/base/patience.hpp"
#include "ridge/search/plan.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge::search {

/// "memory bandwidth", "compute", ...
[[nodiscard]] std::string spoken(Bound bound);
/// "one replica", "2 replicas", "a node".
[[nodiscard]] std::string spares_text(const Spares& spares);
/// One line for each reason, indented.
[[nodiscard]] std::string list_of(const std::vector<Loser>& losers);
/// "1.2s", "350kW": a quantity that a flag takes without quotes.
template <class Dim>
[[nodiscard]] std::string compact(Quantity<Dim> quantity);

/// "2 × TP1 DP16 EP16 of gb200-nvl72 (nvfp4)": all degrees, so that the devices can be counted.
[[nodiscard]] std::string pool_text(const ServingPool& pool);
/// "TP8 PP2", "TP1 DP64 EP64 +32 experts, MTP 1".
[[nodiscard]] std::string degrees_text(const InferenceQuery& query, const DeploymentFacts& facts);

/// What its replicas do at the concurrency they are rated at.
void rate(ServingPlan& plan, const InferenceEstimate& estimate);
/// What the plan as it stands costs: its devices, of which an owner pays the electricity they draw at its load, and its
/// tokens.
void price(ServingPlan& plan, const ServingQuest& quest, const Knowledge& knowledge);

/// Of a million output tokens at so many requests a second, what is lost with spot capacity counted.
[[nodiscard]] double usd_per_million_out(const ServingQuest& quest, double usd_per_hour, double request_rate);

/// "; --purchase reserved has one" where the device has a price of another kind, or empty.
[[nodiscard]] std::string other_purchases(const ServingQuest& quest, const std::string& device,
                                          const Knowledge& knowledge);

/// The plan of one finding in full.
[[nodiscard]] ServingPlan serving_plan(const ServingQuest& quest, std::size_t group, const Scored& scored,
                                       const Knowledge& knowledge);
[[nodiscard]] TrainingPick training_pick(const TrainingQuest& quest, std::size_t group, const Scored& scored,
                                         const Knowledge& knowledge);

/// A limit that a plan misses.
struct Miss {
  std::string limit;  ///< "tpot", "budget", ...
  std::string text;   ///< "TPOT 61 ms at best, limit 40 ms"
  Changes feasible;   ///< what would allow the plan, all limits it misses counted
  double by = 0;      ///< share; 0 = none is missed
};
/// The limit that the plan misses by most.
[[nodiscard]] Miss worst_miss(const ServingQuest& quest, const ServingPlan& plan, const Knowledge& knowledge);

/// What makes the nearest goal that a plan of this device really meets, simulated like any other: limits on times
/// that it misses are loosened by as little as is tried, and budget, power and devices, where missed, become the
/// plan's. Empty if nothing that was tried is met.
[[nodiscard]] Changes met_goal(const ServingQuest& quest, const ServingPlan& closest, const Knowledge& knowledge,
                               std::size_t finalists);
/// The highest probability with which one of the nearest devices holds the goal as it is asked, to a fortieth.
[[nodiscard]] HeldWith met_confidence(const ServingQuest& quest, const std::vector<ServingPlan>& nearest,
                                      const Knowledge& knowledge, std::size_t finalists);
/// judge(); without `settle` nothing is looked for where no plan meets the goal.
[[nodiscard]] ServingVerdict judged(const ServingQuest& quest, const Findings& findings, const Knowledge& knowledge,
                                    std::size_t finalists, bool settle);

/// "time was over before ...": what a verdict says of plans that nobody simulated.
inline constexpr std::string_view kNotSimulated =
    "time was over before these plans could be simulated: figures are means";

/// Ends a simulation when patience does.
class PatientObserver final : public SimulationObserver {
 public:
  explicit PatientObserver(const Patience& patience) : patience_(patience) {}
  bool go_on(double /*share*/) override { return !patience_.over(); }

 private:
  const Patience& patience_;
};

/// Simulates the first `finalists` plans, adds or takes away replicas, and moves to the losers what no longer meets the
/// goal.
void confirm(const ServingQuest& quest, ServingVerdict& verdict, std::size_t finalists, const Knowledge& knowledge);
void confirm(const TrainingQuest& quest, TrainingVerdict& verdict, std::size_t finalists, const Knowledge& knowledge);

/// Sizes plans of devices without a price as the others are, and says at which price each would be the cheapest; those
/// that do not meet the goal, and all of them as devices without a price, go to the losers.
void rank_unpriced(const ServingQuest& quest, std::vector<ServingPlan> plans, std::size_t finalists,
                   ServingVerdict& verdict, const Knowledge& knowledge);

/// What the plan costs over a month of the traffic that was given; nothing where none was.
[[nodiscard]] std::optional<MonthlyBill> bill_of(const ServingQuest& quest, const ServingPlan& plan,
                                                 const Knowledge& knowledge);

/// The first plans sized for other probabilities, once simulated.
void climb(const ServingQuest& quest, ServingVerdict& verdict, const Knowledge& knowledge);
/// The probability that a plan which was not simulated holds rate and limits, by its means.
[[nodiscard]] double chance_by_means(const ServingGoal& goal, const ServingPlan& plan);

/// What the errors of predictions for this device, engine and model are shared with.
[[nodiscard]] ErrorSubject subject_of(const Knowledge& knowledge, const std::string& device, const std::string& engine,
                                      const std::string& model);

/// Fills verdict.alternatives. With a limit on one vendor's share and no second vendor, no plan is left.
void share_out(const ServingQuest& quest, ServingVerdict& verdict, const Knowledge& knowledge);

/// Share of the time that counts for a run of so many devices: asked for, or by failures, else 1; and how far the time
/// of the run is off its mean because failures come as they like (standard deviation over the mean).
struct RunGoodput {
  double share = 1;
  double deviation = 0;
};
[[nodiscard]] RunGoodput goodput_of(const TrainingQuest& quest, const std::string& device, int gpus, double parameters,
                                    const Knowledge& knowledge);

/// "rents are medians of ..."
[[nodiscard]] std::string price_assumption(const Buyer& buyer, const EconomicsData* economics);

/// What would make the best plan cheaper, of the changes that the space does not hold; empty if nothing does.
[[nodiscard]] std::optional<CheapestChange> cheapest_change(const ServingQuest& quest, const ServingPlan& best,
                                                            const Knowledge& knowledge);
[[nodiscard]] std::vector<std::string> rationale(const ServingQuest& quest, const ServingVerdict& verdict);
[[nodiscard]] std::vector<std::string> rationale(const TrainingQuest& quest, const TrainingVerdict& verdict);
/// Dollars per million output tokens of the deployment, replicas counted in fractions, at the best concurrency that
/// meets the limits; infinity if none does.
[[nodiscard]] double best_cost(const ServingQuest& quest, const InferenceQuery& query, const InferenceLoad& changed,
                               double tpot_s, double usd_per_gpu_hour, const Knowledge& knowledge);
/// Fills in what the first plan's dollars depend on, and what would make another the first.
void add_sensitivity(const ServingQuest& quest, ServingVerdict& verdict, const Knowledge& knowledge);
/// A sentence where the devices do less than half of what fewer of them would do each; else nothing.
[[nodiscard]] std::string low_use_text(const TrainingQuest& quest, const TrainingPick& pick,
                                       const Knowledge& knowledge);

}  // namespace ridge::search
