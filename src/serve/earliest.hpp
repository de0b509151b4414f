// Which of many engines is next: the least of a list of times, the first of them where several are equal.
//
//   Earliest next(1000);          // all of them never
//   next.set(17, now + 5);
//   next.first(); next.time();    // 17, now + 5
//
// A tree of winners: set() looks at as many times as the list has binary digits, first() at one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "serve/cache/ticks.hpp"

namespace ridge::serve {

class Earliest {
 public:
  explicit Earliest(std::size_t count = 0) : leaves_(std::bit_ceil(count > 0 ? count : 1)), count_(count) {
    times_.assign(leaves_, kNever);
    winners_.resize(2 * leaves_);
    for (std::size_t i = 0; i < leaves_; ++i) winners_[leaves_ + i] = static_cast<std::uint32_t>(i);
    for (std::size_t i = leaves_ - 1; i > 0; --i) winners_[i] = winners_[2 * i];
  }
  void set(std::size_t which, Ticks time) {
    times_[which] = time;
    for (std::size_t at = (leaves_ + which) / 2; at > 0; at /= 2) {
      const std::uint32_t left = winners_[2 * at];
      const std::uint32_t right = winners_[2 * at + 1];
      const std::uint32_t winner = times_[right] < times_[left] ? right : left;
      if (winner != which && winners_[at] != which) return;  // it was not the first here and is not: nor above
      winners_[at] = winner;
    }
  }
  [[nodiscard]] std::size_t first() const { return winners_[1]; }
  [[nodiscard]] Ticks time() const { return times_[winners_[1]]; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  std::size_t leaves_, count_;
  std::vector<Ticks> times_;            // of those that do not exist: never
  std::vector<std::uint32_t> winners_;  // of each node; 1 is the root, and the children of n are 2 n and 2 n + 1
};

}  // namespace ridge::serve
