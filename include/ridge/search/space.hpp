// Candidates are numbers, so that a thread, an MPI rank, a Slurm task or a resumed run is just a range of
// them.
//
//   Range part = shard({0, 140}, 2, 3);               // {94, 140}: the last third
//   Findings all = merge(merge(first, second), third);  // in any order and grouping, the same findings
//
// Values; pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ridge {

/// Candidates begin, begin + 1, ..., end - 1.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t size() const { return end > begin ? end - begin : 0; }
  [[nodiscard]] bool contains(std::uint64_t index) const { return begin <= index && index < end; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// Part `part` (from 0) of `parts` parts whose sizes differ by at most one; together they are the whole.
[[nodiscard]] Range shard(Range whole, int part, int parts);
/// What lies in both; empty if nothing does.
[[nodiscard]] Range overlap(Range a, Range b);
/// The same candidates as few ranges in order.
[[nodiscard]] std::vector<Range> joined(std::vector<Range> ranges);
/// What of `whole` none of `done` holds.
[[nodiscard]] std::vector<Range> without(Range whole, const std::vector<Range>& done);

inline constexpr std::size_t kMostCriteria = 3;

/// A candidate and how good it is: less is better throughout.
struct Scored {
  std::uint64_t index = 0;
  double violation = 0;  ///< 0: it meets the goal; otherwise how far it is from it
  std::array<double, kMostCriteria> criteria{};

  friend bool operator==(const Scored&, const Scored&) = default;
};

/// By violation, then by the first criterion, then by index: no two candidates are equal.
[[nodiscard]] bool better(const Scored& a, const Scored& b);
/// In no criterion worse, and in one better, or equal in all with the smaller index. Both meet the goal.
[[nodiscard]] bool dominates(const Scored& a, const Scored& b);

/// What a search keeps of one group of candidates that compete with each other (a device, a number of devices).
struct Harvest {
  std::vector<Scored> best;   ///< the `top` best ones, best first
  std::vector<Scored> front;  ///< all that meet the goal and that no other dominates; by index once merged

  /// Keeps the candidate if it belongs here.
  void add(const Scored& candidate, std::size_t top);
  friend bool operator==(const Harvest&, const Harvest&) = default;
};

/// What a search found: the same for any order, cut and number of threads, pruned or not.
struct Findings {
  std::size_t top = 8;  ///< how many of the best a group keeps
  std::vector<Harvest> groups;

  friend bool operator==(const Findings&, const Findings&) = default;
};

/// Of both together. Associative and commutative; both have the same `top` and number of groups (assert).
[[nodiscard]] Findings merge(Findings a, const Findings& b);
void merge_into(Harvest& into, const Harvest& from, std::size_t top);

}  // namespace ridge
