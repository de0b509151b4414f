#include "measure/choose.hpp"

#include <gtest/gtest.h>

namespace ridge::measure {
namespace {

TEST(MeasureChoose, TheFastestIsTaken) {
  const Choice choice = choose({{10, 8, 9}, {10, 8, 9}, {10, 8, 9}});
  EXPECT_EQ(choice.best, 1u);
  EXPECT_DOUBLE_EQ(choice.seconds[1], 8);
}

// The clock falls from round to round (10, 13, 16). Candidate 1 is ahead by 1 % each time, which is more than the least
// noise; taken as they are, the times of each candidate scatter by a quarter, and 1 % would be nothing.
TEST(MeasureChoose, ARoundAtALowerClockSpeaksForNobody) {
  const Choice choice = choose({{10, 9.9, 10}, {13, 12.87, 13}, {16, 15.84, 16}});
  EXPECT_EQ(choice.best, 1u);
  EXPECT_DOUBLE_EQ(choice.seconds[1], 12.87);
}

TEST(MeasureChoose, OneDisturbedTurnDoesNotDecide) {
  EXPECT_EQ(choose({{10, 9}, {10, 9}, {10, 20}, {10, 9}, {10, 9}}).best, 1u);
  EXPECT_EQ(choose({{10, 11, 12}, {10, 11, 6}, {10, 11, 12}, {10, 11, 12}, {10, 11, 12}}).best, 0u);
}

// 0.4 % is less than the least noise; 0.8 % is more, unless the times themselves scatter by as much.
TEST(MeasureChoose, OnNearTiesTheFirstIsTaken) {
  EXPECT_EQ(choose({{10, 9.96, 12}, {10, 9.96, 12}, {10, 9.96, 12}}).best, 0u);
  EXPECT_EQ(choose({{10, 9.92, 12}, {10, 9.92, 12}, {10, 9.92, 12}}).best, 1u);
  EXPECT_EQ(choose({{10, 9.8, 10}, {10, 9.92, 10}, {10, 10.04, 10}}).best, 0u);
}

// However noisy: 3 % is no tie.
TEST(MeasureChoose, NoiseExcusesOnlySoMuch) {
  EXPECT_EQ(choose({{10, 9.2, 10}, {10, 9.7, 10}, {10, 10.2, 10}}).best, 1u);
}

TEST(MeasureChoose, OneCandidateInOneRoundIsEnough) {
  const Choice choice = choose({{3}});
  EXPECT_EQ(choice.best, 0u);
  EXPECT_DOUBLE_EQ(choice.seconds[0], 3);
}

}  // namespace
}  // namespace ridge::measure
