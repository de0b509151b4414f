// An engine over time: what the step in progress did, and which one follows.
#include "serve/engine/engine.hpp"

#include <algorithm>
#include <cassert>

namespace ridge::serve {

Engine::Engine(std::uint32_t index, Role role, const EngineShape& shape, StepClock& clock, const Batching& batching,
               const Preemption& preemption, EngineShared& shared)
    : index_(index),
      role_(role),
      shape_(shape),
      clock_(clock),
      batching_(batching),
      preemption_(preemption),
      shared_(shared),
      pool_(shared.pool),
      blocks_(shape.blocks, shape.block_tokens) {}

void Engine::enqueue(Slot slot, Ticks now) {
  Request& r = pool_[slot];
  r.engine = index_;
  r.queued = now;
  if (!r.prefilled && !r.swapped) r.target = r.input + r.generated;
  weakest_ = std::max<int>(weakest_, r.priority);
  waiting_[r.priority].push_back(slot);
  ++waiting_count_;
  shared_.host.queue_changed(1, now);
  if (run_.end == kNever) {
    wake(now);
  } else if (run_.steps > 1 && could_admit()) {
    cut_run(now);
  }
}

Ticks Engine::run_ticks(std::int64_t from, std::uint64_t steps) const {
  if (grows_evenly()) return clock_.decode_run(static_cast<std::uint32_t>(decoding_), context_after(from), steps);
  Ticks sum = 0;
  for (const auto end = from + static_cast<std::int64_t>(steps); from < end; ++from) sum += step_ticks(from);
  return sum;
}

std::uint64_t Engine::steps_until(std::uint64_t steps, Ticks elapsed) const {
  if (grows_evenly()) return clock_.steps_until(static_cast<std::uint32_t>(decoding_), context(), steps, elapsed);
  std::uint64_t made = 0;
  for (Ticks passed = 0; made < steps && (passed < elapsed || made == 0); ++made) {
    passed += step_ticks(static_cast<std::int64_t>(made));
  }
  return made;
}

void Engine::cut_run(Ticks now) {
  std::uint64_t steps = steps_until(run_.steps, now - run_.start);
  if (shape_.overlapped_host) ++steps;
  const std::uint64_t beyond = (unpolled_ + steps) % shape_.poll_steps;
  if (beyond > 0) steps += shape_.poll_steps - beyond;
  if (steps >= run_.steps) return;
  run_.steps = steps;
  run_.end = run_.start + run_ticks(0, steps);
}

void Engine::advance() {
  const Ticks now = run_.end;
  now_ = now;
  const double before = static_cast<double>(blocks_.used());
  const std::int64_t took_part = running_;
  const std::uint32_t decoded = run_.decode ? static_cast<std::uint32_t>(decoding_) : 0;
  if (decoded > 0) commit_decode(now);
  const double capacity = static_cast<double>(std::max<std::int64_t>(1, blocks_.total()));
  const double after = static_cast<double>(blocks_.used());
  shared_.peak_kv = std::max(shared_.peak_kv, after / capacity);
  shared_.series.level(Track::running, static_cast<double>(took_part), run_.start, now);
  shared_.series.level(Track::kv, 0.5 * (before + after) / capacity, run_.start, now);
  shared_.steps += run_.steps;
  if (shared_.observer != nullptr) {
    shared_.observer->steps({index_, run_.start, now, run_.steps, decoded, run_.prefill_tokens,
                             static_cast<std::uint32_t>(waiting_count_), after / capacity});
  }
  const bool decode = run_.decode;
  if (gathering_) gathered_ += run_.steps;
  look_for_requests();
  complete(now);
  if (decode) {
    gaps_.clear();
    if (decoding_ > 0) gaps_.push_back({static_cast<std::uint64_t>(decoding_), now});
  }
  if (!plan_.parts.empty()) commit_prefill(now);
  check();
  if (shared_.live != nullptr) {
    for (Slot slot = oldest_; slot != kNoSlot; slot = pool_[slot].younger) {
      if (const std::uint32_t out = generated_now(pool_[slot]); out > 0) shared_.live->tokens(pool_[slot].id, out);
    }
  }
  schedule(now);
}

void Engine::look_for_requests() {
  unpolled_ += run_.steps;
  const bool prompts = run_.prefill_tokens > 0;  // after them it looks at once
  if (!prompts && unpolled_ < shape_.poll_steps) return;
  unpolled_ = prompts ? 0 : unpolled_ % shape_.poll_steps;
  // The run is committed: the context is that of the step to come.
  const auto behind = static_cast<std::int64_t>(unpolled_);
  seen_ = run_.end - run_ticks(-behind, unpolled_);
  if (!shape_.overlapped_host) return;
  // The step after the look was put together when the one before it started.
  seen_ = run_.steps == unpolled_ + 1 ? run_.start : seen_ - step_ticks(-behind - 1);
}

void Engine::commit_decode(Ticks now) {
  const auto sequences = static_cast<std::uint32_t>(decoding_);
  if (grows_evenly() || run_.steps == 1) {
    record_gaps(now);
    if (run_.prefill_tokens == 0) clock_.add_work(sequences, context(), run_.steps, now - run_.start, work_);
  } else {
    for (std::uint64_t i = 0; i < run_.steps; ++i) {
      const std::int64_t at = context_after(static_cast<std::int64_t>(i));
      const Ticks length = clock_.decode(sequences, at);
      if (i > 0) shared_.gaps.add(length, sequences);
      for (std::size_t g = 0; i == 0 && g < gaps_.size(); ++g) {
        shared_.gaps.add(run_.start + length - gaps_[g].since, gaps_[g].sequences);
      }
      clock_.add_work(sequences, at, 1, length, work_);
    }
  }
  take_blocks(blocks_.need(counter_, run_.steps));
  counter_ += run_.steps;
  const std::int64_t grown = growth_scaled_ * static_cast<std::int64_t>(run_.steps);
  tokens_scaled_ += grown;
  const double tokens = static_cast<double>(grown) / (1 << kScaleBits);
  shared_.series.level(Track::tokens, tokens / static_cast<double>(now - run_.start), run_.start, now);
}

void Engine::record_gaps(Ticks now) {
  const auto sequences = static_cast<std::uint32_t>(decoding_);
  std::int64_t at = context();
  const Ticks first = run_.steps == 1 ? now : run_.start + clock_.decode(sequences, at);
  for (const Gap& gap : gaps_) shared_.gaps.add(first - gap.since, gap.sequences);
  std::uint64_t left = run_.steps - 1;
  ++at;
  while (left > 0) {
    const StepClock::Segment s = clock_.segment(sequences, at);
    std::uint64_t count = std::min(s.count, left);
    left -= count;
    at += static_cast<std::int64_t>(count);
    Ticks length = s.first;
    while (count > 0) {  // steps that fall into one bin together
      std::uint64_t same = count;
      if (s.slope > 0) {
        const Ticks edge = LatencyDistribution::edge(LatencyDistribution::bin(length) + 1);
        same = std::min<std::uint64_t>(count, static_cast<std::uint64_t>((edge - length + s.slope - 1) / s.slope));
      } else if (s.slope < 0) {
        same = 1;
      }
      const auto steps = static_cast<Ticks>(same);
      const Ticks middle = length + s.slope * (steps - 1) / 2;
      shared_.gaps.add(middle, same * sequences);
      length += s.slope * steps;
      count -= same;
    }
  }
}

void Engine::commit_prefill(Ticks now) {
  std::uint64_t joined = 0;
  double tokens = 0;
  for (const StepPlan::Part& part : plan_.parts) {
    Request& r = pool_[part.slot];
    r.tokens += part.tokens;
    if (r.tokens < r.target) continue;
    publish_prefix(r);
    ++r.generated;
    tokens += 1;
    const bool first = r.first_token < 0;
    const Ticks since = first ? r.arrival : r.last_token;
    const Ticks patience = first ? shared_.ttft_timeout : shared_.idle_timeout;
    if (!first) shared_.gaps.add(now - since, 1);
    if (patience > 0 && now - since > patience) {  // the client has left meanwhile
      remove_running(part.slot);
      give_blocks(part.slot, false);
      r.target = 0;
      shared_.host.dropped(part.slot, since + patience, RequestRecord::End::timed_out);
      continue;
    }
    if (first) r.first_token = now;
    r.last_token = now;
    if (r.generated >= r.output) {
      remove_running(part.slot);
      give_blocks(part.slot, true);
      shared_.host.finished(part.slot, now);
    } else if (role_ == Role::prefill) {
      remove_running(part.slot);
      pending_blocks_ += blocks_held(r) - r.shared_blocks;
      shared_.host.finished(part.slot, now);
    } else {
      r.steps_left = decode_steps(r);
      join_decode(part.slot);
      ++joined;
    }
  }
  if (joined > 0) gaps_.push_back({joined, now});
  shared_.series.count(Track::tokens, tokens, now - 1);
  // Slots of those that ended may be in use again, but never in this list.
  std::size_t kept = 0;
  std::size_t next_part = 0;
  for (const Slot slot : prefilling_) {
    const bool in_step = next_part < plan_.parts.size() && plan_.parts[next_part].slot == slot;
    const bool done = in_step && plan_.parts[next_part].last;
    if (in_step) ++next_part;
    if (!done) prefilling_[kept++] = slot;
  }
  prefilling_.resize(kept);
  plan_.parts.clear();
}

void Engine::complete(Ticks now) {
  while (!finishes_.empty() && finishes_.front().counter <= counter_) {
    const Finish top = finishes_.front();
    std::pop_heap(finishes_.begin(), finishes_.end());
    finishes_.pop_back();
    Request& r = pool_[top.slot];
    if (r.finish != top.counter || static_cast<std::uint32_t>(r.id) != top.order || r.engine != index_) continue;
    const std::uint32_t tokens = tokens_now(r);
    leave_decode(top.slot);
    r.tokens = tokens;
    remove_running(top.slot);
    r.generated = r.output;
    r.target = r.tokens;
    give_blocks(top.slot, true);
    shared_.host.finished(top.slot, now);
  }
}

void Engine::schedule(Ticks now) {
  now_ = now;
  plan_.parts.clear();
  plan_.decode = true;
  gathering_ = false;
  batching_.plan(*this, plan_);
  if (plan_.parts.empty() && decoding_ == 0 && waiting_count_ > 0 && seen_ < now) {
    seen_ = now;  // nothing runs that a step could have been put together beside
    unpolled_ = 0;
    plan_.decode = true;
    batching_.plan(*this, plan_);
  }
  if (!plan_.parts.empty()) {
    plan_mixed(now);
  } else if (decoding_ > 0) {
    plan_run(now);
  } else {
    run_ = Run{};
    stall_ = 0;
  }
}

void Engine::plan_mixed(Ticks now) {
  PrefillShape shape;
  for (const StepPlan::Part& part : plan_.parts) {
    const Request& r = pool_[part.slot];
    const double q = part.tokens;
    shape.tokens += q;
    shape.prompts += 1;
    shape.pairs += q * (r.tokens + 0.5 * q);
    shape.longest = std::max(shape.longest, q);
  }
  const auto sequences = plan_.decode ? static_cast<std::uint32_t>(decoding_) : 0;
  const Ticks length = stall_ + clock_.mixed(sequences, plan_.decode ? context() : 0, shape, work_);
  stall_ = 0;
  run_ = {now, now + length, 1, plan_.decode, static_cast<std::uint32_t>(shape.tokens)};
}

void Engine::plan_run(Ticks now) {
  const auto valid = [&](const Finish& f) {
    const Request& r = pool_[f.slot];
    return r.finish == f.counter && static_cast<std::uint32_t>(r.id) == f.order && r.engine == index_;
  };
  while (!valid(finishes_.front())) {
    std::pop_heap(finishes_.begin(), finishes_.end());
    finishes_.pop_back();
  }
  std::uint64_t steps = finishes_.front().counter - counter_;
  const bool one = shared_.step_by_step || stall_ > 0 || (shared_.ttft_timeout > 0 && waiting_count_ > 0);
  if (one) {
    steps = 1;
  } else if (somebody_is_unseen()) {
    steps = std::min(steps, shape_.poll_steps - unpolled_);
  }
  if (gathering_) steps = std::min(steps, shape_.gather_steps - gathered_);
  steps = std::max<std::uint64_t>(1, blocks_.steps_that_fit(counter_, steps, cache_.evictable()));
  const Ticks length = stall_ + run_ticks(0, steps);
  stall_ = 0;
  run_ = {now, now + length, steps, true, 0};
}

std::vector<Slot> Engine::fail(Ticks now) {
  if (run_.steps > 1) {  // the steps of the run that had ended by then were made
    std::uint64_t made = steps_until(run_.steps, now - run_.start);
    if (run_.start + run_ticks(0, made) > now) --made;
    run_.steps = made;
    if (made > 0) commit_decode(run_.start + run_ticks(0, made));
    shared_.steps += made;
  }
  std::vector<Slot> lost;
  for (Slot slot = oldest_; slot != kNoSlot; slot = pool_[slot].younger) lost.push_back(slot);
  for (auto& queue : waiting_) {
    shared_.host.queue_changed(-static_cast<int>(queue.size()), now);
    for (const Slot slot : queue) lost.push_back(slot);
    queue.clear();
  }
  for (const Slot slot : lost) {
    Request& r = pool_[slot];
    r.tokens = r.generated = r.steps_left = r.shared_blocks = r.held_keys = r.held_own = r.reserved = 0;
    r.finish = 0;
    r.first_token = r.last_token = -1;
    r.swapped = r.prefilled = false;
    r.older = r.younger = kNoSlot;
  }
  waiting_count_ = 0;
  running_ = decoding_ = tokens_scaled_ = growth_scaled_ = 0;
  prefilling_.clear();
  finishes_.clear();
  gaps_.clear();
  oldest_ = youngest_ = kNoSlot;
  blocks_ = BlockPool(shape_.blocks, shape_.block_tokens);
  cache_.clear();
  pending_blocks_ = 0;
  unpolled_ = gathered_ = 0;
  gathering_ = false;
  stall_ = 0;
  plan_.parts.clear();
  run_ = Run{};
  return lost;
}

void Engine::check() const {
#ifndef NDEBUG
  // Blocks are conserved: what requests hold, what the prefix cache holds and what waits to be sent is what is used.
  std::int64_t held = cache_.size() + pending_blocks_;
  std::int64_t tokens = 0;
  std::int64_t count = 0;
  for (Slot slot = oldest_; slot != kNoSlot; slot = pool_[slot].younger) {
    const Request& r = pool_[slot];
    held += blocks_held(r) - r.shared_blocks;
    ++count;
    if (r.finish != 0) {
      tokens += (static_cast<std::int64_t>(r.tokens) + 1) << kScaleBits;
      tokens += static_cast<std::int64_t>(r.rate) * static_cast<std::int64_t>(counter_ - r.joined);
    }
  }
  assert(held == blocks_.used());
  assert(tokens == tokens_scaled_);
  assert(count == running_);
#endif
}

}  // namespace ridge::serve
