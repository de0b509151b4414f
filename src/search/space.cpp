#include "ridge/search/space.hpp"

#include <algorithm>
#include <cassert>

namespace ridge {

Range shard(Range whole, int part, int parts) {
  assert(parts >= 1 && part >= 0 && part < parts);
  const std::uint64_t each = whole.size() / static_cast<std::uint64_t>(parts);
  const std::uint64_t longer = whole.size() % static_cast<std::uint64_t>(parts);
  const auto start = [&](std::uint64_t p) { return whole.begin + p * each + std::min(p, longer); };
  return {start(static_cast<std::uint64_t>(part)), start(static_cast<std::uint64_t>(part) + 1)};
}

Range overlap(Range a, Range b) {
  const Range both{std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return both.begin < both.end ? both : Range{};
}

std::vector<Range> joined(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> out;
  for (const Range& range : ranges) {
    if (range.size() == 0) continue;
    if (!out.empty() && range.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, range.end);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

std::vector<Range> without(Range whole, const std::vector<Range>& done) {
  std::vector<Range> left;
  for (const Range& range : joined(done)) {
    if (range.end <= whole.begin) continue;
    if (range.begin >= whole.end) break;
    if (range.begin > whole.begin) left.push_back({whole.begin, range.begin});
    whole.begin = std::min(range.end, whole.end);
  }
  if (whole.size() > 0) left.push_back(whole);
  return left;
}

bool better(const Scored& a, const Scored& b) {
  if (a.violation != b.violation) return a.violation < b.violation;
  if (a.criteria[0] != b.criteria[0]) return a.criteria[0] < b.criteria[0];
  return a.index < b.index;
}

bool dominates(const Scored& a, const Scored& b) {
  bool equal = true;
  for (std::size_t i = 0; i < kMostCriteria; ++i) {
    if (a.criteria[i] > b.criteria[i]) return false;
    equal = equal && a.criteria[i] == b.criteria[i];
  }
  return !equal || a.index < b.index;
}

namespace {

// What was found twice (a range searched again after a crash) counts once.
void keep_best(std::vector<Scored>& best, const Scored& candidate, std::size_t top) {
  if (best.size() >= top && !better(candidate, best.back())) return;
  const auto place = std::upper_bound(best.begin(), best.end(), candidate, better);
  if (place != best.begin() && (place - 1)->index == candidate.index) return;
  best.insert(place, candidate);
  if (best.size() > top) best.pop_back();
}

void keep_front(std::vector<Scored>& front, const Scored& candidate) {
  if (candidate.violation > 0) return;
  for (std::size_t i = 0; i < front.size(); ++i) {
    if (front[i].index == candidate.index) return;
    if (dominates(front[i], candidate)) {
      // The next candidates are likely dominated by the same one: look there earlier.
      if (i > 0) std::swap(front[i], front[i / 2]);
      return;
    }
  }
  std::erase_if(front, [&](const Scored& s) { return dominates(candidate, s); });
  front.push_back(candidate);
}

}  // namespace

void Harvest::add(const Scored& candidate, std::size_t top) {
  keep_best(best, candidate, top);
  keep_front(front, candidate);
}

void merge_into(Harvest& into, const Harvest& from, std::size_t top) {
  for (const Scored& s : from.best) keep_best(into.best, s, top);
  for (const Scored& s : from.front) keep_front(into.front, s);
  std::sort(into.front.begin(), into.front.end(), [](const Scored& a, const Scored& b) { return a.index < b.index; });
}

Findings merge(Findings a, const Findings& b) {
  assert(a.top == b.top && a.groups.size() == b.groups.size() && "findings of one question");
  for (std::size_t i = 0; i < a.groups.size(); ++i) merge_into(a.groups[i], b.groups[i], a.top);
  return a;
}

}  // namespace ridge
