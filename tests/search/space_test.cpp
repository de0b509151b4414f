#include "ridge/search/space.hpp"

#include <gtest/gtest.h>

#include "ridge/base/random.hpp"

namespace ridge {
namespace {

TEST(Range, ShardsAreDisjointAndTogetherTheWhole) {
  for (const std::uint64_t size : {0u, 1u, 7u, 1000u, 1001u}) {
    for (const int parts : {1, 2, 3, 16}) {
      std::uint64_t next = 5;
      for (int part = 0; part < parts; ++part) {
        const Range range = shard({5, 5 + size}, part, parts);
        EXPECT_EQ(range.begin, next);
        EXPECT_LE(range.size(), size / static_cast<std::uint64_t>(parts) + 1);
        next = range.end;
      }
      EXPECT_EQ(next, 5 + size);
    }
  }
}

TEST(Range, WithoutLeavesWhatIsNotDone) {
  const std::vector<Range> done = {{10, 20}, {15, 30}, {40, 50}, {95, 200}};
  const std::vector<Range> left = without({0, 100}, done);
  EXPECT_EQ(left, (std::vector<Range>{{0, 10}, {30, 40}, {50, 95}}));
  EXPECT_EQ(joined(done), (std::vector<Range>{{10, 30}, {40, 50}, {95, 200}}));
}

Scored random_candidate(Random& draws, std::uint64_t index) {
  // Few distinct values, so that ties are common.
  Scored s;
  s.index = index;
  s.violation = draws.below(4) == 0 ? static_cast<double>(draws.below(3)) : 0;
  for (double& c : s.criteria) c = static_cast<double>(draws.below(12));
  return s;
}

Findings random_findings(Random& draws, std::uint64_t first) {
  Findings findings;
  findings.top = 5;
  findings.groups.resize(3);
  for (std::uint64_t i = 0; i < 40; ++i) {
    findings.groups[draws.below(3)].add(random_candidate(draws, first + i), findings.top);
  }
  return merge(std::move(findings), [] {
    Findings none;
    none.top = 5;
    none.groups.resize(3);
    return none;
  }());
}

TEST(Findings, MergeIsAssociativeCommutativeAndIdempotent) {
  Random draws(7);
  for (int round = 0; round < 200; ++round) {
    const Findings a = random_findings(draws, 0);
    const Findings b = random_findings(draws, 1000);
    const Findings c = random_findings(draws, 2000);
    const Findings left = merge(merge(a, b), c);
    EXPECT_EQ(left, merge(a, merge(b, c)));
    EXPECT_EQ(left, merge(merge(c, a), b));
    EXPECT_EQ(merge(left, b), left) << "what is found twice counts once";
  }
}

TEST(Harvest, FrontHoldsExactlyWhatNothingDominates) {
  Random draws(11);
  for (int round = 0; round < 100; ++round) {
    std::vector<Scored> all;
    Harvest harvest;
    for (std::uint64_t i = 0; i < 60; ++i) {
      all.push_back(random_candidate(draws, i));
      harvest.add(all.back(), 4);
    }
    for (const Scored& s : all) {
      bool on_front = s.violation == 0;
      for (const Scored& other : all) {
        if (other.violation == 0 && other.index != s.index && dominates(other, s)) on_front = false;
      }
      const bool kept =
          std::any_of(harvest.front.begin(), harvest.front.end(), [&](const Scored& f) { return f.index == s.index; });
      EXPECT_EQ(kept, on_front);
    }
    std::sort(all.begin(), all.end(), better);
    all.resize(4);
    EXPECT_EQ(harvest.best, all);
  }
}

}  // namespace
}  // namespace ridge
