// One tier of the KV cache below the device: beginnings of prompts by key, the oldest makes room.
//
//   TierStore host({"host", 512e9, 50e9, 0}, bytes_per_block);
//   host.put(key, blocks, evicted);               // what had to leave is appended to `evicted`
//   if (host.has(key)) { Ticks there = host.fetch(blocks, now); host.touch(key); }
//
// One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ridge/kv_tiers.hpp"
#include "serve/key_index.hpp"
#include "serve/recency.hpp"
#include "serve/ticks.hpp"

namespace ridge::serve {

/// Blocks of the device's cache under their key.
struct KeyedBlocks {
  std::uint64_t key = 0;
  std::int64_t blocks = 0;
};

class TierStore {
 public:
  TierStore(const KvTier& tier, double bytes_per_block);

  [[nodiscard]] bool has(std::uint64_t key) const { return index_.find(key) != kNone; }
  /// 0 if it is not there.
  [[nodiscard]] std::int64_t blocks(std::uint64_t key) const {
    const std::uint32_t at = index_.find(key);
    return at == kNone ? 0 : nodes_[at].blocks;
  }
  [[nodiscard]] bool is_shared() const { return shared_; }
  /// Has an end that can be reached: otherwise nothing ever leaves it.
  [[nodiscard]] bool fills() const { return fills_; }
  /// Reading takes no time at all.
  [[nodiscard]] bool is_instant() const { return seconds_per_block_ == 0 && latency_ == 0; }
  /// It was used now. A tier that never fills keeps no order.
  void touch(std::uint64_t key) {
    if (!fills_) return;
    if (const std::uint32_t at = index_.find(key); at != kNone) use(at);
  }
  void put(std::uint64_t key, std::int64_t blocks, std::vector<KeyedBlocks>& evicted);
  /// When so many blocks would be on the device if they were asked for now.
  [[nodiscard]] Ticks would_arrive(std::int64_t blocks, Ticks now) const;
  /// The same, and the link is taken until then.
  Ticks fetch(std::int64_t blocks, Ticks now);

  TierResult result;  ///< added up as it goes

 private:
  static constexpr std::uint32_t kNone = Recency::kNone;
  void use(std::uint32_t at) {
    if (recency_.newest == at) return;
    recency_.unlink(nodes_, at);
    recency_.append(nodes_, at);
  }
  struct Node {
    std::uint64_t key = 0;
    std::int64_t blocks = 0;
    std::uint32_t older = kNone;
    std::uint32_t newer = kNone;
  };

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;
  KeyIndex index_;
  Recency recency_;
  std::int64_t room_ = 0;  // blocks in all
  bool fills_ = true;
  std::int64_t held_ = 0;
  double bytes_per_block_;
  double seconds_per_block_;
  double latency_;
  bool shared_;
  Ticks free_at_ = 0;  // the link
};

}  // namespace ridge::serve
