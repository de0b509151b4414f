// From answers about training to launch plans.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facility/launch/plan.hpp"
#include "facility/launch/write.hpp"
#include "ridge/catalogue/names.hpp"

namespace ridge {

namespace {

using launch::cannot;

/// What of a training plan the runner has no flag for.
Status speakable(const TrainingAnswer& a, LaunchTarget runner) {
  const TrainingQuery& q = a.query;
  const TrainingPlan& t = q.plan;
  const bool megatron = launch::speaks_megatron(runner);
  const std::string_view who = runner == LaunchTarget::megatron ? "pretrain_gpt.py of Megatron" : engine_of(runner);
  const auto refuse = [&](std::string_view what, std::string_view instead) {
    return cannot(fmt::format("{} has no flag for {}: say {}", who, what, instead));
  };
  if (q.task == TrainingTask::lora)
    return refuse("adapters", "⟦task=pretrain⟧, or train them by recipes of Megatron-Bridge or by PEFT");
  if (q.task == TrainingTask::sft) {
    return refuse("fine-tuning alone", "⟦task=pretrain⟧, and give the script your tokenizer's flags");
  }
  if (t.schedule == Schedule::zero_bubble || t.schedule == Schedule::dual_pipe) {
    return refuse(fmt::format("the schedule {}", name(t.schedule)), "⟦schedule=1f1b⟧ or interleaved");
  }
  if (t.offload > 0) return refuse("a share of activations on the host", "⟦offload=0⟧ and ⟦recompute=full⟧");
  if (t.offload_optimizer && runner != LaunchTarget::deepspeed)
    return refuse("an optimizer on the host as the plan has it", "no ⟦offload_optimizer⟧, or emit for deepspeed");
  if (t.capacity > 0) return refuse("experts that drop tokens as the plan has it", "no ⟦capacity⟧");
  if (q.wide_layers > 0) return refuse("layers in 16 bits as the plan has them", "no ⟦wide_layers⟧");
  if (q.mtp && !megatron) return refuse("multi-token prediction", "no ⟦mtp⟧, or emit for megatron");
  if (runner == LaunchTarget::torchrun && t.cp > 1 && t.context == ContextParallel::ulysses) {
    return refuse("ulysses", "⟦cp_kind=ring⟧");
  }
  if (q.cluster.order == RankOrder::pipeline_before_data) {
    return refuse("another order of ranks", "⟦rank_order=tp-cp-ep-dp-pp⟧");
  }
  return {};
}

/// What the engine calls the model; empty if it does not have it.
std::string name_in(const LaunchStock& stock, LaunchTarget runner, std::string_view model) {
  const auto at = std::find_if(stock.names.begin(), stock.names.end(), [&](const EngineModel& one) {
    return one.engine == engine_of(runner) && one.model == model;
  });
  return at == stock.names.end() ? std::string() : at->name;
}

}  // namespace

Result<LaunchPlan> launch_plan(const TrainingAnswer& a, const Knowledge& knowledge, const LaunchStock& stock,
                               const LaunchWish& wish) {
  if (a.refusal) return Error{ErrorCode::infeasible, "", "the plan cannot run: " + a.refusal->why};
  if (const Status s = speakable(a, wish.runner); !s) return s.error();
  const auto model = knowledge.catalogue.find_model(a.query.model);
  if (!model) return model.error();
  const TrainingPlan& t = a.query.plan;
  const TrainingEstimate& e = a.outcome.estimate;
  LaunchPlan p;
  p.runner = wish.runner;
  p.model = model->id.empty() ? a.query.model : model->id;
  p.device = a.facts.device;
  if (const Status s = launch::take_vendor(p, knowledge, stock); !s) return s.error();
  p.gpus = t.gpus;
  p.gpus_per_node =
      a.query.gpus_per_node > 0 ? a.query.gpus_per_node : launch::node_size(knowledge, a.query.system, a.facts.device);
  p.system = a.query.system;
  p.tp = t.tp;
  p.pp = t.pp;
  p.cp = t.cp;
  p.ep = t.ep;
  p.etp = std::max(1, t.etp);
  p.dp = a.facts.dp;
  p.vp = e.vp;
  p.sequence = t.sequence;
  p.global_batch = t.global_batch;
  p.micro_batch = t.micro_batch;
  if (p.cp > 1) p.context = t.context;
  p.precision = a.facts.precision;
  p.block_scales = p.precision == Format::fp8 && a.query.block_scales;
  p.sharding = e.sharding;
  p.recompute = e.recompute;
  if (p.sharding == Sharding::hsdp)
    p.shard_group = t.shard_group > 0 ? t.shard_group : std::max(1, p.gpus_per_node / p.tp);
  if (p.sharding == Sharding::hsdp && p.shard_group >= p.dp) p.sharding = Sharding::zero3;  // one group is all of them
  if (p.sharding == Sharding::hsdp && p.shard_group == 1) p.sharding = Sharding::none;
  if (p.sharding != Sharding::hsdp) p.shard_group = 0;
  // Weights start at random: only the tokenizer comes from a repository.
  const Result<Format> own = parse_format(model->quantization);
  const Checkpoint* base = own ? stock.checkpoints.find(model->id, *own, p.vendor) : nullptr;
  if (base == nullptr) base = stock.checkpoints.find(model->id, Format::bf16, p.vendor);
  if (base == nullptr && !model->id.empty()) {
    const auto any = std::find_if(stock.checkpoints.all().begin(), stock.checkpoints.all().end(),
                                  [&](const Checkpoint& c) { return c.model == model->id; });
    if (any != stock.checkpoints.all().end()) base = &*any;
  }
  p.checkpoint = !wish.checkpoint.empty()               ? wish.checkpoint
                 : launch::is_repository(a.query.model) ? a.query.model
                 : base != nullptr                      ? base->repository
                                                        : std::string();
  p.gated = base != nullptr && base->gated && p.checkpoint == base->repository;
  if (launch::speaks_megatron(wish.runner)) {
    const Result<ModelShape> shape = launch::shape_of(*model, t.sequence, stock);
    if (!shape) return shape.error();
    p.shape = *shape;
    // Where not all layers have to run twice, as many of a chunk as the plan has.
    if (p.recompute == Recompute::full && e.recompute_share > 0 && e.recompute_share < 1) {
      const int chunk = (p.shape.layers + p.pp * p.vp - 1) / (p.pp * p.vp);
      const int twice = static_cast<int>(std::ceil(e.recompute_share * chunk));
      if (twice < chunk) p.recompute_layers = std::max(1, twice);
    }
    if (a.query.mtp) p.shape.mtp_layers = model->mtp_layers;
    if (p.shape.experts == 0) p.etp = 1;
  }
  if (launch::names_models(wish.runner)) p.flavor = name_in(stock, wish.runner, model->id);
  p.offload_optimizer = t.offload_optimizer;
  if (wish.runner == LaunchTarget::deepspeed || wish.runner == LaunchTarget::maxtext) {
    p.vp = 1;
    if (p.dp == 1) p.sharding = Sharding::none;
    if (p.dp == 1) p.shard_group = 0;
  }
  if (wish.runner == LaunchTarget::torchrun) {
    p.vp = 1;
    // Sharding over one rank, and the engine's own zero1, are nothing that torchtitan knows: all or nothing.
    if (p.dp == 1) p.sharding = Sharding::none;
  }
  if (p.nodes() > 1) p.network = launch::network_of(knowledge, a.query.system, a.facts.device);
  return p;
}

}  // namespace ridge
