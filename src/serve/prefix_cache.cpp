#include "serve/prefix_cache.hpp"

#include <cassert>

namespace ridge::serve {

std::size_t PrefixCache::match(std::span<const Chunk> chunks) const {
  std::size_t found = 0;
  while (found < chunks.size() && has(chunks[found].key)) ++found;
  return found;
}

void PrefixCache::hold(std::uint64_t key) {
  const std::uint32_t at = index_.find(key);
  assert(at != kNone);
  if (nodes_[at].holders++ == 0) {
    recency_.unlink(nodes_, at);
    evictable_ -= nodes_[at].blocks;
  }
}

void PrefixCache::release(std::uint64_t key) {
  const std::uint32_t at = index_.find(key);
  assert(at != kNone && nodes_[at].holders > 0);
  if (--nodes_[at].holders == 0) {
    recency_.append(nodes_, at);
    evictable_ += nodes_[at].blocks;
  }
}

void PrefixCache::insert(std::uint64_t key, std::int64_t blocks, bool of_use_elsewhere) {
  std::uint32_t at = 0;
  if (free_.empty()) {
    at = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
  }
  nodes_[at] = {key, blocks, 1, of_use_elsewhere, kNone, kNone};
  index_.insert(key, at);
  size_ += blocks;
}

std::int64_t PrefixCache::evict(std::int64_t blocks, std::vector<KeyedBlocks>* evicted) {
  std::int64_t freed = 0;
  while (freed < blocks && recency_.oldest != kNone) {
    const std::uint32_t at = recency_.oldest;
    freed += nodes_[at].blocks;
    if (evicted != nullptr && nodes_[at].of_use_elsewhere) evicted->push_back({nodes_[at].key, nodes_[at].blocks});
    evictable_ -= nodes_[at].blocks;
    size_ -= nodes_[at].blocks;
    recency_.unlink(nodes_, at);
    index_.erase(nodes_[at].key);
    free_.push_back(at);
  }
  return freed;
}

void PrefixCache::clear() {
  *this = PrefixCache{};
}

}  // namespace ridge::serve
