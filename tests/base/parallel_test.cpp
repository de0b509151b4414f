// Pieces on several threads: each once, whatever the number of threads, and no more threads than there are cores.
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ridge {
namespace {

TEST(ParallelFor, CallsEachPieceOnceOnAnyNumberOfThreads) {
  for (const int threads : {0, 1, 2, 7, 64}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, threads, [&](std::size_t i) { ++calls[i]; });
      for (const auto& c : calls) EXPECT_EQ(c, 1) << threads << " threads, " << count << " pieces";
    }
  }
}

TEST(ParallelFor, WorksOnAsManyThreadsAsItWasGiven) {
  // Each piece waits until all three are there: with fewer threads none would come back.
  std::atomic<int> here{0};
  parallel_for(3, 3, [&](std::size_t) {
    ++here;
    while (here < 3) std::this_thread::yield();
  });
  EXPECT_EQ(here, 3);
}

TEST(ParallelFor, CallsWithinCallsShareTheCores) {
  // Two levels of 8 calls each would be 64 threads; beside the callers there are never more than cores - 1 at a time.
  std::mutex mutex;
  std::set<std::thread::id> now;
  std::size_t most = 0;
  parallel_for(8, 0, [&](std::size_t) {
    parallel_for(8, 0, [&](std::size_t) {
      {
        const std::lock_guard lock(mutex);
        now.insert(std::this_thread::get_id());
        most = std::max(most, now.size());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard lock(mutex);
      now.erase(std::this_thread::get_id());
    });
  });
  EXPECT_LE(most, static_cast<std::size_t>(usable_cores()));
}

TEST(ParallelFor, GivesBackTheCoresThatItBorrowed) {
  if (usable_cores() < 2) GTEST_SKIP() << "one core";
  for (int round = 0; round < 3 * usable_cores(); ++round) parallel_for(100, 0, [](std::size_t) {});
  std::atomic<int> here{0};
  parallel_for(2, 0, [&](std::size_t) {
    ++here;
    while (here < 2) std::this_thread::yield();
  });
  EXPECT_EQ(here, 2);
}

TEST(ParallelFor, ThrowsWhatAPieceThrewAndBeginsNoMore) {
  std::atomic<int> calls{0};
  const auto body = [&](std::size_t i) {
    ++calls;
    if (i == 2) throw std::runtime_error("two");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // all of them would take seconds: time enough to throw
  };
  EXPECT_THROW(parallel_for(20'000, 4, body), std::runtime_error);
  EXPECT_LT(calls, 20'000);
}

}  // namespace
}  // namespace ridge
