// The table behind the caches beside the standard one, and the order of uses beside a list.
#include "serve/cache/key_table.hpp"

#include <gtest/gtest.h>

#include <list>
#include <unordered_map>

#include "ridge/base/random.hpp"
#include "serve/cache/use_log.hpp"

namespace ridge::serve {
namespace {

struct TestCell {
  std::uint64_t key = 0;
  std::uint32_t blocks = 0;
  std::uint32_t stamp = 0;
};

TEST(KeyTable, FindsWhatAStandardTableFindsThroughInsertsAndErasures) {
  for (const std::uint64_t spacing : {1ULL, 64ULL, 0x9e3779b97f4a7c15ULL}) {  // keys in a row, and mixed ones
    KeyTable<TestCell> table;
    std::unordered_map<std::uint64_t, std::uint32_t> plain;
    Random random(7, spacing);
    const auto agree = [&](std::uint64_t key) {
      const auto found = plain.find(key);
      const TestCell* cell = table.find(key);
      return found == plain.end() ? cell == nullptr : cell != nullptr && cell->blocks == found->second;
    };
    for (std::uint32_t i = 1; i < 50'000; ++i) {
      const std::uint64_t key = random.below(3000) * spacing;
      ASSERT_TRUE(agree(key));
      table.expect(key);
      if (plain.emplace(key, i).second) {
        table.insert({key, i, 0});
      } else if (random.uniform() < 0.7) {
        table.erase(*table.find(key));
        plain.erase(key);
      }
      ASSERT_EQ(table.size(), plain.size());
    }
    for (std::uint64_t k = 0; k < 3000; ++k) ASSERT_TRUE(agree(k * spacing));
  }
}

// Whoever is used goes to the end, some are held (they wait no more), the oldest are taken and come back later.
TEST(UseLog, TakesTheOldestAsAListWould) {
  KeyTable<TestCell> table;
  UseLog log;
  std::list<std::uint64_t> plain;
  Random random(3, 5);
  constexpr std::uint64_t kKeys = 500;
  std::size_t taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t key = random.below(kKeys) * 16;
    const double what = random.uniform();
    if (what < 0.8) {
      TestCell* cell = table.find(key);
      log.append(table, cell != nullptr ? *cell : table.insert({key, 1, 0}));
      plain.remove(key);
      plain.push_back(key);
    } else if (what < 0.9) {
      if (TestCell* cell = table.find(key)) cell->stamp = 0;
      plain.remove(key);
    } else {
      const TestCell* oldest = log.take_oldest(table);
      ASSERT_EQ(oldest == nullptr, plain.empty());
      if (oldest == nullptr) continue;
      ASSERT_EQ(oldest->key, plain.front());
      plain.pop_front();
      table.erase(*oldest);
      ++taken;
    }
  }
  EXPECT_GT(taken, 10'000U);
}

}  // namespace
}  // namespace ridge::serve
