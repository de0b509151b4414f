// The KV cache of one engine in blocks. Sequences that decode take a block each time their length passes a multiple of
// the block; when that is depends only on a phase, so that the need of any number of steps has a closed form.
//
//   BlockPool blocks(total, 16);
//   blocks.take(63);                                     // a prompt of 1,000 tokens
//   blocks.start(counter, 1000);                         // it decodes from now on
//   std::uint64_t k = blocks.steps_that_fit(counter, 500, evictable);
//   blocks.grow(counter, k);
//
// One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <vector>

namespace ridge::serve {

class BlockPool {
 public:
  BlockPool(std::int64_t total, int block_tokens)
      : total_(total), size_(static_cast<std::uint64_t>(block_tokens)), phases_(size_, 0) {}

  [[nodiscard]] std::int64_t total() const { return total_; }
  [[nodiscard]] std::int64_t used() const { return used_; }
  [[nodiscard]] std::int64_t unused() const { return total_ - used_; }
  [[nodiscard]] std::int64_t blocks_of(std::uint64_t tokens) const {
    return static_cast<std::int64_t>((tokens + size_ - 1) / size_);
  }

  void take(std::int64_t blocks) {
    used_ += blocks;
    assert(used_ <= total_);
  }
  void give_back(std::int64_t blocks) {
    used_ -= blocks;
    assert(used_ >= 0);
  }

  /// A sequence that holds `tokens` begins (or ceases) to decode at step `counter`; ceasing names the same two.
  void start(std::uint64_t counter, std::uint64_t tokens) { ++phases_[phase(counter, tokens)], ++growing_; }
  void stop(std::uint64_t counter, std::uint64_t tokens) { --phases_[phase(counter, tokens)], --growing_; }

  /// Blocks that `steps` steps from `counter` on will take.
  [[nodiscard]] std::int64_t need(std::uint64_t counter, std::uint64_t steps) const {
    auto sum = static_cast<std::int64_t>(steps / size_) * growing_;
    for (std::uint64_t i = 0; i < steps % size_; ++i) sum += phases_[(counter + i) % size_];
    return sum;
  }
  /// The most steps, up to `steps`, whose need is met by what is unused and `more`.
  [[nodiscard]] std::uint64_t steps_that_fit(std::uint64_t counter, std::uint64_t steps, std::int64_t more) const {
    const std::int64_t room = unused() + more;
    if (growing_ == 0 || growing_ * static_cast<std::int64_t>(steps / size_ + 1) <= room) return steps;
    const std::uint64_t rounds = std::min(static_cast<std::uint64_t>(room / growing_), steps / size_);
    std::uint64_t fit = rounds * size_;
    std::int64_t left = room - static_cast<std::int64_t>(rounds) * growing_;
    while (fit < steps && (left -= phases_[(counter + fit) % size_]) >= 0) ++fit;
    return fit;
  }

 private:
  [[nodiscard]] std::size_t phase(std::uint64_t counter, std::uint64_t tokens) const {
    return static_cast<std::size_t>((counter + size_ - tokens % size_) % size_);
  }
  std::int64_t total_;
  std::int64_t used_ = 0;
  std::int64_t growing_ = 0;
  std::uint64_t size_;
  std::vector<std::int64_t> phases_;  // sequences that take a block at a step whose count is congruent to the index
};

}  // namespace ridge::serve
