#include "serve/engine/step_clock.hpp"

#include <algorithm>

namespace ridge::serve {

StepClock::StepClock(const StepModel& model, const EngineShape& shape)
    : model_(model), shape_(shape), drafts_(shape.draft_tokens, shape.acceptance) {}

perf::Step StepClock::lane(std::uint32_t sequences, double context) const {
  perf::Step step;
  step.decode = sequences > 0 ? std::max(1.0, sequences / shape_.lanes) : 0;
  step.tokens_each = 1 + shape_.draft_tokens;
  step.context = context;
  return step;
}

StepClock::Knot& StepClock::fill(std::uint32_t sequences, std::int64_t bucket) {
  if (sequences >= rows_.size()) rows_.resize(sequences + 1);
  std::vector<Knot>& row = rows_[sequences];
  const auto at = static_cast<std::size_t>(bucket);
  if (at >= row.size()) row.resize(at + 1 + at / 4);
  Knot& k = row[at];
  if (k.nanoseconds < 0) {
    // A knot at no context at all is the one of a single token: some kernels have no time for nothing.
    const perf::StepTime t = model_.step(lane(sequences, std::max(1.0, static_cast<double>(bucket * kSpan))));
    k.nanoseconds = std::max<Ticks>(1, nanoseconds_of(t.seconds));
    k.flops = static_cast<float>(t.powered_flops());
    k.bytes = static_cast<float>(t.bytes);
    k.waiting = static_cast<float>(t.waiting());
  }
  return k;
}

Ticks StepClock::decode_run(std::uint32_t sequences, std::int64_t context, std::uint64_t steps) {
  Ticks sum = 0;
  while (steps > 0) {
    const Segment s = segment(sequences, context);
    const std::uint64_t n = std::min(s.count, steps);
    sum += s.sum(n);
    steps -= n;
    context += static_cast<std::int64_t>(n);
  }
  return sum;
}

std::uint64_t StepClock::steps_until(std::uint32_t sequences, std::int64_t context, std::uint64_t steps,
                                     Ticks elapsed) {
  std::uint64_t before = 0;
  while (before < steps) {
    const Segment s = segment(sequences, context);
    const std::uint64_t n = std::min(s.count, steps - before);
    const Ticks whole = s.sum(n);
    if (whole >= elapsed) {
      std::uint64_t low = 0;  // sum(low) < elapsed <= sum(high)
      std::uint64_t high = n;
      while (low + 1 < high) {
        const std::uint64_t mid = (low + high) / 2;
        (s.sum(mid) >= elapsed ? high : low) = mid;
      }
      return std::max<std::uint64_t>(1, before + high);
    }
    elapsed -= whole;
    before += n;
    context += static_cast<std::int64_t>(n);
  }
  return steps;
}

StepClock::Mixed StepClock::timed(std::uint32_t sequences, double context, const PrefillShape& prefill) const {
  perf::Step step = lane(sequences, std::max(1.0, context));
  step.decode = sequences / shape_.lanes;
  // Prompts go to lanes whole: a lane has its share of the tokens, and one of them at least the longest part.
  const double tokens = std::max(prefill.longest, prefill.tokens / shape_.lanes);
  step.prefill = tokens;
  step.prompts = std::max(1.0, prefill.prompts * tokens / prefill.tokens);
  step.prefill_length = tokens / step.prompts;
  // The context at which prompts of equal length make the same number of pairs: length x (context - length / 2) each.
  step.prefill_context = std::max(step.prefill_length, prefill.pairs / prefill.tokens + 0.5 * step.prefill_length);
  if (shape_.expert_lanes > 1) {
    step.expert_tokens = (prefill.tokens + sequences * step.tokens_each) * shape_.expert_lanes / shape_.lanes;
  }
  const perf::StepTime t = model_.step(step);
  return {t.seconds, t.powered_flops(), t.bytes, t.waiting()};
}

const StepClock::Mixed& StepClock::mixed_knot(std::uint64_t shape, std::uint32_t sequences, std::int64_t bucket,
                                              const PrefillShape& prefill) {
  const std::uint64_t key = (shape << kSequenceBits | sequences) << kBucketBits | static_cast<std::uint64_t>(bucket);
  const auto [at, is_new] = mixed_.try_emplace(key);
  if (is_new) at->second = timed(sequences, static_cast<double>(bucket * kSpan), prefill);
  return at->second;
}

StepClock::Mixed StepClock::mixed_at(std::uint32_t sequences, std::int64_t context, const PrefillShape& prefill) {
  const std::int64_t bucket = context / kSpan;
  const bool fits = (sequences >> kSequenceBits) == 0 && ((bucket + 1) >> kBucketBits) == 0;
  const auto known = shapes_.find(prefill);
  if (known == shapes_.end() || !fits) {
    if (shapes_.size() < kMostShapes && fits) shapes_.emplace(prefill, shapes_.size());
    return timed(sequences, static_cast<double>(context), prefill);
  }
  const Mixed low = mixed_knot(known->second, sequences, bucket, prefill);
  const std::int64_t offset = context - bucket * kSpan;
  if (offset == 0) return low;
  const Mixed& high = mixed_knot(known->second, sequences, bucket + 1, prefill);
  const double share = static_cast<double>(offset) / kSpan;
  const auto between = [share](double a, double b) { return a + share * (b - a); };
  return {between(low.seconds, high.seconds), between(low.flops, high.flops), between(low.bytes, high.bytes),
          between(low.waiting, high.waiting)};
}

Ticks StepClock::mixed(std::uint32_t sequences, std::int64_t context, const PrefillShape& prefill, Work& work) {
  const Mixed t = mixed_at(sequences, sequences > 0 ? context : 0, prefill);
  work.flops += t.flops;
  work.bytes += t.bytes;
  work.seconds += t.seconds;
  work.waiting += t.waiting;
  return std::max<Ticks>(1, nanoseconds_of(t.seconds)) * kTicksPerNanosecond;
}

void StepClock::add_work(std::uint32_t sequences, std::int64_t context, std::uint64_t steps, Ticks ticks, Work& work) {
  const Knot& k = knot(sequences, (context + static_cast<std::int64_t>(steps / 2)) / kSpan);
  const auto times = static_cast<double>(steps);
  work.flops += times * static_cast<double>(k.flops);
  work.bytes += times * static_cast<double>(k.bytes);
  work.waiting += times * static_cast<double>(k.waiting);
  work.seconds += to_seconds(ticks);
}

}  // namespace ridge::serve
