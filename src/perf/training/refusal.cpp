#include "perf/training/refusal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "perf/answers/nearest.hpp"
#include "perf/operators/usable_memory.hpp"
#include "perf/training/resolved.hpp"
#include "ridge/base/text.hpp"

namespace ridge {
namespace {

constexpr std::size_t kNearest = 4;
constexpr int kWidest = 64;   ///< tensor parallelism that is tried
constexpr int kDeepest = 64;  ///< pipeline stages
constexpr int kMostDevices = 65536;

class TrainingRefuser {
 public:
  TrainingRefuser(const TrainingAnswer& answer, const Knowledge& knowledge)
      : a_(answer), k_(knowledge), job_(*answer.job->resolved), plan_(answer.query.plan) {
    refusal_.reason = a_.outcome.reason;
  }

  Refusal run() {
    switch (a_.outcome.reason) {
      case Reason::out_of_memory:
        memory();
        break;
      case Reason::batch_not_divisible:
        batch();
        break;
      case Reason::gpus_do_not_multiply:
        devices();
        break;
      case Reason::layers_too_few:
        layers();
        break;
      case Reason::sequence_not_divisible:
        refusal_.why = fmt::format("context parallel {} does not divide {} tokens", plan_.cp, plan_.sequence);
        sequence();
        break;
      case Reason::heads_not_divisible:
        heads();
        break;
      case Reason::experts_not_divisible:
        experts();
        break;
      case Reason::format_not_supported:
        formats();
        break;
      default:
        refusal_.why = fmt::format("a figure of the plan is out of range ({})", name(a_.outcome.reason));
        break;
    }
    return std::move(refusal_);
  }

 private:
  [[nodiscard]] int dp() const { return a_.facts.dp; }

  bool offer(const TrainingPlan& plan, Changes changes) {
    if (refusal_.nearest.size() >= kNearest) return true;
    const TrainingOutcome o = evaluate(job_, plan, a_.query.examples);
    if (o.reason != Reason::none) return false;
    refusal_.nearest.push_back(
        {std::move(changes), fmt::format("runs: {} a step, MFU {:.1f} %", format(Seconds(o.estimate.step_time_s.mid)),
                                         100 * o.estimate.mfu.mid)});
    return true;
  }
  template <class Make>
  bool offer(Changes changes, const Make& make) {
    TrainingPlan plan = plan_;
    make(plan);
    return offer(plan, std::move(changes));
  }

  void memory() {
    const int stage = a_.outcome.stage;
    refusal_.short_by = a_.outcome.short_by;
    std::string parts;
    if (stage >= 0 && stage < static_cast<int>(a_.stages.size())) {
      const auto& bytes = a_.stages[static_cast<std::size_t>(stage)];
      for (std::size_t i = 0; i < kTrainingMemory; ++i) {
        parts += fmt::format("{}{} {}", parts.empty() ? ": " : ", ", name(static_cast<TrainingMemory>(i)),
                             format(Bytes(bytes[i])));
      }
    }
    refusal_.why = fmt::format(
        "out of memory by {} on each {} ({}) of stage {}{}", format(Bytes(a_.outcome.short_by)), a_.facts.device,
        usable_memory(k_.catalogue.device(a_.facts.device), a_.facts.memory_bytes), stage, parts);
    if (a_.query.task == TrainingTask::lora && !a_.query.frozen) offer_four_bits();
    if (plan_.recompute != Recompute::unknown && plan_.recompute != Recompute::full) {
      offer({{"recompute", "full"}}, [](TrainingPlan& p) { p.recompute = Recompute::full; });
    }
    if (plan_.micro_batch > 1) offer({{"micro_batch", "1"}}, [](TrainingPlan& p) { p.micro_batch = 1; });
    if (plan_.sharding != Sharding::zero3) {
      offer({{"sharding", "zero3"}}, [](TrainingPlan& p) { p.sharding = Sharding::zero3; });
    }
    first_doubled(plan_.tp * 2, widest(), [&](int tp) { return offer_tp(tp); });
    first_doubled(plan_.pp * 2, deepest(), [&](int pp) { return offer_pp(pp); });
    if (a_.query.task != TrainingTask::lora && plan_.optimizer == Optimizer::adamw) {
      offer({{"optimizer", "paged-adamw-8bit"}}, [](TrainingPlan& p) { p.optimizer = Optimizer::paged_adamw_8bit; });
    }
    if (!plan_.offload_weights) {
      offer({{"offload_weights", "true"}}, [](TrainingPlan& p) { p.offload_weights = true; });
    }
    if (!refusal_.nearest.empty()) return;
    first_doubled(plan_.gpus * 2, kMostDevices, [&](int gpus) { return offer_layout(gpus); });
  }

  /// QLoRA, with all that it takes to fit on these devices.
  void offer_four_bits() {
    TrainingQuery query = a_.query;
    query.frozen = Format::int4;
    const auto job = resolve(query, k_);
    if (!job) return;
    TrainingPlan plan = plan_;
    Changes changes = {{"frozen", "int4"}};
    TrainingOutcome o = evaluate(*job->resolved, plan, a_.query.examples);
    if (o.reason == Reason::out_of_memory) {
      plan.micro_batch = 1;
      plan.recompute = Recompute::full;
      changes.push_back({"micro_batch", "1"});
      changes.push_back({"recompute", "full"});
      o = evaluate(*job->resolved, plan, a_.query.examples);
    }
    if (o.reason != Reason::none) return;
    refusal_.nearest.push_back(
        {std::move(changes), fmt::format("runs: {} a step", format(Seconds(o.estimate.step_time_s.mid)))});
  }

  [[nodiscard]] int widest() const { return std::min(kWidest, std::max(8, job_.domain)); }
  [[nodiscard]] int deepest() const { return std::min(kDeepest, static_cast<int>(job_.layers)); }
  bool offer_tp(int tp) {
    return offer({{"tp", std::to_string(tp)}}, [&](TrainingPlan& p) { p.tp = tp, p.dp = 0; });
  }
  bool offer_pp(int pp) {
    return offer({{"pp", std::to_string(pp)}}, [&](TrainingPlan& p) { p.pp = pp, p.dp = 0; });
  }

  /// Any width and depth from the plan's on that can run on so many devices, with the batch rounded up.
  bool offer_layout(int gpus) {
    return first_doubled(plan_.tp, widest(), [&](int tp) {
      return first_doubled(plan_.pp, deepest(), [&](int pp) {
        TrainingPlan plan = plan_;
        plan.gpus = gpus;
        plan.tp = tp;
        plan.pp = pp;
        plan.dp = 0;
        plan.micro_batch = 1;
        const int ranks = std::max(1, gpus / (tp * pp * plan.cp));
        plan.global_batch = (std::max(plan.global_batch, ranks) + ranks - 1) / ranks * ranks;
        Changes changes = {{"tp", std::to_string(tp)},
                           {"pp", std::to_string(pp)},
                           {"micro_batch", "1"},
                           {"global_batch", std::to_string(plan.global_batch)}};
        if (gpus != plan_.gpus) changes.insert(changes.begin(), {"gpus", std::to_string(gpus)});
        return offer(plan, std::move(changes));
      });
    });
  }

  void batch() {
    const int unit = plan_.micro_batch * dp();
    refusal_.why = fmt::format("a batch of {} sequences is no multiple of micro-batch {} x dp {} = {}",
                               plan_.global_batch, plan_.micro_batch, dp(), unit);
    multiples_around(plan_.global_batch, unit, [&](int batch) {
      return offer({{"global_batch", std::to_string(batch)}}, [&](TrainingPlan& p) { p.global_batch = batch; });
    });
    const int shared = std::gcd(plan_.global_batch / std::max(1, dp()), plan_.micro_batch);
    if (plan_.global_batch % dp() == 0 && shared < plan_.micro_batch && shared > 0) {
      offer({{"micro_batch", std::to_string(shared)}}, [&](TrainingPlan& p) { p.micro_batch = shared; });
    }
    if (refusal_.nearest.empty()) offer_layout(plan_.gpus);
  }

  void devices() {
    const int model = plan_.tp * plan_.pp * plan_.cp;
    const int unit = model * std::max(1, plan_.dp);
    refusal_.why = fmt::format("tp {} x pp {} x cp {}{} = {} does not make {} devices", plan_.tp, plan_.pp, plan_.cp,
                               plan_.dp > 0 ? fmt::format(" x dp {}", plan_.dp) : "", unit, plan_.gpus);
    multiples_around(plan_.gpus, unit, [&](int gpus) {
      if (plan_.dp > 0 && gpus != unit) return false;
      TrainingPlan plan = plan_;
      plan.gpus = gpus;
      const long ranks = static_cast<long>(gpus / model) * plan.micro_batch;
      if (ranks < 1 || ranks > kMostBatch) return false;
      plan.global_batch = static_cast<int>((plan.global_batch + ranks - 1) / ranks * ranks);
      const bool same = plan.global_batch == plan_.global_batch;
      Changes changes = {{"gpus", std::to_string(gpus)}};
      if (!same) changes.push_back({"global_batch", std::to_string(plan.global_batch)});
      return offer(plan, std::move(changes));
    });
    // Another width or depth for as many devices.
    if (refusal_.nearest.empty()) first_below(plan_.tp - 1, [&](int tp) { return offer_tp(tp); });
    if (refusal_.nearest.empty()) first_halved(plan_.pp / 2, [&](int pp) { return offer_pp(pp); });
    if (plan_.dp > 0 && plan_.gpus % model == 0) {
      offer({{"dp", std::to_string(plan_.gpus / model)}}, [&](TrainingPlan& p) { p.dp = p.gpus / model; });
    }
  }

  void layers() {
    if (plan_.pp > job_.layers) {
      refusal_.why = fmt::format("{} stages are more than the {:.0f} layers", plan_.pp, job_.layers);
    } else {
      refusal_.why =
          fmt::format("{} stages of {} chunks are more than the {:.0f} layers", plan_.pp, plan_.vp, job_.layers);
      const auto chunks = [&](int vp) {
        return offer({{"vp", std::to_string(vp)}}, [&](TrainingPlan& p) { p.vp = vp; });
      };
      if (first_below(plan_.vp - 1, chunks)) return;
    }
    if (!first_halved(plan_.pp / 2, [&](int pp) { return offer_pp(pp); })) {
      first_below(deepest(), [&](int pp) { return offer_pp(pp); });
    }
  }

  void sequence() {
    multiples_around(plan_.sequence, plan_.cp, [&](int tokens) {
      return offer({{"seq_length", std::to_string(tokens)}}, [&](TrainingPlan& p) { p.sequence = tokens; });
    });
  }

  void heads() {
    double heads = 0;
    for (int i = 0; i < job_.group_count; ++i) heads = std::max(heads, job_.groups[static_cast<std::size_t>(i)].heads);
    refusal_.why = fmt::format("tensor parallel {} does not divide the {:.0f} heads", plan_.tp, heads);
    either_side(plan_.tp, 2 * kWidest, [&](int tp) { return offer_tp(tp); });
  }

  void experts() {
    if (!job_.moe) {
      refusal_.why = "the model is dense: it has no experts to spread";
      offer({{"ep", "1"}}, [](TrainingPlan& p) {
        p.ep = 1;
        p.etp = 0;
      });
      return;
    }
    const int ranks = plan_.tp * plan_.cp * dp();
    refusal_.why = fmt::format("expert parallel {} has to divide the {:.0f} experts and the {} ranks (tp x cp x dp)",
                               plan_.ep, job_.experts_all, ranks);
    first_below(std::min(plan_.ep, ranks), [&](int ep) {
      return offer({{"ep", std::to_string(ep)}}, [&](TrainingPlan& p) { p.ep = ep; });
    });
  }

  void formats() {
    const Format asked = a_.facts.precision;
    refusal_.why = trains_in(asked)
                       ? fmt::format("{} does not compute in {}", a_.facts.device, name(asked))
                       : fmt::format("training in {} is not modelled: no step in it was published", name(asked));
    for (const Format f : {Format::fp8, Format::bf16, Format::fp16}) {
      if (f == a_.facts.precision) continue;
      TrainingQuery query = a_.query;
      query.precision = f;
      const auto job = resolve(query, k_);
      if (!job) continue;
      const TrainingOutcome o = evaluate(*job->resolved, plan_, a_.query.examples);
      if (o.reason != Reason::none) continue;
      refusal_.nearest.push_back({{{"precision", std::string(name(f))}},
                                  fmt::format("runs: {} a step", format(Seconds(o.estimate.step_time_s.mid)))});
      return;
    }
  }

  const TrainingAnswer& a_;
  const Knowledge& k_;
  const ResolvedTraining& job_;
  const TrainingPlan& plan_;
  Refusal refusal_;
};

}  // namespace

Refusal explain_refusal(const TrainingAnswer& answer, const Knowledge& knowledge) {
  return TrainingRefuser(answer, knowledge).run();
}

}  // namespace ridge
