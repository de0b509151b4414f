#include "serve/prefix_cache.hpp"

#include <cassert>

namespace ridge::serve {

std::size_t PrefixCache::match(std::span<const Chunk> chunks) const {
  std::size_t found = 0;
  while (found < chunks.size() && index_.count(chunks[found].key) != 0) ++found;
  return found;
}

std::int64_t PrefixCache::blocks(std::uint64_t key) const {
  const auto at = index_.find(key);
  return at == index_.end() ? 0 : nodes_[at->second].blocks;
}

void PrefixCache::hold(std::uint64_t key) {
  const std::uint32_t at = index_.at(key);
  if (nodes_[at].holders++ == 0) {
    unlink(at);
    evictable_ -= nodes_[at].blocks;
  }
}

void PrefixCache::release(std::uint64_t key) {
  const std::uint32_t at = index_.at(key);
  assert(nodes_[at].holders > 0);
  if (--nodes_[at].holders == 0) {
    append(at);
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
  index_.emplace(key, at);
  size_ += blocks;
}

std::int64_t PrefixCache::evict(std::int64_t blocks, std::vector<KeyedBlocks>* evicted) {
  std::int64_t freed = 0;
  while (freed < blocks && oldest_ != kNone) {
    const std::uint32_t at = oldest_;
    freed += nodes_[at].blocks;
    if (evicted != nullptr && nodes_[at].of_use_elsewhere) evicted->push_back({nodes_[at].key, nodes_[at].blocks});
    evictable_ -= nodes_[at].blocks;
    size_ -= nodes_[at].blocks;
    unlink(at);
    index_.erase(nodes_[at].key);
    free_.push_back(at);
  }
  return freed;
}

void PrefixCache::clear() {
  *this = PrefixCache{};
}

void PrefixCache::unlink(std::uint32_t at) {
  Node& node = nodes_[at];
  (node.older == kNone ? oldest_ : nodes_[node.older].newer) = node.newer;
  (node.newer == kNone ? newest_ : nodes_[node.newer].older) = node.older;
  node.older = node.newer = kNone;
}

void PrefixCache::append(std::uint32_t at) {
  nodes_[at].older = newest_;
  (newest_ == kNone ? oldest_ : nodes_[newest_].newer) = at;
  newest_ = at;
}

}  // namespace ridge::serve
