// Requests from outside see what simulate() says, to the tick, whatever the clock.
#include "ridge/serve/live.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <map>

#include "support.hpp"

namespace ridge {
namespace {

/// A clock that waits for nothing: the next event is always due, unless somebody arrives before it.
class Replay final : public LiveTraffic {
 public:
  std::deque<LiveRequest> arrivals;
  std::map<std::uint64_t, std::vector<std::uint32_t>> heard;
  std::map<std::uint64_t, RequestRecord> records;
  std::map<std::uint64_t, LiveEnd> ends;
  std::deque<std::pair<std::int64_t, std::uint64_t>> leaves;  ///< when, who

  Wake wait(std::int64_t ticks, const LiveState&) override {
    if (!arrivals.empty() && arrivals.front().arrival <= ticks) return Wake::changed;
    if (!leaves.empty() && leaves.front().first <= ticks) return Wake::changed;
    now_ = ticks;
    return ticks == std::numeric_limits<std::int64_t>::max() ? Wake::stop : Wake::due;
  }
  bool take(LiveRequest& request) override {
    if (arrivals.empty() || taken_ == arrivals.front().id) return false;
    request = arrivals.front();
    arrivals.pop_front();
    taken_ = arrivals.empty() ? 0 : arrivals.front().id;  // one at a time
    if (!arrivals.empty() && arrivals.front().arrival == request.arrival) taken_ = 0;
    return true;
  }
  bool take_cancelled(std::uint64_t& id) override {
    taken_ = 0;
    if (leaves.empty() || (!arrivals.empty() && arrivals.front().arrival < leaves.front().first)) return false;
    id = leaves.front().second;
    leaves.pop_front();
    return true;
  }
  void tokens(std::uint64_t id, std::uint32_t generated) override { heard[id].push_back(generated); }
  void ended(const RequestRecord& record, LiveEnd end) override {
    records[record.id] = record;
    ends[record.id] = end;
  }
  bool may_restart(std::uint64_t) override { return true; }

 private:
  std::int64_t now_ = 0;
  std::uint64_t taken_ = 0;
};

class Records final : public SimulationObserver {
 public:
  std::map<std::uint64_t, RequestRecord> records;
  void request(const RequestRecord& r) override { records[r.id] = r; }
};

SimulationQuery question() {
  SimulationQuery q;
  q.deployment.model = "llama3.1-8b";
  q.deployment.device = "l40s";
  q.deployment.gpus = q.deployment.tp = 1;
  q.workload = fixed_workload(700, 60);
  q.workload.classes[0].output = {.kind = LengthKind::uniform, .mean = 60, .low = 20, .high = 100};
  q.load = {.kind = OfferedKind::rate, .rate = 6};
  q.requests = 150;
  return q;
}

TEST(Live, RequestsSeeWhatSimulateSaysToTheTick) {
  const SimulationQuery q = question();
  Records simulated;
  ASSERT_TRUE(simulate(q, testing_support::knowledge(), &simulated).ok());
  Replay live;
  for (const auto& [id, r] : simulated.records) {
    live.arrivals.push_back({id + 1, r.arrival, r.input, r.output, 0, {}});
  }
  const auto result = serve_live(q, testing_support::knowledge(), live);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(live.records.size(), simulated.records.size());
  for (const auto& [id, r] : simulated.records) {
    const RequestRecord& l = live.records.at(id + 1);
    EXPECT_EQ(l.arrival, r.arrival);
    EXPECT_EQ(l.first_token, r.first_token);
    EXPECT_EQ(l.last_token, r.last_token);
    EXPECT_EQ(live.ends.at(id + 1), LiveEnd::finished);
    // Every token is told once it is out, one after the other.
    const auto& told = live.heard.at(id + 1);
    EXPECT_GE(told.size(), r.output - 1U);
    EXPECT_EQ(told.front(), 1U);
  }
}

TEST(Live, APromptThatWasThereBeforeIsFoundInTheCache) {
  SimulationQuery q = question();
  Replay live;
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 60; ++i) keys.push_back(1000 + i);  // 960 tokens: prompt and answer
  live.arrivals.push_back({1, 0, 640, 320, 0, keys});
  live.arrivals.push_back({2, static_cast<std::int64_t>(60 * kTicksPerSecond), 1000, 10, 0, keys});
  ASSERT_TRUE(serve_live(q, testing_support::knowledge(), live).ok());
  EXPECT_EQ(live.records.at(1).cached, 0U);
  EXPECT_GE(live.records.at(2).cached, 944U);  // but for a last block that was not full
  EXPECT_LE(live.records.at(2).cached, 960U);
}

TEST(Live, WhoLeavesFreesItsPlace) {
  SimulationQuery q = question();
  Replay live;
  live.arrivals.push_back({1, 0, 100, 100'000, 0, {}});
  live.leaves.emplace_back(static_cast<std::int64_t>(2 * kTicksPerSecond), 1);
  const auto result = serve_live(q, testing_support::knowledge(), live);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(live.ends.count(1), 1U);
  EXPECT_EQ(live.ends.at(1), LiveEnd::cancelled);
  EXPECT_LT(static_cast<double>(live.records.at(1).last_token) / kTicksPerSecond, 2.2);
}

}  // namespace
}  // namespace ridge
