#include "rl/passes.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::rl {

namespace {

constexpr int kMostSequence = 16'000'000;

int bounded(double value, double most) {
  return static_cast<int>(std::clamp(std::ceil(value), 1.0, most));
}

/// Sequences of one update in whole micro-batches of every replica: the last ones wait for the fullest.
void share_out(TrainingPlan& plan, double sequences, int micro) {
  const int replicas = std::max(1, plan.gpus / std::max(1, plan.tp * plan.pp * plan.cp));
  plan.dp = replicas;
  plan.micro_batch = micro;
  const double unit = 1.0 * replicas * micro;
  plan.global_batch = static_cast<int>(std::min(1e9, std::ceil(sequences / unit - 1e-9) * unit));
}

/// The shallowest pipeline of whole nodes that fits, by any divisor of the devices.
std::optional<TrainingAnswer> odd_layout(TrainingQuery query, TrainingFreedom freedom, const Knowledge& knowledge) {
  constexpr int kNode = 8, kDeepest = 64;
  query.plan.tp = kNode;
  freedom.tp = freedom.pp = false;
  for (int pp = 3; pp <= kDeepest; ++pp) {
    if (query.plan.gpus % (kNode * pp) != 0) continue;
    query.plan.pp = pp;
    Result<TrainingAnswer> found = answer(query, freedom, knowledge);
    if (found && !found->refusal) return *std::move(found);
  }
  return std::nullopt;
}

}  // namespace

double forward_seconds(const TrainingEstimate& e) {
  const auto phase = [&](TrainingPhase p) { return e.phases_s[static_cast<std::size_t>(p)]; };
  // Collectives of the layers run in both passes, and in what is computed again; FSDP gathers twice and scatters once.
  const double passes = 2 + e.recompute_share;
  const double collectives = phase(TrainingPhase::tensor_parallel) + phase(TrainingPhase::context_parallel) +
                             phase(TrainingPhase::expert_parallel);
  const bool gathers = e.sharding == Sharding::zero3 || e.sharding == Sharding::hsdp;
  return phase(TrainingPhase::forward) + phase(TrainingPhase::head) / 3 + collectives / passes +
         phase(TrainingPhase::pipeline) / 3 + (gathers ? phase(TrainingPhase::data_parallel) / 3 : 0) +
         phase(TrainingPhase::host) / 3;
}

Result<Passes> passes(TrainingQuery query, const TrainingFreedom& freedom, const PassWork& work,
                      const Knowledge& knowledge) {
  // Without packing a sequence costs as much as the longest it stands beside, which is about the longest of all.
  const double length = work.packing ? work.attended : work.longest;
  const double tokens = work.packing ? work.sequences * work.mean_tokens : work.sequences * work.longest;
  const int ranks = std::max(1, query.plan.cp);  // frameworks fill a row up until they share it evenly
  query.plan.sequence = (bounded(length, kMostSequence) + ranks - 1) / ranks * ranks;
  const double sequences = tokens / query.plan.sequence / work.updates;  // of one update
  TrainingFreedom layout = freedom;
  layout.sequence = false;
  layout.global_batch = true;
  layout.micro_batch = true;
  Passes out;
  Result<TrainingAnswer> found = answer(query, layout, knowledge);
  if (!found) return found.error();
  out.answer = *std::move(found);
  if (out.answer.refusal && freedom.pp) {  // devices that powers of two do not share out
    if (std::optional<TrainingAnswer> odd = odd_layout(query, layout, knowledge)) out.answer = *std::move(odd);
  }
  TrainingPlan plan = out.answer.query.plan;
  // A row holds the longest sequence, so that many shorter ones share it; fewer where memory or the pipeline want it.
  const double row = freedom.micro_batch ? std::max(1.0, work.longest / length) : query.plan.micro_batch;
  TrainingOutcome best;
  best.reason = Reason::out_of_memory;
  for (int micro = static_cast<int>(row); micro >= 1; micro /= 2) {
    TrainingPlan tried = plan;
    share_out(tried, sequences, micro);
    const TrainingOutcome o = evaluate(*out.answer.job->resolved, tried);
    const bool better = o.reason == Reason::none &&
                        (best.reason != Reason::none || o.estimate.step_time_s.mid < best.estimate.step_time_s.mid);
    if (better || (best.reason != Reason::none && micro == 1)) {
      best = o;
      out.answer.query.plan = tried;
    }
    if (!freedom.micro_batch) break;
  }
  out.answer.outcome = best;
  if (best.reason != Reason::none) {
    if (!out.answer.refusal) {
      out.answer.refusal =
          Refusal{.reason = best.reason, .why = std::string(name(best.reason)), .short_by = {}, .nearest = {}};
    }
    return out;
  }
  out.answer.refusal.reset();
  const TrainingEstimate& e = best.estimate;
  // Log-probabilities are taken of all sequences at once; the pipeline fills once, but rows are as many.
  out.forward_s = forward_seconds(e) * work.updates;
  out.training_s = e.step_time_s.mid * work.updates * work.epochs;
  for (const TrainingMemory part : {TrainingMemory::weights, TrainingMemory::gradients, TrainingMemory::optimizer}) {
    out.state_bytes += e.memory_bytes[static_cast<std::size_t>(part)];
  }
  return out;
}

}  // namespace ridge::rl
