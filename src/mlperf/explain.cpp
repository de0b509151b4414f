// A submission predicted by the engine: the best of a few plans for its scenario, and what binds it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "mlperf/explain_pictures.hpp"
#include "ridge/base/text.hpp"
#include "ridge/mlperf/mlperf_analysis.hpp"
#include "ridge/perf/pools.hpp"
#include "ridge/perf/training_answer.hpp"
#include "ridge/perf/usual.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge::mlperf {

namespace {

constexpr std::array kTensorParallel = {1, 2, 4, 8};
constexpr std::array kExpertParallel = {8, 16, 36, 72};
constexpr std::array kDecodeRanks = {4, 8, 16, 32, 64};
constexpr double kMoreClients = 1.25;
constexpr double kMostClients = 2048;  // of one rank
constexpr int kDraftTokens = 3;
constexpr double kAcceptance = 0.7;  // what `ridge estimate` assumes as well
constexpr std::size_t kShownAttempts = 6;
// A run of the Server and Interactive scenarios takes ten minutes at least; what is played is as long, within bounds.
constexpr double kRunSeconds = 600;
constexpr double kFewestPlayed = 1000;
constexpr double kMostPlayed = 6000;
constexpr int kMostReplicas = 8;  ///< that are played; more share the requests in the same way
constexpr double kRateStep = 0.97;
constexpr double kLeastRate = 0.01;  ///< of what the means allow: below it a plan does not keep the limits

Error not_modelled(const Row& row, std::string why) {
  return {ErrorCode::refused, "", fmt::format("{} is not modelled: {}", row.id, why)};
}

/// A label of 16 bits or more is what a submission loads, not what it computes in: most quantise on loading.
bool is_narrow(std::string_view weights) {
  return weights == "fp8" || weights == "int8" || weights == "int4" || weights == "fp4" || weights == "mxfp4";
}

/// Formats to try: what the submission says, or what its hardware computes in.
std::vector<Format> formats_of(const Row& row, const Device& device) {
  const bool ocp = device.peak(PeakFormat::fp4).has_value() && !device.design.nvfp4;
  if (row.weights == "fp4" || row.weights == "mxfp4") {
    return {ocp || row.weights == "mxfp4" ? Format::mxfp4 : Format::nvfp4};
  }
  if (const Result<Format> known = parse_format(row.weights); is_narrow(row.weights) && known) return {*known};
  std::vector<Format> formats;
  if (const auto four = four_bits(device); four && row.published.round >= "v4.1") formats.push_back(*four);
  if (const auto eight = eight_bits(device)) formats.push_back(*eight);
  if (formats.empty()) formats.push_back(Format::bf16);
  return formats;
}

struct Limits {
  double ttft = 0;
  double tpot = 0;
};

/// The estimate with the highest rate that keeps the limits, over numbers of clients; nothing if none does.
std::optional<InferenceEstimate> best_within(const ResolvedInference& resolved, InferenceLoad load,
                                             const Limits& limits, double& concurrency) {
  constexpr double kStep = 1.2;
  constexpr double kMostTried = 16384;
  std::optional<InferenceEstimate> best;
  load.mode = LoadMode::closed_loop;
  for (double clients = 1; clients < kMostTried; clients = std::max(clients + 1, std::floor(clients * kStep))) {
    load.concurrency = clients;
    const InferenceOutcome outcome = evaluate(resolved, load);
    if (outcome.reason != Reason::none) break;
    const InferenceEstimate& e = outcome.estimate;
    if (e.ttft_s.mid > limits.ttft || e.tpot_s.mid > limits.tpot) continue;
    if (!best || e.output_tokens_per_s.mid > best->output_tokens_per_s.mid) {
      best = e;
      concurrency = clients;
    }
  }
  return best;
}

Interval scaled(const Interval& i, double factor) {
  return {factor * i.low, factor * i.mid, factor * i.high};
}

class InferenceExplainer {
 public:
  InferenceExplainer(const Row& row, const Benchmark& benchmark, const Device& device, const Names& names,
                     const Knowledge& knowledge, int widest)
      : row_(row),
        benchmark_(benchmark),
        device_(device),
        stack_(names.stack(device.vendor)),
        knowledge_(knowledge),
        widest_(widest) {
    if (const Round* round = names.round(Suite::inference, row.published.round)) date_ = round->date;
    published_ = names.layout(row.benchmark, row.accelerator, row.scenario, date_);
    const Model* const model = knowledge.catalogue.model(benchmark.model);
    experts_ = benchmark.kind == "moe" && model != nullptr;
  }

  Result<Explanation> run() {
    if (row_.unit != "tokens/s") return not_modelled(row_, "its result counts " + row_.unit + ", not tokens/s");
    if (benchmark_.input_tokens == 0 || benchmark_.output_tokens == 0) {
      return not_modelled(row_,
                          "the mean length of the benchmark's prompts is not published (" + benchmark_.note + ")");
    }
    if (row_.scenario != "Offline" && (!limits() || !benchmark_.workload)) {
      return not_modelled(row_, "its latency limit is one on whole requests, or none is known");
    }
    for (const Format format : formats_of(row_, device_)) {
      if (published_ != nullptr && published_->tp * published_->pp <= row_.accelerators) {
        attempt_both(format, {.tp = published_->tp, .pp = published_->pp});
        continue;
      }
      for (const int tp : kTensorParallel) {
        if (tp > row_.accelerators || tp > domain()) continue;
        attempt_both(format, {.tp = tp});
        if (experts_ && tp > 1) attempt_both(format, {.tp = tp, .ep = tp});
      }
      for (const int wide : kExpertParallel) {
        if (experts_ && wide <= row_.accelerators && wide <= domain()) attempt_both(format, {.ep = wide, .dp = wide});
      }
      apart(format);
    }
    if (attempts_.empty()) {
      return not_modelled(row_, refusal_.empty() ? "no plan keeps the limits of the scenario" : refusal_);
    }
    return finish();
  }

 private:
  /// One replica: tensor parallel, or attention by data and experts spread over all of its devices.
  struct Layout {
    int tp = 1, pp = 1, ep = 1, dp = 1;
    int draft_tokens = 0;
    [[nodiscard]] int devices() const { return tp * pp * dp; }
  };

  struct Try {
    InferenceQuery query;
    std::shared_ptr<const InferenceDeployment> deployment;
    std::shared_ptr<const InferenceDeployment> prompts;  ///< the engines for prompts, where they are apart
    Interval predicted;
    InferenceEstimate estimate;
    int replicas = 1;
    std::vector<std::string> assumptions;
    std::optional<InferenceQuery> prefill;  ///< of the engines for prompts, where they are apart
    double prefill_share = 0;               ///< of the devices
    double link_bytes_per_s = 0;            ///< out of one engine for prompts
  };

  [[nodiscard]] int domain() const {
    const int whole = device_.scale_up_domain ? std::max(1, device_.scale_up_domain->value) : 1;
    return widest_ > 0 ? std::min(widest_, whole) : whole;
  }

  /// Prompts on some of the devices, tokens on the others, where both pools fit the system.
  void apart(Format format) {
    constexpr std::array kPrefill = {2, 4, 8};
    if (stack_.apart_since.empty() || date_ < stack_.apart_since) return;
    for (const int prompts : kPrefill) {
      const Layout small = experts_ ? Layout{.ep = prompts, .dp = prompts} : Layout{.tp = prompts};
      const auto attempt_pair = [&](Layout decode) {
        if (prompts > domain() || decode.devices() > domain()) return;
        if (prompts + decode.devices() > row_.accelerators) return;
        attempt_apart(format, small, decode);
        if (!may_speculate()) return;
        decode.draft_tokens = kDraftTokens;
        attempt_apart(format, small, decode);
      };
      for (const int tp : kTensorParallel) attempt_pair({.tp = tp, .ep = experts_ ? tp : 1});
      for (const int wide : kDecodeRanks) {
        if (experts_) attempt_pair({.ep = wide, .dp = wide});
      }
    }
  }

  void attempt_apart(Format format, const Layout& prompts, const Layout& layout) {
    Try t;
    t.query = query_of(format, layout);
    t.prefill = query_of(format, prompts);
    t.prefill->load.draft_tokens = t.prefill->load.acceptance = 0;
    Result<InferenceDeployment> first = resolve(*t.prefill, knowledge_);
    Result<InferenceDeployment> second = resolve(t.query, knowledge_);
    if (!first || !second) return;
    const bool offline = row_.scenario == "Offline";
    PoolsSetting setting;
    const double nic = device_.nic_per_direction ? device_.nic_per_direction->value.value() : setting.link_bytes_per_s;
    setting.link_bytes_per_s = nic * prompts.devices();
    if (offline) setting.prefill_use = 1;
    std::optional<PoolsOutcome> best;
    InferenceLoad load = t.query.load;
    load.mode = LoadMode::closed_loop;
    const double most = kMostClients * layout.dp;
    for (double clients = layout.dp; clients < most;
         clients = std::max(clients + 1, std::floor(clients * kMoreClients))) {
      load.concurrency = clients;
      const PoolsOutcome o = evaluate_pools(*first->resolved, *second->resolved, load, setting);
      if (o.reason != Reason::none) return;
      if (o.decode.running_batch * layout.dp < 0.9 * clients) break;  // more do not fit
      if (!offline && (o.ttft_s.mid > limits()->ttft || o.tpot_s.mid > limits()->tpot)) continue;
      if (best && o.per_device.mid <= best->per_device.mid) continue;
      best = o;
      t.query.load = load;
    }
    if (!best) return;
    t.estimate = best->decode;
    t.prefill_share = 1 - layout.devices() / best->gpus;
    t.predicted = scaled(best->per_device, row_.accelerators);
    t.assumptions = second->assumptions;
    t.deployment = std::make_shared<InferenceDeployment>(*std::move(second));
    t.prompts = std::make_shared<InferenceDeployment>(*std::move(first));
    t.link_bytes_per_s = setting.link_bytes_per_s;
    attempts_.push_back(std::move(t));
  }

  [[nodiscard]] std::optional<Limits> limits() const {
    const bool interactive = row_.scenario == "Interactive";
    const auto& ttft = interactive ? benchmark_.interactive_ttft_ms : benchmark_.server_ttft_ms;
    const auto& tpot = interactive ? benchmark_.interactive_tpot_ms : benchmark_.server_tpot_ms;
    if (!ttft || !tpot) return std::nullopt;
    return Limits{*ttft * 1e-3, *tpot * 1e-3};
  }

  [[nodiscard]] bool may_speculate() const { return row_.scenario == "Interactive" && benchmark_.speculates; }

  [[nodiscard]] InferenceQuery query_of(Format format, const Layout& layout) const {
    InferenceQuery q;
    q.model = benchmark_.model;
    q.device = device_.id;
    q.engine = stack_.engine;
    q.date = date_;
    q.as_tuned = true;
    q.gpus = layout.devices();
    q.tp = layout.tp;
    q.pp = layout.pp;
    q.ep = layout.ep;
    q.dp = layout.dp;
    q.weights = format;
    // Where the chip multiplies it, products are in it on both sides: submissions in MXFP4 are.
    if (format == Format::mxfp4 && device_.peak(PeakFormat::fp4)) q.activations = format;
    if (bytes_per_weight(format) <= 1.1 && device_.peak(PeakFormat::fp8)) q.kv = Format::fp8;
    q.load = {.mode = LoadMode::offline, .isl = benchmark_.input_tokens, .osl = benchmark_.output_tokens};
    q.load.natural_text = 1;
    q.load.draft_tokens = layout.draft_tokens;
    q.load.acceptance = layout.draft_tokens > 0 ? kAcceptance : 0;
    return q;
  }

  void attempt_both(Format format, Layout layout) {
    attempt(format, layout);
    if (!may_speculate()) return;
    layout.draft_tokens = kDraftTokens;
    attempt(format, layout);
  }

  void attempt(Format format, const Layout& layout) {
    Try t;
    t.replicas = row_.accelerators / layout.devices();
    InferenceQuery& q = t.query;
    q = query_of(format, layout);
    Result<InferenceDeployment> deployment = resolve(q, knowledge_);
    if (!deployment) {
      refusal_ = deployment.error().message;
      return;
    }
    if (row_.scenario == "Offline") {
      const InferenceOutcome outcome = evaluate(*deployment->resolved, q.load);
      if (outcome.reason != Reason::none) {
        if (refusal_.empty()) refusal_ = fmt::format("no plan fits: {}", name(outcome.reason));
        return;
      }
      t.estimate = outcome.estimate;
    } else {
      double clients = 0;
      const auto best = best_within(*deployment->resolved, q.load, *limits(), clients);
      if (!best) return;
      t.estimate = *best;
      q.load.mode = LoadMode::closed_loop;
      q.load.concurrency = clients;
    }
    t.predicted = scaled(t.estimate.output_tokens_per_s, t.replicas);
    t.assumptions = deployment->assumptions;
    t.deployment = std::make_shared<InferenceDeployment>(*std::move(deployment));
    attempts_.push_back(std::move(t));
  }

  static std::string plan_of(const Try& t) {
    const auto degrees = [](const InferenceQuery& q) {
      std::string text = q.dp > 1 ? fmt::format("DP{}", q.dp) : fmt::format("TP{}", q.tp);
      if (q.pp > 1) text += fmt::format(" PP{}", q.pp);
      if (q.ep > 1) text += fmt::format(" EP{}", q.ep);
      return text;
    };
    std::string plan = t.prefill ? fmt::format("prefill {} on {:.0f} % of the devices, decode {}", degrees(*t.prefill),
                                               100 * t.prefill_share, degrees(t.query))
                                 : fmt::format("{} x {}", t.replicas, degrees(t.query));
    plan += fmt::format(", {} weights", name(*t.query.weights));
    if (t.query.kv) plan += fmt::format(", {} KV", name(*t.query.kv));
    if (t.query.load.draft_tokens > 0) plan += fmt::format(", {:.0f} tokens proposed", t.query.load.draft_tokens);
    if (t.query.load.concurrency > 0) plan += fmt::format(", {:.0f} requests at once each", t.query.load.concurrency);
    return plan;
  }

  /// Requests by chance, as the scenario sends them, and the limits on their 99th percentile.
  [[nodiscard]] SimulationQuery run_of(const Try& t) const {
    SimulationQuery q;
    q.deployment = t.query;
    q.workload = *benchmark_.workload;
    q.replicas = std::min(t.replicas, kMostReplicas);
    q.load.kind = OfferedKind::rate;
    q.limits = {.ttft = limits()->ttft, .tpot = limits()->tpot, .share = 0.99};
    q.policies.prefix_cache = false;
    if (t.prompts) {
      const double devices = t.prefill_share / (1 - t.prefill_share) * t.deployment->facts.gpus;
      Disaggregation apart;
      apart.prefill = *t.prefill;
      apart.prefill_engines = std::max(1, static_cast<int>(std::lround(devices / t.prompts->facts.gpus)));
      apart.link_bytes_per_s = t.link_bytes_per_s;
      q.policies.disaggregation = apart;
    }
    return q;
  }

  /// The share of the rate that the predicted means allow at which the 99th percentile keeps the limits; 0 if none
  /// does.
  [[nodiscard]] double kept_share(const Try& t) const {
    SimulationQuery q = run_of(t);
    const double prompts = t.prompts ? q.policies.disaggregation->prefill_engines * t.prompts->facts.gpus : 0;
    const double devices = q.replicas * t.deployment->facts.gpus + prompts;
    const double most = t.predicted.mid / row_.accelerators * devices / benchmark_.output_tokens;
    const auto holds = [&](double share) {
      q.load.rate = share * most;
      q.requests = std::clamp(kRunSeconds * q.load.rate, kFewestPlayed, kMostPlayed);
      const Result<SimulationResult> r = simulate(q, *t.deployment, t.prompts.get());
      return r && broken_limit(*r, q.limits).empty();
    };
    if (holds(1)) return 1;
    double low = 0;
    double high = 1;
    while (low < kRateStep * high && high > kLeastRate) {
      const double middle = low > 0 ? std::sqrt(low * high) : 0.7 * high;
      (holds(middle) ? low : high) = middle;
    }
    return low;
  }

  /// What the means allow is the most that the 99th percentile can: plans are played from the best on, until none that
  /// is left could be better.
  void keep_limits() {
    std::vector<Try> kept;
    double best = 0;
    for (Try& t : attempts_) {
      if (t.predicted.mid <= best) break;
      const double share = kept_share(t);
      if (share <= 0) continue;
      t.predicted = scaled(t.predicted, share);
      best = std::max(best, t.predicted.mid);
      kept.push_back(std::move(t));
    }
    attempts_ = std::move(kept);
  }

  void sort_attempts() {
    std::stable_sort(attempts_.begin(), attempts_.end(),
                     [](const Try& a, const Try& b) { return a.predicted.mid > b.predicted.mid; });
  }

  Result<Explanation> finish() {
    sort_attempts();
    if (row_.scenario != "Offline") {
      keep_limits();
      sort_attempts();
      if (attempts_.empty()) return not_modelled(row_, "no plan keeps the limits of the scenario");
    }
    const Try& best = attempts_.front();
    Explanation e;
    e.row = &row_;
    e.model = benchmark_.model;
    e.device = device_.id;
    e.engine = best.query.engine;
    e.plan = plan_of(best);
    e.unit = row_.unit;
    e.measured = row_.value;
    e.predicted = best.predicted;
    e.accelerators = row_.accelerators;
    e.bound = name(best.estimate.bound);
    const bool prefill = best.estimate.prefill_share > 0.5;
    e.why = fmt::format(
        "{} takes {:.0f} % of the time and is bound by {}; {:.0f} sequences decode together, a step takes {:.1f} ms",
        prefill ? "prefill" : "decoding",
        100 * (prefill ? best.estimate.prefill_share : 1 - best.estimate.prefill_share), e.bound,
        best.estimate.running_batch, 1e3 * best.estimate.decode_step_s.mid);
    if (best.estimate.tpot_s.mid > 0 && row_.scenario != "Offline") {
      e.why += fmt::format("; {:.0f} ms to the first token and {:.1f} ms per token of the {:.0f} and {:.0f} ms allowed",
                           1e3 * best.estimate.ttft_s.mid, 1e3 * best.estimate.tpot_s.mid, 1e3 * limits()->ttft,
                           1e3 * limits()->tpot);
    }
    for (const Try& t : attempts_) {
      if (e.attempts.size() < kShownAttempts) e.attempts.push_back({plan_of(t), t.predicted});
    }
    if (const auto explained = ridge::explain(best.query, knowledge_)) e.elasticity = explained->elasticity;
    e.assumptions.push_back(fmt::format("{:.0f} tokens in{}, {:.0f} out on average ({})", benchmark_.input_tokens,
                                        benchmark_.source == "estimate" ? ", estimated" : "", benchmark_.output_tokens,
                                        benchmark_.note));
    if (row_.scenario != "Offline") {
      e.assumptions.emplace_back("requests come by chance and are played one by one; 99 % of them keep the limits");
    }
    if (!row_.weights.empty() && !is_narrow(row_.weights)) {
      e.assumptions.push_back("weights are labelled " + row_.weights +
                              ", which is what was loaded: narrower formats were tried");
    }
    if (published_ != nullptr)
      e.assumptions.emplace_back("the layout is that of the submission's published configuration");
    if (!best.prefill && row_.accelerators % best.query.gpus != 0) {
      e.assumptions.push_back(fmt::format("{} accelerators are left over", row_.accelerators % best.query.gpus));
    }
    if (best.query.load.draft_tokens > 0) {
      e.assumptions.push_back(fmt::format("{:.0f} tokens are proposed per step and {:.0f} % of them accepted",
                                          best.query.load.draft_tokens, 100 * kAcceptance));
    }
    e.assumptions.insert(e.assumptions.end(), best.assumptions.begin(), best.assumptions.end());
    return e;
  }

  const Row& row_;
  const Benchmark& benchmark_;
  const Device& device_;
  const Stack& stack_;
  const Knowledge& knowledge_;
  int widest_ = 0;
  const PublishedLayout* published_ = nullptr;
  std::string date_;
  bool experts_ = false;
  std::vector<Try> attempts_;
  std::string refusal_;
};

Result<Explanation> explain_training(const Row& row, const Benchmark& benchmark, const Device& device,
                                     const Names& names, const Knowledge& knowledge) {
  TrainingQuery q;
  q.model = benchmark.model;
  q.device = device.id;
  if (const Round* round = names.round(Suite::training, row.published.round)) q.date = round->date;
  if (benchmark.id.ends_with("_lora")) q.task = TrainingTask::lora;
  q.precision = usual_training_formats(device).back();
  q.plan.gpus = row.accelerators;
  q.plan.sequence = static_cast<int>(benchmark.input_tokens);
  q.plan.global_batch = static_cast<int>(row.published.global_batch);
  TrainingFreedom freedom{.tp = true, .pp = true, .micro_batch = true};
  if (q.plan.global_batch == 0) freedom.global_batch = true;
  const Result<TrainingAnswer> answer = ridge::answer(q, freedom, knowledge);
  if (!answer) return not_modelled(row, answer.error().message);
  if (answer->refusal) return not_modelled(row, answer->refusal->why);
  const TrainingPlan& plan = answer->query.plan;
  const TrainingEstimate& estimate = answer->outcome.estimate;
  Explanation e;
  e.row = &row;
  e.model = benchmark.model;
  e.device = device.id;
  e.engine = answer->facts.engine;
  e.plan = fmt::format("TP{} PP{} DP{}, {} per step, {}", plan.tp, plan.pp, answer->facts.dp, plan.global_batch,
                       name(answer->facts.precision));
  e.unit = "tokens/s";
  e.predicted = estimate.tokens_per_s;
  e.accelerators = row.accelerators;
  e.bound = name(estimate.bound);
  const double seconds = 60 * row.value;
  e.why = fmt::format(
      "a step takes {:.2f} s at {:.0f} % of the dense peak and is bound by {}; at this rate the {:.1f} minutes of the "
      "result "
      "are {:.0f} steps, {:.2f} billion tokens",
      estimate.step_time_s.mid, 100 * estimate.mfu.mid, e.bound, row.value, seconds / estimate.step_time_s.mid,
      1e-9 * seconds * estimate.tokens_per_s.mid);
  e.implied_tokens = seconds * estimate.tokens_per_s.mid;
  e.attempts.push_back({e.plan, e.predicted});
  e.assumptions = answer->assumptions;
  e.assumptions.insert(e.assumptions.begin(), benchmark.note);
  e.assumptions.emplace_back(
      "how many samples a run needed is not published in the table, so that time cannot be predicted");
  return e;
}

}  // namespace

Result<Explanation> explain(const Row& row, const Names& names, const Knowledge& knowledge, int widest) {
  const Benchmark* const benchmark = names.benchmark(row.suite, row.benchmark);
  if (benchmark == nullptr) return not_modelled(row, "the benchmark " + quoted(row.benchmark) + " is not known");
  if (!benchmark->not_modelled.empty()) return not_modelled(row, row.benchmark + ": " + benchmark->not_modelled);
  if (!row.published.model.empty()) {
    return not_modelled(row, "the open division ran another model, " + quoted(row.published.model));
  }
  const Device* const device = knowledge.catalogue.device(row.device);
  if (device == nullptr) {
    const AcceleratorName* const is = names.accelerator(row.accelerator);
    return not_modelled(row, fmt::format("{}: {}", row.accelerator,
                                         row.accelerator == "cpu-only" ? "processors alone are not modelled"
                                         : is == nullptr               ? "not in the alias table"
                                                                       : is->not_modelled));
  }
  if (row.suite == Suite::training) return explain_training(row, *benchmark, *device, names, knowledge);
  if (benchmark->kind == "diffusion") return explain_diffusion(row, *benchmark, *device, names, knowledge);
  return InferenceExplainer(row, *benchmark, *device, names, knowledge, widest).run();
}

}  // namespace ridge::mlperf
