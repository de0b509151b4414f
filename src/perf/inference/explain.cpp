// Where the time goes, what one percent more of each resource would bring, and which changes help most.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "perf/inference/step.hpp"
#include "ridge/perf/usual.hpp"

namespace ridge {
namespace {

using perf::OpTime;
using perf::Step;

constexpr double kNudge = 0.01;
constexpr std::size_t kSuggestions = 3;

/// Collects operators, equal names of different layer kinds together.
struct Recorder {
  const ResolvedInference& r;
  std::vector<OperatorLine> lines;

  OperatorLine& line(std::string_view what, Term term) {
    const auto at = std::find_if(lines.begin(), lines.end(), [&](const OperatorLine& l) { return l.what == what; });
    if (at != lines.end()) return *at;
    lines.push_back({.what = std::string(what), .term = term});
    return lines.back();
  }
  void operation(std::string_view what, Term term, const OpTime& op, double flops, double bytes, double times,
                 bool narrow = false) {
    if (op.seconds <= 0) return;
    OperatorLine& l = line(what, term);
    const double peak = narrow ? r.narrow_peak : r.device.peak[static_cast<std::size_t>(Format::bf16)];
    const double roof = std::max(flops / peak, bytes / r.device.memory_bandwidth);
    l.roofline_share = (l.roofline_share * l.seconds + roof * times) / (l.seconds + op.seconds * times);
    l.layers += times;
    l.seconds += op.seconds * times;
    l.flops += flops * times;
    l.bytes += bytes * times;
    l.bound = op.fixed > std::max(op.compute, op.memory) ? Bound::latency
              : op.compute > op.memory                   ? Bound::compute
                                                         : Bound::memory_bandwidth;
  }
  void filler(double /*flops*/, double /*times*/) {}
  void network(std::string_view what, Term term, double seconds, double bytes, double times) {
    if (seconds <= 0) return;
    OperatorLine& l = line(what, term);
    l.layers += times;
    l.seconds += seconds * times;
    l.bytes += bytes * times;
    l.bound = term == Term::scale_out ? Bound::scale_out : Bound::scale_up;
  }
  void exchange(std::string_view what, Term term, double seconds, double bytes, double times) {
    network(what, term, seconds, bytes, times);
  }
};

std::vector<OperatorLine> operators_of(const ResolvedInference& r, const Step& step) {
  Recorder recorder{r, {}};
  perf::visit_step(r, step, recorder);
  std::sort(recorder.lines.begin(), recorder.lines.end(),
            [](const OperatorLine& a, const OperatorLine& b) { return a.seconds > b.seconds; });
  return std::move(recorder.lines);
}

/// What a change is judged by: output tokens per second and device, or prompts per second where nothing is decoded.
double merit(const InferenceLoad& load, const ResolvedInference& r, const InferenceOutcome& o) {
  if (o.reason != Reason::none) return 0;
  const double rate =
      load.mode == LoadMode::prefill ? 1 / o.estimate.prefill_s.mid : o.estimate.output_tokens_per_s.mid;
  return rate / r.gpus;
}

double merit(const InferenceQuery& query, const Knowledge& knowledge) {
  const auto r = perf::resolve_numbers(query, knowledge);
  return r ? merit(query.load, **r, evaluate(**r, query.load)) : 0;
}

ResourceScale elasticity_of(const InferenceQuery& query, const Knowledge& knowledge, double base) {
  const auto nudged = [&](double ResourceScale::*resource) {
    InferenceQuery more = query;
    more.scale.*resource *= 1 + kNudge;
    return (merit(more, knowledge) / base - 1) / kNudge;
  };
  return {.compute = nudged(&ResourceScale::compute),
          .memory_bandwidth = nudged(&ResourceScale::memory_bandwidth),
          .memory_capacity = nudged(&ResourceScale::memory_capacity),
          .scale_up = nudged(&ResourceScale::scale_up),
          .scale_out = nudged(&ResourceScale::scale_out),
          .clock = nudged(&ResourceScale::clock)};
}

class Suggester {
 public:
  Suggester(const InferenceQuery& query, const Knowledge& knowledge, const ResolvedInference& r, double base)
      : q_(query), k_(knowledge), r_(r), base_(base) {}

  std::vector<Suggestion> best() {
    formats();
    layout();
    load();
    other_devices();
    std::sort(found_.begin(), found_.end(), [](const Suggestion& a, const Suggestion& b) { return a.gain > b.gain; });
    if (found_.size() > kSuggestions) found_.resize(kSuggestions);
    return std::move(found_);
  }

 private:
  void consider(double changed_merit, std::string what) {
    const double gain = changed_merit / base_ - 1;
    if (gain > 0.02) found_.push_back({std::move(what), gain});
  }
  void consider(const InferenceQuery& changed, std::string what) { consider(merit(changed, k_), std::move(what)); }
  /// Another load on the same deployment.
  void consider(const InferenceLoad& changed, std::string what) {
    consider(merit(changed, r_, evaluate(r_, changed)), std::move(what));
  }
  void formats() {
    for (const Format f : {Format::fp8, Format::nvfp4}) {
      if (!r_.device.native[static_cast<std::size_t>(f)]) continue;
      if (bytes_per_weight(f) >= r_.gemm[ResolvedInference::kNarrow].bytes_weight) continue;
      InferenceQuery changed = q_;
      changed.weights = f;
      changed.activations.reset();
      consider(changed, fmt::format("weights and activations in {}", name(f)));
    }
    if (bytes_per_weight(Format::int4) < r_.gemm[ResolvedInference::kNarrow].bytes_weight) {
      InferenceQuery changed = q_;
      changed.weights = Format::int4;
      changed.activations.reset();
      consider(changed, "weights in int4 (AWQ or GPTQ)");
    }
    if (r_.attention.bytes_kv > 1) {
      InferenceQuery changed = q_;
      const Device* device = k_.catalogue.device(std::string_view(q_.device).substr(0, q_.device.find('/')));
      changed.kv = device != nullptr ? eight_bit_cache(*device, k_.catalogue) : Format::fp8;
      consider(changed, fmt::format("KV cache in {}", name(*changed.kv)));
    }
  }
  void layout() {
    for (const double factor : {0.5, 2.0}) {
      InferenceQuery changed = q_;
      const double tp = r_.tp * factor;
      if (tp < 1) continue;
      changed.tp = static_cast<int>(tp);
      changed.gpus = static_cast<int>(r_.gpus * factor);
      changed.ep = std::min(q_.ep, changed.tp * std::max(q_.dp, 1));
      // The load of one device stays what it was, so that layouts compare.
      changed.load.batch = std::max(1.0, q_.load.batch * factor);
      changed.load.concurrency = q_.load.concurrency * factor;
      consider(changed, fmt::format("tensor parallel {:.0f} instead of {:.0f}, the same load per device", tp, r_.tp));
    }
  }
  void load() {
    InferenceLoad changed = q_.load;
    if (changed.mode == LoadMode::fixed_batch) {
      changed.batch *= 2;
      consider(changed, fmt::format("batch {:.0f} instead of {:.0f}", changed.batch, q_.load.batch));
    } else if (changed.mode == LoadMode::closed_loop) {
      changed.concurrency *= 2;
      consider(changed, fmt::format("concurrency {:.0f} instead of {:.0f}", changed.concurrency, q_.load.concurrency));
    }
  }
  void other_devices() {
    Suggestion best;
    for (const Device& d : k_.catalogue.devices()) {
      if (d.status != Sale::shipping || d.id == q_.device || d.vendor != vendor() || !offers_more(d)) continue;
      InferenceQuery changed = q_;
      changed.device = d.id;
      changed.system.clear();
      const double gain = merit(changed, k_) / base_ - 1;
      if (gain > best.gain) best = {fmt::format("{} instead of {}", d.id, q_.device), gain};
    }
    if (best.gain > 0.02) found_.push_back(best);
  }
  /// A device with less of both bandwidth and arithmetic is not worth the time.
  [[nodiscard]] bool offers_more(const Device& d) const {
    const auto& peak = d.peak(PeakFormat::bf16);
    const double arithmetic = r_.device.peak[static_cast<std::size_t>(Format::bf16)];
    return (d.memory_bandwidth && d.memory_bandwidth->value.value() > r_.device.memory_bandwidth) ||
           (peak && peak->value.value() > arithmetic);
  }
  [[nodiscard]] std::string_view vendor() const {
    const Device* d = k_.catalogue.device(q_.device);
    return d != nullptr ? std::string_view(d->vendor) : std::string_view();
  }

  const InferenceQuery& q_;
  const Knowledge& k_;
  const ResolvedInference& r_;
  const double base_;
  std::vector<Suggestion> found_;
};

}  // namespace

Result<InferenceExplanation> explain(const InferenceQuery& query, const Knowledge& knowledge) {
  const auto deployment = resolve(query, knowledge);
  if (!deployment) return deployment.error();
  const ResolvedInference& r = *deployment->resolved;
  const InferenceOutcome o = evaluate(r, query.load);
  if (o.reason != Reason::none) {
    return Error{ErrorCode::infeasible, query.model, fmt::format("cannot run: {}", name(o.reason))};
  }
  return perf::explain_resolved(query, knowledge, r, o);
}

InferenceExplanation perf::explain_resolved(const InferenceQuery& query, const Knowledge& knowledge,
                                            const ResolvedInference& r, const InferenceOutcome& o) {
  InferenceExplanation out;
  const double mean = 0.5 * (1 + query.load.length_low);
  Step decode;
  decode.decode = std::max(1.0, o.estimate.running_batch / r.pp);
  decode.tokens_each = 1 + query.load.draft_tokens;
  decode.context = mean * (query.load.isl + 0.5 * query.load.osl);
  if (query.load.mode != LoadMode::prefill) out.decode = operators_of(r, decode);
  Step prefill;
  prefill.prefill = prefill.prefill_length = std::max(1.0, std::min(mean * query.load.isl, r.max_tokens));
  prefill.prompts = 1;
  prefill.prefill_context = prefill.prefill_length;
  out.prefill = operators_of(r, prefill);
  const double base = merit(query.load, r, o);
  out.elasticity = elasticity_of(query, knowledge, base);
  out.suggestions = Suggester(query, knowledge, r, base).best();
  return out;
}

}  // namespace ridge
