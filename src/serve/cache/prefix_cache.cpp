#include "serve/cache/prefix_cache.hpp"

#include <cassert>

namespace ridge::serve {

std::size_t PrefixCache::match(std::span<const Chunk> chunks) const {
  std::size_t found = 0;
  while (found < chunks.size() && has(chunks[found].key)) ++found;
  return found;
}

void PrefixCache::hold(std::uint64_t key) {
  Cell* cell = table_.find(key);
  assert(cell != nullptr);
  if (cell->holders++ == 0) {
    cell->stamp = 0;
    evictable_ -= cell->blocks;
  }
}

void PrefixCache::release(std::uint64_t key) {
  Cell* cell = table_.find(key);
  assert(cell != nullptr && cell->holders > 0);
  if (--cell->holders == 0) {
    log_.append(table_, *cell);
    evictable_ += cell->blocks;
  }
}

void PrefixCache::insert(std::uint64_t key, std::int64_t blocks, bool of_use_elsewhere) {
  table_.insert({key, static_cast<std::uint32_t>(blocks), 0, 1, of_use_elsewhere});
  size_ += blocks;
}

std::int64_t PrefixCache::evict(std::int64_t blocks, std::vector<KeyedBlocks>* evicted) {
  std::int64_t freed = 0;
  while (freed < blocks) {
    const Cell* oldest = log_.take_oldest(table_);
    if (oldest == nullptr) break;
    freed += oldest->blocks;
    if (evicted != nullptr && oldest->of_use_elsewhere) evicted->push_back({oldest->key, oldest->blocks});
    evictable_ -= oldest->blocks;
    size_ -= oldest->blocks;
    table_.erase(*oldest);
  }
  return freed;
}

void PrefixCache::clear() {
  *this = PrefixCache{};
}

}  // namespace ridge::serve
