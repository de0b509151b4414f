#include "evidence/predict/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <system_error>
#include <thread>

#include "evidence/predict/power_predict.hpp"
#include "evidence/predict/simulated.hpp"
#include "evidence/rows/nothing.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/answer.hpp"
#include "ridge/perf/diffusion.hpp"

namespace ridge::evidence {
namespace {

Prediction unpredicted(std::string why) {
  return {{kNothing, kNothing, kNothing}, std::move(why)};
}

Prediction scaled(const Interval& i, double factor) {
  if (!(std::isfinite(i.mid) && i.mid > 0)) return unpredicted("not predicted: this load has no such figure");
  return {{i.low * factor, i.mid * factor, i.high * factor}, {}};
}

std::string why_infeasible(Reason reason, double short_by) {
  if (reason == Reason::out_of_memory) {
    return fmt::format("{}: short by {} per device", name(reason), format(Bytes(short_by)));
  }
  return fmt::format("{}: the plan cannot run", name(reason));
}

// The kind of a refusal comes first, so that summaries can count them.
std::string why_refused(const Error& error) {
  const std::string_view kind = error.code == ErrorCode::not_found ? "unknown" : "refused";
  return fmt::format("{}: {}", kind, error.text());
}

Prediction inference_metric(const InferenceEstimate& e, Metric metric, bool median_gap) {
  constexpr double kMilli = 1e3;
  switch (metric) {
    case Metric::output_tok_s:
      return scaled(e.output_tokens_per_s, 1);
    case Metric::total_tok_s:
      return scaled(e.total_tokens_per_s, 1);
    case Metric::ttft_ms:
      return scaled(e.ttft_s, kMilli);
    case Metric::tpot_ms:
      return scaled(median_gap ? e.itl_s : e.tpot_s, kMilli);
    case Metric::e2e_ms:
      return scaled(e.e2e_s, kMilli);
    case Metric::power_w:
      return scaled(e.power_w, 1);
    case Metric::joules_per_output_token:
      return scaled(e.joules_per_output_token, 1);
    default:
      return unpredicted("not predicted: no figure of inference");
  }
}

Response response_of(const PlayedResponse& r, Metric metric) {
  switch (metric) {
    case Metric::output_tok_s:
    case Metric::total_tok_s:
      return r.output;
    case Metric::ttft_ms:
      return r.ttft;
    case Metric::tpot_ms:
      return r.tpot;
    case Metric::e2e_ms:
      return r.e2e;
    default:
      return {};
  }
}

bool needs_decoding(Metric metric) {
  return metric == Metric::output_tok_s || metric == Metric::tpot_ms || metric == Metric::joules_per_output_token;
}

Prediction training_metric(const TrainingEstimate& e, const TrainingPlan& plan, Metric metric) {
  const Interval& step = e.step_time_s;
  if (metric != Metric::tokens_per_sec_per_gpu) return scaled(step, 1);
  const double each = 1.0 * plan.global_batch * plan.sequence / plan.gpus;
  return scaled({each / step.high, each / step.mid, each / step.low}, 1);
}

DiffusionQuery query_of(const DiffusionCase& c) {
  DiffusionQuery query;
  query.model = c.model;
  query.device = c.device;
  if (!c.engine.empty()) query.engine = c.engine;
  query.gpus = c.gpus;
  query.ulysses = c.ulysses;
  query.ring = c.ring;
  query.weights = c.weights;
  query.load = {.steps = c.steps, .width = c.width, .height = c.height, .batch = c.batch};
  return query;
}

Prediction diffusion_metric(const DiffusionEstimate& e, Metric metric) {
  switch (metric) {
    case Metric::batch_latency_s:
      return scaled(e.batch_latency_s, 1);
    case Metric::images_per_s:
      return scaled(e.images_per_s, 1);
    case Metric::power_w:
      return scaled(e.power_w, 1);
    case Metric::energy_per_image_j:
      return scaled(e.energy_per_image_j, 1);
    default:
      return unpredicted("not predicted: no figure of image generation");
  }
}

class Predictor {
 public:
  Predictor(const Case& c, const Knowledge& knowledge, Basis basis, const PublishedSettings& settings)
      : case_(c), knowledge_(knowledge), basis_(basis), settings_(settings) {}

  std::vector<Prediction> operator()(const std::monostate&) const {
    return all(unpredicted(case_.refusal.empty() ? "refused: nothing was read" : "unreadable: " + case_.refusal));
  }

  std::vector<Prediction> operator()(const InferenceQuery& given) const {
    InferenceQuery query = with_layout(given);
    if (basis_ == Basis::roofline) query.engine = "ideal";
    const auto deployment = resolve(query, knowledge_);
    if (!deployment) return all(unpredicted(why_refused(deployment.error())));
    InferenceOutcome outcome = evaluate(*deployment->resolved, query.load);
    if (outcome.reason != Reason::none) return all(unpredicted(why_infeasible(outcome.reason, outcome.short_by)));
    PlayedResponse response;
    const bool open = query.load.mode == LoadMode::open_loop && basis_ != Basis::roofline;
    if (open || (basis_ == Basis::simulated && query.load.mode == LoadMode::closed_loop)) {
      const ServerSettings* settings = find_settings(settings_, case_.source, query);
      const Simulated played =
          simulated_estimate(query, knowledge_, outcome.estimate, deployment->facts.sure, settings);
      outcome.estimate = played.estimate;
      response = played.response;
    } else if (basis_ == Basis::calibrated && query.load.mode == LoadMode::closed_loop && asks_for_first_token()) {
      const ServerSettings* settings = find_settings(settings_, case_.source, query);
      outcome.estimate = with_played_first_token(query, knowledge_, outcome.estimate, settings);
    }
    std::vector<Prediction> out;
    for (const Target& t : case_.targets) {
      out.push_back(query.load.mode == LoadMode::prefill && needs_decoding(t.metric)
                        ? unpredicted("not predicted: prefill alone, nothing is decoded")
                        : inference_metric(outcome.estimate, t.metric, case_.median_gap));
      out.back().response = response_of(response, t.metric);
    }
    return out;
  }

  std::vector<Prediction> operator()(const TrainingQuery& given) const {
    TrainingQuery query = given;
    if (basis_ == Basis::roofline) query.engine = "ideal";
    const auto job = resolve(query, knowledge_);
    if (!job) return all(unpredicted(why_refused(job.error())));
    TrainingOutcome outcome = evaluate(*job->resolved, job->plan);
    const TrainingFreedom& open = case_.open;
    if (outcome.reason != Reason::none && (open.tp || open.pp || open.ep || open.micro_batch)) {
      const auto chosen = answer(query, open, knowledge_);
      if (chosen && chosen->outcome.reason == Reason::none) outcome = chosen->outcome;
    }
    if (outcome.reason != Reason::none) return all(unpredicted(why_infeasible(outcome.reason, outcome.short_by)));
    std::vector<Prediction> out;
    for (const Target& t : case_.targets) out.push_back(training_metric(outcome.estimate, query.plan, t.metric));
    return out;
  }
  std::vector<Prediction> operator()(const KernelCase& kernel) const {
    const KernelPrediction p = basis_ == Basis::roofline
                                   ? predict_roofline(kernel, knowledge_.catalogue)
                                   : evidence::predict(kernel, knowledge_.catalogue, knowledge_.calibration);
    if (!p.refusal.empty()) return all(unpredicted("refused: " + p.refusal));
    const IntervalClass* c = knowledge_.calibration.interval(fmt::format("seconds/{}", family(kernel.op)), "kernel");
    return all(
        scaled({p.seconds * (c != nullptr ? c->low : 1), p.seconds, p.seconds * (c != nullptr ? c->high : 1)}, 1));
  }

  std::vector<Prediction> operator()(const PowerCase& given) const {
    const PowerPrediction p = predict_power(given, knowledge_, basis_ == Basis::roofline);
    if (!p.refusal.empty()) return all(unpredicted(p.refusal));
    std::vector<Prediction> out;
    for (const Target& t : case_.targets) {
      const double value = t.metric == Metric::watts     ? p.watts
                           : t.metric == Metric::seconds ? p.seconds
                                                         : p.joules_per_token;
      const IntervalClass* c = knowledge_.calibration.interval("power_w/closed-loop", "dense");
      const bool known = c != nullptr && (basis_ == Basis::calibrated || basis_ == Basis::formula);
      out.push_back(scaled({value * (known ? c->low : 1), value, value * (known ? c->high : 1)}, 1));
    }
    return out;
  }
  std::vector<Prediction> operator()(const DiffusionCase& given) const {
    DiffusionQuery query = query_of(given);
    if (basis_ == Basis::roofline) query.engine = "ideal";
    const auto pipeline = resolve(query, knowledge_);
    if (!pipeline) return all(unpredicted(why_refused(pipeline.error())));
    const DiffusionOutcome outcome = evaluate(*pipeline->resolved, query.load);
    if (outcome.reason != Reason::none) return all(unpredicted(why_infeasible(outcome.reason, outcome.short_by)));
    std::vector<Prediction> out;
    for (const Target& t : case_.targets) out.push_back(diffusion_metric(outcome.estimate, t.metric));
    return out;
  }

  /// What the case asks about.
  [[nodiscard]] std::optional<OwnPoint> point() const {
    if (const auto* serving = std::get_if<InferenceQuery>(&case_.input)) {
      const auto deployment = resolve(with_layout(*serving), knowledge_);
      if (deployment) return deployment->facts.sure.asked;
    }
    if (const auto* training = std::get_if<TrainingQuery>(&case_.input)) {
      const auto job = resolve(*training, knowledge_);
      if (job) return job->sure.asked;
    }
    return std::nullopt;
  }

 private:
  /// The degrees that nobody wrote down as `ridge estimate` chooses them; stages where replicas do not hold the model.
  [[nodiscard]] InferenceQuery with_layout(const InferenceQuery& given) const {
    InferenceQuery query = given;
    if (case_.open.tp) {
      if (const auto chosen = answer(given, knowledge_, {.explain = false})) query = chosen->query;
    }
    const int ranks = std::max(query.tp, 1) * std::max(query.dp, 1);
    if (!case_.open.pp || query.gpus <= ranks || query.gpus % ranks != 0) return query;
    const auto replicas = resolve(query, knowledge_);
    if (!replicas || evaluate(*replicas->resolved, query.load).reason != Reason::out_of_memory) return query;
    query.pp = query.gpus / ranks;
    return query;
  }

  [[nodiscard]] bool asks_for_first_token() const {
    return std::any_of(case_.targets.begin(), case_.targets.end(),
                       [](const Target& t) { return t.metric == Metric::ttft_ms || t.metric == Metric::e2e_ms; });
  }

  [[nodiscard]] std::vector<Prediction> all(const Prediction& p) const {
    return std::vector<Prediction>(case_.targets.size(), p);
  }
  const Case& case_;
  const Knowledge& knowledge_;
  Basis basis_;
  const PublishedSettings& settings_;
};

}  // namespace

std::vector<Prediction> predict(const Case& c, const Knowledge& knowledge, Basis basis,
                                const PublishedSettings& settings) {
  std::vector<Prediction> out = std::visit(Predictor(c, knowledge, basis, settings), c.input);
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (!c.targets[t].refusal.empty()) out[t] = unpredicted("unreadable: " + c.targets[t].refusal);
  }
  return out;
}

std::optional<OwnPoint> own_point(const Case& c, const Knowledge& knowledge) {
  return Predictor(c, knowledge, Basis::calibrated, {}).point();
}

std::vector<std::vector<Prediction>> predict_all(std::span<const Case> cases, const Knowledge& knowledge, Basis basis,
                                                 int threads, const PublishedSettings& settings,
                                                 const Patience& patience) {
  constexpr auto kMostThreads = static_cast<unsigned>(limits::kThreads.most);
  std::vector<std::vector<Prediction>> out(cases.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    constexpr std::size_t kBlock = 16;
    for (std::size_t first = next.fetch_add(kBlock); first < cases.size(); first = next.fetch_add(kBlock)) {
      const std::size_t last = std::min(first + kBlock, cases.size());
      if (patience.over()) return;
      for (std::size_t i = first; i < last; ++i) out[i] = predict(cases[i], knowledge, basis, settings);
    }
  };
  const unsigned count = std::min(
      threads > 0 ? static_cast<unsigned>(threads) : std::max(1u, std::thread::hardware_concurrency()), kMostThreads);
  std::vector<std::thread> pool;
  try {
    for (unsigned t = 1; t < count; ++t) pool.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those there are, and this one, do the work.
  }
  work();
  for (std::thread& thread : pool) thread.join();
  return out;
}

}  // namespace ridge::evidence
