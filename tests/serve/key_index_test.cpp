// The table behind the caches, beside the standard one.
#include "serve/key_index.hpp"

#include <gtest/gtest.h>

#include <unordered_map>

#include "ridge/random.hpp"

namespace ridge::serve {
namespace {

TEST(KeyIndex, FindsWhatAStandardTableFindsThroughInsertsAndErasures) {
  for (const std::uint64_t spacing : {1ULL, 64ULL, 0x9e3779b97f4a7c15ULL}) {  // keys in a row, and mixed ones
    KeyIndex index;
    std::unordered_map<std::uint64_t, std::uint32_t> plain;
    Random random(7, spacing);
    for (std::uint32_t i = 0; i < 50'000; ++i) {
      const std::uint64_t key = random.below(3000) * spacing;
      const auto found = plain.find(key);
      ASSERT_EQ(index.find(key), found == plain.end() ? KeyIndex::kNone : found->second);
      if (found == plain.end()) {
        index.insert(key, i);
        plain.emplace(key, i);
      } else if (random.uniform() < 0.7) {
        index.erase(key);
        plain.erase(found);
      }
    }
    for (std::uint64_t k = 0; k < 3000; ++k) {
      const auto found = plain.find(k * spacing);
      ASSERT_EQ(index.find(k * spacing), found == plain.end() ? KeyIndex::kNone : found->second);
    }
  }
}

}  // namespace
}  // namespace ridge::serve
