// How many steps an answer takes where each brings one token and those of the draft up to the first that is refused.
//
//   Drafts drafts(3, 0.8);                       // three tokens are proposed a step, each is accepted with 80 %
//   drafts.steps(500, random);                   // about 500 / 2.95
//
// A step brings k tokens more than one with a probability of acceptance^k (1 - acceptance), the last of them without
// the second factor. Sums over 8, 32 and 128 steps have tables of their own, so that few draws do for a long answer:
// the distribution is that of drawing each step. A value; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ridge/base/random.hpp"

namespace ridge::serve {

class Drafts {
 public:
  Drafts(int draft_tokens, double acceptance) : most_(static_cast<std::uint32_t>(1 + std::max(0, draft_tokens))) {
    if (most_ == 1) return;
    std::vector<double> sum = {1};  // of the tokens beyond one a step, by probability
    std::uint32_t count = 0;
    std::vector<double> one(most_, 0);
    double reached = 1;
    for (std::uint32_t k = 0; k + 1 < most_; ++k, reached *= acceptance) one[k] = reached * (1 - acceptance);
    one[most_ - 1] = reached;
    for (std::size_t level = 0; level < kSteps.size(); ++level) {
      const std::vector<double> part = level == 0 ? one : sum;
      for (const std::uint32_t each = level == 0 ? 1 : kSteps[level - 1]; count < kSteps[level]; count += each) {
        sum = convolved(sum, part);
      }
      Table& table = tables_[level];
      double all = 0;
      for (const double share : sum) table.below.push_back(all += share);
      for (std::size_t i = 0; i < kEntries; ++i) {
        const double from = static_cast<double>(i) / kEntries;
        const auto at = std::upper_bound(table.below.begin(), table.below.end() - 1, from);
        table.first[i] = static_cast<std::uint32_t>(at - table.below.begin());
      }
    }
  }

  /// Steps until `tokens` are there.
  [[nodiscard]] std::uint32_t steps(std::uint32_t tokens, Random& random) const {
    if (most_ == 1) return tokens;
    std::uint32_t steps = 0;
    for (std::size_t level = kSteps.size(); level-- > 0;) {
      const Table& table = tables_[level];
      // As long as all steps of a draw are needed, whatever they bring.
      while (tokens >= kSteps[level] * most_ || (level == 0 && tokens > 0)) {
        const std::uint32_t made = kSteps[level] + table.more(random.uniform());
        tokens -= std::min(tokens, made);
        steps += kSteps[level];
      }
    }
    return steps;
  }

 private:
  static constexpr std::array<std::uint32_t, 4> kSteps = {1, 8, 32, 128};
  static constexpr std::size_t kEntries = 512;  ///< a power of two: shares of them are exact

  struct Table {
    std::vector<double> below;                    ///< probability of so many tokens beyond one a step, or fewer
    std::array<std::uint32_t, kEntries> first{};  ///< where to begin to look, by the leading bits of a draw
    /// The first that is above the draw, or the last.
    [[nodiscard]] std::uint32_t more(double draw) const {
      std::uint32_t at = first[static_cast<std::size_t>(draw * kEntries)];
      while (at + 1 < below.size() && below[at] <= draw) ++at;
      return at;
    }
  };

  static std::vector<double> convolved(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> out(a.size() + b.size() - 1, 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) out[i + j] += a[i] * b[j];
    }
    return out;
  }

  std::uint32_t most_;  ///< tokens of a step
  std::array<Table, kSteps.size()> tables_;
};

}  // namespace ridge::serve
