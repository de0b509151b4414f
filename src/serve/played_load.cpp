#include "ridge/serve/played_load.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "perf/move_to.hpp"
#include "ridge/base/random.hpp"

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

/// Ends what takes more than the limits, and adds up the requests that count.
class Referee : public SimulationObserver {
 public:
  Referee(const PlayLimits& limits, std::size_t before) : limits_(limits), before_(before) {}
  void request(const RequestRecord& r) override {
    if (r.id < before_ || r.end != RequestRecord::End::finished) return;
    const auto seconds = [](std::int64_t ticks) { return static_cast<double>(ticks) / kTicksPerSecond; };
    ++count_;
    input_ += r.input;
    output_ += r.output;
    ttft_ += seconds(r.first_token - r.arrival);
    tpot_ += r.output > 1 ? seconds(r.last_token - r.first_token) / (r.output - 1) : 0;
    e2e_ += seconds(r.last_token - r.arrival);
    first_ = count_ == 1 ? r.arrival : std::min(first_, r.arrival);
    last_ = std::max(last_, r.last_token);
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Puts the means of the counted requests in the place of those of all.
  void apply(PlayedMeans& m) const {
    const double took = static_cast<double>(last_ - first_) / kTicksPerSecond;
    const auto n = static_cast<double>(count_);
    m.output_tokens_per_s = output_ / took;
    m.total_tokens_per_s = (input_ + output_) / took;
    m.ttft_s = ttft_ / n;
    m.tpot_s = tpot_ / n;
    m.e2e_s = e2e_ / n;
    m.power_w = 0;  // the engine rested between the rounds
  }
  bool go_on(double) override {
    turns_ += 1;
    ended_ = (limits_.turns > 0 && turns_ > limits_.turns) || limits_.patience.over();
    return !ended_;
  }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  const PlayLimits& limits_;
  std::size_t before_;
  std::size_t count_ = 0;
  double input_ = 0, output_ = 0, ttft_ = 0, tpot_ = 0, e2e_ = 0;
  std::int64_t first_ = 0, last_ = 0;
  double turns_ = 0;
  bool ended_ = false;
};

/// A list of prompts, sent once and then again when all is quiet: what is held of them is still in the cache.
std::shared_ptr<const Trace> sent_again(const SimulationQuery& q, double prompts) {
  constexpr double kQuiet = 1e5;  // seconds: the first round has long ended
  const auto count = static_cast<std::size_t>(prompts);
  const RequestClass& kind = q.workload.classes.front();
  auto trace = std::make_shared<Trace>();
  trace->tokens_per_key = static_cast<std::uint32_t>(q.policies.block_tokens);
  std::uint64_t key = 0;
  Random arrivals(q.seed, 1);
  double now = 0;
  for (std::size_t i = 0; i < 2 * count; ++i) {
    if (i == count) now += kQuiet;
    now += arrivals.exponential() / q.load.rate;
    Trace::Request r;
    if (i < count) {
      Random lengths(q.seed, 2 + i);
      r.input = kind.input.draw(lengths);
      r.output = kind.output.draw(lengths);
      r.first_key = static_cast<std::uint32_t>(trace->keys.size());
      r.key_count = (r.input - 1) / trace->tokens_per_key;  // the last token is always computed
      for (std::uint32_t k = 0; k < r.key_count; ++k) trace->keys.push_back(++key);
    } else {
      r = trace->requests[i - count];
    }
    r.arrival = now;
    trace->requests.push_back(r);
  }
  return trace;
}

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
  const bool open = load.mode == LoadMode::open_loop;
  const bool comes_round = load.distinct > 0 && load.prefix_hit > 0 && !open;
  q.policies.prefix_cache = load.prefix_hit > 0;
  if (comes_round) {
    RequestClass& c = q.workload.classes[0];
    c.shared_prefix = static_cast<std::uint32_t>(std::max(1.0, std::round(load.isl)) - 1);
    c.prefix_groups = static_cast<std::uint32_t>(std::max(1.0, std::round(load.distinct)));
    c.input.kind = LengthKind::fixed;
  } else if (load.prefix_hit > 0 && load.distinct <= 0) {  // one beginning that all prompts share
    q.workload.classes[0].shared_prefix = static_cast<std::uint32_t>(std::round(load.prefix_hit * load.isl));
    q.workload.classes[0].prefix_groups = 1;
  }
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
  const bool again = open && load.distinct > 0 && load.prefix_hit > 0;
  const double prompts = std::min(load.distinct, q.requests);
  PlayedMeans sum;
  for (int run = 0; run < runs; ++run) {
    q.seed = static_cast<std::uint64_t>(run + 1);
    SimulationQuery played = q;
    if (again) {
      played.workload.trace = sent_again(q, prompts);
      played.load = {.kind = OfferedKind::trace};
      played.requests = 0;
    }
    Referee referee(limits, again ? static_cast<std::size_t>(prompts) : 0);
    const Result<SimulationResult> r = simulate(played, knowledge, &referee);
    if (!r || r->finished == 0 || referee.ended() || (again && referee.count() == 0)) return std::nullopt;
    const double output = load.requests > 0 ? r->output_tokens_per_s : steady_output(*r);
    PlayedMeans one{output,         output * r->total_tokens_per_s / r->output_tokens_per_s,
                    r->ttft.mean(), r->tpot.mean(),
                    r->itl.p50(),   r->e2e.mean(),
                    r->mean_power_w};
    if (again) referee.apply(one);
    sum.output_tokens_per_s += one.output_tokens_per_s / runs;
    sum.total_tokens_per_s += one.total_tokens_per_s / runs;
    sum.ttft_s += one.ttft_s / runs;
    sum.tpot_s += one.tpot_s / runs;
    sum.itl_s += one.itl_s / runs;
    sum.e2e_s += one.e2e_s / runs;
    sum.power_w += one.power_w / runs;
  }
  return sum;
}

PlayedResponse play_response(const SimulationQuery& simulation, const InferenceLoad& load, const PlayedMeans& means,
                             const Knowledge& knowledge) {
  constexpr double kSlowness = 0.3;  // what stacks differ by: a logarithm
  constexpr double kSteepest = 20;
  PlayedResponse out;
  for (const double slowness : {-kSlowness, kSlowness}) {
    const double f = std::exp(slowness);
    SimulationQuery q = simulation;
    InferenceLoad other = load;
    q.load.rate *= f;
    other.rate *= f;
    const auto played = play(q, other, knowledge);
    if (!played) continue;
    const auto set = [&](Response& r, double longer) {
      const double answer = std::clamp(std::log(longer) / slowness, 0.0, kSteepest);
      (slowness > 0 ? r.slower : r.faster) = answer;
    };
    set(out.output, means.output_tokens_per_s * f / played->output_tokens_per_s);
    set(out.ttft, played->ttft_s * f / means.ttft_s);
    set(out.tpot, played->tpot_s * f / means.tpot_s);
    set(out.e2e, played->e2e_s * f / means.e2e_s);
  }
  return out;
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
