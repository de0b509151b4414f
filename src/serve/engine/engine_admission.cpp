// Who is in an engine and what it holds: admission, blocks, the prefix cache, preemption.
#include <algorithm>
#include <bit>
#include <cassert>

#include "serve/engine/engine.hpp"

namespace ridge::serve {

namespace {

constexpr std::uint32_t kGroup = 4;  ///< blocks of a preempted request that are kept or evicted together

/// The key of a group of a request's own blocks that begin after `base` shared ones.
std::uint64_t own_key(const Request& r, std::uint32_t base, std::uint32_t group) {
  std::uint64_t x = (r.id + 1) * 0x9e3779b97f4a7c15ULL ^ (static_cast<std::uint64_t>(base) << 32 | group);
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ULL;
  return x ^ (x >> 32);
}

}  // namespace

bool Engine::can_ever_hold(const Request& r) const {
  const std::uint64_t tokens = static_cast<std::uint64_t>(r.input) + (role_ == Role::prefill ? 0 : r.output);
  return shape_.blocks_per_sequence + blocks_.blocks_of(tokens) <= blocks_.total();
}

Slot Engine::head() {
  for (auto& queue : waiting_) {
    while (!queue.empty()) {
      const Slot slot = queue.front();
      const Request& r = pool_[slot];
      if (r.queued > seen_) break;
      const bool left = shared_.ttft_timeout > 0 && r.first_token < 0 && now_ - r.arrival > shared_.ttft_timeout;
      if (!left) return slot;
      queue.pop_front();
      --waiting_count_;
      shared_.host.queue_changed(-1, now_);
      shared_.host.dropped(slot, r.arrival + shared_.ttft_timeout, RequestRecord::End::timed_out);
    }
  }
  return kNoSlot;
}

bool Engine::somebody_is_unseen() const {
  // Whoever is behind the head matters only where the head waits for others.
  for (const auto& queue : waiting_) {
    if (!queue.empty() && pool_[gathering_ ? queue.back() : queue.front()].queued > seen_) return true;
  }
  return false;
}

bool Engine::gathers() {
  gathering_ = gathered_ < shape_.gather_steps && decoding_ > 0 && prefilling_.empty() && head() != kNoSlot;
  if (!gathering_) return false;
  std::int64_t prompts = 0;
  std::int64_t tokens = decode_tokens();
  for (const auto& queue : waiting_) {
    for (const Slot slot : queue) {
      if (pool_[slot].queued > seen_) break;
      ++prompts;
      tokens += prompt_tokens(slot);
      if (prompts >= shape_.gather_prompts && tokens >= shape_.gather_tokens) return gathering_ = false;
    }
  }
  return true;
}

std::int64_t Engine::room(bool beside_decode) const {
  return blocks_.unused() + cache_.evictable() - (beside_decode ? blocks_.need(counter_, 1) : 0);
}

bool Engine::could_admit() const {
  if (!batching_.joins_running_batch()) return false;
  Slot slot = kNoSlot;  // the head of the queue, whether or not the scheduler knows it already
  for (const auto& queue : waiting_) {
    if (!queue.empty() && slot == kNoSlot) slot = queue.front();
  }
  if (slot == kNoSlot) return false;
  if (victim(pool_[slot].priority + 1) != kNoSlot) return true;
  if (running_ >= shape_.max_sequences) return false;
  if (cache_.size() > 0) return true;  // how much of it is there is seen when it is tried
  const Request& r = pool_[slot];
  return shape_.blocks_per_sequence + blocks_.blocks_of(std::max(r.target, r.tokens)) <= blocks_.unused();
}

Slot Engine::admit(bool beside_decode) {
  const Slot slot = head();
  if (slot == kNoSlot) return kNoSlot;
  while (running_ >= shape_.max_sequences) {
    const Slot weaker = victim(pool_[slot].priority + 1);
    if (weaker == kNoSlot) return kNoSlot;
    preempt(weaker);
  }
  Request& r = pool_[slot];
  const bool fresh = r.tokens < r.target;
  if (fresh) hold_prefix(r);
  const bool all = shape_.reserve_all && role_ != Role::prefill;
  const std::uint64_t tokens = all ? static_cast<std::uint64_t>(r.input) + r.output : std::max(r.target, r.tokens);
  const std::int64_t blocks = shape_.blocks_per_sequence + blocks_.blocks_of(tokens);
  while (blocks - r.shared_blocks > room(beside_decode)) {
    const Slot weaker = victim(r.priority + 1);
    if (weaker == kNoSlot) {
      give_prefix(r);
      if (fresh) r.tokens = 0;
      return kNoSlot;
    }
    preempt(weaker);
  }
  take_blocks(blocks - r.shared_blocks);
  r.reserved = all ? static_cast<std::uint32_t>(blocks) : 0;
  waiting_[r.priority].pop_front();
  --waiting_count_;
  shared_.host.queue_changed(-1, now_);
  if (r.scheduled < 0) {
    r.scheduled = now_;
    r.cached = r.tokens;
  }
  r.older = youngest_;
  r.younger = kNoSlot;
  (youngest_ == kNoSlot ? oldest_ : pool_[youngest_].younger) = slot;
  youngest_ = slot;
  ++running_;
  if (fresh) {
    gathered_ = 0;
    prefilling_.push_back(slot);
  } else {
    stall_ += preemption_.bring_back(r, shape_);
    if (r.steps_left == 0) r.steps_left = decode_steps(r);
    r.prefilled = false;
    gaps_.push_back({1, r.last_token});
    join_decode(slot);
  }
  return slot;
}

std::int64_t Engine::add_part(StepPlan& plan, Slot slot, std::int64_t budget) {
  const std::int64_t left = prompt_tokens(slot);
  const std::int64_t tokens = std::min(left, budget);
  plan.parts.push_back({slot, static_cast<std::uint32_t>(tokens), tokens == left});
  return tokens;
}

std::uint32_t Engine::tokens_now(const Request& r) const {
  if (r.finish == 0) return r.tokens;
  return r.tokens + static_cast<std::uint32_t>((r.rate * (counter_ - r.joined)) >> kScaleBits);
}

std::uint32_t Engine::generated_now(const Request& r) const {
  return std::min(r.output, r.generated + (tokens_now(r) - r.tokens));
}

std::int64_t Engine::blocks_held(const Request& r) const {
  if (r.reserved > 0) return r.reserved;
  return shape_.blocks_per_sequence + blocks_.blocks_of(std::max(r.target, tokens_now(r)));
}

void Engine::take_blocks(std::int64_t blocks) {
  if (blocks > blocks_.unused()) {
    evicted_.clear();
    blocks_.give_back(cache_.evict(blocks - blocks_.unused(), tiers_.empty() ? nullptr : &evicted_));
    if (!evicted_.empty()) put_away(evicted_);
  }
  blocks_.take(blocks);
}

void Engine::hold_prefix(Request& r) {
  if (!shared_.prefix_cache || (cache_.size() == 0 && tiers_.empty())) return;
  shared_.host.chunks_of(r, chunks_);
  const std::size_t found = cache_.match(chunks_);
  const auto block_tokens = static_cast<std::uint32_t>(shape_.block_tokens);
  std::uint32_t blocks = 0;
  bool enough = false;
  for (std::size_t i = 0; i < found && !enough; ++i) {
    const auto more = static_cast<std::uint32_t>(cache_.blocks(chunks_[i].key));
    // At least one token is always computed: its output is wanted.
    enough = (blocks + more) * block_tokens >= r.target;
    if (enough) break;
    blocks += more;
    cache_.hold(chunks_[i].key);
    ++r.held_keys;
  }
  if (!tiers_.empty() && !enough) {  // what was brought, or is there at once, becomes the request's own
    std::uint32_t brought = 0;
    expect(found);
    for (std::size_t i = found; i < chunks_.size(); ++i) {
      const Place place = place_of(chunks_[i]);
      const auto more = static_cast<std::uint32_t>(place.blocks);
      if (more == 0 || (blocks + brought + more) * block_tokens >= r.target) break;
      const bool at_once = place.tier == kOnDevice || (place.tier != kNoTier && tiers_[place.tier]->is_instant());
      if (i >= r.fetched_keys && !at_once) break;
      brought += more;
      r.fetched_keys = std::max(r.fetched_keys, static_cast<std::uint32_t>(i + 1));
    }
    if (brought > 0) {
      r.shared_blocks = blocks;
      r.tokens = (blocks + brought) * block_tokens;
      return;
    }
  }
  if (r.preemptions > 0) {  // what is left of its own blocks
    const std::uint32_t base = blocks;
    for (std::uint32_t group = 0; cache_.has(own_key(r, base, group)); ++group) {
      if ((blocks + kGroup) * static_cast<std::uint32_t>(shape_.block_tokens) >= r.target) break;
      cache_.hold(own_key(r, base, group));
      blocks += kGroup;
      ++r.held_own;
    }
  }
  r.shared_blocks = blocks;
  r.tokens = blocks * static_cast<std::uint32_t>(shape_.block_tokens);
}

void Engine::expect(std::size_t from) const {
  for (std::size_t i = from; i < chunks_.size(); ++i) {
    for (const TierStore* tier : tiers_) tier->expect(chunks_[i].key);
  }
}

Engine::Place Engine::place_of(const Chunk& chunk) const {
  if (const std::int64_t held = cache_.blocks(chunk.key); held > 0) return {kOnDevice, held};
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    if (const std::int64_t held = tiers_[i]->blocks(chunk.key); held > 0) return {i, held};
  }
  return {kNoTier, static_cast<std::int64_t>(chunk.tokens) / shape_.block_tokens};
}

std::int64_t Engine::blocks_of(const Chunk& chunk, bool brought) const {
  if (brought) return place_of(chunk).blocks;
  const std::int64_t held = cache_.blocks(chunk.key);
  return held > 0 ? held : static_cast<std::int64_t>(chunk.tokens) / shape_.block_tokens;
}

void Engine::share(std::uint64_t key, std::int64_t blocks, bool computed) {
  for (TierStore* tier : tiers_) {
    if (!tier->is_shared() || (!computed && !tier->fills())) continue;  // what was brought is still there
    evicted_.clear();
    tier->put(key, blocks, evicted_);
  }
}

void Engine::put_away(const std::vector<KeyedBlocks>& evicted) {
  leaving_ = evicted;
  for (TierStore* tier : tiers_) {
    if (tier->is_shared() && !tier->fills()) return;  // got it as it was computed, and keeps everything
    pushed_out_.clear();
    for (const KeyedBlocks& chunk : leaving_) tier->expect(chunk.key);
    for (const KeyedBlocks& chunk : leaving_) tier->put(chunk.key, chunk.blocks, pushed_out_);
    leaving_.swap(pushed_out_);
    if (leaving_.empty()) return;
  }
  for (const KeyedBlocks& chunk : leaving_) {
    tiers_.back()->result.lost_tokens += static_cast<std::uint64_t>(chunk.blocks * shape_.block_tokens);
  }
}

Ticks Engine::time_to_compute(std::uint64_t tokens, std::uint64_t context) {
  constexpr std::size_t kLogarithms = 64;
  if (compute_rates_.empty()) compute_rates_.assign(kLogarithms, 0);
  const std::uint64_t middle = context + tokens / 2;
  double& rate = compute_rates_[static_cast<std::size_t>(std::bit_width(middle))];
  if (rate == 0) {
    const double part = static_cast<double>(shape_.max_tokens);
    const double behind = static_cast<double>(middle);
    Work unused;
    rate = static_cast<double>(clock_.mixed(0, 0, {part, 1, part * (behind + 0.5 * part), part}, unused)) / part;
  }
  return static_cast<Ticks>(rate * static_cast<double>(tokens));
}

Ticks Engine::fetch_prefix(Slot slot, Ticks now) {
  Request& r = pool_[slot];
  r.fetched_keys = 0;
  if (tiers_.empty() || !shared_.prefix_cache || r.tokens > 0) return now;
  shared_.host.chunks_of(r, chunks_);
  std::size_t at = cache_.match(chunks_);
  expect(at);
  std::uint64_t context = 0;
  for (std::size_t i = 0; i < at; ++i) context += chunks_[i].tokens;
  Ticks there = now;
  const auto place_at = [&](std::size_t i) { return i < chunks_.size() ? place_of(chunks_[i]) : Place{}; };
  for (Place place = place_at(at); place.tier != kNoTier;) {  // runs of one tier, each brought or computed as a whole
    const std::size_t tier = place.tier;
    std::uint64_t tokens = 0;
    std::int64_t blocks = 0;
    std::size_t end = at;
    while (place.tier == tier) {
      tokens += chunks_[end].tokens;
      blocks += place.blocks;
      place = place_at(++end);
    }
    if (tier != kOnDevice) {
      TierStore& store = *tiers_[tier];
      if (!store.is_instant() && store.would_arrive(blocks, now) - now > time_to_compute(tokens, context)) {
        store.result.declined_tokens += tokens;
        break;
      }
      for (std::size_t i = at; i < end; ++i) store.touch(chunks_[i].key);
      store.result.fetched_tokens += tokens;
      there = std::max(there, store.fetch(blocks, now));
      r.fetched_keys = static_cast<std::uint32_t>(end);
    }
    context += tokens;
    at = end;
  }
  return there;
}

void Engine::keep_own_blocks(Request& r, std::uint32_t tokens) {
  if (!shared_.prefix_cache || r.reserved > 0) return;
  const std::uint32_t base = r.shared_blocks - r.held_own * kGroup;
  const std::uint32_t whole = tokens / static_cast<std::uint32_t>(shape_.block_tokens);
  if (whole <= base) return;  // the last of the shared blocks may be one that is not full
  const std::uint32_t groups = (whole - base) / kGroup;
  const std::uint32_t first = r.held_own;
  for (std::uint32_t group = first; group < groups; ++group) {
    if (cache_.has(own_key(r, base, group))) break;
    cache_.insert(own_key(r, base, group), kGroup, false);
    ++r.held_own;
    r.shared_blocks += kGroup;
  }
}

void Engine::publish_prefix(Request& r) {
  if (!shared_.prefix_cache || r.held_own > 0) return;  // its own blocks stand behind those that are shared
  shared_.host.chunks_of(r, chunks_);
  expect(r.held_keys);
  for (std::size_t i = r.held_keys; i < chunks_.size(); ++i) {
    if (cache_.has(chunks_[i].key)) return;
    const std::int64_t blocks = blocks_of(chunks_[i], i < r.fetched_keys);
    if (blocks == 0 || r.shared_blocks + blocks > blocks_held(r)) return;
    cache_.insert(chunks_[i].key, blocks);
    share(chunks_[i].key, blocks, i >= r.fetched_keys);
    ++r.held_keys;
    r.shared_blocks += static_cast<std::uint32_t>(blocks);
  }
}

void Engine::publish_answer(Request& r) {
  if (!shared_.prefix_cache || r.held_own > 0 || !shared_.host.all_chunks_of(r, chunks_)) return;
  const std::uint32_t whole = r.tokens / static_cast<std::uint32_t>(shape_.block_tokens);
  for (std::size_t i = r.held_keys; i < chunks_.size() && r.shared_blocks < whole; ++i) {
    if (cache_.has(chunks_[i].key)) return;
    cache_.insert(chunks_[i].key, 1);
    share(chunks_[i].key, 1, true);
    ++r.held_keys;
    ++r.shared_blocks;
  }
}

void Engine::give_prefix(Request& r) {
  const std::uint32_t base = r.shared_blocks - r.held_own * kGroup;
  for (std::uint32_t group = r.held_own; group-- > 0;) cache_.release(own_key(r, base, group));
  r.held_own = 0;
  if (r.held_keys > 0) {
    shared_.host.chunks_of(r, chunks_);
    // The end of a prompt is the first to be evicted: without it the beginning is still of use.
    for (std::size_t i = r.held_keys; i-- > 0;) cache_.release(chunks_[i].key);
  }
  r.held_keys = 0;
  r.shared_blocks = 0;
}

void Engine::give_blocks(Slot slot, bool keep_for_next_turn) {
  Request& r = pool_[slot];
  const std::int64_t held = blocks_held(r);
  std::uint64_t key = 0;
  if (keep_for_next_turn) publish_answer(r);
  if (keep_for_next_turn && shared_.prefix_cache && shared_.host.key_of_all(r, key) && !cache_.has(key)) {
    // What stands before it is kept under keys of its own, or was computed twice and goes.
    shared_.host.chunks_of(r, chunks_);
    std::int64_t before = r.shared_blocks;
    for (std::size_t i = r.held_keys; i < chunks_.size(); ++i) before += blocks_of(chunks_[i], i < r.fetched_keys);
    const std::int64_t mine = static_cast<std::int64_t>(r.tokens) / shape_.block_tokens - before;
    if (mine > 0) {
      cache_.insert(key, mine);
      cache_.release(key);
      share(key, mine, true);
      blocks_.give_back(held - r.shared_blocks - mine);
      give_prefix(r);
      r.reserved = 0;
      return;
    }
  }
  blocks_.give_back(held - r.shared_blocks);
  give_prefix(r);
  r.reserved = 0;
}

void Engine::release(Slot slot, Ticks now) {
  const std::int64_t held = blocks_held(pool_[slot]);
  pending_blocks_ -= held - pool_[slot].shared_blocks;
  give_blocks(slot, true);
  poke(now);
}

void Engine::join_decode(Slot slot) {
  Request& r = pool_[slot];
  const std::uint32_t tokens = r.output - r.generated;
  r.rate = tokens == r.steps_left
               ? 1U << kScaleBits
               : static_cast<std::uint32_t>((static_cast<std::uint64_t>(tokens) << kScaleBits) / r.steps_left);
  r.joined = counter_;
  r.finish = counter_ + r.steps_left;
  ++decoding_;
  tokens_scaled_ += (static_cast<std::int64_t>(r.tokens) + 1) << kScaleBits;
  growth_scaled_ += r.rate;
  if (r.reserved == 0) blocks_.start(counter_, r.tokens);
  finishes_.push_back({r.finish, static_cast<std::uint32_t>(r.id), slot});
  std::push_heap(finishes_.begin(), finishes_.end());
}

void Engine::leave_decode(Slot slot) {
  Request& r = pool_[slot];
  --decoding_;
  tokens_scaled_ -= (static_cast<std::int64_t>(r.tokens) + 1) << kScaleBits;
  tokens_scaled_ -= static_cast<std::int64_t>(r.rate) * static_cast<std::int64_t>(counter_ - r.joined);
  growth_scaled_ -= r.rate;
  if (r.reserved == 0) blocks_.stop(r.joined, r.tokens);
  r.finish = 0;
}

void Engine::remove_running(Slot slot) {
  Request& r = pool_[slot];
  (r.older == kNoSlot ? oldest_ : pool_[r.older].younger) = r.younger;
  (r.younger == kNoSlot ? youngest_ : pool_[r.younger].older) = r.older;
  r.older = r.younger = kNoSlot;
  --running_;
}

Slot Engine::victim(int least_priority) const {
  Slot found = kNoSlot;
  if (least_priority > weakest_) return found;
  for (Slot slot = youngest_; slot != kNoSlot; slot = pool_[slot].older) {
    const int priority = pool_[slot].priority;
    if (priority < least_priority) continue;
    if (found == kNoSlot || priority > pool_[found].priority) found = slot;
    if (priority == weakest_) break;
  }
  return found;
}

bool Engine::make_room_for_decode() {
  bool preempted = false;
  while (decoding_ > 0 && blocks_.need(counter_, 1) > blocks_.unused() + cache_.evictable()) {
    preempt(victim(0));
    preempted = true;
  }
  return preempted;
}

void Engine::preempt(Slot slot) {
  Request& r = pool_[slot];
  const std::uint32_t tokens = tokens_now(r);
  const std::int64_t held = blocks_held(r);
  if (r.finish != 0) {
    r.steps_left = static_cast<std::uint32_t>(r.finish - counter_);
    const std::uint32_t generated = generated_now(r);
    leave_decode(slot);
    r.generated = generated;
    r.last_token = now_;
    if (!gaps_.empty() && gaps_.front().sequences > 0) --gaps_.front().sequences;
  } else {
    prefilling_.erase(std::find(prefilling_.begin(), prefilling_.end(), slot));
    std::erase_if(plan_.parts, [&](const StepPlan::Part& part) { return part.slot == slot; });
  }
  remove_running(slot);
  stall_ += preemption_.take_away(r, tokens, shape_);
  if (r.tokens == 0) keep_own_blocks(r, tokens);
  blocks_.give_back(held - r.shared_blocks);
  give_prefix(r);
  r.reserved = 0;
  waiting_[r.priority].push_front(slot);
  ++waiting_count_;
  shared_.host.queue_changed(1, now_);
  ++r.preemptions;
  ++shared_.preemptions;
}

void Engine::cancel(Slot slot, Ticks now) {
  Request& r = pool_[slot];
  r.cancelled = true;
  std::deque<Slot>& queue = waiting_[r.priority];
  if (const auto at = std::find(queue.begin(), queue.end(), slot); at != queue.end()) {
    queue.erase(at);
    --waiting_count_;
    shared_.host.queue_changed(-1, now);
    shared_.host.dropped(slot, now, RequestRecord::End::timed_out);
    return;
  }
  if (r.finish == 0) {
    r.output = r.generated + 1;
    return;
  }
  const std::uint64_t next = counter_ + std::max<std::uint64_t>(1, run_.decode ? run_.steps : 1);
  if (r.finish <= next) return;
  r.output = std::min(r.output, generated_now(r) + 1);
  r.finish = next;
  finishes_.push_back({r.finish, static_cast<std::uint32_t>(r.id), slot});
  std::push_heap(finishes_.begin(), finishes_.end());
}

std::uint32_t Engine::decode_steps(const Request& r) const {
  Random random(shared_.seed, (r.id << 8) | 0x5dU);
  return clock_.drafts().steps(r.output - r.generated, random);
}

}  // namespace ridge::serve
