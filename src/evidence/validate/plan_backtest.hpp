// Would plans have held? Of plans sized with a stated confidence for work that somebody measured, how many.
//
//   std::vector<PlanTest> tests = test_plans(rows, cases);     // rows of publishers left out of the fit
//   tests[0].held[1];                                          // 0.81 of the plans sized for 80 % held
//
// A plan for a load is as many devices as the load takes when every step is factor(p) times as slow as predicted
// (ridge/search/confidence.hpp). It holds where what was measured is at least as fast as that: whatever the load is,
// and up to the last device, which is not counted. Limits on times are tested likewise: a limit at factor(p) times the
// predicted time is held where the measured time is within it. Pure; any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "evidence/validate/validation.hpp"

namespace ridge::evidence {

inline constexpr std::array kTestedConfidences = {0.5, 0.8, 0.95};

struct PlanTest {
  std::string what;  ///< "output tokens, closed loop", "rate and TPOT together"
  int plans = 0;
  int publishers = 0;
  std::array<double, kTestedConfidences.size()> held{};         ///< share of the plans, by confidence
  std::array<double, kTestedConfidences.size()> held_evenly{};  ///< the same with each publisher counted once
};

/// One line for all rates (serving), each of their loads, TPOT, both together, TTFT and training steps; those without
/// rows are left out.
[[nodiscard]] std::vector<PlanTest> test_plans(std::span<const ResultRow> rows, std::span<const Case> cases);

}  // namespace ridge::evidence
