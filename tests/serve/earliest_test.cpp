#include "serve/earliest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ridge/base/random.hpp"

namespace ridge::serve {
namespace {

TEST(Earliest, IsTheFirstOfTheLeast) {
  for (const std::size_t count : {1UL, 2UL, 3UL, 8UL, 37UL, 1000UL}) {
    Earliest next(count);
    EXPECT_EQ(next.first(), 0U);
    EXPECT_EQ(next.time(), kNever);
    std::vector<Ticks> plain(count, kNever);
    Random random(count, 5);
    for (int i = 0; i < 3000; ++i) {
      const auto which = static_cast<std::size_t>(random.uniform() * static_cast<double>(count));
      // Few different times, so that many are equal.
      const Ticks time = random.uniform() < 0.2 ? kNever : static_cast<Ticks>(random.uniform() * 10);
      next.set(which, time);
      plain[which] = time;
      const auto least = std::min_element(plain.begin(), plain.end());
      ASSERT_EQ(next.first(), static_cast<std::size_t>(least - plain.begin())) << count << " engines, set " << i;
      ASSERT_EQ(next.time(), *least);
    }
  }
}

}  // namespace
}  // namespace ridge::serve
