// Training plans as a search problem: a group is one job (device, precision) on one number of devices.
//
//   TrainingProblem problem(std::move(jobs), {4096}, limits);
//   SearchOutcome found = search(problem, {});
//   problem.plan(found.findings.groups[0].best[0].index);    // the fastest
//
// Criteria: seconds of a step, joules of a step (the other way round if energy is what counts). Violation: by what
// share the worst of the limits is exceeded; beyond 1e6, the gigabytes of memory that are missing.
#pragma once

#include <map>
#include <memory>

#include "perf/training/pass.hpp"
#include "search/problem.hpp"
#include "search/problems/training_space.hpp"

namespace ridge::search {

/// What a step may take at most, by group; infinity = no limit.
struct StepLimits {
  double seconds = 0;     ///< 0 = no limit
  double watts = 0;       ///< of all devices and their hosts
  double host_watts = 0;  ///< of all hosts
};

struct TrainingGroupSpec {
  std::shared_ptr<const TrainingJob> job;
  int gpus = 1;
  TrainingShape shape;
  StepLimits limits;
};

class TrainingProblem : public Problem {
 public:
  /// `energy`: joules are the first criterion.
  TrainingProblem(std::vector<TrainingGroupSpec> groups, bool energy);

  [[nodiscard]] std::size_t groups() const override { return groups_.size(); }
  [[nodiscard]] Range range(std::size_t group) const override { return groups_[group].range; }
  [[nodiscard]] std::size_t blocks(std::size_t group) const override { return groups_[group].space->layouts.size(); }
  [[nodiscard]] Range range(std::size_t group, std::size_t block) const override;
  [[nodiscard]] Floor floor(std::size_t group, std::size_t block) const noexcept override;
  void walk(std::size_t group, std::size_t block, Range part, bool prune, std::size_t top, Harvest& into,
            Count& count) const noexcept override;

  [[nodiscard]] const TrainingGroupSpec& spec(std::size_t group) const { return groups_[group].spec; }
  [[nodiscard]] const TrainingSpace& space(std::size_t group) const { return *groups_[group].space; }
  [[nodiscard]] TrainingPlan plan(std::size_t group, std::uint64_t index) const;
  /// The score of any plan of the group's job, as walk() gives it.
  [[nodiscard]] Scored score(std::size_t group, std::uint64_t index) const;

 private:
  static constexpr std::size_t kVariants = 6;  ///< three context schemes, with and without DualPipe
  /// What layers and head take for one LayerKey.
  struct LayerTimes {
    std::array<Passes, kVariants> passes;
    double exposed_least[2] = {0, 0};  ///< over the context schemes; without and with DualPipe
    double head = 0;
  };
  struct Group {
    TrainingGroupSpec spec;
    std::shared_ptr<const TrainingSpace> space;
    std::shared_ptr<const std::vector<LayerTimes>> times;
    Range range;
  };
  [[nodiscard]] Scored scored(const Group& group, std::uint64_t index, const TrainingOutcome& outcome) const noexcept;

  std::vector<Group> groups_;
  bool energy_;
};

}  // namespace ridge::search
