// From a goal to a ranked, explained, priced plan: what to rent or buy for this work, on which device, laid out how.
//
//   ServingGoal goal;
//   goal.model = "llama3.3-70b"; goal.request_rate = 50; goal.isl = 1000; goal.osl = 250; goal.ttft_s = 1;
//   Result<ServingQuest> quest = prepare(goal, knowledge);        // the space: devices, layouts, formats, concurrency
//   SearchOutcome found = search::search(*quest->problem, {});    // all cores; src/search/problem.hpp
//   ServingVerdict verdict = judge(*quest, found.findings, knowledge);   // ranked with ties; why the others lost
//
// prepare() and judge() are pure but for reading `knowledge`, which must outlive the quest; any thread. A goal that
// nothing meets is a verdict too: `plans` is then empty and `nearest` says what comes closest.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ridge/base/change.hpp"
#include "ridge/base/patience.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/perf/ranking.hpp"
#include "ridge/perf/training.hpp"
#include "ridge/search/confidence.hpp"
#include "ridge/search/headroom.hpp"
#include "ridge/search/space.hpp"
#include "ridge/serve/workload.hpp"

namespace ridge {

struct EconomicsData;

namespace search {
class Problem;
class ServingProblem;
class TrainingProblem;
}  // namespace search

enum class Objective : std::uint8_t {
  cost,    ///< dollars per million output tokens; of the whole training run
  time,    ///< of the training run
  energy,  ///< of the devices
  gpus,    ///< the fewest
};
[[nodiscard]] std::string_view name(Objective objective);
Result<Objective> parse_objective(std::string_view text);

/// How capacity is had.
enum class Purchase : std::uint8_t {
  on_demand,
  spot,
  reserved,
  own,
  any,  ///< the cheapest of on demand, reserved and bought that has a price; the quote's basis says which
};
[[nodiscard]] std::string_view name(Purchase purchase);
Result<Purchase> parse_purchase(std::string_view text);

/// Devices that are there already: they cost nothing more.
struct Fleet {
  std::string device;
  int gpus = 0;
};

/// What a buyer can and wants to do. Empty or zero: no such limit.
struct Buyer {
  std::vector<std::string> devices;        ///< only these; empty = all that are on sale
  std::vector<std::string> vendors;        ///< only these
  std::vector<std::string> avoid_vendors;  ///< not these
  std::string destination;                 ///< country of use, for messages
  bool export_licence = false;             ///< devices that need an export licence for the destination are left out
  std::vector<std::string> licence_free;   ///< vendors whose devices need none
  std::vector<std::pair<std::string, double>> dies;  ///< areas in mm2 by chip, for export classes that go by density
  std::vector<std::string> elsewhere;  ///< vendors that rent out all they make, none of it in the destination
  std::string region;                  ///< prices of this region or provider only; electricity of it, if owned
  std::string owner = "hyperscaler";   ///< who buys: a profile of data/economics
  Purchase purchase = Purchase::on_demand;
  double budget_usd = 0;      ///< of the run, or of a year of serving
  double power_w = 0;         ///< of all devices and their hosts, at the socket
  double rack_w = 0;          ///< that one rack can supply and cool
  bool air_cooled = false;    ///< no liquid cooling on site
  int gpus = 0;               ///< at most
  bool measured = false;      ///< only designs for which measurements are published (software maturity)
  bool announced = false;     ///< also devices that are not on sale yet
  double vendor_share = 1;    ///< of the work, at most, with one vendor
  bool price_spread = false;  ///< prices may be anything that is quoted, not the median
  std::vector<Fleet> fleet;
  std::string date;           ///< prices as of
  std::string software_date;  ///< engines and their kernels as of
};

/// What a GPU-hour costs, from the price lists.
struct PriceQuote {
  double low = 0, mid = 0, high = 0;  ///< dollars: the quartiles of the quotes
  int quotes = 0;                     ///< of providers; 0 = estimated from figures of analysts or lessors
  std::string newest;                 ///< year and month of the newest quote, or empty
  bool lone = false;                  ///< the only one, and not of a provider that was asked for
  bool old = false;   ///< that is more than a year before the date asked for, or the newest quote of any device
  double sigma = 0;   ///< of the logarithm: how far off it may be; 0 where there are several quotes of this year
  std::string basis;  ///< "median of 14 on-demand quotes of 2025-09 to 2026-08"; "bought, over 4 years"
};
/// How a device is used: what its owner pays for electricity depends on it.
struct DeviceUse {
  double busy_w = std::numeric_limits<double>::quiet_NaN();  ///< NaN: its limit
  double idle_share = 0.2;                                   ///< of its limit, while there is no work
  double utilisation = 1;                                    ///< share of the time in which there is work
};
/// Empty if nobody publishes one. The only place in src/search that prices.
[[nodiscard]] std::optional<PriceQuote> price_of(const Catalogue& catalogue, const std::string& device,
                                                 const Buyer& buyer, const EconomicsData* economics,
                                                 const DeviceUse& use = {});
/// Of the hours paid, those that spot capacity is not taken back in; 1 for other purchases.
[[nodiscard]] double kept_share(const Buyer& buyer, const EconomicsData* economics);

/// A device that was not searched, or lost.
struct Loser {
  std::string device;
  std::string why;    ///< one clause with the numbers
  std::string limit;  ///< the constraint: "tpot", "memory", "budget", "price", "rack", ...
  double by = 0;      ///< the share by which it is missed, 0 if that makes no sense
  bool searched = true;
};

struct ServingGoal {
  std::string model;
  std::string engine = "vllm";
  double request_rate = 1;              ///< per second, on average; 0 = as many as `buyer.gpus` devices can do
  double peak = 1;                      ///< the busiest time has so many times that: rate and limits hold then
  Spares spares;                        ///< that may be down at the busiest time
  std::optional<TrafficShape> traffic;  ///< of a day or a week; `peak` is its own
  double growth = 0;                    ///< of the traffic, a month
  double cold_start_s = 120;            ///< until a replica that is started serves
  double isl = 1000, osl = 250;
  double prefix_hit = 0;
  std::optional<Workload> workload;          ///< lengths and gaps as they vary; `isl` and `osl` are its means
  double ttft_s = 0, tpot_s = 0, e2e_s = 0;  ///< at most, 0 = no limit
  bool assumed_limits = false;               ///< nobody asked for them
  double confidence = 0.8;                   ///< probability with which the plan has to hold rate and limits
  double load = 0.8;               ///< mean load of a replica, share of what it can do within the limits: the search's
  double load_at_most = 1;         ///< the same, of the plan at the busiest time with all replicas up: never more
  std::vector<Format> precisions;  ///< of the weights; empty = 16, 8 and 4 bits as the device allows
  std::vector<Format> kv;          ///< empty = 16 and 8 bits
  int tp = 0, pp = 0;              ///< fixed, 0 = free
  int dp = 0, ep = 0;              ///< of mixtures, the same
  bool disaggregate = false;       ///< prompts and tokens on pools of their own: pairs on every device, cheapest first
  std::vector<double> power_caps;  ///< watts of a device, tried in turn, 0 = none; empty = none
  bool search_caps = false;        ///< none, and shares of the limit of each device
  bool mixed_pools = false;        ///< prefill and decode may run on devices of different vendors
  bool speculate = true;           ///< models that predict several tokens may use that
  Objective objective = Objective::cost;
  Buyer buyer;
  Patience patience;  ///< once it is over, plans are ranked by what is known then, and the verdict says so

  /// Requests per second at the busiest time.
  [[nodiscard]] double peak_rate() const { return request_rate * peak; }
  /// What is simulated: `workload`, or requests of equal lengths.
  [[nodiscard]] Workload requests() const;
};

struct ServingQuest {
  ServingGoal goal;
  std::shared_ptr<const search::ServingProblem> problem;
  std::vector<std::optional<PriceQuote>> prices;  ///< by group
  std::vector<Loser> excluded;                    ///< devices that the buyer's limits leave out
  std::vector<std::string> assumptions;
  const EconomicsData* economics = nullptr;
};

/// Refuses (bad_input, not_found, refused): unknown names, no device left (naming why each is out), absurd numbers.
/// `economics` (which must outlive the quest) is needed for owning, for failures and for the power of hosts; without it
/// there is none of them.
Result<ServingQuest> prepare(const ServingGoal& goal, const Knowledge& knowledge,
                             const EconomicsData* economics = nullptr);

/// So many devices hold rate and limits with this probability.
struct Rung {
  double confidence = 0;
  int gpus = 0;
};

/// How sure a plan to serve with is. Throughput and times per token have one error, that of a step: a service whose
/// steps take s times as long is the predicted one at s times the rate, seen s times as slowly. Time to first token has
/// an error of its own on top.
struct PlanConfidence {
  LogError step;                        ///< of the time of a step
  LogError first;                       ///< of TTFT beyond it
  std::optional<double> holds;          ///< probability that rate and limits hold, as simulated or by the means
  std::optional<double> holds_rate;     ///< rate, TPOT and request time alone
  std::optional<double> holds_ttft;     ///< TTFT alone
  std::vector<Rung> ladder;             ///< ascending; empty if not simulated
  std::optional<int> gpus_if_measured;  ///< at the confidence asked for, once one run confirms the prediction
  double best = 0;                      ///< probability that it is the first of all by the objective
};

/// One plan to serve with.
struct ServingPlan {
  InferenceQuery query;  ///< of one replica
  DeploymentFacts facts;
  double concurrency = 0;  ///< requests in one replica at once that it is rated at
  int replicas = 0;
  int spares = 0;  ///< of the replicas, so many may be down at the busiest time
  int gpus = 0;
  double requests_per_s = 0;     ///< one replica can do within the limits
  Interval output_tokens_per_s;  ///< of one replica at that
  double rate = 0;               ///< requests per second that all replicas are given on average: dollars are for these
  std::optional<double> usd_per_gpu_hour;
  std::optional<double> usd_per_hour;       ///< of devices that are not there already
  std::optional<Interval> usd_per_million;  ///< output tokens
  Interval watts;                           ///< all devices at full load
  Interval ttft_s, tpot_s, e2e_s;           ///< at the rated concurrency
  Bound bound = Bound::memory_bandwidth;
  std::string bound_text;  ///< "HBM bandwidth, decode"
  IntervalClass resembles;
  PlanConfidence sure;
  std::optional<PriceQuote> quote;  ///< what the dollars come from
  std::uint64_t index = 0;
  /// Of the simulated requests, once confirmed: at the busiest time, with the spares down.
  std::optional<double> ttft_p95_s, tpot_p95_s;
  std::optional<double> ttft_mean_s, tpot_mean_s;  ///< of the same requests
  std::string confirmed;                           ///< what the simulator said, or empty
  double simulated_requests = 0;                   ///< of all replicas, 0 = none

  /// Share of what the replicas can do within the limits that they are given on average.
  [[nodiscard]] double load() const { return rate / (requests_per_s * replicas); }
};

/// A change that would make the best plan cheaper, evaluated.
struct CheapestChange {
  std::string text;
  double usd_per_million = 0;  ///< less
};

/// Engines of one kind for one of the two phases.
struct ServingPool {
  InferenceQuery query;  ///< of one engine
  DeploymentFacts facts;
  int engines = 0;
  double concurrency = 1;  ///< requests in one engine at once
};

/// Prompts on one pool, tokens on another, and the caches that travel between them.
struct PoolPair {
  ServingPool prefill, decode;
  double kv_bytes = 0;                    ///< of one request
  double link_bytes_per_s = 0;            ///< out of one prefill engine
  double ttft_p95_s = 0, tpot_p95_s = 0;  ///< of the simulated requests
  double simulated_requests = 0;          ///< of all engines
};

/// The work shared out between devices.
struct Alternative {
  std::string text;  ///< "prefill on 2 × TP8 of b300-sxm (fp8), decode on 3 × DP16 EP16 of gb200-nvl72 (nvfp4)"
  std::optional<double> usd_per_hour;
  std::optional<double> usd_per_million;  ///< output tokens
  std::optional<PoolPair> pools;
};

/// A plan that meets the goal, of a device whose price nobody publishes.
struct UnpricedPlan {
  ServingPlan plan;
  std::optional<double> wins_below;  ///< dollars per GPU-hour; empty if there is no plan with a price to beat
  std::optional<PriceQuote> bought;  ///< what an hour costs who buys it, where a purchase price is known
};

/// A goal that nothing meets with the probability asked for is met with this one, by this device; 0: with none.
struct HeldWith {
  double confidence = 0;
  std::string device;
};

/// What becomes of the dollars of the first plan when something about it turns out otherwise.
struct Sensitivity {
  std::string what;                         ///< "prompts half as long or twice as long"
  double usd_at_less = 0, usd_at_more = 0;  ///< per million output tokens
  std::string less, more;                   ///< "512 tokens", "2,048 tokens"
};

struct ServingVerdict {
  std::vector<UnpricedPlan> unpriced;  ///< the price at which they would win first, highest first
  std::vector<ServingPlan> plans;      ///< best of each device that meets the goal, best first
  std::vector<Rank> ranks;             ///< of `plans`: `=` where neither is better with 75 %
  double regret = 0;                   ///< what taking the first costs on average over what turns out to be best
  std::optional<MonthlyBill> month;    ///< of the first plan, where traffic is given
  std::vector<ServingPlan> front;      ///< all devices: cost against latency; nothing is better in both
  std::vector<Loser> losers;
  std::vector<ServingPlan> nearest;    ///< if no plan meets the goal: what comes closest, by device
  std::string fails_first;             ///< the constraint that the nearest plan misses, with by how much
  Changes nearest_goal;                ///< what would be feasible
  std::optional<HeldWith> holds_with;  ///< the most that can be had of the goal as it is asked
  std::optional<CheapestChange> change;
  std::vector<Alternative> alternatives;  ///< two vendors where one may not have all; prefill here, decode there
  std::vector<std::string> rationale;     ///< sentences
  std::vector<Sensitivity> sensitivity;   ///< of the first plan, the largest first; empty without a price
  std::vector<std::string> would_change;  ///< what would make another plan the first: clauses
  std::vector<std::string> assumptions;
};
/// Ranks what was found. The best `finalists` are simulated request by request: replicas are added until 95 % of the
/// requests hold the limits with the probability asked for, or taken away while they do.
[[nodiscard]] ServingVerdict judge(const ServingQuest& quest, const Findings& findings, const Knowledge& knowledge,
                                   std::size_t finalists = 12);

/// The language models of the catalogue from the largest down; the first for which a plan meets the goal (its model
/// left aside), or nothing. `go_on` is asked before each, with the share that is done.
[[nodiscard]] std::optional<std::string> largest_model(const ServingGoal& goal, const Knowledge& knowledge,
                                                       const EconomicsData* economics,
                                                       const std::function<bool(double)>& go_on);

struct TrainingGoal {
  std::string model;
  std::string engine = "megatron";
  TrainingTask task = TrainingTask::pretrain;
  double tokens = 0;        ///< of the run; 0 = rank by speed only
  double days = 0;          ///< at most, 0 = no limit
  std::vector<int> gpus;    ///< numbers of devices to try; empty = from what the deadline needs up
  int sequence = 0;         ///< 0 = usual_sequence()
  int global_batch = 0;     ///< sequences; 0 = usual_batch() for all of `gpus`
  double goodput = 0;       ///< share of the time that counts; 0 = by the failure rates of economics, else all of it
  double confidence = 0.8;  ///< probability with which days and budget have to hold
  std::vector<Format> precisions;                               ///< empty = bf16, and fp8 where the device has it
  int tp = 0, pp = 0, vp = 0, cp = 0, ep = 0, micro_batch = 0;  ///< fixed, 0 = free
  Sharding sharding = Sharding::unknown;
  bool full_space = false;         ///< every schedule, sharding, recompute and offload the model knows
  std::vector<double> power_caps;  ///< watts of a device, tried in turn, 0 = none; empty = none
  bool search_caps = false;        ///< none, and shares of the limit of each device
  Objective objective = Objective::cost;
  Buyer buyer;
  Patience patience;  ///< as above
};

struct TrainingQuest {
  TrainingGoal goal;
  std::shared_ptr<const search::TrainingProblem> problem;
  std::vector<std::string> devices;               ///< by group
  std::vector<Format> precisions;                 ///< by group
  std::vector<double> caps;                       ///< by group: watts of a device, 0 = none
  std::vector<std::optional<PriceQuote>> prices;  ///< by group
  std::vector<double> goodput;                    ///< by group: share of the time that counts, of spot capacity too
  std::vector<LogError> errors;                   ///< by group: of the time of the run
  std::vector<Loser> excluded;
  std::vector<std::string> assumptions;
  const EconomicsData* economics = nullptr;
};
Result<TrainingQuest> prepare(const TrainingGoal& goal, const Knowledge& knowledge,
                              const EconomicsData* economics = nullptr);

struct TrainingPick {
  std::string device;
  Format precision = Format::bf16;
  double power_cap = 0;  ///< watts of a device, 0 = none
  TrainingPlan plan;
  TrainingEstimate estimate;
  int dp = 1;
  std::optional<Interval> days;  ///< of the run, if tokens are given
  std::optional<Interval> usd;   ///< of the run, or per billion tokens
  std::optional<double> usd_per_hour;
  double joules_per_token = 0;
  double goodput = 1;
  LogError error;                      ///< of the time of the run: of a step, and of what failures cost
  std::optional<double> holds_days;    ///< probability to be done by the deadline
  std::optional<double> holds_budget;  ///< to stay within the budget
  std::optional<double> days_sure;     ///< days that it takes at most with the confidence asked for
  std::optional<double> usd_sure;      ///< dollars, the same
  std::optional<PriceQuote> quote;     ///< what the dollars come from
  double best = 0;                     ///< probability that it is the first of all by the objective
  IntervalClass resembles;
  std::optional<double> days_p95;  ///< of the simulated runs, once confirmed
  std::uint64_t index = 0;
  std::string confirmed;  ///< what the goodput model said, or empty
};

struct TrainingVerdict {
  std::vector<TrainingPick> plans;
  std::vector<Rank> ranks;
  double regret = 0;                ///< as above
  std::vector<TrainingPick> front;  ///< time, cost, energy
  std::vector<Loser> losers;
  std::vector<TrainingPick> nearest;
  std::string fails_first;
  Changes nearest_goal;
  std::vector<std::string> rationale;
  std::vector<std::string> assumptions;
};
/// As above; failures, checkpoints and restarts of the finalists are simulated.
[[nodiscard]] TrainingVerdict judge(const TrainingQuest& quest, const Findings& findings, const Knowledge& knowledge,
                                    std::size_t finalists = 12);

}  // namespace ridge
