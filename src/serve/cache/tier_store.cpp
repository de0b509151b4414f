#include "serve/cache/tier_store.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::serve {

namespace {

constexpr double kMostTierBlocks = 1e15;

}  // namespace

TierStore::TierStore(const KvTier& tier, double bytes_per_block)
    : room_(static_cast<std::int64_t>(std::min(tier.capacity / std::max(bytes_per_block, 1e-9), kMostTierBlocks))),
      fills_(static_cast<double>(room_) < kMostTierBlocks),
      bytes_per_block_(bytes_per_block),
      seconds_per_block_(std::isfinite(tier.bytes_per_s) ? bytes_per_block / tier.bytes_per_s : 0),
      latency_(tier.latency),
      shared_(tier.shared) {
  result.name = tier.name;
}

void TierStore::put(std::uint64_t key, std::int64_t blocks, std::vector<KeyedBlocks>& evicted) {
  if (Cell* there = table_.find(key)) {
    if (fills_) log_.append(table_, *there);
    return;
  }
  if (blocks > room_) {
    evicted.push_back({key, blocks});
    return;
  }
  while (held_ + blocks > room_) {
    const Cell* oldest = log_.take_oldest(table_);
    evicted.push_back({oldest->key, oldest->blocks});
    held_ -= oldest->blocks;
    table_.erase(*oldest);
  }
  Cell& cell = table_.insert({key, static_cast<std::uint32_t>(blocks), 0});
  if (fills_) log_.append(table_, cell);
  held_ += blocks;
  result.peak_bytes = std::max(result.peak_bytes, static_cast<double>(held_) * bytes_per_block_);
}

Ticks TierStore::would_arrive(std::int64_t blocks, Ticks now) const {
  if (is_instant()) return now;
  const double seconds = std::min(static_cast<double>(blocks) * seconds_per_block_, kLongestDraw);
  return std::min(std::max(free_at_, now) + to_ticks(seconds), to_ticks(kMostSeconds)) + to_ticks(latency_);
}

Ticks TierStore::fetch(std::int64_t blocks, Ticks now) {
  const Ticks arrives = would_arrive(blocks, now);
  if (!is_instant()) free_at_ = arrives - to_ticks(latency_);
  ++result.fetches;
  result.fetch_seconds += to_seconds(arrives - now);
  return arrives;
}

}  // namespace ridge::serve
