#include "ridge/serve/played_load.hpp"

#include <algorithm>
#include <cmath>

#include "perf/move_to.hpp"

namespace ridge {
namespace {

constexpr double kRounds = 10;  ///< requests of each client: what serving benchmarks send, the first all at once
constexpr double kFewestPlayed = 100;
constexpr double kOpenRequests = 1600;  ///< of an open loop, over its runs
constexpr double kMostRuns = 8;
constexpr double kMostClients = 8192;  ///< of a load whose first tokens are played: some hundred milliseconds
/// Synthetic prompts of one nominal length come out a little shorter or longer, and clients do not stay in step.
constexpr double kSyntheticLow = 0.9;
constexpr double kPromptSpread = 1;  ///< standard deviation over mean of the lengths of what people write
/// The same of answers. Long ones stay longer, so that the context of those that run grows with the spread; the rows
/// say that it is below the 0.9 of chat in data/workloads and no more: 0.2 to 0.6 fit them alike.
constexpr double kAnswerSpread = 0.5;

/// Output per second while all clients are at work: after the first wave, before the last request was sent.
double steady_output(const SimulationResult& r) {
  const double from = 0.2 * r.arrival_span;
  const double to = r.arrival_span;
  double sum = 0;
  double count = 0;
  for (const TimelinePoint& p : r.timeline) {
    if (p.start < from || p.start + r.timeline_step > to) continue;
    sum += p.output_tokens_per_s;
    count += 1;
  }
  return count > 4 ? sum / count : r.output_tokens_per_s;
}

/// Ends what takes more than the limits.
class Referee : public SimulationObserver {
 public:
  explicit Referee(const PlayLimits& limits) : limits_(limits) {}
  bool go_on(double) override {
    turns_ += 1;
    ended_ = (limits_.turns > 0 && turns_ > limits_.turns) || limits_.patience.over();
    return !ended_;
  }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  const PlayLimits& limits_;
  double turns_ = 0;
  bool ended_ = false;
};

}  // namespace

SimulationQuery played_load(const InferenceQuery& query) {
  const InferenceLoad& load = query.load;
  SimulationQuery q;
  q.deployment = query;
  q.workload = fixed_workload(std::max(1.0, load.isl), load.osl);
  for (LengthDistribution* length : {&q.workload.classes[0].input, &q.workload.classes[0].output}) {
    if (load.natural_text > 0) {
      length->kind = LengthKind::lognormal;
      length->cv = length == &q.workload.classes[0].output ? kAnswerSpread : kPromptSpread;
      length->high = 8 * length->mean;
      continue;
    }
    if (load.exact) continue;
    // Nominal lengths are the most where a range is given, and the mean where none is.
    const double low = load.length_low < 1 ? load.length_low : kSyntheticLow;
    const double high = load.length_low < 1 ? 1 : 2 - kSyntheticLow;
    length->kind = LengthKind::uniform;
    length->low = std::max(1.0, std::round(low * length->mean));
    length->high = std::max(length->low, std::round(high * length->mean));
  }
  // A list of prompts that is sent again and again: the cache of the simulated engine says what it still holds.
  const bool comes_round = load.distinct > 0 && load.prefix_hit > 0;
  q.policies.prefix_cache = load.prefix_hit > 0;
  if (comes_round) {
    RequestClass& c = q.workload.classes[0];
    c.shared_prefix = static_cast<std::uint32_t>(std::max(1.0, std::round(load.isl)) - 1);
    c.prefix_groups = static_cast<std::uint32_t>(std::max(1.0, std::round(load.distinct)));
    c.input.kind = LengthKind::fixed;
  } else if (load.prefix_hit > 0) {  // one beginning that all prompts share
    q.workload.classes[0].shared_prefix = static_cast<std::uint32_t>(std::round(load.prefix_hit * load.isl));
    q.workload.classes[0].prefix_groups = 1;
  }
  const bool open = load.mode == LoadMode::open_loop;
  q.load.kind = open ? OfferedKind::rate : OfferedKind::concurrency;
  q.load.rate = load.rate;
  q.load.concurrency = std::max(1.0, std::round(load.concurrency));
  if (load.queued) {  // so many places, and always somebody who waits for one
    q.deployment.max_sequences = q.load.concurrency;
    q.load.concurrency = std::ceil(1.25 * q.load.concurrency) + 1;
  }
  const double usual = open ? kOpenRequests : std::max(kFewestPlayed, kRounds * q.load.concurrency);
  q.requests = load.requests > 0 ? std::max(load.requests, open ? 1 : q.load.concurrency) : usual;
  if (comes_round) q.requests = std::max(2 * q.load.concurrency, load.distinct / (1 - load.prefix_hit));
  return q;
}

std::optional<PlayedMeans> play(SimulationQuery q, const InferenceLoad& load, const Knowledge& knowledge,
                                const PlayLimits& limits) {
  // A short run of requests that come by chance is one of many: their mean.
  const bool open = load.mode == LoadMode::open_loop;
  const int runs = open ? static_cast<int>(std::clamp(std::ceil(kOpenRequests / q.requests), 1.0, kMostRuns)) : 1;
  PlayedMeans sum;
  for (int run = 0; run < runs; ++run) {
    q.seed = static_cast<std::uint64_t>(run + 1);
    Referee referee(limits);
    const Result<SimulationResult> r = simulate(q, knowledge, &referee);
    if (!r || r->finished == 0 || referee.ended()) return std::nullopt;
    const double output = load.requests > 0 ? r->output_tokens_per_s : steady_output(*r);
    sum.output_tokens_per_s += output / runs;
    sum.total_tokens_per_s += output * r->total_tokens_per_s / r->output_tokens_per_s / runs;
    sum.ttft_s += r->ttft.mean() / runs;
    sum.tpot_s += r->tpot.mean() / runs;
    sum.itl_s += r->itl.p50() / runs;
    sum.e2e_s += r->e2e.mean() / runs;
    sum.power_w += r->mean_power_w / runs;
  }
  return sum;
}

void play_first_token(const SimulationQuery& simulation, const InferenceLoad& load, const Knowledge& knowledge,
                      InferenceEstimate& estimate, const PlayLimits& limits) {
  if (load.mode != LoadMode::closed_loop || load.prefilled || simulation.load.concurrency > kMostClients) return;
  const auto played = play(simulation, load, knowledge, limits);
  if (!played || !(estimate.ttft_s.mid > 0)) return;
  const double waited = estimate.ttft_s.mid;
  perf::move_to(estimate.ttft_s, played->ttft_s);
  perf::move_to(estimate.e2e_s, estimate.e2e_s.mid - waited + estimate.ttft_s.mid);
}

void play_first_token(const InferenceQuery& query, const Knowledge& knowledge, InferenceEstimate& estimate,
                      const PlayLimits& limits) {
  if (query.load.mode == LoadMode::closed_loop) {
    play_first_token(played_load(query), query.load, knowledge, estimate, limits);
  }
}

}  // namespace ridge
