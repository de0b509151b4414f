// Memory of one device of one pipeline stage. Activations follow Korthikanti et al. 2022 (arXiv 2205.05198, section 4),
// extended to grouped queries, gated layers, experts and attention that keeps no scores.
#include <algorithm>
#include <cmath>

#include "perf/training/resolved.hpp"

namespace ridge {
namespace {

constexpr double kWorkspaces = 0.2e9;   // of libraries
constexpr double kLeastLogitBytes = 2;  // where memory is short the loss works in slices, if the software can
constexpr double kKeptScoreBytes = 5;   // kept per score of unfused attention: softmax, mask, dropped-out copy
constexpr double kWideBytes = 2;
constexpr double kMoments = 8;  // bytes of AdamW's two moments; what an engine keeps beyond them is a master copy
// One byte each, and for every block of 256 a scale of 32 bits (Dettmers et al., arXiv 2110.02861).
constexpr double kNarrowMoments = 2 * (1 + 4.0 / 256);

struct PerToken {
  double all = 0;        // kept per token by a mean layer, nothing recomputed
  double selective = 0;  // the same, light parts recomputed
  double input = 0;      // only the layer's input

  [[nodiscard]] double kept(double full_share, bool light) const {
    return full_share * input + (1 - full_share) * (light ? selective : all);
  }
};

PerToken kept(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d) noexcept {
  // A narrow recipe keeps the inputs of products as it cast them.
  const double saved = kWideBytes - std::min(kWideBytes, bytes_per_element(job.precision));
  PerToken sum;
  for (int i = 0; i < job.group_count; ++i) {
    const TrainingGroup& g = job.groups[static_cast<std::size_t>(i)];
    double light =
        (g.light_hidden - saved * g.narrow_hidden) / d.sequence_shard + (g.light_inner - saved * g.narrow_inner) / d.tp;
    double all = (g.kept_hidden - saved * g.narrow_hidden) / d.sequence_shard +
                 (g.kept_inner - saved * g.narrow_inner) / d.tp +
                 (g.kept_expert - saved * g.narrow_expert) * g.top_k / d.sequence_shard;
    if (job.task == TrainingTask::lora) {
      // Frozen products need no input for a gradient of their weights: what goes into the last of a feed-forward is not
      // kept, and what its activation needs is kept as narrow as the products are.
      all -= (g.light_inner + saved * g.narrow_inner) / d.tp;
    }
    if (job.traits.attention == AttentionKernel::unfused) {
      const double scores = kKeptScoreBytes * g.heads * plan.sequence / d.tp;
      all += scores;
      light = scores;  // selective recompute then means the scores (section 5)
    }
    sum.all += g.count * all;
    sum.selective += g.count * (all - light);
  }
  sum.all /= job.layers;
  sum.selective /= job.layers;
  sum.input = kWideBytes * job.hidden / d.sequence_shard;
  return sum;
}

struct Layer {
  double shared = 0;  // parameters of a mean layer on one device
  double experts = 0;
};

Layer layer_on_device(const ResolvedTraining& job, const Degrees& d) noexcept {
  Layer sum;
  for (int i = 0; i < job.group_count; ++i) {
    const TrainingGroup& g = job.groups[static_cast<std::size_t>(i)];
    sum.shared += g.count * g.shared_parameters;
    sum.experts += g.count * g.expert_parameters;
  }
  sum.shared /= job.layers * d.tp;
  sum.experts /= job.layers * d.ep * d.etp;
  return sum;
}

// Layers whose activations stage `stage` holds at once, over the layers it has: micro-batches in flight.
double in_flight(const TrainingPlan& plan, const Degrees& d, int stage) noexcept {
  const double behind = d.pp - stage;
  if (plan.schedule == Schedule::dual_pipe) return std::min(d.micro_batches, d.pp + 1);
  if (d.vp <= 1) return std::min(d.micro_batches, behind);
  const double chunks = std::min(d.micro_batches * d.vp, (d.vp - 1) * d.pp + 2 * (behind - 1) + 1);
  return chunks / d.vp;
}

double stage_layers(const Stages& stages, const Degrees& d, int stage) noexcept {
  if (stage == static_cast<int>(d.pp) - 1) return stages.last_layers;
  return stage == 0 ? stages.first_layers : stages.most_layers;
}

}  // namespace

std::array<double, kTrainingMemory> memory_of_stage(const ResolvedTraining& job, const TrainingPlan& plan,
                                                    const Degrees& d, const Stages& stages, int stage,
                                                    double full_share, bool selective, bool squeezed) noexcept {
  const PerToken token = kept(job, plan, d);
  const Layer layer = layer_on_device(job, d);
  const double layers = stage_layers(stages, d, stage);
  const bool first = stage == 0;
  const bool last = stage == static_cast<int>(d.pp) - 1;
  double ends = first ? job.embedding_parameters : 0;
  if (last && !(first && job.tied)) ends += job.head_parameters;
  const double mtp = last ? job.mtp_layers * job.mtp_parameters / (d.tp * d.ep) : 0;
  const double copies = plan.schedule == Schedule::dual_pipe ? 2 : 1;  // DualPipe keeps both directions' stages
  const double shared = copies * (layers * layer.shared + ends / d.tp + mtp);
  const double experts = copies * layers * layer.experts;

  std::array<double, kTrainingMemory> bytes{};
  const auto part = [&](TrainingMemory p) -> double& { return bytes[static_cast<std::size_t>(p)]; };
  // Embedding and head are no matrices that narrow formats are made for: they stay in 16 bits.
  const double wide = std::max(job.weight_bytes, kWideBytes) * ends / d.tp;
  const double narrow = job.weight_bytes * (shared - copies * ends / d.tp);
  part(TrainingMemory::weights) =
      (narrow + copies * wide) / d.weight_shards + job.weight_bytes * experts / d.expert_weight_shards;
  if (plan.offload_weights) part(TrainingMemory::weights) = 0;
  if (job.task == TrainingTask::lora) {
    const double adapters = job.lora_parameters / job.layers * layers / d.tp;
    part(TrainingMemory::weights) += kWideBytes * adapters;
    part(TrainingMemory::gradients) = job.traits.gradient_bytes * adapters;
    part(TrainingMemory::optimizer) = state_bytes(job, plan) * adapters;
  } else {
    part(TrainingMemory::gradients) =
        job.traits.gradient_bytes * (shared / d.gradient_shards + experts / d.expert_gradient_shards);
    part(TrainingMemory::optimizer) = state_bytes(job, plan) * (shared / d.shards + experts / d.expert_shards);
  }

  // Where memory is short, software that can moves optimizer state and kept activations to the host.
  const bool offloads = squeezed && job.traits.offload;
  if (offloads || plan.offload_optimizer || (squeezed && pages(plan.optimizer))) part(TrainingMemory::optimizer) = 0;
  const double per_token = token.kept(full_share, selective);
  const double stays = offloads ? 0 : 1 - static_cast<double>(plan.offload);
  // A layer that is computed again is whole for a moment, after the logits and their gradient have gone.
  const double again = full_share > 0 ? d.tokens * token.all : 0;
  const bool slices = squeezed && !job.traits.eager_modules;
  const double logits = last ? d.tokens * job.vocab / d.tp * (slices ? kLeastLogitBytes : job.traits.logit_bytes) : 0;
  const double activations =
      d.tokens * stays * in_flight(plan, d, stage) * layers * per_token + std::max(again, logits);
  part(TrainingMemory::activations) = activations;

  if (job.traits.transient_gradients && d.micro_batches <= 1) {  // they grow as activations go
    part(TrainingMemory::gradients) = std::max(0.0, part(TrainingMemory::gradients) - activations);
  }

  part(TrainingMemory::buffers) = kOutsideAllocator + kWorkspaces;
  if (d.weight_shards > 1 || plan.offload_weights) {  // the layer at work and the next one, as they are stored
    part(TrainingMemory::buffers) += 2 * job.weight_bytes * (layer.shared + layer.experts);
  }
  if (plan.offload_weights) part(TrainingMemory::buffers) += wide;
  return bytes;
}

bool pages(Optimizer optimizer) noexcept {
  return optimizer == Optimizer::paged_adamw || optimizer == Optimizer::paged_adamw_8bit;
}

double state_bytes(const ResolvedTraining& job, const TrainingPlan& plan) noexcept {
  const double all = job.traits.optimizer_bytes;
  const bool narrow = plan.optimizer == Optimizer::adamw_8bit || plan.optimizer == Optimizer::paged_adamw_8bit;
  if (!narrow) return all;
  return std::min(all, std::max(0.0, all - kMoments) + kNarrowMoments);
}

double kept_bytes(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d,
                  const MemoryPlan& memory) noexcept {
  return d.tokens * kept(job, plan, d).kept(memory.full_share, memory.selective);
}

MemoryPlan plan_memory(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d,
                       const Stages& stages) noexcept {
  const auto sum = [](const std::array<double, kTrainingMemory>& bytes) {
    double total = 0;
    for (const double b : bytes) total += b;
    return total;
  };
  const double usable = job.memory_capacity * job.coefficients.usable;
  const int last = static_cast<int>(d.pp) - 1;
  // The first stage keeps most micro-batches, the second has no embedding but may have more layers, the last has the
  // logits; every other stage lies between.
  const int candidates[3] = {0, std::min(1, last), last};

  MemoryPlan result;
  result.recompute = plan.recompute;
  if (plan.recompute == Recompute::unknown || plan.recompute == Recompute::selective) {
    // "Selective" says what is recomputed first, not how much: recipes go on until the step fits.
    double share = 0;
    bool selective = plan.recompute == Recompute::selective;
    for (const int stage : candidates) {
      const double none = sum(memory_of_stage(job, plan, d, stages, stage, 0, false, false));
      if (none <= usable) continue;
      const double light = sum(memory_of_stage(job, plan, d, stages, stage, 0, true, false));
      selective = true;
      if (light <= usable) continue;
      const double full = sum(memory_of_stage(job, plan, d, stages, stage, 1, true, false));
      share = std::max(share, light > full ? std::min(1.0, (light - usable) / (light - full)) : 1.0);
    }
    result.selective = selective;
    result.full_share = share;
    if (plan.recompute == Recompute::unknown) {
      result.recompute = share > 0 ? Recompute::full : selective ? Recompute::selective : Recompute::none;
    }
  } else {
    const double chunk = job.layers / (d.pp * std::max(1, plan.vp));
    const double twice = plan.recompute_layers > 0 ? std::min(1.0, plan.recompute_layers / chunk) : 1;
    result.full_share = plan.recompute == Recompute::full ? twice : 0;
  }
  // If it does not fit so, then with sliced logits and, where the software can, activations in host memory.
  for (const bool squeezed : {false, true}) {
    double fullest = -1;
    for (const int stage : candidates) {
      const auto bytes = memory_of_stage(job, plan, d, stages, stage, result.full_share, result.selective, squeezed);
      const double total = sum(bytes);
      if (total > fullest) {
        fullest = total;
        result.bytes = bytes;
        result.stage = stage;
      }
    }
    result.squeezed = squeezed;
    result.short_by = std::max(0.0, fullest - perf::kReportedMemory * job.memory_capacity);
    if (result.short_by <= 0) break;
  }
  return result;
}

}  // namespace ridge
