// Questions to MLPerf results: selections, averages that are allowed, ratios, regressions, and predictions beside them.
//
//   mlperf::Selection s{.benchmarks = {"deepseek-r1"}, .scenarios = {"Offline"}, .rounds = {"v5.1"}};
//   auto rows = mlperf::select(results, s, names);                    // refuses names that do not occur
//   auto groups = mlperf::summarise(*rows, {.keys = {mlperf::Key::accelerator}, .per = mlperf::Per::accelerator});
//   if (!groups) return groups.error();                   // "samples/s and tokens/s cannot be averaged: ..."
//   for (const mlperf::Group& g : *groups) use(g.keys[0], g.value, g.unit, g.rows.size());
//
// Pointers are into the Results they came from. All functions are pure and may be called from any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ridge/catalogue/catalogue.hpp"
#include "ridge/mlperf/mlperf.hpp"
#include "ridge/perf/inference.hpp"

namespace ridge::mlperf {

/// What is asked for. Empty lists take everything.
struct Selection {
  std::vector<std::string> benchmarks = {};  ///< "llama2-70b-99.9", or "llama2-70b" for its strictest variant
  std::vector<std::string> scenarios = {};   ///< "Offline", ...
  std::vector<std::string> rounds = {};      ///< "v5.1", or "v3.1..v5.1"
  std::vector<std::string> submitters = {};
  std::vector<std::string> accelerators = {};  ///< ids of accelerators.csv, or published names
  std::vector<std::string> availability = {};  ///< "available", "preview", "rdi", "unknown"
  std::string division = "closed";             ///< "closed", "open", "network" or "all"
  std::optional<Suite> suite = {};             ///< empty: by the benchmarks, inference if there are none
  bool measured_power = false;                 ///< only rows with watts
  bool power_tuned = false;                    ///< also systems tuned for efficiency (MaxQ)
};

using RowList = std::vector<const Row*>;

/// Refuses (not_found) a benchmark, accelerator, round, submitter or scenario that does not occur, naming the nearest.
/// An empty list is an answer.
Result<RowList> select(const Results& results, const Selection& selection, const Names& names);
/// The accelerator that a word stands for: its id ("h100-sxm-80gb"), a published name, or the id of its device in the
/// catalogue ("h100-sxm"), in any case of letters. Refuses (not_found) what no result has, naming the nearest.
Result<std::string> accelerator_named(const Results& results, const Names& names, const std::string& word);

enum class Per : std::uint8_t { accelerator, system, node, watt, dollar };
enum class Statistic : std::uint8_t { mean, median, best };
enum class Key : std::uint8_t { accelerator, name, round, submitter, size, weights, availability, row };
[[nodiscard]] std::string_view name(Per per);
[[nodiscard]] std::string_view name(Statistic statistic);
[[nodiscard]] std::string_view name(Key key);
Result<Per> parse_per(std::string_view text);
Result<Statistic> parse_statistic(std::string_view text);
Result<Key> parse_key(std::string_view text);

/// Dollars per accelerator and hour by catalogue device: the median of the catalogue's on-demand prices in US dollars.
using Rents = std::map<std::string, double, std::less<>>;
[[nodiscard]] Rents rents(const Catalogue& catalogue);

struct Summary {
  std::vector<Key> keys = {Key::accelerator};
  Per per = Per::accelerator;
  Statistic statistic = Statistic::mean;
  bool published_units = false;  ///< GPT-J as each round counted it, instead of tokens/s
  const Rents* rents = nullptr;  ///< for Per::dollar
};

/// Rows of one benchmark and scenario that share the keys.
struct Group {
  std::string benchmark;
  std::string scenario;
  std::vector<std::string> keys;  ///< in the order asked for
  std::string unit;               ///< of value: "tokens/s per accelerator"
  bool lower_is_better = false;
  double value = 0;  ///< the statistic over rows, each row divided by its own accelerators (watts, ...)
  double low = 0;    ///< least and greatest row
  double high = 0;
  double mean_total = 0;         ///< mean of whole systems, undivided
  double mean_accelerators = 0;  ///< of all accelerators of a system, not of one node
  RowList rows;
};

struct Summaries {
  std::vector<Group> groups;         ///< by benchmark, scenario, then best first
  std::vector<std::string> remarks;  ///< rows left out and why; what is mixed in a mean
};

/// Refuses (refused) a group whose rows are of different units, and times to train of systems of different size unless
/// they are taken per accelerator. Rows without what they are divided by are left out, with a remark.
Result<Summaries> summarise(const RowList& rows, const Summary& summary);

/// One row divided; nothing if it lacks the divisor. The unit as in Group.
struct RowFigure {
  double value = 0;
  std::string unit;
};
[[nodiscard]] std::optional<RowFigure> figure(const Row& row, const Summary& summary);

/// Two groups of systems on the same benchmark, scenario and round.
struct Ratio {
  std::string benchmark;
  std::string kind;  ///< "dense", "moe", ...
  std::string scenario;
  std::string round;
  std::string unit;
  std::string first, second;                 ///< accelerators
  double first_per = 0, second_per = 0;      ///< means per accelerator
  double first_total = 0, second_total = 0;  ///< means per system
  int first_rows = 0, second_rows = 0;
  double first_accelerators = 0, second_accelerators = 0;  ///< mean per system

  [[nodiscard]] double per_accelerator() const { return first_per / second_per; }
  [[nodiscard]] double per_system() const { return first_total / second_total; }
};

/// `first` over `second`, on every benchmark, scenario and round that both have. Refuses names that do not occur.
Result<std::vector<Ratio>> compare(const Results& results, const Names& names, std::string_view first,
                                   std::string_view second, const Selection& within = {});

/// Racks of 72 against nodes of 8 of the same generation, for mixtures of experts and dense models: whether what a
/// model is made of decides what the rack is worth.
[[nodiscard]] std::vector<Ratio> coupling(const Results& results, const Names& names);

/// Each accelerator over its predecessor, in the newest round that has both.
struct Generation {
  Ratio ratio;
  std::optional<double> bandwidth;  ///< ratio of memory bandwidths
  std::optional<double> compute;    ///< ratio of dense 16-bit peaks
  std::optional<double> narrowest;  ///< ratio of dense peaks in the narrowest format of each
};
[[nodiscard]] std::vector<Generation> generations(const Results& results, const Names& names,
                                                  const Catalogue& catalogue);

/// Server (or Interactive) over Offline of the same system, benchmark and round.
struct ScenarioShare {
  std::string benchmark;
  std::string scenario;
  std::string accelerator;  ///< empty: all together
  int pairs = 0;
  double low = 0, median = 0, high = 0;  ///< 10th percentile, median, 90th percentile
};
[[nodiscard]] std::vector<ScenarioShare> scenario_shares(const Results& results, const Names& names);

/// ln(result per accelerator) = round + a ln(bandwidth) + b ln(compute), least squares over the means of each
/// accelerator and round. Empty where fewer than six accelerators are known, or the two hardly differ.
struct Elasticity {
  std::string benchmark;
  std::string scenario;
  int points = 0;
  int accelerators = 0;
  double bandwidth = 0, bandwidth_error = 0;  ///< percent of throughput per percent, and its standard error
  double compute = 0, compute_error = 0;      ///< dense 16-bit peak
  double correlation = 0;                     ///< of ln bandwidth and ln compute: near 1, the two cannot be told apart
  double bandwidth_alone = 0;                 ///< with compute left out
  double compute_alone = 0;
  double r_squared = 0;
};
[[nodiscard]] std::vector<Elasticity> elasticities(const Results& results, const Names& names,
                                                   const Catalogue& catalogue);

/// Virtual accelerators over the bare metal below them.
[[nodiscard]] std::vector<Ratio> virtualised(const Results& results, const Names& names);

/// A plan that was tried for a submission.
struct Attempt {
  std::string plan;  ///< "4 x TP2, fp8"
  Interval predicted;
};

/// A submission beside what the engine predicts for it.
struct Explanation {
  const Row* row = nullptr;
  std::string model, device, engine;
  std::string plan;                ///< the best of the attempts
  std::string unit;                ///< of measured and predicted
  std::optional<double> measured;  ///< empty where the result counts something the engine does not (time to train)
  std::optional<double> implied_tokens;  ///< training: what the measured time holds at the predicted rate
  Interval predicted;                    ///< whole system
  double accelerators = 0;
  std::string bound;              ///< "memory bandwidth", ...
  std::string why;                ///< one sentence
  std::vector<Attempt> attempts;  ///< best first
  std::optional<ResourceScale> elasticity;
  std::vector<std::string> assumptions;
};

/// Refuses (refused) what is not modelled, with the reason of the alias table. With `widest` no replica or pool has
/// more devices than that: what the submission would do without a larger scale-up domain.
Result<Explanation> explain(const Row& row, const Names& names, const Knowledge& knowledge, int widest = 0);

}  // namespace ridge::mlperf
