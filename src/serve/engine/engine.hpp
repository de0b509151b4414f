// One engine: a queue, a running batch, a KV cache, and the step or run of steps it is at.
//
//   engine.enqueue(slot, now);                 // a request arrives
//   while (engine.next() != kNever) engine.advance();    // the step in progress ends; the next is planned
//
// A run of decode steps that nothing can interrupt but an arrival is one event: its end is known in closed form, and an
// arrival cuts it at the end of the step in progress. The batching policy sees the second half of the public functions.
// One thread.
#pragma once

#include <deque>
#include <vector>

#include "ridge/serve/live.hpp"
#include "serve/cache/block_pool.hpp"
#include "serve/cache/prefix_cache.hpp"
#include "serve/engine/batching.hpp"
#include "serve/engine/preemption.hpp"
#include "serve/engine/series.hpp"
#include "serve/engine/step_clock.hpp"

namespace ridge::serve {

/// Who looks after the engines.
class EngineHost {
 public:
  virtual ~EngineHost() = default;
  /// The last token is out (of a prefill engine: the first, and the cache is complete).
  virtual void finished(Slot slot, Ticks now) = 0;
  virtual void dropped(Slot slot, Ticks now, RequestRecord::End why) = 0;
  /// The beginnings of its prompt that others may share.
  virtual void chunks_of(const Request& request, std::vector<Chunk>& chunks) const = 0;
  /// The key under which all of it may be found by the next turn; false if there is none.
  virtual bool key_of_all(const Request& request, std::uint64_t& key) const = 0;
  /// Prompt and answer block by block, where whoever sends requests says so; false if not.
  virtual bool all_chunks_of(const Request& /*request*/, std::vector<Chunk>& /*chunks*/) const { return false; }
  virtual void queue_changed(int by, Ticks now) = 0;
};

/// What all engines of a simulation share.
struct EngineShared {
  RequestPool& pool;
  EngineHost& host;
  Series& series;
  LatencyDistribution& gaps;
  SimulationObserver* observer = nullptr;
  LiveTraffic* live = nullptr;  ///< hears of every token
  std::uint64_t seed = 1;
  Ticks ttft_timeout = 0;
  Ticks idle_timeout = 0;
  bool step_by_step = false;
  bool prefix_cache = true;
  std::uint64_t preemptions = 0;
  std::uint64_t steps = 0;
  double peak_kv = 0;
};

class Engine {
 public:
  enum class Role : std::uint8_t { whole, prefill, decode };
  Engine(std::uint32_t index, Role role, const EngineShape& shape, StepClock& clock, const Batching& batching,
         const Preemption& preemption, EngineShared& shared);

  /// Memories below the device's, nearest first; they outlive the engine.
  void use_tiers(std::vector<TierStore*> tiers) { tiers_ = std::move(tiers); }
  /// Asks the tiers for the beginnings of its prompt that are not on the device, where that is faster than computing
  /// them; when they are there. `now`: nothing has to be waited for.
  Ticks fetch_prefix(Slot slot, Ticks now);
  /// The request waits for its turn; an idle engine starts at once.
  void enqueue(Slot slot, Ticks now);
  /// When the step or run in progress ends; kNever if the engine is idle.
  [[nodiscard]] Ticks next() const { return run_.end; }
  void advance();
  /// Something changed that may let an idle engine work.
  void poke(Ticks now) {
    if (run_.end != kNever) return;
    wake(now);
  }
  /// A prefill engine keeps the blocks of a request until they are sent.
  void release(Slot slot, Ticks now);
  /// Takes all requests away, those in work first; the engine is empty and idle afterwards.
  std::vector<Slot> fail(Ticks now);
  /// Nobody wants the rest of its answer: it leaves the queue at once, a batch with the step in progress (a prompt that
  /// is being worked on: when it is done).
  void cancel(Slot slot, Ticks now);

  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] Role role() const { return role_; }
  [[nodiscard]] std::uint64_t outstanding() const { return waiting_count_ + running_ + fetching_; }
  /// Requests whose prefix is on its way, which come back by enqueue().
  void count_fetching(int by) { fetching_ += static_cast<std::uint64_t>(by); }
  [[nodiscard]] std::uint64_t waiting() const { return waiting_count_; }
  /// Blocks that somebody holds.
  [[nodiscard]] std::int64_t held_blocks() const { return blocks_.used() - cache_.evictable(); }
  [[nodiscard]] bool is_full() const { return outstanding() >= static_cast<std::uint64_t>(shape_.max_sequences); }
  [[nodiscard]] const EngineShape& shape() const { return shape_; }
  [[nodiscard]] const Work& work() const { return work_; }
  [[nodiscard]] const PrefixCache& cache() const { return cache_; }
  /// Whether the request fits an empty engine.
  [[nodiscard]] bool can_ever_hold(const Request& request) const;

  // --- for batching policies
  [[nodiscard]] std::int64_t token_budget() const { return shape_.max_tokens; }
  [[nodiscard]] std::int64_t tokens_per_decode() const { return 1 + shape_.draft_tokens; }
  [[nodiscard]] std::int64_t decode_tokens() const { return decoding_ * tokens_per_decode(); }
  [[nodiscard]] std::int64_t running() const { return running_; }
  [[nodiscard]] const std::vector<Slot>& prefilling() const { return prefilling_; }
  /// The next of the queue, or kNoSlot.
  [[nodiscard]] Slot head();
  [[nodiscard]] std::int64_t prompt_tokens(Slot slot) const { return pool_[slot].target - pool_[slot].tokens; }
  [[nodiscard]] bool needs_prefill(Slot slot) const { return pool_[slot].tokens < pool_[slot].target; }
  /// Whether the prompts that wait go on waiting for others.
  [[nodiscard]] bool gathers();
  /// Takes the head of the queue in if a place and blocks are free, with those of the next decode step of the others
  /// left over; kNoSlot if not. `beside_decode`: sequences are decoding.
  Slot admit(bool beside_decode);
  /// Adds up to `budget` tokens of the prompt to the step; how many.
  std::int64_t add_part(StepPlan& plan, Slot slot, std::int64_t budget);
  /// Preempts until the next decode step has the blocks it takes; whether it had to.
  bool make_room_for_decode();

 private:
  struct Finish {
    std::uint64_t counter;
    std::uint32_t order;  // of the id, so that ties do not depend on slots
    Slot slot;
    bool operator<(const Finish& o) const { return counter != o.counter ? counter > o.counter : order > o.order; }
  };
  struct Run {
    Ticks start = 0;
    Ticks end = kNever;
    std::uint64_t steps = 0;
    bool decode = false;
    std::uint32_t prefill_tokens = 0;
  };
  static constexpr std::size_t kNoTier = static_cast<std::size_t>(-1);
  static constexpr std::size_t kOnDevice = static_cast<std::size_t>(-2);
  struct Place {
    std::size_t tier = kNoTier;
    std::int64_t blocks = 0;
  };
  struct Gap {
    std::uint64_t sequences;
    Ticks since;
  };

  void wake(Ticks now) {
    seen_ = now;
    unpolled_ = 0;
    schedule(now);
  }
  void schedule(Ticks now);
  void plan_run(Ticks now);
  void plan_mixed(Ticks now);
  void cut_run(Ticks now);
  /// After the steps that have just ended the scheduler looks for requests, or does not yet.
  void look_for_requests();
  void commit_decode(Ticks now);
  void commit_prefill(Ticks now);
  void complete(Ticks now);
  void record_gaps(Ticks now);
  void join_decode(Slot slot);
  void leave_decode(Slot slot);
  void remove_running(Slot slot);
  void preempt(Slot slot);
  [[nodiscard]] Slot victim(int least_priority) const;
  [[nodiscard]] std::int64_t room(bool beside_decode) const;
  [[nodiscard]] std::int64_t blocks_held(const Request& request) const;
  [[nodiscard]] std::uint32_t tokens_now(const Request& request) const;
  [[nodiscard]] std::uint32_t generated_now(const Request& request) const;
  void take_blocks(std::int64_t blocks);
  void give_blocks(Slot slot, bool keep_for_next_turn);
  void hold_prefix(Request& request);
  /// The tiers will be asked for the chunks at hand from this one on.
  void expect(std::size_t from) const;
  /// The tier that has it, kOnDevice or kNoTier, and its blocks there (or as many as its tokens fill).
  [[nodiscard]] Place place_of(const Chunk& chunk) const;
  void put_away(const std::vector<KeyedBlocks>& evicted);
  /// What was computed goes to the tiers that all engines share at once; what was brought is used there again.
  void share(std::uint64_t key, std::int64_t blocks, bool computed);
  /// Blocks of a chunk: as they are held here, in the tier it was brought from, or as many as its tokens fill.
  [[nodiscard]] std::int64_t blocks_of(const Chunk& chunk, bool brought) const;
  /// Time to compute so many tokens behind `context` others.
  [[nodiscard]] Ticks time_to_compute(std::uint64_t tokens, std::uint64_t context);
  void publish_prefix(Request& request);
  void publish_answer(Request& request);
  void give_prefix(Request& request);
  /// The blocks of a request that is preempted stay in the prefix cache until others need them.
  void keep_own_blocks(Request& request, std::uint32_t tokens);
  [[nodiscard]] bool could_admit() const;
  [[nodiscard]] bool somebody_is_unseen() const;
  [[nodiscard]] std::uint32_t decode_steps(const Request& request) const;
  [[nodiscard]] std::int64_t context() const { return context_after(0); }
  /// Tokens behind each sequence on average, so many steps from now; before now if negative.
  [[nodiscard]] std::int64_t context_after(std::int64_t steps) const {
    return decoding_ > 0 ? ((tokens_scaled_ + steps * growth_scaled_) >> kScaleBits) / decoding_ : 0;
  }
  /// A token a step each: the context grows by one, and steps are an arithmetic series. Accepted drafts bring more.
  [[nodiscard]] bool grows_evenly() const { return growth_scaled_ == decoding_ << kScaleBits; }
  /// Of one decode step of all that decode now, and of `steps` of them, the first of them `from` steps from now.
  [[nodiscard]] Ticks step_ticks(std::int64_t from) const {
    return clock_.decode(static_cast<std::uint32_t>(decoding_), context_after(from));
  }
  [[nodiscard]] Ticks run_ticks(std::int64_t from, std::uint64_t steps) const;
  /// Steps from now on, at least one, after which `elapsed` or more has passed; `steps` if those take less.
  [[nodiscard]] std::uint64_t steps_until(std::uint64_t steps, Ticks elapsed) const;
  void check() const;

  static constexpr int kScaleBits = 10;

  std::uint32_t index_;
  Role role_;
  EngineShape shape_;
  StepClock& clock_;
  const Batching& batching_;
  const Preemption& preemption_;
  EngineShared& shared_;
  RequestPool& pool_;

  std::deque<Slot> waiting_[kPriorities];
  std::uint64_t waiting_count_ = 0;
  std::int64_t running_ = 0;
  std::vector<Slot> prefilling_;
  std::int64_t decoding_ = 0;
  std::int64_t tokens_scaled_ = 0;  // of all that decode, in 1/1024
  std::int64_t growth_scaled_ = 0;  // per step
  std::uint64_t counter_ = 0;       // decode steps so far
  std::vector<Finish> finishes_;    // a heap, the next to end on top; entries of preempted ones are stale
  Slot oldest_ = kNoSlot;
  Slot youngest_ = kNoSlot;
  BlockPool blocks_;
  PrefixCache cache_;
  std::vector<Chunk> chunks_;
  std::vector<TierStore*> tiers_;
  std::vector<KeyedBlocks> evicted_;
  std::vector<KeyedBlocks> leaving_;  // used again, so that evictions allocate nothing
  std::vector<KeyedBlocks> pushed_out_;
  std::vector<double> compute_rates_;  // ticks per token by the logarithm of the context; 0 = not yet known
  std::uint64_t fetching_ = 0;
  std::vector<Gap> gaps_;
  StepPlan plan_;
  Run run_;
  Ticks now_ = 0;
  Ticks seen_ = 0;                   // requests that came later are not yet known to the scheduler
  std::uint64_t unpolled_ = 0;       // decode steps since the scheduler looked for requests
  std::uint64_t gathered_ = 0;       // steps that prompts have waited for others
  bool gathering_ = false;           // and go on waiting in the step in progress
  int weakest_ = 0;                  // lowest priority that was ever seen
  std::int64_t pending_blocks_ = 0;  // of requests that wait to be sent
  Ticks stall_ = 0;                  // copies that delay the next step
  Work work_;
};

}  // namespace ridge::serve
