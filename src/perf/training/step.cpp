// evaluate(): one training step, term by term. Per micro-batch and stage first, then the pipeline, then what happens
// once per step. Everything here is arithmetic on flat numbers; no allocation, no exception.
#include <algorithm>
#include <cmath>

#include "perf/operators/power.hpp"
#include "perf/training/pass.hpp"

namespace ridge {
namespace {

constexpr double kGradientBytes = 2;    // of one weight or gradient on the wire
constexpr double kHighestShare = 0.95;  // of the peak that a whole step may reach, as no product goes beyond it
constexpr double kIdlePower = 0.35;     // of the board's limit while nothing computes, and what arithmetic adds
constexpr double kBusyPower = 0.6;
constexpr double kPowerSpread = 0.15;
constexpr double kMemoryPower = 0.2;  // of what arithmetic adds, the part of memory, which a lower clock does not save
constexpr double kHostBandwidth = 50e9;  // of host memory per device: eight channels of DDR5 shared by eight, roughly

TrainingOutcome refuse(Reason reason, double short_by, int stage = 0) noexcept {
  TrainingOutcome outcome;
  outcome.reason = reason;
  outcome.short_by = short_by;
  outcome.stage = stage;
  return outcome;
}

struct StageParameters {
  double shared = 0;  // on one device, before data-parallel sharding
  double experts = 0;
};

StageParameters stage_parameters(const ResolvedTraining& job, const Degrees& d, double layers,
                                 bool with_ends) noexcept {
  StageParameters sum;
  for (int i = 0; i < job.group_count; ++i) {
    const TrainingGroup& g = job.groups[static_cast<std::size_t>(i)];
    sum.shared += g.count * g.shared_parameters;
    sum.experts += g.count * g.expert_parameters;
  }
  const double share = layers / job.layers;
  sum.shared *= share / d.tp;
  sum.experts *= share / (d.ep * d.etp);
  if (with_ends) sum.shared += (d.pp <= 1 && !job.tied ? 2 : 1) * job.head_parameters / d.tp;
  return sum;
}

/// Exposed seconds, by tier.
struct Exposed {
  double up = 0, out = 0;
  void add(bool crosses, double seconds) noexcept { (crosses ? out : up) += seconds; }
};

// What Megatron sends at once unless told otherwise (--ddp-bucket-size, megatron/training/arguments.py).
constexpr double kBucketParameters = 40e6;
constexpr double kBucketPerRank = 1e6;

/// Gradients (and, where the optimizer is sharded, parameters) between data-parallel ranks, once per step; copies of
/// shard groups under HSDP. Full sharding has gathered them layer by layer already.
void add_data_parallel(const ResolvedTraining& job, const Degrees& d, const StageParameters& p, double window,
                       Exposed& exposed) noexcept {
  if (d.sharding == Sharding::zero3) return;
  const TrainingCoefficients& c = job.coefficients;
  const auto expose = [&](const Tier& t, double parameters, double seconds_per_parameter) {
    if (parameters <= 0 || seconds_per_parameter <= 0) return;
    const double buckets = std::max(1.0, parameters / std::max(kBucketParameters, kBucketPerRank * d.dp));
    const double time = parameters * seconds_per_parameter + 2 * buckets * t.latency;
    const double left = job.traits.overlap_data_parallel ? std::max(0.0, time - window) : time;
    exposed.add(t.crosses, std::max(left, c.data_exposed * time));
  };
  const double replicas = d.dp * d.cp;
  const double expert_replicas = d.tp * d.cp * d.dp / (d.ep * d.etp);
  if (d.sharding == Sharding::hsdp) {
    const Tier shared = tier(job, replica_group(job, d, replicas / d.weight_shards, d.weight_shards));
    const Tier experts =
        tier(job, expert_replica_group(job, d, expert_replicas / d.expert_weight_shards, d.expert_weight_shards));
    expose(shared, p.shared / d.weight_shards, kGradientBytes * shared.all_reduce);
    expose(experts, p.experts / d.expert_weight_shards, kGradientBytes * experts.all_reduce);
    return;
  }
  // All-reduce of the gradients, or reduce-scatter of them and all-gather of 16-bit weights.
  const double gradient = job.traits.gradient_bytes;
  const auto each = [&](const Tier& t) {
    return d.sharding == Sharding::none ? gradient * t.all_reduce : (gradient + kGradientBytes) * t.seconds_per_byte;
  };
  const Tier shared = tier(job, replica_group(job, d, replicas));
  const Tier experts = tier(job, expert_replica_group(job, d, expert_replicas));
  expose(shared, p.shared, each(shared));
  expose(experts, p.experts, each(experts));
}

/// ZeRO-3: gathers before each pass, as the weights are stored, and a reduce-scatter after; hidden behind the pass as
/// far as it is longer. Weights on the host cross its link first, each device's part of them. Programs compiled as a
/// whole wait for weights of experts that cross the network: what the compiler cannot place beside anything it runs in
/// the stream of the kernels (openxla/xla, issue 14397).
struct Gathered {
  double forward = 0, backward = 0;
  double waited = 0;  ///< in both, beside nothing
  bool crosses = false;
};
Gathered gather_time(const ResolvedTraining& job, const Degrees& d, double layers, bool with_ends,
                     bool from_host) noexcept {
  const StageParameters p = stage_parameters(job, d, layers, with_ends);
  Gathered g;
  const bool frozen = job.task == TrainingTask::lora;
  const double weight = job.weight_bytes;
  const auto add = [&](const Group& group, double parameters, bool experts) {
    if (group.ranks <= 1 || parameters <= 0) return;
    const Tier t = tier(job, group);
    const double gradient = frozen ? 0 : kGradientBytes;
    const double forward = weight * parameters * t.seconds_per_byte + t.latency * layers;
    const double backward = (weight + gradient) * parameters * t.seconds_per_byte + 2 * t.latency * layers;
    const bool waits = experts && t.crosses && job.traits.compiled && !job.ideal;
    (waits ? g.waited : g.forward) += forward;
    (waits ? g.waited : g.backward) += backward;
    g.crosses = g.crosses || t.crosses;
  };
  if (from_host) {
    const double each = weight * (p.shared / d.weight_shards + p.experts / d.expert_weight_shards) / job.host_link;
    g.forward += each;
    g.backward += each;
  }
  add(replica_group(job, d, d.weight_shards), p.shared, false);
  add(expert_replica_group(job, d, d.expert_weight_shards), p.experts, true);
  return g;
}

Bound bound_of(const TrainingEstimate& e) noexcept {
  const auto term = [&](Term t) { return e.terms_s[static_cast<std::size_t>(t)]; };
  const double compute = term(Term::attention) + term(Term::linear) + term(Term::experts) + term(Term::state) +
                         term(Term::head) + term(Term::recompute);
  const double memory = term(Term::elementwise) + term(Term::optimizer);
  Bound bound = Bound::compute;
  double most = compute;
  const auto consider = [&](double seconds, Bound b) {
    if (seconds > most) {
      most = seconds;
      bound = b;
    }
  };
  consider(memory, Bound::memory_bandwidth);
  consider(term(Term::scale_up), Bound::scale_up);
  consider(term(Term::scale_out), Bound::scale_out);
  consider(term(Term::pipeline), Bound::latency);
  consider(term(Term::host), Bound::host);
  return bound;
}

/// One micro-batch through all layers.
struct StepWork {
  Pass f, b;
  double again = 0;         ///< run forward a second time
  double head = 0;          ///< head, loss and MTP layers of the last stage
  double host_layers = 0;   ///< seconds of host work per pass, but for experts
  double host_experts = 0;  ///< and for them
  bool waits = false;       ///< for the number of tokens of each expert, unknown unless tokens are dropped
  double full_share = 0;
  double offloaded = 0;    ///< seconds to move kept activations to the host and back, all layers
  bool from_host = false;  ///< weights wait in host memory
};

/// One micro-batch on one stage: device time, and what gathers and the host add to it.
struct StageTime {
  double device = 0, gather = 0, host = 0;
  bool gather_crosses = false;
  [[nodiscard]] double total() const { return device + gather + host; }
};

StageTime stage_time(const ResolvedTraining& job, const Degrees& d, const StepWork& w, double layers,
                     bool with_head) noexcept {
  const TrainingCoefficients& c = job.coefficients;
  const double share = layers / job.layers;
  const double ends = with_head ? w.head : 0;
  const double front = share * w.f.total() + ends / 3;
  const double rear = share * (w.b.total() + w.again) + ends * 2 / 3;
  StageTime s;
  s.device = front + rear;
  const double passes = share * (2 + w.full_share);
  const double host = passes * w.host_layers;
  const double host_experts = passes * w.host_experts;
  double busy = s.device;
  if (job.traits.blocking) {
    busy += host + host_experts;
  } else if (w.waits) {
    // The host runs ahead of the device, but not past a layer with experts: it waits there for the number of tokens
    // that each of them got, and the launches for experts start from an empty queue.
    const double experts = share * ((1 + w.full_share) * w.f.experts + w.b.experts);
    busy = perf::smooth_max(s.device - experts, host) + perf::smooth_max(experts, host_experts);
  } else {
    busy = perf::smooth_max(s.device, host + host_experts);
  }
  s.host = busy - s.device;
  if (d.weight_shards > 1 || w.from_host) {
    // Gathers run beside the passes, however long those take.
    const Gathered g = gather_time(job, d, layers, with_head, w.from_host);
    const double stretch = busy / s.device;
    s.gather_crosses = g.crosses;
    const double waits = perf::smooth_max(front * stretch, g.forward) + perf::smooth_max(rear * stretch, g.backward) -
                         busy + c.shard_exposed * (g.forward + g.backward) + g.waited;
    (d.weight_shards > 1 ? s.gather : s.host) += waits;
  }
  // Activations travel beside the passes, each way beside one of them.
  if (w.offloaded > 0) s.host += perf::smooth_max(s.total(), share * w.offloaded) - s.total();
  return s;
}

StageTime half_of_both(const StageTime& a, const StageTime& b) noexcept {
  return {0.5 * (a.device + b.device), 0.5 * (a.gather + b.gather), 0.5 * (a.host + b.host),
          a.gather_crosses || b.gather_crosses};
}

/// Of the bubble of 1F1B, (p-1)(F+B), what remains in schedules that fill it with weight gradients. With B the whole
/// backward pass and W its weight gradients: (p-1)(F+B-2W) for ZB-H1 (Qi et al. 2023, table 2), (p/2-1)(F+2B-3W) for
/// DualPipe, where nothing is gained by running F beside B (DeepSeek-V3, arXiv 2412.19437, table 2).
double unfilled(const TrainingPlan& plan, const Degrees& d, const StepWork& w) noexcept {
  if (plan.schedule != Schedule::zero_bubble && plan.schedule != Schedule::dual_pipe) return 1;
  const double backward = w.b.total() + w.again;
  const double whole = w.f.total() + backward;
  double left = (whole - 2 * w.b.weight) / whole;
  if (plan.schedule == Schedule::dual_pipe) {
    left = (whole + backward - 3 * w.b.weight) / whole * std::max(0.0, d.pp / 2 - 1) / std::max(1.0, d.pp - 1);
  }
  return std::clamp(left, 0.0, 1.0);
}

/// Activations to the next stage and their gradients back, sharded over TP, once per chunk.
double send_time(const ResolvedTraining& job, const Degrees& d) noexcept {
  if (d.pp <= 1) return 0;
  const TrainingCoefficients& c = job.coefficients;
  const Group stages = pipeline_group(job, d);
  const double bytes = kGradientBytes * d.tokens * job.hidden / d.tp;
  // Of the hops from stage to stage, those that leave a domain.
  const double crossing = (std::ceil(d.pp / stages.inside) - 1) / (d.pp - 1);
  const double near = bytes / c.scale_up + c.scale_up_latency;
  const double far = bytes * ring_slowdown(job, stages) / c.scale_out + c.scale_out_latency;
  const double one = crossing * far + (1 - crossing) * near;
  return c.send_exposed * 2 * d.vp * one * (d.micro_batches + d.pp - 1);
}

double host_experts(const ResolvedTraining& job, const Degrees& d) noexcept {
  const TrainingCoefficients& c = job.coefficients;
  double sum = 0;
  for (int i = 0; i < job.group_count; ++i) {
    const TrainingGroup& g = job.groups[static_cast<std::size_t>(i)];
    if (g.moe) sum += g.count * (c.host_moe + c.host_expert * g.experts / d.ep);
  }
  return sum;
}

/// Workers read the next batch beside the step: what takes longer than it is waited for. A node reads once for each
/// replica that has a part on it; ranks of one replica pass the tokens on.
double loading_exposed(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d,
                       const TrainingEstimate& e) noexcept {
  if (job.data_seconds <= 0) return 0;
  double step = 0;
  for (const double t : e.terms_s) step += t;
  const double replicas = std::clamp(job.node_size / (d.tp * d.cp), 1.0, d.dp);
  const double tokens = static_cast<double>(plan.global_batch) * plan.sequence / d.dp;
  // The stack's factor is put on all terms later; reading does not wait for it.
  const double stack = job.coefficients.own_stack;
  return std::max(0.0, tokens * replicas * job.data_seconds / stack - step);
}

/// Of the products with weights alone. Frozen weights get no gradient: a third of the products is not there.
double weight_flops(const ResolvedTraining& job) noexcept {
  return (job.task == TrainingTask::lora ? 4 : 6) * job.active_parameters;
}

double model_flops(const ResolvedTraining& job, const TrainingPlan& plan) noexcept {
  double flops = weight_flops(job) + job.attention_flops_per_position * attended(plan);
  for (int i = 0; i < job.window_count; ++i) {
    const auto& w = job.windows[static_cast<std::size_t>(i)];
    flops += w.flops_per_position * std::min(w.reach, attended(plan));
  }
  return flops;
}

constexpr Term kArithmetic[] = {Term::linear, Term::attention, Term::experts, Term::head, Term::recompute};

/// Mean watts of a device. What a waiting device draws beyond idling goes with its clock as arithmetic does.
double mean_power(const ResolvedTraining& job, const std::array<double, kTerms>& terms, double clock) noexcept {
  double total = 0;
  for (const double t : terms) total += t;
  double busy = 0;
  for (const Term t : kArithmetic) busy += terms[static_cast<std::size_t>(t)];
  const double watts = job.tdp * (kIdlePower + kBusyPower * busy / total);
  if (clock >= 1) return watts;
  const double core = perf::core_power(job.rates, clock);
  const double awake = job.tdp * kIdlePower - job.rates.idle_power;
  // The bytes of the same arithmetic move in a longer time.
  const double arithmetic = job.tdp * kBusyPower * busy / total * (kMemoryPower * clock + (1 - kMemoryPower) * core);
  return job.rates.idle_power + awake * core + arithmetic;
}

/// The terms at a lower clock: arithmetic slows down, memory once the clock is low, links and hosts do not.
std::array<double, kTerms> terms_at(const ResolvedTraining& job, std::array<double, kTerms> terms,
                                    double clock) noexcept {
  const auto term = [&](Term t) -> double& { return terms[static_cast<std::size_t>(t)]; };
  double before = -term(Term::pipeline);
  for (const double t : terms) before += t;
  for (const Term t : kArithmetic) term(t) /= clock;
  for (const Term t : {Term::elementwise, Term::state, Term::optimizer}) term(t) /= perf::memory_left(job.rates, clock);
  double after = -term(Term::pipeline);
  for (const double t : terms) after += t;
  if (before > 0) term(Term::pipeline) *= after / before;  // stages wait for stages
  return terms;
}

/// Slows the step down until its mean power is within the cap; gives the clock, of that without a cap.
double cap_step(const ResolvedTraining& job, TrainingEstimate& e) noexcept {
  const double cap = job.rates.power_cap;
  if (cap <= 0 || mean_power(job, e.terms_s, 1) <= cap) return 1;
  const auto uncapped = e.terms_s;
  const double clock =
      perf::clock_within(cap, [&](double share) { return mean_power(job, terms_at(job, uncapped, share), share); });
  e.terms_s = terms_at(job, uncapped, clock);
  const auto ratio = [&](std::initializer_list<Term> terms) {
    double before = 0;
    double after = 0;
    for (const Term t : terms) {
      before += uncapped[static_cast<std::size_t>(t)];
      after += e.terms_s[static_cast<std::size_t>(t)];
    }
    return before > 0 ? after / before : 1;
  };
  const double passes = ratio({Term::linear, Term::attention, Term::experts, Term::state, Term::elementwise});
  const auto scale = [&](TrainingPhase p, double by) { e.phases_s[static_cast<std::size_t>(p)] *= by; };
  scale(TrainingPhase::forward, passes);
  scale(TrainingPhase::backward, passes);
  scale(TrainingPhase::recompute, ratio({Term::recompute}));
  scale(TrainingPhase::head, ratio({Term::head}));
  scale(TrainingPhase::pipeline, ratio({Term::pipeline}));
  scale(TrainingPhase::optimizer, ratio({Term::optimizer}));
  e.weight_gradient_s *= passes;
  return clock;
}

/// Everything that follows from the terms.
void finish(const ResolvedTraining& job, const TrainingPlan& plan, TrainingEstimate& e) noexcept {
  const TrainingCoefficients& c = job.coefficients;
  const double tokens = static_cast<double>(plan.global_batch) * plan.sequence;
  double total = 0;
  for (const double t : e.terms_s) total += t;
  // However fast a stack was measured to be, it does its FLOPs.
  const double least = model_flops(job, plan) * tokens / (job.peak * plan.gpus);
  const double fastest_own = std::max(c.own_stack, std::min(1.0, least / (kHighestShare * total)));
  // By convention a model's FLOPs count the masked half of attention too, which kernels skip: no MFU is above 100 %.
  const double factor = std::max(fastest_own, least / total);
  for (double& t : e.terms_s) t *= factor;
  total *= factor;
  const double clock = cap_step(job, e);
  double capped = 0;
  for (const double t : e.terms_s) capped += t;
  const double kept = clock < 1 ? total / capped : 1;
  const double lost = perf::kUnsureOfCap * (1 - kept);
  if (clock < 1) total = capped;
  const double low = c.low / std::min(1 + lost, 1 / kept);
  const double high = c.high / (1 - lost);
  const double fastest = std::min(total, std::max(total * low, least));
  e.step_time_s = {fastest, total, total * high};
  e.tokens_per_s = {tokens / (total * high), tokens / total, tokens / fastest};
  e.six_p_flops_per_token = weight_flops(job);
  e.model_flops_per_token = model_flops(job, plan);
  const double per_rate = e.model_flops_per_token / (job.peak * plan.gpus);
  e.mfu = {e.tokens_per_s.low * per_rate, e.tokens_per_s.mid * per_rate, e.tokens_per_s.high * per_rate};
  const double watts = plan.gpus * mean_power(job, e.terms_s, clock);
  const double limit = plan.gpus * (job.rates.power_cap > 0 ? job.rates.power_cap : job.tdp);
  e.power_w = {watts * (1 - kPowerSpread), watts, std::max(watts, std::min(watts * (1 + kPowerSpread), limit))};
  e.bound = bound_of(e);
}

/// Head, loss and MTP layers over one layer, for the cut into stages.
double head_in_layers(const ResolvedTraining& job, const Passes& passes, double head) noexcept {
  const double layer = (passes.forward.total() + passes.backward.total()) / job.layers;
  return (head + job.mtp_layers * (layer + head)) / layer;
}

}  // namespace

TrainingOutcome evaluate(const ResolvedTraining& job, const TrainingPlan& plan) noexcept {
  Degrees d;
  double short_by = 0;
  const Reason reason = plan_degrees(job, plan, d, short_by);
  if (reason != Reason::none) return refuse(reason, short_by);
  return evaluate_passes(job, plan, d, layer_passes(job, plan, d), head_time(job, d));
}

TrainingOutcome evaluate_passes(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d,
                                const Passes& passes, double head) noexcept {
  const TrainingCoefficients& c = job.coefficients;
  const bool trains = job.task != TrainingTask::lora;
  StepWork w{passes.forward,
             passes.backward,
             0,
             head,
             job.layers * c.host_layer,
             host_experts(job, d),
             job.moe && plan.capacity <= 0};
  const double once_through = w.f.total() + w.b.total();
  const Stages stages = cut_stages(job, plan.pp, static_cast<int>(d.vp), head_in_layers(job, passes, head));
  const MemoryPlan memory = plan_memory(job, plan, d, stages);
  if (memory.short_by > 0) return refuse(Reason::out_of_memory, memory.short_by, memory.stage);

  // Selective recompute: scores where they went through memory, else what is light.
  const bool unfused = job.traits.attention == AttentionKernel::unfused;
  const double selective = unfused ? w.f.attention : c.selective_share * w.f.compute();
  // What is run forward twice because memory is short depends on what software keeps: no part of the bound.
  w.full_share = job.ideal && plan.recompute != Recompute::full ? 0 : memory.full_share;
  w.again = w.full_share * w.f.total() + (memory.selective ? (1 - w.full_share) * selective : 0);
  if (plan.offload > 0) {
    const double bytes = job.layers * kept_bytes(job, plan, d, memory) * static_cast<double>(plan.offload);
    w.offloaded = 2 * bytes / job.host_link;
  }
  w.from_host = plan.offload_weights;
  if (job.mtp_layers > 0) w.head += job.mtp_layers * ((once_through + w.again) / job.layers + w.head);

  const bool alone = plan.pp == 1;
  const StageTime middle = stage_time(job, d, w, stages.most_layers, alone);
  const StageTime last = alone ? middle : stage_time(job, d, w, stages.last_layers, true);
  const StageTime first = alone ? middle : stage_time(job, d, w, stages.first_layers, false);
  // Pipelines that run both ways have the first stage of one direction and the last of the other on one rank, and half
  // of the micro-batches pass each.
  const bool both_ways = !alone && plan.schedule == Schedule::dual_pipe;
  const StageTime end = both_ways ? half_of_both(first, last) : last;
  const double end_layers = both_ways ? 0.5 * (stages.first_layers + stages.last_layers) : stages.last_layers;
  const bool head_leads = alone || end.total() > middle.total();
  const StageTime& critical = head_leads ? end : middle;
  const double critical_layers = head_leads ? end_layers : stages.most_layers;
  // While the critical stage waits, a micro-batch passes all the other stages once, chunk by chunk if interleaved.
  const double others = first.total() + last.total() + (d.pp - 2) * middle.total() - critical.total();
  const double bubble = alone ? 0 : others / d.vp * unfilled(plan, d, w);

  const double stage_share = critical_layers / job.layers;
  const double each = d.micro_batches * stage_share;
  Exposed exposed;
  const StageParameters parameters = stage_parameters(job, d, critical_layers, true);
  if (trains) {
    const double idle = critical.total() - critical.device;
    const double window = ((w.b.total() + w.again) * stage_share + idle) * std::min(d.pp, d.micro_batches);
    add_data_parallel(job, d, parameters, window, exposed);
  }
  const double reduced = exposed.up + exposed.out;
  exposed.add(tensor_group(job, d).crosses(), each * (w.f.tensor + w.b.tensor));
  exposed.add(context_group(job, d).crosses(), each * (w.f.context + w.b.context));
  exposed.up += each * (w.f.expert_up + w.b.expert_up);
  exposed.out += each * (w.f.expert_out + w.b.expert_out);
  (critical.gather_crosses ? exposed.out : exposed.up) += d.micro_batches * critical.gather;

  TrainingOutcome outcome;
  TrainingEstimate& e = outcome.estimate;
  const auto term = [&](Term t) -> double& { return e.terms_s[static_cast<std::size_t>(t)]; };
  term(Term::linear) = each * (w.f.linear + w.b.linear);
  term(Term::attention) = each * (w.f.attention + w.b.attention);
  term(Term::state) = each * (w.f.state + w.b.state);
  term(Term::experts) = each * (w.f.experts + w.b.experts);
  term(Term::elementwise) = each * (w.f.elementwise + w.b.elementwise);
  term(Term::recompute) = each * w.again;
  term(Term::head) = head_leads ? d.micro_batches * w.head * (both_ways ? 0.5 : 1) : 0;
  term(Term::scale_up) = exposed.up;
  term(Term::scale_out) = exposed.out;
  term(Term::pipeline) = bubble + send_time(job, d);
  if (trains) {
    const double updated = parameters.shared / d.shards + parameters.experts / d.expert_shards;
    // What the state has less of is neither read nor written.
    const double state = state_bytes(job, plan);
    const double traffic = std::max(2 * state, c.optimizer_traffic - 2 * (job.traits.optimizer_bytes - state));
    term(Term::optimizer) = traffic * updated / c.bandwidth;
    if (plan.offload_optimizer) {
      // Gradients go down, weights come back, and the host's own memory serves the update.
      term(Term::optimizer) =
          updated * ((job.traits.gradient_bytes + kGradientBytes) / job.host_link + traffic / kHostBandwidth);
    } else if (memory.squeezed && pages(plan.optimizer)) {
      term(Term::optimizer) += 2 * state * updated / job.host_link;  // its pages come and go
    }
  }
  term(Term::host) = d.micro_batches * critical.host + c.host_step;
  const double loading = loading_exposed(job, plan, d, e);
  term(Term::host) += loading;

  const auto phase = [&](TrainingPhase p) -> double& { return e.phases_s[static_cast<std::size_t>(p)]; };
  phase(TrainingPhase::forward) = each * w.f.compute();
  phase(TrainingPhase::backward) = each * w.b.compute();
  phase(TrainingPhase::recompute) = term(Term::recompute);
  phase(TrainingPhase::head) = term(Term::head);
  phase(TrainingPhase::tensor_parallel) = each * (w.f.tensor + w.b.tensor);
  phase(TrainingPhase::context_parallel) = each * (w.f.context + w.b.context);
  phase(TrainingPhase::expert_parallel) = each * (w.f.expert_up + w.b.expert_up + w.f.expert_out + w.b.expert_out);
  phase(TrainingPhase::data_parallel) = reduced + d.micro_batches * critical.gather;
  phase(TrainingPhase::pipeline) = term(Term::pipeline);
  phase(TrainingPhase::optimizer) = term(Term::optimizer);
  phase(TrainingPhase::host) = term(Term::host) - loading;
  phase(TrainingPhase::data) = loading;

  for (double& p : e.phases_s) p *= c.own_stack;
  e.weight_gradient_s = each * w.b.weight * c.own_stack;
  e.memory_bytes = memory.bytes;
  e.recompute = memory.recompute;
  e.recompute_share = w.again / w.f.total();
  e.vp = static_cast<int>(d.vp);
  e.micro_batches = static_cast<int>(d.micro_batches);
  e.sharding = d.sharding;
  finish(job, plan, e);
  return outcome;
}

StepFloor step_floor(const ResolvedTraining& job, const TrainingPlan& plan, const Degrees& d, const Passes& passes,
                     double exposed_least, double head) noexcept {
  constexpr double kRounding = 1 - 1e-9;  // sums in another order
  const TrainingCoefficients& c = job.coefficients;
  const StepWork w{passes.forward, passes.backward, 0, head};
  const double computed = w.f.compute() + w.b.compute();
  const double sum = computed + exposed_least + head;
  const double left = d.pp > 1 ? unfilled(plan, d, w) / d.vp : 0;
  StepFloor floor;
  floor.seconds = c.own_stack * ((d.micro_batches + (d.pp - 1) * left) * sum / d.pp + c.host_step) * kRounding;

  const Stages stages = cut_stages(job, plan.pp, static_cast<int>(d.vp), head_in_layers(job, passes, head));
  const double busy =
      (w.f.linear + w.f.attention + w.f.experts + w.b.linear + w.b.attention + w.b.experts) / job.layers;
  const bool both_ways = plan.schedule == Schedule::dual_pipe;
  const double end =
      both_ways ? 0.5 * ((stages.first_layers + stages.last_layers) * busy + head) : stages.last_layers * busy + head;
  const double arithmetic = d.pp > 1 ? std::min(stages.most_layers * busy, end) : job.layers * busy + head;
  // Under a cap the cores draw less for the same arithmetic: by the square of the voltage, which has a floor.
  const double sparing =
      job.rates.power_cap > 0 ? kMemoryPower + (1 - kMemoryPower) * perf::kVoltageFloor * perf::kVoltageFloor : 1;
  const double waiting = job.rates.power_cap > 0 ? job.rates.idle_power / job.tdp : kIdlePower;
  floor.joules = job.tdp * plan.gpus *
                 (waiting * floor.seconds + kBusyPower * sparing * c.own_stack * d.micro_batches * arithmetic) *
                 kRounding;

  // Everything recomputed, all activations and the optimizer away, logits in slices; the layer at work not counted.
  TrainingPlan lean = plan;
  lean.offload = 1;
  lean.offload_optimizer = true;
  const auto bytes = memory_of_stage(job, lean, d, stages, 0, 0, true, true);
  const auto part = [&](TrainingMemory m) { return bytes[static_cast<std::size_t>(m)]; };
  floor.bytes = (part(TrainingMemory::weights) + part(TrainingMemory::gradients)) * kRounding;
  return floor;
}

std::array<double, kTrainingMemory> stage_memory(const ResolvedTraining& job, const TrainingPlan& plan,
                                                 int stage) noexcept {
  Degrees d;
  double short_by = 0;
  if (plan_degrees(job, plan, d, short_by) != Reason::none || stage < 0 || stage >= plan.pp) return {};
  const Passes passes = layer_passes(job, plan, d);
  const double head = head_in_layers(job, passes, head_time(job, d));
  const Stages stages = cut_stages(job, plan.pp, static_cast<int>(d.vp), head);
  const MemoryPlan memory = plan_memory(job, plan, d, stages);
  return memory_of_stage(job, plan, d, stages, stage, memory.full_share, memory.selective, memory.squeezed);
}

}  // namespace ridge
