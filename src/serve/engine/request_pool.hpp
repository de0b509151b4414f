// The requests that are in the system: slots that are used again, so that memory does not grow with those that left.
//
//   Slot s = pool.take();
//   pool[s].input = 1000;
//   pool.give_back(s);
//
// One thread.
#pragma once

#include <vector>

#include "serve/cache/ticks.hpp"

namespace ridge::serve {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = 0xffffffffU;

struct Request {
  std::uint64_t id = 0;
  Ticks arrival = 0;     ///< at the client
  Ticks ready = 0;       ///< at the scheduler
  Ticks queued = 0;      ///< at its engine
  Ticks scheduled = -1;  ///< first admitted
  Ticks first_token = -1;
  Ticks last_token = -1;     ///< before it was last preempted
  std::uint64_t joined = 0;  ///< count of decode steps when it began to decode
  std::uint64_t finish = 0;  ///< count of decode steps after which it ends; 0 = does not decode
  std::uint32_t input = 0;
  std::uint32_t output = 1;
  std::uint32_t generated = 0;      ///< output tokens when it last began or ceased to decode
  std::uint32_t steps_left = 0;     ///< decode steps to its end, as of then
  std::uint32_t tokens = 0;         ///< in the KV cache, as of then
  std::uint32_t target = 0;         ///< tokens that prefill has to bring into the cache
  std::uint32_t cached = 0;         ///< input tokens found in the prefix cache at first
  std::uint32_t shared_blocks = 0;  ///< of its blocks, those that belong to the prefix cache
  std::uint32_t held_keys = 0;      ///< leading keys of its prompt that it holds in the prefix cache
  std::uint32_t held_own = 0;       ///< groups of its own blocks that it found again after a preemption
  std::uint32_t fetched_keys = 0;   ///< leading keys of its prompt that were brought from a tier
  std::uint32_t reserved = 0;       ///< blocks taken at the start if all are; 0 = as it grows
  std::uint32_t rate = 0;           ///< tokens per decode step, in 1/1024
  std::uint32_t session = kNoSlot;
  std::uint32_t turn = 0;
  std::uint32_t group = 0;  ///< of shared prefixes
  std::uint32_t trace_index = 0;
  std::uint32_t engine = 0;
  std::uint32_t client = 0;
  std::uint32_t preemptions = 0;
  Slot older = kNoSlot;  ///< neighbours in the order of admission
  Slot younger = kNoSlot;
  std::uint16_t request_class = 0;
  std::uint8_t priority = 0;
  bool swapped = false;    ///< its blocks wait in host memory
  bool cancelled = false;  ///< its client, from outside, has left
  bool failed = false;     ///< its engine broke, and it may not start over
  bool prefilled = false;  ///< by another engine: its blocks only have to be taken
};

class RequestPool {
 public:
  [[nodiscard]] Slot take() {
    if (free_.empty()) {
      requests_.emplace_back();
      return static_cast<Slot>(requests_.size() - 1);
    }
    const Slot slot = free_.back();
    free_.pop_back();
    requests_[slot] = Request{};
    return slot;
  }
  void give_back(Slot slot) { free_.push_back(slot); }
  [[nodiscard]] Request& operator[](Slot slot) { return requests_[slot]; }
  [[nodiscard]] const Request& operator[](Slot slot) const { return requests_[slot]; }
  [[nodiscard]] std::size_t size() const { return requests_.size() - free_.size(); }

 private:
  std::vector<Request> requests_;
  std::vector<Slot> free_;
};

}  // namespace ridge::serve
