#include "perf/inference_step.hpp"

#include <cmath>

#include "perf/positions.hpp"

namespace ridge::perf {
namespace {

struct Sum {
  StepTime& out;

  void operation(std::string_view, Term term, const OpTime& op, double flops, double bytes, double times,
                 bool /*narrow*/ = false) {
    out.terms[perf::index(term)] += op.seconds * times;
    out.compute += op.compute * times;
    out.memory += op.memory * times;
    out.fixed += op.fixed * times;
    if (term == Term::experts) out.routing += op.fixed * times;
    out.flops += flops * times;
    out.bytes += bytes * times;
  }
  void filler(double flops, double times) { out.filler += flops * times; }
  void network(std::string_view, Term term, double seconds, double, double times) {
    out.terms[perf::index(term)] += seconds * times;
    out.network += seconds * times;
  }
};

}  // namespace

double kv_bytes(const ResolvedInference& r, double tokens) noexcept {
  double sum = 0;
  for (int i = 0; i < r.kind_count; ++i) {
    const LayerKind& kind = r.kinds[static_cast<std::size_t>(i)];
    const double held = kind.kv_window > 0 ? std::min(tokens, kind.kv_window) : tokens;
    sum += kind.count * (held * kind.kv_bytes_per_token + kind.state_bytes);
  }
  return sum / r.pp;
}

StepTime step_time(const ResolvedInference& r, const Step& step) noexcept {
  StepTime out;
  Sum sum{out};
  visit_step(r, step, sum);

  const double tokens = step.decode * step.tokens_each + step.prefill;
  const double mixed = step.prefill > 0 ? step.prefill / tokens : 0;
  const double factor = mixed * r.costs.prefill + (1 - mixed) * r.costs.decode;
  double device = 0;
  for (const double t : out.terms) device += t;
  // However well an engine overlaps, it reads its bytes and does its FLOPs.
  const double bound = std::max(out.bytes / r.device.memory_bandwidth, out.flops / r.fastest_peak);
  const double scale = device > 0 ? std::max(factor, bound / device) : factor;
  for (double& t : out.terms) t *= scale;
  for (double* part : {&out.compute, &out.memory, &out.network, &out.fixed, &out.routing}) *part *= scale;
  device *= scale;
  const double small = r.small_layers * r.costs.layer_small;
  out.terms[perf::index(Term::elementwise)] += small;
  out.fixed += small;
  device += small;

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
