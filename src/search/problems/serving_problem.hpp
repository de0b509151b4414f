// Deployments and their load as a search problem: a group is a device, a block one deployment at some concurrencies.
//
//   ServingProblem problem(specs, knowledge, load, need, ServingObjective::cost, 0);
//   SearchOutcome found = search(problem, {});
//   problem.point(group, found.findings.groups[group].best[0].index);    // query and concurrency
//
// A replica that is given more requests at once is never faster for one of them: time to first token and time per token
// do not fall with concurrency (tests/search checks it of the model). Throughput may, where tiles fill badly; but by
// Little's law it is X(c) = c / L(c), L being the latency, so that X(c) <= X(a) c / a for c >= a. Hence of the
// concurrencies above a and up to b, latency is at least that at a and throughput at most X(a) b / a: halving a range
// where that does not decide finds the same as trying all of it.
#pragma once

#include "ridge/base/patience.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/search/headroom.hpp"
#include "search/problem.hpp"

namespace ridge::search {

inline constexpr double kMostDevices = 1e7;  ///< of a plan

/// What is served and what must hold.
struct ServingNeed {
  double request_rate = 1;  ///< per second, on average; 0 = as many as `gpus` devices can do
  double peak = 1;          ///< the busiest time has so many times that
  Spares spares;            ///< that may be down then
  double ttft_s = 0;        ///< at most; 0 = no limit
  double tpot_s = 0;
  double e2e_s = 0;
  double load = 0.8;  ///< share of what a replica can do at its limit that it is given on average
  int gpus = 0;       ///< at most, 0 = no limit
};

enum class ServingObjective : std::uint8_t { cost, gpus, energy, rate };

struct ServingGroupSpec {
  std::string device;
  double usd_per_gpu_hour = 0;   ///< NaN: not known
  double most_usd_per_hour = 0;  ///< 0 = no limit
  double most_watts = 0;         ///< of all devices and their hosts, 0 = no limit
  double host_watts = 0;         ///< of the rest of a server, for each device
  double idle_watts = 0;         ///< of one device: it never draws less
  int gpus_per_node = 8;
  int gpus_per_rack = 32;
  int gpus_per_unit = 1;     ///< bought or rented together; replicas round up to it
  double owned_gpus = 0;     ///< that cost nothing more
  double slowness = 1;       ///< steps may take so many times what is predicted: rate and limits hold even then
  double ttft_slowness = 1;  ///< the same of the time to first token
  std::vector<InferenceQuery> deployments;
};

/// One candidate in full.
struct ServingPoint {
  const InferenceQuery* query = nullptr;
  double concurrency = 1;  ///< of one replica, at most
};

/// What a deployment is at one concurrency.
struct ServingScore {
  double requests_per_s = 0;  ///< of one replica
  double replicas = 0;        ///< spares and all
  double spares = 0;          ///< of them
  double gpus = 0;
  double rate = 0;  ///< requests per second that all replicas take at their mean load
  double usd_per_hour = 0;
  double watts = 0;
  double ttft_s = 0, tpot_s = 0, e2e_s = 0;
};

class ServingProblem : public Problem {
 public:
  ServingProblem(std::vector<ServingGroupSpec> groups, const Knowledge& knowledge, const InferenceLoad& load,
                 const ServingNeed& need, ServingObjective objective, int threads, const Patience& patience = {});

  [[nodiscard]] std::size_t groups() const override { return groups_.size(); }
  [[nodiscard]] Range range(std::size_t group) const override;
  [[nodiscard]] std::size_t blocks(std::size_t group) const override { return groups_[group].floors.size(); }
  [[nodiscard]] Range range(std::size_t group, std::size_t block) const override;
  [[nodiscard]] Floor floor(std::size_t group, std::size_t block) const noexcept override;
  void walk(std::size_t group, std::size_t block, Range part, bool prune, std::size_t top, Harvest& into,
            Count& count) const noexcept override;

  [[nodiscard]] const ServingGroupSpec& spec(std::size_t group) const { return groups_[group].spec; }
  [[nodiscard]] ServingPoint point(std::size_t group, std::uint64_t index) const;
  /// The best plan of a group among deployments with at least `least` and at most `most` attention ranks around shared
  /// experts; nothing if none of them runs.
  [[nodiscard]] std::optional<Scored> best_of_ranks(std::size_t group, int least, int most) const;
  /// Evaluations that floors took, before any search.
  [[nodiscard]] std::uint64_t setup_evaluations() const { return setup_evaluations_; }

  /// Replicas and what follows from them, of one evaluation of one replica.
  [[nodiscard]] ServingScore score(const ServingGroupSpec& group, double gpus_per_replica,
                                   const InferenceEstimate& estimate) const noexcept;
  [[nodiscard]] double violation(const ServingGroupSpec& group, const ServingScore& score) const noexcept;
  [[nodiscard]] const ServingNeed& need() const { return need_; }
  [[nodiscard]] const InferenceLoad& load() const { return load_; }
  /// The same with what a deployment proposes of its own: tokens drafted and accepted.
  [[nodiscard]] InferenceLoad load_of(const InferenceQuery& query) const;

  /// 1, 2, 3, ... up to 64, then ever larger steps up to 32,768.
  [[nodiscard]] static const std::vector<double>& concurrencies();
  /// Where blocks of one deployment begin, as positions in concurrencies(), and the end of the last one.
  [[nodiscard]] static const std::vector<std::uint32_t>& spans();

 private:
  struct Group {
    ServingGroupSpec spec;
    std::uint64_t begin = 0;
    std::vector<Floor> floors;  ///< of each deployment, spans() after each other
  };
  [[nodiscard]] Scored scored(const Group& group, const InferenceQuery& query, std::uint64_t index,
                              const InferenceOutcome& outcome) const noexcept;
  /// Of the concurrencies from the one of `low` to `most`.
  [[nodiscard]] Floor corner(const Group& group, const InferenceQuery& query, double at, const InferenceOutcome& low,
                             double most) const noexcept;
  /// `span` of one deployment, with `begin` the index of its first candidate.
  void halve(const Group& group, const InferenceQuery& query, const ResolvedInference& resolved, std::uint64_t begin,
             Range part, std::size_t top, Harvest& into, Count& count) const noexcept;
  void set_floors(Group& group, std::size_t deployment, std::uint64_t& evaluations) const;
  [[nodiscard]] double objective(const ServingScore& score) const noexcept;
  [[nodiscard]] InferenceOutcome outcome(const ResolvedInference& resolved, const InferenceQuery& query,
                                         std::size_t step) const noexcept;

  std::vector<Group> groups_;
  const Knowledge knowledge_;
  InferenceLoad load_;
  ServingNeed need_;
  ServingObjective objective_;
  std::uint64_t setup_evaluations_ = 0;
};

}  // namespace ridge::search
