// Completes a question about training and asks evaluate().
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/training/refusal.hpp"
#include "perf/training/resolved.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/training_answer.hpp"

namespace ridge {
namespace {

constexpr double kUsualBatchTokens = 4.0 * 1024 * 1024;
constexpr double kTuningBatchTokens = 128.0 * 1024;
constexpr double kTokensADevice = 1024;
constexpr double kMostBatchTokens = 64.0 * 1024 * 1024;
constexpr int kUsualSequence = 8192;

/// Powers of two up to `most`, or the one value that was asked for.
std::vector<int> choices(bool free, int asked, int most) {
  if (!free) return {asked};
  std::vector<int> out;
  for (int value = 1; value <= std::max(1, most); value *= 2) out.push_back(value);
  return out;
}

/// Where the layout cannot share out the usual batch: the nearest that it can.
int shared_batch(const TrainingPlan& plan, TrainingTask task, double tokens) {
  const int model = plan.tp * plan.pp * plan.cp;
  const int dp = plan.dp > 0 ? plan.dp : std::max(1, plan.gpus / model);
  const long unit = static_cast<long>(dp) * plan.micro_batch;
  const double wanted = usual_batch_tokens(plan.gpus, task) / tokens;
  return static_cast<int>(std::min(std::max(1L, std::lround(wanted / static_cast<double>(unit))) * unit, kMostBatch));
}

/// Tokens that a sequence of the batch brings: a padded example brings its own.
double tokens_of_a_row(const TrainingQuery& query) {
  const bool padded = query.examples.mean > 0 && !query.examples.packing;
  return padded ? query.examples.mean : query.plan.sequence;
}

class LayoutSearch {
 public:
  LayoutSearch(const ResolvedTraining& job, const TrainingFreedom& freedom, const TrainingQuery& query)
      : job_(job), free_(freedom), examples_(query.examples), row_(tokens_of_a_row(query)), asked_(query.plan) {
    if (free_.global_batch) {
      const long micro = free_.micro_batch ? 1 : asked_.micro_batch;
      asked_.global_batch = usual_batch(static_cast<int>(row_), micro * asked_.gpus, asked_.gpus, job_.task);
    }
    best_ = asked_;
  }

  TrainingPlan run() {
    consider_all();
    if (fitting_ == 0 && free_.global_batch) {
      sharing_ = true;
      if (least_ < 0) best_.global_batch = shared_batch(best_, job_.task, row_);
      consider_all();
    }
    return best_;
  }
  [[nodiscard]] int fitting() const { return fitting_; }

 private:
  void consider_all() {
    const int inside = std::max(job_.node_size, std::min(job_.domain, 16));
    const int experts = job_.moe ? static_cast<int>(job_.experts_all) : 1;
    for (const int tp : choices(free_.tp, asked_.tp, std::min(inside, asked_.gpus))) {
      for (const int pp :
           choices(free_.pp, asked_.pp, std::min(64, std::min(asked_.gpus, static_cast<int>(job_.layers))))) {
        for (const int ep : choices(free_.ep && job_.moe, asked_.ep, std::min(experts, asked_.gpus))) {
          for (const int micro : choices(free_.micro_batch, asked_.micro_batch, 8)) consider(tp, pp, ep, micro);
        }
      }
    }
  }

  void consider(int tp, int pp, int ep, int micro) {
    TrainingPlan plan = asked_;
    plan.tp = tp;
    plan.pp = pp;
    plan.ep = ep;
    plan.micro_batch = micro;
    if (sharing_) plan.global_batch = shared_batch(plan, job_.task, row_);
    const TrainingOutcome o = evaluate(job_, plan, examples_);
    if (o.reason == Reason::none) {
      ++fitting_;
      if (o.estimate.tokens_per_s.mid > rate_) {
        rate_ = o.estimate.tokens_per_s.mid;
        best_ = plan;
      }
    } else if (fitting_ == 0 && o.reason == Reason::out_of_memory && (least_ < 0 || o.short_by < least_)) {
      least_ = o.short_by;  // of what cannot run, the nearest
      best_ = plan;
    }
  }

  const ResolvedTraining& job_;
  const TrainingFreedom& free_;
  ExampleLengths examples_;
  double row_;
  TrainingPlan asked_;
  TrainingPlan best_;
  bool sharing_ = false;  ///< nothing can run with the usual batch
  double rate_ = 0;
  double least_ = -1;
  int fitting_ = 0;
};

Status check_system(const TrainingQuery& query, const Catalogue& catalogue) {
  if (query.system.empty()) return {};
  const System* system = catalogue.system(query.system);
  if (system == nullptr) {
    std::vector<std::string_view> ids;
    for (const System& s : catalogue.systems()) ids.push_back(s.id);
    const std::string near = nearest(query.system, ids.data(), ids.size());
    return Error{ErrorCode::not_found, "⟦system⟧",
                 fmt::format("there is no system {}{}", quoted(query.system),
                             near.empty() ? "" : fmt::format("; did you mean {}?", near))};
  }
  const auto device = catalogue.find_device(query.device.empty() ? system->device : query.device);
  if (!device) return device.error();
  if (device->id != system->device) {
    return Error{
        ErrorCode::bad_input, "⟦system⟧",
        fmt::format("{} is made of {}, not of {}: leave out one of the two", system->id, system->device, query.device)};
  }
  return {};
}

std::string layout_text(const TrainingPlan& plan, const TrainingFreedom& freedom, bool moe) {
  std::string out;
  const auto add = [&](bool chosen, const char* what, int value) {
    if (chosen) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, value);
  };
  add(freedom.tp, "tensor parallel", plan.tp);
  add(freedom.pp, "pipeline stages", plan.pp);
  add(freedom.ep && moe, "expert parallel", plan.ep);
  add(freedom.micro_batch, "micro-batch", plan.micro_batch);
  return out;
}

/// DualPipe needs an even number of stages, and twice as many micro-batches.
bool runs_both_ways(const ResolvedTraining& job, const TrainingPlan& plan) {
  if (!job.traits.dual_pipe || plan.schedule != Schedule::one_f_one_b || plan.vp > 1) return false;
  const long replicas = plan.dp > 0 ? plan.dp : std::max(1, plan.gpus / (plan.tp * plan.pp * plan.cp));
  const long micro_batches = plan.global_batch / std::max(1L, replicas * plan.micro_batch);
  if (plan.pp < 2 || plan.pp % 2 != 0 || micro_batches < 2L * plan.pp) return false;
  TrainingPlan dual = plan;
  dual.schedule = Schedule::dual_pipe;
  return evaluate(job, dual).reason == Reason::none;
}

}  // namespace

int usual_sequence(const Model& model) {
  return model.context > 0 ? std::min(kUsualSequence, model.context) : kUsualSequence;
}

double usual_batch_tokens(int gpus, TrainingTask task) {
  if (task != TrainingTask::pretrain) return kTuningBatchTokens;
  return std::clamp(kTokensADevice * gpus, kUsualBatchTokens, kMostBatchTokens);
}

double critical_batch_tokens(double active_parameters, double tokens) {
  return 0.2920 * std::pow(6 * active_parameters * tokens, 0.3271);
}

int usual_batch(int sequence, long shares, int gpus, TrainingTask task) {
  const double wanted = usual_batch_tokens(gpus, task);
  shares = std::max(1L, shares);
  while (shares % 2 == 0) shares /= 2;
  long batch = std::min(shares, kMostBatch);
  // The next is nearer while the geometric mean of both is below.
  while (std::sqrt(2.0) * static_cast<double>(batch) * sequence <= wanted) batch *= 2;
  return static_cast<int>(batch);
}

Result<TrainingAnswer> answer(const TrainingQuery& query, const TrainingFreedom& freedom, const Knowledge& knowledge) {
  if (const Status s = check_system(query, knowledge.catalogue); !s) return s.error();
  TrainingAnswer a;
  a.query = query;
  if (freedom.sequence) {
    const auto model = knowledge.catalogue.find_model(query.model);
    if (!model) return model.error();
    a.query.plan.sequence = usual_sequence(*model);
    a.assumptions.push_back(fmt::format("sequences of {} tokens", format_number(a.query.plan.sequence, 7)));
  }
  if (query.examples.mean > a.query.plan.sequence) {
    return Error{ErrorCode::bad_input, "⟦example_tokens⟧",
                 fmt::format("examples of {} tokens on average do not fit a row of {}: lower the mean or raise "
                             "⟦seq_length⟧",
                             format_number(query.examples.mean, 7), format_number(a.query.plan.sequence, 7))};
  }
  {
    const auto draft = resolve(a.query, knowledge);
    if (!draft) return draft.error();
    LayoutSearch search(*draft->resolved, freedom, a.query);
    a.query.plan = search.run();
    if (freedom.schedule && runs_both_ways(*draft->resolved, a.query.plan)) {
      a.query.plan.schedule = Schedule::dual_pipe;
      a.assumptions.emplace_back("DualPipe, as this stack does");
    }
    const std::string chosen = layout_text(a.query.plan, freedom, draft->resolved->moe);
    if (!chosen.empty() && search.fitting() > 0) {
      a.assumptions.push_back(fmt::format("{}: the fastest of {} layouts that fit", chosen, search.fitting()));
    }
  }
  auto job = resolve(a.query, knowledge);  // again: what it assumes depends on the layout
  if (!job) return job.error();
  const ResolvedTraining& r = *job->resolved;
  const TrainingPlan& plan = a.query.plan;
  if (freedom.global_batch) {
    a.assumptions.push_back(fmt::format("a batch of {} sequences, {} tokens", format_number(plan.global_batch, 7),
                                        format_number(plan.global_batch * tokens_of_a_row(a.query), 9)));
  }
  a.assumptions.insert(a.assumptions.end(), job->assumptions.begin(), job->assumptions.end());
  a.outcome = evaluate(r, plan, query.examples);
  if (query.examples.mean > 0) {
    const Sharding sharding = a.outcome.reason == Reason::none ? a.outcome.estimate.sharding : a.query.plan.sharding;
    a.examples = example_use(query.examples, plan, sharding);
    a.assumptions.push_back(fmt::format("examples vary by {} of their mean before they are cut at {} tokens{}",
                                        format_number(query.examples.cv), format_number(plan.sequence, 7),
                                        query.examples.packing ? "; each attends to itself alone" : ""));
  }
  a.facts = {r.device,
             r.engine,
             r.era,
             r.precision,
             plan.dp > 0 ? plan.dp : std::max(1, plan.gpus / (plan.tp * plan.pp * plan.cp)),
             r.memory_capacity * perf::kReportedMemory,
             r.peak};
  if (plan.offload_weights && a.outcome.reason == Reason::none) {
    const double passes = 2.0 * a.outcome.estimate.micro_batches;
    a.assumptions.push_back(
        fmt::format("weights wait in host memory and cross at {} to each device, {:.0f} times a step",
                    format(BytesPerSecond(r.host_link)), passes));
  }
  if (a.outcome.reason == Reason::none && pages(plan.optimizer) &&
      a.outcome.estimate.memory_bytes[static_cast<std::size_t>(TrainingMemory::optimizer)] == 0) {
    a.assumptions.emplace_back("the optimizer's pages are on the host: device memory is short");
  }
  if (plan.tp > r.node_size && plan.tp > r.domain) {
    a.assumptions.push_back(
        fmt::format("tensor parallel {} crosses the network: the scale-up domain has {}", plan.tp, r.domain));
  }
  for (int stage = 0; stage < plan.pp; ++stage) {
    const auto memory = stage_memory(r, plan, stage);
    if (std::all_of(memory.begin(), memory.end(), [](double bytes) { return bytes == 0; })) break;
    a.stages.push_back(memory);
  }
  a.job = std::make_shared<const TrainingJob>(std::move(*job));
  if (a.outcome.reason != Reason::none) a.refusal = explain_refusal(a, knowledge);
  return a;
}

ScalingCurve scaling(const TrainingAnswer& answer, Scaling kind, int from, int to) {
  ScalingCurve curve;
  curve.scaling = kind;
  const TrainingPlan& plan = answer.query.plan;
  const double per_device = static_cast<double>(plan.global_batch) / plan.gpus;
  double first = 0;
  double over = 0;
  double under = 0;
  int reference = 0;
  int running = 0;
  for (long gpus = from; gpus <= to; gpus *= 2) {
    ScalingPoint point;
    point.plan = plan;
    point.plan.gpus = static_cast<int>(gpus);
    point.plan.dp = 0;
    if (kind == Scaling::weak)
      point.plan.global_batch = std::max(1, static_cast<int>(std::lround(per_device * static_cast<double>(gpus))));
    point.outcome = evaluate(*answer.job->resolved, point.plan, answer.query.examples);
    if (point.outcome.reason == Reason::none) {
      ++running;
      const double each = point.outcome.estimate.tokens_per_s.mid / static_cast<double>(gpus);
      if (first == 0) {
        first = each;
        reference = static_cast<int>(gpus);
      }
      point.efficiency = each / first;
      // Amdahl: 1/S = s + (1 - s)/n. Gustafson: n x efficiency = n - s (n - 1). Least squares for s.
      const double n = static_cast<double>(gpus) / reference;
      const double x = kind == Scaling::weak ? n - 1 : 1 - 1 / n;
      const double y = kind == Scaling::weak ? n - n * point.efficiency : 1 / (n * point.efficiency) - 1 / n;
      over += x * y;
      under += x * x;
    }
    curve.points.push_back(point);
  }
  if (running >= 2 && under > 0) curve.serial_share = std::max(0.0, over / under);
  return curve;
}

}  // namespace ridge
