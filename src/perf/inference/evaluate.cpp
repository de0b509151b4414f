// From the time of a step to what a load sees: latency, throughput, memory, power.
#include <algorithm>
#include <cmath>
#include <limits>

#include "perf/inference/resolved.hpp"

namespace ridge {
namespace {

using perf::Metric;
using perf::Spread;
using perf::Step;
using perf::step_time;
using perf::StepTime;

constexpr int kMaxIterations = 24;
constexpr double kTextLengthVariance = 1.7;  ///< of the lengths of prompts by people, relative to the mean squared
constexpr double kClosed = 1e-7;             ///< relative; small, so that results are smooth in every input
constexpr double kUsualRange = 0.2;          ///< of lengths about their mean where nobody says how they differ
constexpr double kTextRange = 2;             ///< the same of what people write
constexpr double kDrift = 2;                 ///< mean of the square roots of one to ten rounds
constexpr double kPlacesKnown = 0.1;         ///< of the sequences that fit the cache, either way
constexpr int kPlacesEachWay = 2;

/// Lengths as the load really has them.
struct Lengths {
  double isl;     ///< tokens to prefill per request, after the prefix cache
  double prompt;  ///< tokens of context when decoding starts
  double osl;
  double decoded;  ///< output tokens that need a decode step of their own
};

Lengths lengths_of(const InferenceLoad& load) noexcept {
  const double mean = 0.5 * (1 + load.length_low);
  const double prompt = std::max(0.0, load.isl * mean);
  const double osl = std::max(1.0, load.osl * mean);
  const double left = load.prefilled ? 0 : std::max(prompt > 0 ? 1.0 : 0.0, prompt * (1 - load.prefix_hit));
  return {left, prompt, osl, std::max(0.0, osl - 1)};
}

/// Tokens behind a sequence on average while it decodes; programs of static shape read the cache to its end.
double mean_context(const ResolvedInference& r, const Lengths& n) noexcept {
  return n.prompt + (r.static_shapes ? 1.0 : 0.5) * n.osl;
}

/// Tokens of a running sequence that the cache has to hold on average, or from the start.
double held_tokens(const ResolvedInference& r, const Lengths& n) noexcept {
  return std::max(1.0, n.prompt + (r.admission == Admission::reserve_all ? 1.0 : r.costs.fill) * n.osl);
}

/// A list of prompts that is sent again and again: what a replica's cache still holds of a prompt when it comes back.
/// It was last seen `distinct` requests ago. Those of them that still run keep it; those that ended were freed in that
/// order, and the oldest make room first, so that either all of them fit beside what runs or none survives.
InferenceLoad with_what_is_kept(const ResolvedInference& r, const InferenceLoad& load) noexcept {
  InferenceLoad kept = load;
  if (load.distinct <= 0 || load.prefix_hit <= 0) {
    kept.distinct = 0;  // nothing comes back, so nothing is shared
    return kept;
  }
  const double replicas = r.gpus / (r.tp * r.pp);
  const Lengths n = lengths_of(load);
  const double ended = std::max(0.0, load.distinct - load.concurrency);
  const double room = r.kv_pool_bytes - load.concurrency / replicas * perf::kv_bytes(r, held_tokens(r, n));
  const bool fits = ended / replicas * perf::kv_bytes(r, n.prompt + n.osl) <= room;
  if (ended > 0 && !fits) kept.prefix_hit = kept.distinct = 0;
  kept.prefix_hit /= replicas;  // a prompt comes back to any of them
  return kept;
}

/// Tokens a sequence gains per step: 1 + a + a^2 + ... with `draft_tokens` proposals, each accepted with probability a.
double tokens_per_step(const InferenceLoad& load) noexcept {
  double sum = 1;
  double p = 1;
  for (double i = 0; i < load.draft_tokens; ++i) sum += (p *= load.acceptance);
  return sum;
}

/// A decode step of `sequences` (of one replica) with the pipeline kept full: with several stages the batch travels in
/// as many parts, and each sequence waits for all stages.
StepTime decode_step(const ResolvedInference& r, const InferenceLoad& load, double sequences, double context) noexcept {
  Step step;
  step.decode = std::max(1.0, sequences / r.pp);
  step.tokens_each = 1 + load.draft_tokens;
  step.context = context;
  return perf::drafted_step_time(r, step);
}

/// A step that carries `prefill` tokens of prompts beside `decode` sequences.
/// Of the ranks that share experts `prefilling` do the same, the others only decode.
StepTime mixed_step(const ResolvedInference& r, const InferenceLoad& load, const Lengths& n, double decode,
                    double context, double prefill, double prefilling = 0) noexcept {
  Step step;
  step.decode = decode / r.pp;
  step.tokens_each = 1 + load.draft_tokens;
  step.context = context;
  step.prefill = prefill;
  step.prefill_length = std::min(prefill, n.isl);
  step.prompts = step.prefill_length > 0 ? prefill / step.prefill_length : 0;  // no prompt: the cache has all of it
  // A prompt cut into chunks sees on average half of what came before; what the prefix cache holds, it sees whole.
  step.prefill_context = (n.prompt - n.isl) + 0.5 * (n.isl + step.prefill_length);
  if (r.attention_dp && prefilling > 0) {
    step.expert_tokens = prefilling * prefill + r.dp * step.decode * step.tokens_each;
  }
  return step_time(r, step);
}

struct Phase {
  double seconds = 0;
  StepTime last;
  double steps = 1;
};

/// Prefill of `prompts` prompts of one replica with nothing else running, in steps of at most max_tokens.
Phase prefill_phase(const ResolvedInference& r, const InferenceLoad& load, const Lengths& n, double prompts) noexcept {
  Phase phase;
  const double tokens = std::max(1.0, prompts * n.isl);
  const double limit = std::max(r.max_tokens, 1.0);
  phase.steps = std::max(1.0, tokens / std::max(std::min(tokens, limit), std::min(n.isl, limit)));
  phase.last = mixed_step(r, load, n, 0, 0, tokens / phase.steps);
  const double fill = r.pp > 1 ? (phase.steps + r.pp - 1) / r.pp : phase.steps;  // stages work on different steps
  phase.seconds = phase.last.seconds * (r.ideal ? phase.steps / r.pp : std::max(fill, 1.0));  // a bound: never empty
  return phase;
}

/// How far apart the answers of one load end, as a share of their mean length.
double length_range(const InferenceLoad& load) noexcept {
  if (load.exact) return 0;
  if (load.natural_text > 0) return kTextRange;
  return load.length_low < 1 ? 2 * (1 - load.length_low) / (1 + load.length_low) : kUsualRange;
}

/// What the last answers of a run cost, in requests of each client: places stand empty until the longest of those
/// under way has ended. Lengths are uniform in [low, 1]; those under way have the rest of a renewal process before
/// them.
double drain(const InferenceLoad& load) noexcept {
  if (load.exact || load.concurrency <= 1) return 0;
  const double low = load.length_low < 1 ? load.length_low : 1 - 0.5 * kUsualRange;
  const double mean = 0.5 * (1 + low);
  const double left = (1 + low + low * low) / 3 / (2 * mean);
  return (1 - 1 / load.concurrency) * (1 - left) / mean;
}

/// Who sends prompts beside a sequence that runs.
struct Company {
  double others = 1;  ///< share of the prompts that are not its own
  double rounds = 0;  ///< of each client in all, the first of them together; 0 = without end
  double range = 1;   ///< of lengths
  bool in_step = false;
  bool in_rounds = false;  ///< all places are filled at once, and again when all answers end

  /// Share of the requests that queue with all others for their prefill, which takes `queue` seconds in all, while
  /// answers take `decoding`: the first, and those that still keep in step. Prompts that come over a longer time than
  /// their prefill takes do not queue; the ends of answers drift apart with the root of the rounds, and by `ahead` of
  /// the queue where those who are through already decode beside the prompts of others.
  [[nodiscard]] double together(double queue, double decoding, double ahead) const noexcept {
    if (!in_step || queue <= 0) return 0;
    const double still = std::max(0.0, 1 - kDrift * (range * decoding / queue + ahead));
    const double first = rounds > 0 ? 1 / std::max(rounds, 1.0) : 0;
    return first + (1 - first) * still;
  }
};

/// The steady state of one replica with `sequences` running.
struct Steady {
  double token = 0;               ///< mean time between the tokens of a sequence
  double decode = 0;              ///< a step without prefill
  double with_prefill = 0;        ///< a step with it
  double share = 0;               ///< of the steps that carry prefill
  double steps_with_prefill = 0;  ///< the same, counting those of other ranks that this one waits for
  double chunk = 0;               ///< tokens of prefill in such a step
  double queue = 0;               ///< seconds that a request waits for the prompts of others before its first token
  double requests_per_s = 0;
  StepTime decode_time;
  StepTime prefill_time;
};

Steady steady_state(const ResolvedInference& r, const InferenceLoad& load, const Lengths& n, double sequences,
                    const Company& company) noexcept {
  Steady s;
  const double gain = tokens_per_step(load);
  const double context = mean_context(r, n);
  const double per_pass = sequences / r.pp;
  s.decode_time = decode_step(r, load, sequences, context);
  s.decode = s.decode_time.seconds;
  const double demand = per_pass * n.isl * gain / n.osl;  // prefill tokens per step that keep the batch full
  const double room = std::max(r.max_tokens - per_pass * (1 + load.draft_tokens), 16.0);
  if (n.isl > 0) {
    // Prompts join at random: of the steps, 1 - exp(-joining) see at least one. Long prompts are cut to what fits.
    // Those of rounds join all at once, in as few steps as take them.
    const double joining = demand / n.isl;
    const double most = -std::expm1(-joining);
    s.chunk = std::min(company.in_rounds ? std::max(demand, per_pass * n.isl) : demand / most, room);
    s.share = std::min(demand / s.chunk, 1.0);
    const bool together = r.batching == Batching::mixed && n.decoded > 0;
    // Ranks that share experts step together: one rank's prefill holds up all, unless they take prompts together.
    const bool alone = r.attention_dp && !r.ranks_prefill_together;
    const double share = alone ? 1 - std::pow(1 - s.share, r.dp) : s.share;
    const double prefilling = share > 0 ? r.dp * s.share / share : 0;
    s.prefill_time = mixed_step(r, load, n, together ? sequences : 0, context, s.chunk, prefilling);
    s.with_prefill = s.prefill_time.seconds + (together || n.decoded <= 0 ? 0 : s.decode);
    s.steps_with_prefill = share;
    // Prompts of others hold an answer up, before its first token if all came together, between its tokens if not.
    const double alone_token = s.decode / gain;
    const double held_up = company.others * share * (s.with_prefill - s.decode) / gain;
    const double ahead = together ? s.decode / std::max(s.with_prefill - s.decode, 1e-3 * s.decode) : 0;
    const double queued = 0.5 * company.together(n.decoded * held_up, n.decoded * alone_token, ahead);
    s.token = alone_token + (1 - queued) * held_up;
    s.queue = queued * n.decoded * held_up;
  } else {
    s.token = s.decode / gain;
  }
  s.requests_per_s = sequences / (n.osl * s.token);
  // Steps that are all full of prompts bring in no more than this.
  if (n.isl > 0) s.requests_per_s = std::min(s.requests_per_s, s.chunk / (n.isl * s.with_prefill) * r.pp);
  return s;
}

/// Sequences that fit the cache of one replica at once.
double cache_limit(const ResolvedInference& r, const InferenceLoad& load, const Lengths& n) noexcept {
  const double each = perf::kv_bytes(r, held_tokens(r, n));
  if (each <= 0) return r.max_sequences;
  const double limit = r.kv_pool_bytes / each;
  if (load.distinct <= 0 || limit <= load.distinct) return limit;
  // Beyond the distinct prompts a sequence only adds what it writes itself.
  const double own = std::max(each - perf::kv_bytes(r, n.prompt), 0.01 * each);
  return load.distinct + (r.kv_pool_bytes - load.distinct * each) / own;
}

/// Most sequences that prefill can keep running, on average: beyond it every step is full of prompts. Below one where
/// prompts are long and answers short.
double prefill_limit(const ResolvedInference& r, const InferenceLoad& load, const Lengths& n) noexcept {
  if (n.isl <= 0) return 1e9;
  const double ratio = n.osl / (n.isl * tokens_per_step(load));
  return std::max(1e-6, r.pp * r.max_tokens * ratio / (1 + ratio));
}

double ttft_of(const ResolvedInference& r, const Lengths& n, const Steady& s, double waiting) noexcept {
  const double chunks = std::max(1.0, n.isl / std::max(s.chunk, 1.0));
  const double busy = std::min(s.share, 0.95);
  const double step_in_progress = 0.5 * (s.token + busy * (s.with_prefill - s.token));
  const double unseen = 0.5 * (r.poll_steps - 1) * s.token;  // until the scheduler looks
  const double own = chunks * s.with_prefill;
  const double slot = waiting > 0 && s.requests_per_s > 0 ? waiting / s.requests_per_s : 0;
  return r.costs.server + r.costs.server_token * n.prompt + step_in_progress + unseen + own + s.queue + slot;
}

Interval interval(double mid, Spread spread) noexcept {
  return {mid * spread.low, mid, mid * spread.high};
}

struct Activity : perf::DeviceActivity {
  void add(const StepTime& t, double times) {
    flops += t.powered_flops() * times;
    bytes += t.bytes * times;
    seconds += t.seconds * times;
    waiting += t.waiting() * times;
  }
};

Bound bound_of(const StepTime& t) noexcept {
  const double busiest = std::max({t.compute, t.memory, t.network, t.fixed});
  if (busiest == t.memory) return Bound::memory_bandwidth;
  if (busiest == t.compute) return Bound::compute;
  const auto of = [&](Term term) { return t.terms[static_cast<std::size_t>(term)]; };
  if (busiest == t.network) return of(Term::scale_out) > of(Term::scale_up) ? Bound::scale_out : Bound::scale_up;
  const double host = of(Term::host) + of(Term::offload);
  return host > 0.5 * t.fixed ? Bound::host : Bound::latency;
}

class Evaluation {
 public:
  Evaluation(const ResolvedInference& r, const InferenceLoad& load) noexcept
      : r_(r), load_(with_what_is_kept(r, load)), n_(lengths_of(load_)) {}

  InferenceOutcome run() noexcept {
    if (r_.reason != Reason::none) {
      out_.reason = r_.reason;
      out_.short_by = r_.short_by;
      if (r_.reason == Reason::out_of_memory) out_.estimate.memory_bytes = memory_parts();
      return out_;
    }
    if (!(load_.isl >= 0 && load_.osl >= 1 && load_.batch >= 1 && load_.prefix_hit >= 0 && load_.prefix_hit < 1)) {
      out_.reason = Reason::bad_value;
      return out_;
    }
    memory();
    if (out_.reason != Reason::none) return out_;
    switch (load_.mode) {
      case LoadMode::prefill:
        prefill();
        break;
      case LoadMode::fixed_batch:
        fixed_batch();
        break;
      case LoadMode::offline:
        steady(std::max(load_.concurrency, 0.0), true);
        break;
      case LoadMode::closed_loop:
        steady(std::max(load_.concurrency, 1.0), load_.queued);
        break;
      case LoadMode::decode:
        decode();
        break;
      case LoadMode::open_loop:
        open_loop();
        break;
    }
    return out_;
  }

 private:
  [[nodiscard]] Spread spread(Metric metric) const {
    return r_.spread[static_cast<std::size_t>(load_.mode)][static_cast<std::size_t>(metric)];
  }
  [[nodiscard]] Interval with_spread(double mid, Metric metric) const { return interval(mid, spread(metric)); }

  [[nodiscard]] std::array<double, kMemoryParts> memory_parts() const noexcept {
    return {r_.weight_bytes, std::max(0.0, r_.kv_pool_bytes), r_.activation_bytes, r_.buffer_bytes, r_.reserve_bytes};
  }

  void memory() noexcept {
    InferenceEstimate& e = out_.estimate;
    const double each = perf::kv_bytes(r_, std::max(1.0, n_.prompt + n_.osl));
    e.memory_bytes = memory_parts();
    if (r_.kv_pool_bytes < each) {
      out_.reason = Reason::out_of_memory;
      out_.short_by = each - r_.kv_pool_bytes;
      return;
    }
    if (each <= 0) {  // nothing is cached
      e.max_batch = r_.max_sequences * replicas();
      return;
    }
    e.max_batch = std::floor(r_.kv_pool_bytes / each) * replicas();
    const double thousand = perf::kv_bytes(r_, 1000);
    e.kv_capacity_tokens = r_.kv_pool_bytes / thousand * 1000;
  }

  /// Requests that come by themselves do not come together.
  [[nodiscard]] Company company(double offered, bool queue_never_empty) const {
    if (queue_never_empty || load_.mode == LoadMode::open_loop) return {.in_rounds = in_rounds()};
    const double rounds = load_.concurrency > 0 ? load_.requests / load_.concurrency : 0;
    // A benchmark's clients start together, and keep in step if their answers are of one length. A service's do not.
    const bool in_step = load_.exact || load_.requests > 0;
    return {std::max(0.0, 1 - 1 / offered), rounds, length_range(load_), in_step};
  }

  /// Sequences of one replica out of those of the whole deployment.
  [[nodiscard]] double replicas() const { return r_.gpus / (r_.tp * r_.pp); }

  void finish(const StepTime& decode, const StepTime& prefill, const Activity& activity, double requests_per_s,
              double decode_seconds, double prefill_seconds) noexcept {
    InferenceEstimate& e = out_.estimate;
    e.decode_terms_s = decode.terms;
    e.prefill_terms_s = prefill.terms;
    e.decode_step_s = with_spread(decode.seconds, Metric::tpot);
    const double rate = requests_per_s * replicas();
    // Throughput varies inversely with time: the same multipliers, the other way round.
    e.output_tokens_per_s = with_spread(rate * n_.osl, Metric::output_tok_s);
    e.total_tokens_per_s = with_spread(rate * (n_.osl + n_.prompt), Metric::output_tok_s);
    const double watts = perf::device_power(r_.device, r_.power, activity) * r_.gpus;
    e.power_w = with_spread(watts, Metric::power);
    if (rate > 0) e.joules_per_output_token = with_spread(watts / (rate * n_.osl), Metric::joules);
    const double seconds = decode_seconds + prefill_seconds;
    e.prefill_share = seconds > 0 ? prefill_seconds / seconds : 0;
    e.bound = bound_of(decode_seconds >= prefill_seconds ? decode : prefill);
  }

  void prefill() noexcept {
    InferenceEstimate& e = out_.estimate;
    const Phase p = prefill_phase(r_, load_, n_, load_.batch / replicas());
    e.prefill_s = with_spread(p.seconds, Metric::prefill);
    e.ttft_s = e.prefill_s;
    e.e2e_s = e.prefill_s;
    Activity a;
    a.add(p.last, p.steps);
    finish(StepTime{}, p.last, a, load_.batch / replicas() / p.seconds, 0, p.seconds);
    e.running_batch = load_.batch / replicas();
  }

  void fixed_batch() noexcept {
    InferenceEstimate& e = out_.estimate;
    const double per_replica = std::max(1.0, load_.batch / replicas());
    const double running = std::max(1.0, std::min(per_replica, cache_limit(r_, load_, n_)));
    const double waves = per_replica / running;
    Phase p;
    if (n_.isl > 0) p = prefill_phase(r_, load_, n_, running);
    const double gain = tokens_per_step(load_);
    const StepTime d = decode_step(r_, load_, running, mean_context(r_, n_));
    const double decoding = n_.decoded * d.seconds / gain;
    const double seconds = waves * (p.seconds + decoding);
    e.running_batch = running;
    e.prefill_s = with_spread(p.seconds, Metric::prefill);
    e.ttft_s = with_spread(p.seconds + (waves - 1) * 0.5 * (p.seconds + decoding), Metric::ttft);
    e.tpot_s = with_spread(d.seconds / gain, Metric::tpot);
    e.itl_s = e.tpot_s;
    e.e2e_s = with_spread(seconds, Metric::output_tok_s);
    Activity a;
    a.add(p.last, p.steps);
    a.add(d, n_.decoded / gain);
    finish(d, p.last, a, per_replica / std::max(seconds, 1e-12), decoding, p.seconds);
  }

  /// Nothing but decoding; what it takes to bring the prompts in stands beside it.
  void decode() noexcept {
    InferenceEstimate& e = out_.estimate;
    const double running = std::max(1.0, load_.batch / replicas());
    const double gain = tokens_per_step(load_);
    const StepTime d = decode_step(r_, load_, running, mean_context(r_, n_));
    Phase p;
    if (n_.isl > 0) p = prefill_phase(r_, load_, n_, running);
    e.running_batch = running;
    e.prefill_s = with_spread(p.seconds, Metric::prefill);
    e.ttft_s = e.prefill_s;
    e.tpot_s = with_spread(d.seconds / gain, Metric::tpot);
    e.itl_s = e.tpot_s;
    e.e2e_s = with_spread(n_.osl * d.seconds / gain, Metric::tpot);
    Activity a;
    a.add(d, 1);
    finish(d, p.last, a, running * gain / (d.seconds * n_.osl), d.seconds, 0);
  }

  /// Requests that come by themselves: as many are under way as Little's law asks for at their rate, without end. What
  /// a run of so many requests sees, with its ramp, its queue and its end, only the simulator says.
  void open_loop() noexcept {
    if (!(load_.rate > 0)) {
      out_.reason = Reason::bad_value;
      return;
    }
    constexpr double kManyClients = 1e5;
    const auto served = [&](double clients) {
      steady(clients, false);
      return out_.estimate.output_tokens_per_s.mid / n_.osl;
    };
    double clients = 1;
    double rate = served(clients);
    if (rate < load_.rate) {
      double low = 1;
      double high = kManyClients;
      rate = served(clients = high);
      for (int i = 0; i < kMaxIterations && rate > load_.rate && high > 1.01 * low; ++i) {
        clients = std::sqrt(low * high);
        (served(clients) < load_.rate ? low : high) = clients;
      }
      rate = served(clients = high);
    }
    InferenceEstimate& e = out_.estimate;
    const double share = std::min(rate, load_.rate) / std::max(rate, 1e-12);
    for (Interval* i : {&e.output_tokens_per_s, &e.total_tokens_per_s}) {
      *i = {i->low * share, i->mid * share, i->high * share};
    }
  }

  void steady(double clients, bool queue_never_empty) noexcept {
    InferenceEstimate& e = out_.estimate;
    // Who sends more requests at once than the engine runs by default is taken to have raised its limit.
    const double engine_limit = r_.sequences_said ? r_.max_sequences : std::max(r_.max_sequences, clients / replicas());
    const double places = std::max(1.0, std::min(engine_limit, cache_limit(r_, load_, n_)));
    const double limit = std::min(places, prefill_limit(r_, load_, n_));
    const double offered = clients > 0 ? clients / replicas() : limit;
    const double queued = load_.mode == LoadMode::offline && load_.requests > 0 ? load_.requests / replicas() : 0;
    double running = std::min(limit, std::max(offered, 1.0));
    if (queued > 0) running = std::min(running, std::max(queued, 1.0));
    const Company around = company(std::max(offered, 1.0), queue_never_empty);
    Steady s;
    double ttft = 0;
    if (queue_never_empty) {
      s = steady_state(r_, load_, n_, running, around);
      ttft = ttft_of(r_, n_, s, 0);
    } else {
      // Little's law over one replica: clients = running + request rate x time to first token. Regula falsi (Illinois).
      const double answering = n_.decoded > 0 ? 1 : 0;  // with one token to answer, nobody runs on after the first
      const auto surplus = [&](double sequences) {
        s = steady_state(r_, load_, n_, sequences, around);
        ttft = ttft_of(r_, n_, s, 0);
        return answering * sequences + s.requests_per_s * ttft - offered;
      };
      double high = running;
      double above = surplus(high);
      if (above > 0) {
        double low = 0;
        double below = -offered;
        for (int i = 0; i < kMaxIterations; ++i) {
          running = (low * above - high * below) / (above - below);
          const double here = surplus(running);
          if (std::fabs(here) < kClosed * offered) break;
          if (here > 0) {
            high = running;
            above = here;
            below *= 0.5;
          } else {
            low = running;
            below = here;
            above *= 0.5;
          }
        }
      }
      const double waiting = std::max(0.0, offered - answering * running - s.requests_per_s * ttft);
      ttft = ttft_of(r_, n_, s, waiting);
    }
    e.running_batch = running;
    const double alone =
        n_.isl > 0 ? prefill_phase(r_, load_, n_, 1).seconds : std::numeric_limits<double>::quiet_NaN();
    e.prefill_s = with_spread(alone, Metric::prefill);  // nothing, where nothing is prefilled
    // The bound of a first token is its own prompt: for whom it waits is a matter of order, not of the datasheet.
    const double first = r_.ideal && alone < ttft ? alone : ttft;
    e.ttft_s = with_spread(first, Metric::ttft);
    e.tpot_s = with_spread(s.token, Metric::tpot);
    e.itl_s = with_spread(median_step(s, running) / tokens_per_step(load_), Metric::tpot);
    e.e2e_s = with_spread(first + n_.decoded * s.token, Metric::tpot);
    Activity a;
    a.add(s.decode_time, 1 - s.share);
    a.add(s.prefill_time, s.share);
    const double rounds = load_.mode == LoadMode::closed_loop ? around.rounds : 0;
    double at_work = rounds > 0 ? rounds / (rounds + drain(load_)) : 1;
    if (queued > 0) at_work = queued / s.requests_per_s / seconds_of_queue(std::max(queued, 1.0), limit);
    finish(s.decode_time, s.prefill_time, a, s.requests_per_s * at_work, (1 - s.share) * s.decode,
           s.share * s.with_prefill);
  }

  /// A queue that is sent at once and not filled up again: answers of one length end as they began.
  [[nodiscard]] bool in_rounds() const noexcept {
    return load_.mode == LoadMode::offline && load_.requests > 0 && load_.length_low == 1 && load_.natural_text == 0;
  }

  /// Seconds that `requests` of a replica take in rounds of `places`; the last round has what is left over. While the
  /// first one fills the places, and while the last one empties them, half of them stand empty on average.
  [[nodiscard]] double seconds_of_rounds(double requests, double places, const Company& around) const noexcept {
    const auto seconds_of = [&](double sequences) {
      return sequences / steady_state(r_, load_, n_, sequences, around).requests_per_s;
    };
    const double rounds = std::floor(requests / places + kClosed);
    const double rest = requests - rounds * places;
    const bool more = rest > kClosed * places;
    const double last = more ? std::max(rest, 1.0) : places;
    double seconds = rounds > 0 ? rounds * seconds_of(places) : 0;
    if (more) seconds += seconds_of(last);
    if (n_.isl > 0 && n_.decoded > 0) {
      const double room = std::max(r_.max_tokens - 0.5 * places / r_.pp, 16.0);
      const double steps = std::max(1.0, last * n_.isl / room / r_.pp);
      seconds += steps * decode_step(r_, load_, 0.5 * last, mean_context(r_, n_)).seconds;
    }
    return seconds;
  }

  /// The same where memory says how many places there are: what other uses leave of it is known to a tenth, and a
  /// place less may be a round more.
  [[nodiscard]] double seconds_of_queue(double requests, double places) const noexcept {
    if (!in_rounds()) return requests / steady_state(r_, load_, n_, std::min(places, requests), {}).requests_per_s;
    double sum = 0;
    for (int i = -kPlacesEachWay; i <= kPlacesEachWay; ++i) {
      const double here = places * (1 + kPlacesKnown * i / kPlacesEachWay);
      sum += seconds_of_rounds(requests, std::max(1.0, std::min(here, requests)), {.in_rounds = true});
    }
    return sum / (2 * kPlacesEachWay + 1);
  }

  /// The median step: fewer prompts ride along than on average. Prompts joining a step are a Poisson number of lengths
  /// that differ; their sum is nearly a gamma of shape k, whose median is (1 - 1/9k)^3 of its mean (Wilson-Hilferty).
  [[nodiscard]] double median_step(const Steady& s, double running) const noexcept {
    if (s.share <= 0) return s.decode;
    const double joining = running / r_.pp * tokens_per_step(load_) / n_.osl;
    const double shape = joining / (1 + (load_.natural_text > 0 ? kTextLengthVariance : 0));
    const double root = std::max(0.0, 1 - 1 / (9 * shape));
    const double tokens = std::min(s.share * s.chunk * root * root * root, s.chunk);
    if (tokens < 1) return s.decode;
    const bool together = r_.batching == Batching::mixed && n_.decoded > 0;
    const StepTime t = mixed_step(r_, load_, n_, together ? running : 0, mean_context(r_, n_), tokens);
    return t.seconds + (together ? 0 : s.decode);
  }

  const ResolvedInference& r_;
  const InferenceLoad load_;
  const Lengths n_;
  InferenceOutcome out_;
};

}  // namespace

InferenceOutcome evaluate(const ResolvedInference& deployment, const InferenceLoad& load) noexcept {
  if (deployment.device.power_cap > 0) return evaluate(perf::within_cap(deployment, load), load);
  return Evaluation(deployment, load).run();
}

}  // namespace ridge
