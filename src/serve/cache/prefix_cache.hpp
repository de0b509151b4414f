// The prefix cache of one engine: beginnings of prompts whose blocks stay until room is needed, oldest first.
//
//   std::vector<Chunk> chunks = ...;                  // the prompt from its start: a key and its tokens each
//   std::size_t found = cache.match(chunks);          // leading chunks that are there
//   cache.hold(chunks[0].key);                        // may not be evicted now
//   cache.insert(key, blocks);                        // held by who inserts it
//   cache.release(key);
//
// Blocks of the cache are part of the pool's used ones. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "serve/cache/key_table.hpp"
#include "serve/cache/tier_store.hpp"
#include "serve/cache/use_log.hpp"

namespace ridge::serve {

/// A part of a prompt that other prompts may begin with as well.
struct Chunk {
  std::uint64_t key = 0;
  std::uint32_t tokens = 0;
};

class PrefixCache {
 public:
  [[nodiscard]] std::size_t match(std::span<const Chunk> chunks) const;
  [[nodiscard]] bool has(std::uint64_t key) const { return table_.find(key) != nullptr; }
  /// 0 if it is not there.
  [[nodiscard]] std::int64_t blocks(std::uint64_t key) const {
    const Cell* cell = table_.find(key);
    return cell == nullptr ? 0 : cell->blocks;
  }
  /// Blocks that nobody holds.
  [[nodiscard]] std::int64_t evictable() const { return evictable_; }
  /// Blocks of the whole cache.
  [[nodiscard]] std::int64_t size() const { return size_; }

  void hold(std::uint64_t key);
  void release(std::uint64_t key);
  /// `of_use_elsewhere`: worth keeping in another memory once it is evicted.
  void insert(std::uint64_t key, std::int64_t blocks, bool of_use_elsewhere = true);
  /// Gives up chunks nobody holds, least recently used first, until `blocks` are free; how many became so. Those of use
  /// elsewhere are appended to `evicted`, if there is one.
  std::int64_t evict(std::int64_t blocks, std::vector<KeyedBlocks>* evicted = nullptr);
  /// Everything is gone: the engine failed.
  void clear();

 private:
  struct Cell {
    std::uint64_t key = 0;
    std::uint32_t blocks = 0;
    std::uint32_t stamp = 0;  ///< 0 while somebody holds it
    std::uint32_t holders = 0;
    bool of_use_elsewhere = true;
  };

  KeyTable<Cell> table_;
  UseLog log_;
  std::int64_t evictable_ = 0;
  std::int64_t size_ = 0;
};

}  // namespace ridge::serve
