// The parts of the simulator, each by its own rule.
#include "serve/cache/block_pool.hpp"
#include "serve/cache/prefix_cache.hpp"
#include "serve/engine/series.hpp"
#include "serve/engine/step_clock.hpp"
#include "support.hpp"

namespace ridge {
namespace {

using namespace testing_support;
using serve::BlockPool;
using serve::Chunk;
using serve::PrefixCache;
using serve::StepClock;
using serve::Ticks;

TEST(StepClock, ARunIsTheSumOfItsSteps) {
  const ToyModel model(1.3e-7, 3.7e-11);
  StepClock clock(model, toy_shape());
  for (const std::int64_t context : {1, 63, 64, 1000}) {
    Ticks sum = 0;
    for (std::uint64_t k = 1; k <= 300; ++k) {
      sum += clock.decode(24, context + static_cast<std::int64_t>(k) - 1);
      ASSERT_EQ(clock.decode_run(24, context, k), sum) << context << " + " << k;
      ASSERT_EQ(clock.steps_until(24, context, 300, sum), k);
      ASSERT_EQ(clock.steps_until(24, context, 300, sum - 1), k);
      ASSERT_EQ(clock.steps_until(24, context, 301, sum + 1), k + 1);
    }
  }
}

TEST(StepClock, IsTheModelToTheNanosecondAtItsKnots) {
  const ToyModel model(1.3e-7, 3.7e-11);
  StepClock clock(model, toy_shape());
  perf::Step step;
  step.decode = 24;
  step.context = 640;
  EXPECT_EQ(clock.decode(24, 640), serve::to_ticks(model.step(step).seconds));
  step.context = 670;  // between them linear, as the model is
  EXPECT_NEAR(static_cast<double>(clock.decode(24, 670)), model.step(step).seconds * kTicksPerSecond, 64);
}

/// Counts how often it is asked.
class CountedModel final : public serve::StepModel {
 public:
  [[nodiscard]] perf::StepTime step(const perf::Step& s) const noexcept override {
    ++asked;
    return model_.step(s);
  }
  mutable int asked = 0;

 private:
  ToyModel model_{1.3e-7, 3.7e-11, 2e-8};
};

// The first prompt of a length is timed by itself, others of that length from knots of 64 tokens of context; the model
// is linear in it, so that both agree. Two knots serve a thousand steps.
TEST(StepClock, StepsWithPromptsOfOneShapeAreTimedOnce) {
  const CountedModel model;
  StepClock clock(model, toy_shape());
  const serve::PrefillShape prompt{1000, 1, 1000 * 500.0, 1000};
  serve::Work work;
  const auto exactly = [&](std::uint32_t sequences, double context) {
    return 1e-6 + 1.3e-7 * sequences + 3.7e-11 * sequences * context + 2e-8 * 1000;
  };
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t context = 640 + i % 64;
    const Ticks ticks = clock.mixed(24, context, prompt, work);
    ASSERT_NEAR(static_cast<double>(ticks), exactly(24, static_cast<double>(context)) * kTicksPerSecond, 64) << i;
  }
  EXPECT_EQ(model.asked, 3);
  (void)clock.mixed(25, 640, prompt, work);
  (void)clock.mixed(0, 0, prompt, work);
  EXPECT_EQ(model.asked, 5);
  (void)clock.mixed(24, 640, {999, 1, 999 * 500.0, 999}, work);  // another shape, and a new one
  EXPECT_EQ(model.asked, 6);
}

// Long answers are drawn many steps at a time: as many steps as drawing each would give, on average and in spread.
TEST(Drafts, TakeAsManyStepsAsDrawingEach) {
  const serve::Drafts drafts(3, 0.8);
  constexpr int kTrials = 20000;
  for (const std::uint32_t tokens : {1u, 7u, 33u, 500u}) {
    double mean[2] = {0, 0}, square[2] = {0, 0};
    for (int trial = 0; trial < kTrials; ++trial) {
      Random many(1, static_cast<std::uint64_t>(trial));
      Random each(2, static_cast<std::uint64_t>(trial));
      std::uint32_t steps = 0;
      for (std::uint32_t done = 0; done < tokens; ++steps) {
        ++done;
        for (int i = 0; i < 3 && each.uniform() < 0.8; ++i) ++done;
      }
      const double drawn[2] = {static_cast<double>(drafts.steps(tokens, many)), static_cast<double>(steps)};
      for (int way = 0; way < 2; ++way) {
        mean[way] += drawn[way] / kTrials;
        square[way] += drawn[way] * drawn[way] / kTrials;
      }
    }
    const double variance[2] = {square[0] - mean[0] * mean[0], square[1] - mean[1] * mean[1]};
    EXPECT_NEAR(mean[0], mean[1], 5 * std::sqrt((variance[0] + variance[1]) / kTrials) + 1e-9) << tokens;
    EXPECT_NEAR(variance[0], variance[1], 0.08 * variance[1] + 1e-9) << tokens;
  }
}

TEST(Drafts, OfWhichAllOrNoneAreAcceptedAreCertain) {
  Random random(1);
  EXPECT_EQ(serve::Drafts(3, 1.0).steps(1000, random), 250u);
  EXPECT_EQ(serve::Drafts(3, 0.0).steps(1000, random), 1000u);
  EXPECT_EQ(serve::Drafts(0, 0.7).steps(1000, random), 1000u);
}

// A sequence of t tokens takes a block at the steps that write token 16 k + 1.
TEST(BlockPool, NeedsABlockEachTimeASequencePassesOne) {
  BlockPool pool(1000, 16);
  pool.start(5, 30);  // two blocks hold 32: the third is taken at the third step
  pool.start(5, 32);  // at once
  EXPECT_EQ(pool.need(5, 1), 1);
  EXPECT_EQ(pool.need(5, 2), 1);
  EXPECT_EQ(pool.need(5, 3), 2);
  EXPECT_EQ(pool.need(5, 16), 2);
  EXPECT_EQ(pool.need(5, 17), 3);
  EXPECT_EQ(pool.need(5, 1600), 200);
  for (std::uint64_t want = 1; want < 200; ++want) {
    BlockPool small(static_cast<std::int64_t>(want % 7), 16);
    small.start(5, 30);
    small.start(5, 32);
    const std::uint64_t fit = small.steps_that_fit(5, want, 0);
    EXPECT_LE(small.need(5, fit), small.unused());
    EXPECT_TRUE(fit == want || small.need(5, fit + 1) > small.unused());
  }
}

TEST(PrefixCache, GivesUpWhatNobodyHoldsOldestFirst) {
  PrefixCache cache;
  cache.insert(1, 10);
  cache.insert(2, 20);
  cache.insert(3, 30);
  const std::vector<Chunk> prompt{{1, 160}, {2, 320}, {9, 16}};
  EXPECT_EQ(cache.match(prompt), 2U);
  EXPECT_EQ(cache.evict(100), 0) << "all are held";
  cache.release(2);
  cache.release(1);
  EXPECT_EQ(cache.evictable(), 30);
  EXPECT_EQ(cache.evict(1), 20) << "the one released first goes first";
  EXPECT_EQ(cache.match(prompt), 1U);
  cache.hold(1);
  EXPECT_EQ(cache.evict(1), 0);
  EXPECT_EQ(cache.size(), 40);
}

TEST(LatencyDistribution, QuantilesAreRightToAThousandth) {
  LatencyDistribution d;
  for (int i = 1; i <= 10'000; ++i) d.add(serve::to_ticks(i * 1e-4));
  EXPECT_NEAR(d.mean(), 0.50005, 1e-9);
  EXPECT_NEAR(d.p50(), 0.5, 0.5 * 0.001);
  EXPECT_NEAR(d.p99(), 0.99, 0.99 * 0.001);
  EXPECT_EQ(d.greatest(), 1.0);
  EXPECT_EQ(d.quantile(1), 1.0);
  EXPECT_NEAR(d.share_within(0.25), 0.25, 0.002);
  for (const std::int64_t t : {0LL, 1LL, 1023LL, 1024LL, 123'456'789LL, 1LL << 50}) {
    const std::size_t bin = LatencyDistribution::bin(t);
    EXPECT_LE(LatencyDistribution::edge(bin), t);
    EXPECT_GT(LatencyDistribution::edge(bin + 1), t);
  }
}

TEST(Series, KeepsItsAreaWhenItFolds) {
  serve::Series s;
  s.level(serve::Track::queue, 3, 0, serve::to_ticks(2));
  s.level(serve::Track::queue, 1, serve::to_ticks(2), serve::to_ticks(1000));
  double area = 0;
  for (std::size_t i = 0; i < serve::Series::kSpans; ++i) area += s.value(serve::Track::queue, i);
  EXPECT_NEAR(area / kTicksPerSecond, 3 * 2 + 998, 1e-6);
  EXPECT_NEAR(s.total(serve::Track::queue) / kTicksPerSecond, 3 * 2 + 998, 1e-6);
}

}  // namespace
}  // namespace ridge
