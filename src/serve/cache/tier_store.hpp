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

#include "ridge/serve/kv_tiers.hpp"
#include "serve/cache/key_table.hpp"
#include "serve/cache/ticks.hpp"
#include "serve/cache/use_log.hpp"

namespace ridge::serve {

/// Blocks of the device's cache under their key.
struct KeyedBlocks {
  std::uint64_t key = 0;
  std::int64_t blocks = 0;
};

class TierStore {
 public:
  TierStore(const KvTier& tier, double bytes_per_block);

  [[nodiscard]] bool has(std::uint64_t key) const { return table_.find(key) != nullptr; }
  /// 0 if it is not there.
  [[nodiscard]] std::int64_t blocks(std::uint64_t key) const {
    const Cell* cell = table_.find(key);
    return cell == nullptr ? 0 : cell->blocks;
  }
  /// The key will be looked up soon.
  void expect(std::uint64_t key) const { table_.expect(key); }
  [[nodiscard]] bool is_shared() const { return shared_; }
  /// Has an end that can be reached: otherwise nothing ever leaves it.
  [[nodiscard]] bool fills() const { return fills_; }
  /// Reading takes no time at all.
  [[nodiscard]] bool is_instant() const { return seconds_per_block_ == 0 && latency_ == 0; }
  /// It was used now. A tier that never fills keeps no order.
  void touch(std::uint64_t key) {
    if (!fills_) return;
    if (Cell* cell = table_.find(key)) log_.append(table_, *cell);
  }
  void put(std::uint64_t key, std::int64_t blocks, std::vector<KeyedBlocks>& evicted);
  /// When so many blocks would be on the device if they were asked for now.
  [[nodiscard]] Ticks would_arrive(std::int64_t blocks, Ticks now) const;
  /// The same, and the link is taken until then.
  Ticks fetch(std::int64_t blocks, Ticks now);

  TierResult result;  ///< added up as it goes

 private:
  struct Cell {
    std::uint64_t key = 0;
    std::uint32_t blocks = 0;
    std::uint32_t stamp = 0;
  };

  KeyTable<Cell> table_;
  UseLog log_;
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
