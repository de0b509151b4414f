// What a search walks: candidates in groups, groups in blocks, and for each block a floor below which nothing in it is.
//
//   class Mine : public Problem { ... };
//   Findings all = search(mine, {.threads = 2}).findings;
//
// Candidates of one group compete with each other; a block is a run of neighbouring candidates of one group. A floor is
// a proof: no candidate of the block has a smaller violation, or a smaller value of any criterion. Methods are const
// and called from several threads at once; those of the inner loop do not throw.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ridge/search/space.hpp"

namespace ridge::search {

/// A violation from here on means that a plan does not fit: beyond it, the gigabytes missing on one device.
inline constexpr double kDoesNotFit = 1e6;
inline constexpr double kShortUnit = 1e9;  ///< bytes that are missing, in the unit of a violation

struct Floor {
  double violation = 0;
  std::array<double, kMostCriteria> criteria{};
};

/// What was done with candidates. The only part of a search that depends on order and threads.
struct Count {
  std::uint64_t evaluated = 0;  ///< really computed
  std::uint64_t pruned = 0;     ///< shown by a floor to be neither among the best nor on the front

  Count& operator+=(const Count& other) {
    evaluated += other.evaluated;
    pruned += other.pruned;
    return *this;
  }
};

class Problem {
 public:
  virtual ~Problem() = default;

  [[nodiscard]] virtual std::size_t groups() const = 0;
  /// Candidates of the group; groups follow each other without gaps.
  [[nodiscard]] virtual Range range(std::size_t group) const = 0;
  [[nodiscard]] virtual std::size_t blocks(std::size_t group) const = 0;
  /// Blocks of a group follow each other without gaps.
  [[nodiscard]] virtual Range range(std::size_t group, std::size_t block) const = 0;
  [[nodiscard]] virtual Floor floor(std::size_t group, std::size_t block) const noexcept = 0;
  /// Evaluates the candidates `part` of the block. With `prune`, those that cannot belong into `into` may be left out
  /// and counted as pruned.
  virtual void walk(std::size_t group, std::size_t block, Range part, bool prune, std::size_t top, Harvest& into,
                    Count& count) const noexcept = 0;

  [[nodiscard]] Range all() const;
};

/// Whether a floor shows that nothing above it belongs into the harvest.
[[nodiscard]] bool hopeless(const Floor& floor, const Harvest& harvest, std::size_t top);

/// A search under way, seen between two batches.
struct SearchState {
  const Findings& findings;
  const std::vector<Range>& done;  ///< few ranges, in order, of what need not be searched again
  Count count;
  std::uint64_t finished = 0;  ///< candidates done, by earlier runs too
  std::uint64_t total = 0;
};

struct SearchOptions {
  Range range{};  ///< empty: all of it
  bool prune = true;
  int threads = 0;  ///< 0 = all cores; at most limits::kThreads
  std::size_t top = 8;
  Findings known{};  ///< of an earlier run, with what it had done
  std::vector<Range> done{};
  /// Called after every batch by one thread at a time; false stops the search.
  std::function<bool(const SearchState&)> observe{};
};

struct SearchOutcome {
  Findings findings;
  std::vector<Range> done;
  Count count;
  bool complete = true;  ///< false: stopped by `observe`
};

/// The best of each group and its front. Blocks are visited in the order of their floors, so that most of them are
/// shown to be hopeless by what is found first; which ones that are depends on threads, the findings do not.
[[nodiscard]] SearchOutcome search(const Problem& problem, const SearchOptions& options);

/// The candidates of the most promising blocks of each group: who searches only a part of the space knows by them what
/// is hopeless. To be given as SearchOptions::known.
[[nodiscard]] Findings scout(const Problem& problem, std::size_t top);

}  // namespace ridge::search
