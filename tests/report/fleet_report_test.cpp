// What a plan for an estate says to do.
#include <gtest/gtest.h>

#include "report/fleet/report.hpp"
#include "report/fleet/tables.hpp"

namespace ridge::report {
namespace {

// Two services rent devices of one kind at the same hour: together as many as both.
TEST(FleetReport, RentsUpToWhatAllTakeAtOnce) {
  fleet::Estate estate;
  fleet::Problem problem;
  problem.start = "2026-12";
  problem.months = 2;
  problem.hours = 2;
  problem.sites.resize(1);
  problem.sites[0].id = "cloud";
  problem.pools.resize(1);
  problem.pools[0].device = "h100-sxm";
  problem.stocks.resize(1);
  problem.stocks[0].way = fleet::Way::on_demand;
  problem.services.resize(2);
  problem.options.resize(2);
  problem.options[0].gpus = 2;
  problem.options[1].service = 1;
  fleet::Answer answer;
  answer.found = true;
  answer.months.resize(2);
  answer.placements.push_back({0, 0, 0, {0, 0, 3, 1}, {0, 0, 1, 1}});
  answer.placements.push_back({1, 0, 0, {0, 0, 4, 9}, {0, 0, 1, 1}});
  answer.jobs.push_back({0, 0, 0, {0, 0, 0.5, 0}});
  const std::vector<fleet::Replay> days;
  const FleetView view{estate, problem, answer, days, "", 0, false, {}};
  const std::vector<FleetAction> actions = fleet_actions_of(view);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(actions[0].month, 1);
  EXPECT_DOUBLE_EQ(actions[0].gpus, 11);  // 2 and 9; 6, 4 and a half are less
  EXPECT_EQ(fleet_recommendation(view), "2027-01: rent up to 11 h100-sxm in cloud on demand.");
}

}  // namespace
}  // namespace ridge::report
