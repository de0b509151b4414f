// Memories below the device's: what is equal to the tick, what is kept, what is recomputed, what is refused.
#include "ridge/serve/kv_tiers.hpp"

#include <limits>

#include "serve/cache/tier_store.hpp"
#include "support.hpp"

namespace ridge {
namespace {

using namespace testing_support;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::int64_t kFewBlocks = 1500;

/// Conversations of 8 turns of 200 tokens in and 50 out that begin alike; answers are thought about for 20 ms.
ToySystem conversations(std::int64_t blocks) {
  ToySystem toy;
  toy.model = ToyModel(1e-7, 0, 2e-7);
  toy.shape.blocks = blocks;
  toy.shape.bytes_per_token = 1000;
  RequestClass& c = toy.query.workload.classes.emplace_back();
  c.name = "talk";
  c.input = {.kind = LengthKind::uniform, .low = 100, .high = 300};
  c.output = {.kind = LengthKind::uniform, .low = 20, .high = 80};
  c.turns = {.kind = LengthKind::fixed, .mean = 8};
  c.shared_prefix = 64;
  c.prefix_groups = 3;
  c.think_time = 0.02;
  toy.query.load = {.kind = OfferedKind::rate, .rate = 1500};
  toy.query.requests = 3000;
  return toy;
}

void expect_equal(const Recorder& a, const Recorder& b) {
  ASSERT_EQ(a.requests.size(), b.requests.size());
  for (std::size_t i = 0; i < a.requests.size(); ++i) {
    ASSERT_EQ(a.requests[i].cached, b.requests[i].cached) << "request " << i;
    ASSERT_EQ(a.requests[i].first_token, b.requests[i].first_token) << "request " << i;
    ASSERT_EQ(a.requests[i].last_token, b.requests[i].last_token) << "request " << i;
  }
}

TEST(KvTiers, OfInfiniteBandwidthEqualARunWithoutOffloadToTheTick) {
  Recorder whole;
  const SimulationResult one = conversations(1 << 24).run(&whole);
  ToySystem small = conversations(kFewBlocks);
  Recorder alone;
  small.run(&alone);
  bool differ = false;
  for (std::size_t i = 0; i < whole.requests.size(); ++i)
    differ |= whole.requests[i].cached != alone.requests[i].cached;
  ASSERT_TRUE(differ) << "memory is too large for the test: nothing is evicted";
  // Three tiers that share what has no end: the first two are small, so that chunks move on.
  small.query.policies.tiers = {{"host", 1e6, kInf}, {"ssd", 5e6, kInf}, {"store", kInf, kInf, 0, true}};
  Recorder tiered;
  const SimulationResult three = small.run(&tiered);
  EXPECT_EQ(one.preemptions, 0U);
  EXPECT_EQ(three.preemptions, 0U);
  for (const TierResult& t : three.tiers) EXPECT_GT(t.fetched_tokens, 0U) << t.name;
  expect_equal(whole, tiered);
}

TEST(KvTiers, SlowerThanRecomputingAreDeclinedAndChangeNothing) {
  ToySystem toy = conversations(kFewBlocks);
  Recorder without;
  toy.run(&without);
  toy.query.policies.tiers = {{"tape", kInf, 1e3}};
  Recorder with;
  const SimulationResult r = toy.run(&with);
  EXPECT_EQ(r.tiers[0].fetched_tokens, 0U);
  EXPECT_GT(r.tiers[0].declined_tokens, 1000U);
  expect_equal(without, with);
}

TEST(KvTiers, FetchingShortensLaterTurnsAndTasks) {
  ToySystem toy = conversations(800);
  toy.model = ToyModel(1e-7, 0, 1e-6);  // prompts cost five times as much
  toy.query.load.rate = 1000;
  const SimulationResult without = toy.run();
  toy.query.policies.tiers = {{"host", 1e9, 10e9, 1e-6}};
  const SimulationResult with = toy.run();
  EXPECT_GT(with.tiers[0].fetched_tokens, 10'000U);
  EXPECT_GT(with.cached_tokens, without.cached_tokens);
  EXPECT_LT(with.later_turn_ttft.p50(), 0.9 * without.later_turn_ttft.p50());
  EXPECT_LT(with.task_busy.mean(), without.task_busy.mean());
  EXPECT_GT(with.task.mean(), with.task_busy.mean() + 7 * 0.015) << "seven times somebody thinks for 20 ms";
}

TEST(KvTiers, OnlyASharedOneServesAnotherEngine) {
  ToySystem toy = conversations(kFewBlocks);
  toy.engines = 4;
  toy.query.policies.router = RouterPolicy::round_robin;
  toy.query.policies.tiers = {{"store", kInf, kInf, 0, false}};
  const SimulationResult own = toy.run();
  toy.query.policies.tiers[0].shared = true;
  const SimulationResult shared = toy.run();
  EXPECT_GT(static_cast<double>(shared.cached_tokens), 1.2 * static_cast<double>(own.cached_tokens));
}

TEST(TierStore, TheOldestMakesRoomAndATouchMakesYoung) {
  serve::TierStore store({"host", 100, 10}, 1);
  std::vector<serve::KeyedBlocks> out;
  store.put(1, 40, out);
  store.put(2, 40, out);
  EXPECT_TRUE(out.empty());
  store.touch(1);
  store.put(3, 40, out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].key, 2U);
  EXPECT_TRUE(store.has(1) && store.has(3) && !store.has(2));
  store.put(4, 101, out);  // never fits
  EXPECT_EQ(out.back().key, 4U);
  EXPECT_EQ(store.result.peak_bytes, 80);
}

// 20 blocks of one byte at 10 B/s take 2 s; the second transfer waits for the first, latency comes on top of each.
TEST(TierStore, TransfersFollowEachOther) {
  serve::TierStore store({"ssd", kInf, 10, 0.5}, 1);
  EXPECT_EQ(store.fetch(20, 0), serve::to_ticks(2.5));
  EXPECT_EQ(store.would_arrive(10, 0), serve::to_ticks(3.5));
  EXPECT_EQ(store.fetch(10, 0), serve::to_ticks(3.5));
}

// Chunks that different engines cut at different places fill their last block or not: who is preempted right after its
// prompt may hold a shared block that its own tokens do not fill.
TEST(KvTiers, ScarceBlocksAndASharedStoreLetEveryRequestEnd) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    ToySystem toy = conversations(180);
    toy.query.seed = seed;
    toy.engines = 3;
    toy.query.load.rate = 6000;
    toy.query.policies.tiers = {{"host", 1e5, 1e10}, {"store", kInf, 1e10, 1e-6, true}};
    const SimulationResult r = toy.run();
    EXPECT_GT(r.preemptions, 0U);
    EXPECT_EQ(r.finished + r.too_long, r.arrived);
    EXPECT_GT(r.tiers.back().fetched_tokens, 0U);
  }
}

TEST(ParseTiers, ReadsWhatTheHelpSays) {
  const auto tiers = parse_tiers("host:512GB:50GB/s,ssd:4TB:12GB/s:100us,store:inf:10GB/s:1ms:shared");
  ASSERT_TRUE(tiers) << tiers.error().text();
  ASSERT_EQ(tiers->size(), 3U);
  EXPECT_EQ((*tiers)[0].capacity, 512e9);
  EXPECT_EQ((*tiers)[1].latency, 100e-6);
  EXPECT_EQ((*tiers)[2].capacity, kInf);
  EXPECT_TRUE((*tiers)[2].shared);
  EXPECT_TRUE(parse_tiers("host:1GB:inf:shared"));
}

TEST(ParseTiers, RefusesWhatIsNoTier) {
  for (const char* text :
       {"", "host", "host:512GB", "host:0GB:50GB/s", "host:512GB:0GB/s", "host:-1GB:50GB/s", "host:512GB:50GB/s:-1ms",
        "host:512GB:50GB/s:fast", "host:50GB/s:512GB", ":1GB:1GB/s", "a:1GB:1GB/s,a:1GB:1GB/s", "host:nan:50GB/s",
        "host:512GB:50GB/s:shared:1ms", "host:512GB:50GB/s:1ms:shared:more", "host:512GB:50GB/s,"}) {
    EXPECT_FALSE(parse_tiers(text)) << text;
  }
}

}  // namespace
}  // namespace ridge
