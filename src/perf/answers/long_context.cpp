#include "ridge/perf/long_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/normal.hpp"
#include "perf/inference/resolved.hpp"
#include "ridge/base/text.hpp"

namespace ridge {
namespace {

constexpr double kMostContextSteps = 4096;  // more steps of a prompt are timed in so many groups
constexpr double kUnsureRing = 0.15;        // of the logarithm: rings of engines were not measured
constexpr double kMostContext = 1e9;

double term_of(const perf::StepTime& t, Term term) {
  return t.terms[static_cast<std::size_t>(term)];
}

class ContextTimer {
 public:
  ContextTimer(const ResolvedInference& r, double cp, double chunk, const perf::LinkRates& ring)
      : r_(r), cp_(cp), chunk_(chunk), ring_(ring) {}

  ContextPoint point(double tokens) const {
    ContextPoint p;
    p.tokens = tokens;
    const double chunk = std::min(tokens, chunk_ > 0 ? chunk_ : cp_ > 1 ? tokens : r_.max_tokens);
    p.steps = std::ceil(tokens / chunk);
    p.kv_bytes = perf::kv_bytes(r_, tokens) / cp_;
    // What a step holds at once is counted for the engine's largest step; a larger one of a rank takes more.
    p.activation_bytes = r_.activation_bytes * std::max(1.0, chunk / cp_ / std::max(r_.max_tokens, 1.0));
    const double more = p.activation_bytes - r_.activation_bytes;
    if (r_.reason != Reason::none || p.kv_bytes + more > r_.kv_pool_bytes) {
      p.reason = r_.reason != Reason::none ? r_.reason : Reason::out_of_memory;
      p.short_by = r_.reason != Reason::none ? r_.short_by : p.kv_bytes + more - r_.kv_pool_bytes;
      return p;
    }
    time(tokens, chunk, p);
    return p;
  }

 private:
  void time(double tokens, double chunk, ContextPoint& p) const {
    const double groups = std::min(p.steps, kMostContextSteps);
    const double each = p.steps / groups;  // steps of a group
    double seconds = 0;
    double attention = 0;
    double exchange = 0;
    double last = 0;
    perf::StepTime sum;
    for (double g = 0; g < groups; ++g) {
      const double end = std::min(tokens, (g + 1) * each * chunk) - 0.5 * (each - 1) * chunk;
      perf::Step step;
      step.prefill = step.prefill_length = chunk / cp_;
      step.prompts = 1;
      // A query of the chunk sees end - chunk / 2 keys on average, wherever its rank stands.
      step.prefill_context = std::max(end - 0.5 * chunk + 0.5 * chunk / cp_, step.prefill_length);
      const perf::StepTime t = perf::step_time(r_, step);
      const double pairs = term_of(t, Term::attention);
      double waits = 0;
      if (cp_ > 1) {
        // Every rank sends its part on cp - 1 times; what attention does meanwhile hides it.
        const double part = perf::kv_bytes(r_, end) / cp_;
        waits = std::max(0.0, (cp_ - 1) * perf::collective_time(ring_, perf::Collective::send, 2, part) - pairs);
      }
      last = t.seconds + waits;
      seconds += each * last;
      attention += each * pairs;
      exchange += each * waits;
      sum.compute += t.compute;
      sum.memory += t.memory;
      sum.network += t.network + waits;
      sum.fixed += t.fixed;
    }
    // Stages work on different steps: each does its part of the layers, the last step passes all of them.
    const double total = seconds / r_.pp + (r_.ideal ? 0 : last * (r_.pp - 1) / r_.pp);
    const perf::Spread& s =
        r_.spread[static_cast<std::size_t>(LoadMode::prefill)][static_cast<std::size_t>(perf::Metric::prefill)];
    const double unsure = cp_ > 1 && !r_.ideal ? kNormal90 * kUnsureRing : 0;
    const double low = std::exp(-std::hypot(std::log(s.low), unsure));
    const double high = std::exp(std::hypot(std::log(s.high), unsure));
    p.ttft_s = {total * low, total, total * high};
    p.tokens_per_s = {tokens / p.ttft_s.high, tokens / total, tokens / p.ttft_s.low};
    p.attention_share = attention / seconds;
    p.exchange_share = exchange / seconds;
    const double busiest = std::max({sum.compute, sum.memory, sum.network, sum.fixed});
    p.bound = busiest == sum.compute   ? Bound::compute
              : busiest == sum.memory  ? Bound::memory_bandwidth
              : busiest == sum.network ? Bound::scale_up
                                       : Bound::host;
  }

  const ResolvedInference& r_;
  double cp_;
  double chunk_;
  const perf::LinkRates& ring_;
};

}  // namespace

Result<ContextCurve> context_curve(const InferenceQuery& query, const ContextPlan& plan,
                                   const std::vector<double>& lengths, const Knowledge& knowledge) {
  const auto refuse = [](const char* where, std::string why) {
    return Error{ErrorCode::bad_input, where, std::move(why)};
  };
  if (plan.cp < 1) return refuse("cp", "one rank or more share a prompt");
  if (!(plan.chunk >= 0) || (plan.chunk > 0 && plan.chunk < plan.cp)) {
    return refuse("chunk", "a step has at least one token for each rank");
  }
  if (lengths.empty()) return refuse("lengths", "name the lengths of the prompt: 128k,1M");
  for (const double tokens : lengths) {
    if (!(tokens >= plan.cp && tokens <= kMostContext)) {
      return refuse("lengths", fmt::format("{} tokens: a prompt has one for each rank and at most a billion", tokens));
    }
  }
  if (query.dp > 1) return refuse("dp", "one prompt is worked on by one replica: leave out dp, or share it by cp");
  InferenceQuery one = query;
  one.load = {.mode = LoadMode::prefill, .isl = lengths.front(), .osl = 1, .batch = 1};
  if (one.tp > 0) one.gpus = one.tp * std::max(one.pp, 1);
  Result<InferenceDeployment> deployment = resolve(one, knowledge);
  if (!deployment) return deployment.error();
  const ResolvedInference& r = *deployment->resolved;

  ContextCurve curve;
  curve.facts = deployment->facts;
  curve.cp = plan.cp;
  curve.devices = r.gpus * plan.cp;
  curve.kv_room_bytes = r.kv_pool_bytes;
  curve.assumptions = std::move(deployment->assumptions);
  perf::LinkRates ring = r.tp_link;
  if (plan.cp > 1) {
    const Result<Device> device = knowledge.catalogue.find_device(curve.facts.device);
    if (!device) return device.error();
    const int domain = device->scale_up_domain ? device->scale_up_domain->value : 1;
    if (curve.devices <= domain) {
      ring = perf::scale_up_link(*device, knowledge.calibration);
    } else {
      constexpr double kNic = 50e9;
      constexpr double kLatency = 5e-6;
      const double nic = device->nic_per_direction ? device->nic_per_direction->value.value() : kNic;
      ring = perf::scale_out_link(nic, kLatency, knowledge.calibration);
      curve.assumptions.push_back(fmt::format("the ring of {} ranks crosses the network, {} for each device", plan.cp,
                                              format(BytesPerSecond(nic))));
    }
    if (plan.chunk <= 0) curve.assumptions.emplace_back("each rank takes its part of the prompt in one piece");
  }
  const ContextTimer timer(r, plan.cp, plan.chunk, ring);
  for (const double tokens : lengths) curve.points.push_back(timer.point(tokens));
  return curve;
}

}  // namespace ridge
