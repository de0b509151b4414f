// What is known of requests that come from outside while they are in the system: the keys of their blocks, and their
// slots.
//
//   LiveBook book(16);
//   book.enter(live, request, slot);            // request.trace_index is its page
//   book.chunks_of(request, chunks);            // of its prompt
//   book.leave(request);
//
// One thread.
#pragma once

#include <algorithm>
#include <unordered_map>

#include "ridge/serve/live.hpp"
#include "serve/cache/prefix_cache.hpp"
#include "serve/engine/request_pool.hpp"

namespace ridge::serve {

class LiveBook {
 public:
  explicit LiveBook(std::uint32_t block_tokens) : block_tokens_(block_tokens) {}

  void enter(LiveRequest& live, Request& request, Slot slot) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(pages_.size()));
      pages_.emplace_back();
    }
    request.trace_index = free_.back();
    free_.pop_back();
    pages_[request.trace_index] = std::move(live.block_keys);
    slots_[live.id] = slot;
  }
  void leave(const Request& request) {
    pages_[request.trace_index].clear();
    free_.push_back(request.trace_index);
    slots_.erase(request.id);
  }
  /// kNoSlot if it is not here.
  [[nodiscard]] Slot find(std::uint64_t id) const {
    const auto at = slots_.find(id);
    return at == slots_.end() ? kNoSlot : at->second;
  }

  /// The whole blocks of the prompt, and as many of the answer as it holds already.
  void chunks_of(const Request& request, std::vector<Chunk>& chunks) const {
    fill(request, std::max(request.input / block_tokens_, request.held_keys), chunks);
  }
  bool all_chunks_of(const Request& request, std::vector<Chunk>& chunks) const {
    fill(request, (request.input + request.output) / block_tokens_, chunks);
    return true;
  }

 private:
  void fill(const Request& request, std::uint32_t most, std::vector<Chunk>& chunks) const {
    chunks.clear();
    const std::vector<std::uint64_t>& keys = pages_[request.trace_index];
    const std::size_t count = std::min<std::size_t>(most, keys.size());
    for (std::size_t i = 0; i < count; ++i) chunks.push_back({keys[i], block_tokens_});
  }

  std::uint32_t block_tokens_;
  std::vector<std::vector<std::uint64_t>> pages_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::uint64_t, Slot> slots_;
};

}  // namespace ridge::serve
