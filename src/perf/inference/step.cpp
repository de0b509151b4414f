#include "perf/inference/step.hpp"

#include <cmath>

#include "perf/operators/positions.hpp"

namespace ridge::perf {
namespace {

struct Sum {
  StepTime& out;
  const ResolvedInference& r;

  void operation(std::string_view, Term term, const OpTime& op, double flops, double bytes, double times,
                 bool /*narrow*/ = false) {
    out.terms[perf::index(term)] += op.seconds * times;
    out.compute += op.compute * times;
    out.memory += op.memory * times;
    out.fixed += op.fixed * times;
    if (term == Term::experts) out.routing += op.fixed * times;
    out.flops += flops * times;
    out.bytes += bytes * times;
    out.least += std::max(flops / r.fastest_peak, bytes / r.device.memory_bandwidth) * times;
  }
  void filler(double flops, double times) { out.filler += flops * times; }
  void network(std::string_view, Term term, double seconds, double, double times) {
    out.terms[perf::index(term)] += seconds * times;
    out.network += seconds * times;
    out.least += seconds * times;
  }
  void exchange(std::string_view what, Term term, double seconds, double bytes, double times) {
    network(what, term, seconds, bytes, times);
    out.exchange += seconds * times;
  }
};

}  // namespace

double kv_bytes(const ResolvedInference& r, double tokens) noexcept {
  double sum = 0;
  for (int i = 0; i < r.kind_count; ++i) {
    const LayerKind& kind = r.kinds[static_cast<std::size_t>(i)];
    sum += kind.count * (kind.entries(tokens) * kind.kv_bytes_per_token + kind.state_bytes + kind.cross_bytes);
  }
  return sum / r.pp;
}

namespace {

/// What the devices do in a step, without the host.
StepTime device_time(const ResolvedInference& r, const Step& step) noexcept {
  StepTime out;
  Sum sum{out, r};
  visit_step(r, step, sum);
  const double tokens = step.decode * step.tokens_each + step.prefill;
  const double mixed = step.prefill > 0 ? step.prefill / tokens : 0;
  const double factor = mixed * r.costs.prefill + (1 - mixed) * r.costs.decode;
  // What experts cost a prompt on top of their products was measured on short ones, where attention is little.
  const double kept = 1 - mixed * (1 - std::min(1.0, r.costs.prefill_attention / r.costs.prefill));
  double& attention = out.terms[perf::index(Term::attention)];
  out.compute -= std::min(out.compute, attention * (1 - kept));
  attention *= kept;
  double device = 0;
  for (const double t : out.terms) device += t;
  // Operators run one after the other, and none is faster than its bytes, its FLOPs and its link. The bound is that
  // sum, but for tokens on the way to experts, which two halves of a batch can hide behind each other's work.
  const double hidden = r.ideal ? std::min(out.exchange, out.least - out.exchange) : 0;
  const double least = device > 0 ? (out.least - hidden) / device : factor;
  const double scale = r.ideal ? least : std::max(factor, least);
  for (double& t : out.terms) t *= scale;
  for (double* part : {&out.compute, &out.memory, &out.network, &out.exchange, &out.fixed, &out.routing}) {
    *part *= scale;
  }
  const double small = r.small_layers * r.costs.layer_small;
  out.terms[perf::index(Term::elementwise)] += small;
  out.fixed += small;
  out.seconds = device * scale + small;
  return out;
}

/// Two halves of the batch take turns: while one computes, the tokens of the other travel. Weights are read twice, and
/// throughput kernels hold some cores; where that costs more than it hides, `whole` stays.
StepTime with_two_batches(const ResolvedInference& r, const Step& step, const StepTime& whole) noexcept {
  Step part = step;
  for (double* amount : {&part.decode, &part.prefill, &part.prompts, &part.expert_tokens}) *amount *= 0.5;
  StepTime half = device_time(r, part);
  const bool holds_cores =
      r.exchange == ExpertExchange::throughput || (r.exchange == ExpertExchange::dispatch && step.prefill > 0);
  const double slower = holds_cores ? 1 / (1 - r.exchange_cores) : 1;
  const double work = (half.seconds - half.exchange) * slower;
  const double seconds = std::max({2 * work, work + half.exchange, 2 * half.exchange});
  if (seconds >= whole.seconds) return whole;
  const double shown = seconds - 2 * work;  // of the exchange, what nothing hides
  double& term = half.terms[index(r.expert_term)];
  term -= half.exchange;
  for (double& t : half.terms) t *= 2 * slower;
  term += shown;
  for (double* part_of : {&half.compute, &half.memory, &half.fixed, &half.routing}) *part_of *= 2 * slower;
  half.network = 2 * slower * (half.network - half.exchange) + shown;
  half.exchange = shown;
  for (double* amount : {&half.flops, &half.filler, &half.bytes}) *amount *= 2;
  half.seconds = seconds;
  return half;
}

}  // namespace

StepTime step_time(const ResolvedInference& r, const Step& step) noexcept {
  StepTime out = device_time(r, step);
  if (r.two_batches && out.exchange > 0) out = with_two_batches(r, step, out);
  const double device = out.seconds;
  const double tokens = step.decode * step.tokens_each + step.prefill;

  // A step that does not replay a graph cannot run faster than the host launches its layers: a soft maximum.
  // An engine that prepares the next step during this one waits for the slower of the two.
  double host = r.costs.step + r.costs.sequence * step.decode;
  if (r.overlapped_host) host = std::sqrt(device * device + host * host) - device;
  if (!r.graphs || (step.prefill > 0 && tokens > r.graph_tokens)) {
    const double floor = r.launched_layers * r.costs.layer_eager;
    host += smooth_max(device, floor) - device;
  }
  out.terms[perf::index(Term::host)] += host;
  out.terms[perf::index(Term::offload)] = r.offload_s;
  out.fixed += host + r.offload_s;
  out.seconds = device + host + r.offload_s;
  return out;
}

StepTime drafted_step_time(const ResolvedInference& r, const Step& step) noexcept {
  StepTime t = step_time(r, step);
  if (step.tokens_each > 1) {
    const double draft = (step.tokens_each - 1) * r.draft_share * t.seconds;
    t.terms[perf::index(Term::head)] += draft;
    t.seconds += draft;
  }
  return t;
}

}  // namespace ridge::perf
