#include "search/problems/training_problem.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ridge::search {

namespace {

std::size_t variant(ContextParallel context, Schedule schedule) {
  return static_cast<std::size_t>(context) * 2 + (schedule == Schedule::dual_pipe ? 1 : 0);
}

}  // namespace

TrainingProblem::TrainingProblem(std::vector<TrainingGroupSpec> groups, bool energy) : energy_(energy) {
  std::vector<std::pair<std::pair<TrainingShape, int>, std::shared_ptr<const TrainingSpace>>> spaces;
  std::map<std::pair<const TrainingJob*, const TrainingSpace*>, std::shared_ptr<const std::vector<LayerTimes>>> times;
  std::uint64_t start = 0;
  for (TrainingGroupSpec& spec : groups) {
    Group group;
    const std::pair wanted{spec.shape, spec.gpus};
    const auto known = std::find_if(spaces.begin(), spaces.end(), [&](const auto& s) { return s.first == wanted; });
    if (known != spaces.end()) {
      group.space = known->second;
    } else {
      group.space = std::make_shared<const TrainingSpace>(training_space(spec.shape, spec.gpus));
      spaces.emplace_back(wanted, group.space);
    }
    auto& layer_times = times[{spec.job.get(), group.space.get()}];
    if (!layer_times) {
      const ResolvedTraining& job = *spec.job->resolved;
      auto computed = std::make_shared<std::vector<LayerTimes>>(group.space->keys.size());
      for (std::size_t i = 0; i < computed->size(); ++i) {
        const LayerKey& key = group.space->keys[i];
        LayerTimes& t = (*computed)[i];
        TrainingPlan plan;
        plan.tp = key.tp;
        plan.cp = key.cp;
        plan.ep = key.ep;
        plan.etp = key.etp;
        plan.micro_batch = key.micro_batch;
        plan.sequence = spec.shape.sequence;
        // The least that these degrees need, so that they are valid: layers do not depend on how often they are
        // replicated.
        const int ranks = key.tp * key.cp;
        plan.dp = 1;
        while (static_cast<long>(ranks) * plan.dp % (static_cast<long>(key.ep) * key.etp) != 0) ++plan.dp;
        plan.gpus = ranks * plan.dp;
        plan.global_batch = key.micro_batch * plan.dp;
        Degrees d;
        double short_by = 0;
        if (plan_degrees(job, plan, d, short_by) != Reason::none) continue;
        t.head = head_time(job, d);
        for (const bool dual : {false, true}) {
          plan.schedule = dual ? Schedule::dual_pipe : Schedule::one_f_one_b;
          double least = std::numeric_limits<double>::infinity();
          for (const ContextParallel context :
               {ContextParallel::ring, ContextParallel::all_gather, ContextParallel::ulysses}) {
            plan.context = context;
            const Passes passes = layer_passes(job, plan, d);
            t.passes[variant(context, plan.schedule)] = passes;
            least = std::min(least, passes.forward.exposed() + passes.backward.exposed());
          }
          t.exposed_least[dual ? 1 : 0] = least;
        }
      }
      layer_times = std::move(computed);
    }
    group.times = layer_times;
    group.range = {start, start + group.space->size()};
    start = group.range.end;
    group.spec = std::move(spec);
    groups_.push_back(std::move(group));
  }
}

Range TrainingProblem::range(std::size_t group, std::size_t block) const {
  const Group& g = groups_[group];
  const Range inside = g.space->block(block);
  return {g.range.begin + inside.begin, g.range.begin + inside.end};
}

Floor TrainingProblem::floor(std::size_t group, std::size_t block) const noexcept {
  const Group& g = groups_[group];
  const ResolvedTraining& job = *g.spec.job->resolved;
  const Layout& layout = g.space->layouts[block];
  const LayerTimes& times = (*g.times)[layout.key];
  const TrainingPlan plan = g.space->plan(layout, {});
  Floor floor;
  Degrees d;
  double short_by = 0;
  if (plan_degrees(job, plan, d, short_by) != Reason::none) {
    floor.violation = std::numeric_limits<double>::infinity();
    return floor;
  }
  const bool dual = layout.schedule == Schedule::dual_pipe;
  // Gathered keys are attended to in one call: no scheme computes less.
  const StepFloor least = step_floor(job, plan, d, times.passes[variant(ContextParallel::all_gather, layout.schedule)],
                                     times.exposed_least[dual ? 1 : 0], times.head);
  const double missing = least.bytes - perf::kReportedMemory * job.memory_capacity;
  if (missing > 0) {
    floor.violation = kDoesNotFit;
    return floor;
  }
  if (g.spec.limits.seconds > 0) floor.violation = std::max(0.0, least.seconds / g.spec.limits.seconds - 1);
  floor.criteria[energy_ ? 1 : 0] = least.seconds;
  floor.criteria[energy_ ? 0 : 1] = least.joules;
  return floor;
}

Scored TrainingProblem::scored(const Group& group, std::uint64_t index, const TrainingOutcome& outcome) const noexcept {
  Scored s;
  s.index = index;
  if (outcome.reason != Reason::none) {
    s.violation = outcome.reason == Reason::out_of_memory ? kDoesNotFit + outcome.short_by / kShortUnit
                                                          : std::numeric_limits<double>::infinity();
    return s;
  }
  const double seconds = outcome.estimate.step_time_s.mid;
  const double watts = outcome.estimate.power_w.mid;
  s.criteria[energy_ ? 1 : 0] = seconds;
  s.criteria[energy_ ? 0 : 1] = watts * seconds;
  const StepLimits& limits = group.spec.limits;
  if (limits.seconds > 0) s.violation = std::max(0.0, seconds / limits.seconds - 1);
  if (limits.watts > 0) s.violation = std::max(s.violation, (watts + limits.host_watts) / limits.watts - 1);
  return s;
}

void TrainingProblem::walk(std::size_t group, std::size_t block, Range part, bool /*prune*/, std::size_t top,
                           Harvest& into, Count& count) const noexcept {
  const Group& g = groups_[group];
  const ResolvedTraining& job = *g.spec.job->resolved;
  const Layout& layout = g.space->layouts[block];
  const LayerTimes& times = (*g.times)[layout.key];
  const std::vector<MemoryPolicy>& policies = g.space->policies[layout.policies];
  const std::uint64_t first = g.range.begin + g.space->starts[block];
  count.evaluated += part.size();
  Degrees d;
  double short_by = 0;
  TrainingPlan plan = g.space->plan(layout, {});
  if (plan_degrees(job, plan, d, short_by) != Reason::none) return;
  for (std::uint64_t i = part.begin; i < part.end; ++i) {
    const MemoryPolicy& policy = policies[i - first];
    plan.recompute = policy.recompute;
    plan.context = policy.context;
    plan.offload = policy.offload;
    plan.offload_optimizer = policy.offload_optimizer;
    const TrainingOutcome outcome =
        evaluate_passes(job, plan, d, times.passes[variant(policy.context, layout.schedule)], times.head);
    into.add(scored(g, i, outcome), top);
  }
}

TrainingPlan TrainingProblem::plan(std::size_t group, std::uint64_t index) const {
  return groups_[group].space->at(index - groups_[group].range.begin);
}

Scored TrainingProblem::score(std::size_t group, std::uint64_t index) const {
  return scored(groups_[group], index, evaluate(*groups_[group].spec.job->resolved, plan(group, index)));
}

}  // namespace ridge::search
