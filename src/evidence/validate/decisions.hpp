// Decisions: of two devices that one publisher measured at the same work, does the prediction choose the faster?
//
//   DecisionFindings d = judge_decisions(rows, cases, knowledge);
//   d.lines[0].right;       // share of the pairs in the right order
//   d.calibration[8];       // of the pairs called 80 to 90 % sure, how many were right
//   d.regret;               // what taking the predicted best costs against the measured best, on average
//
// The same work: source, model, format, load and number of devices are equal, the device is another. `rows` are
// predictions of rows that were left out of the fit. Two devices under one software share the error of the software and
// of who ran it; what they do not share makes the probability, by the distribution of ridge/search/confidence.hpp.
// Pure; any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "evidence/validate/validation.hpp"

namespace ridge::evidence {

struct DecisionLine {
  std::string what;  ///< "all", "differ by 10 % to 25 %", "AMD against NVIDIA"
  int pairs = 0;
  double right = 0;   ///< share in the right order
  double stated = 0;  ///< mean probability that was stated for that order
};

struct DecisionFindings {
  std::vector<DecisionLine> lines;
  struct Bin {
    int pairs = 0;
    double stated = 0, right = 0;
  };
  std::array<Bin, 5> calibration{};  ///< by the stated probability of the better one: 50 to 60 %, ..., 90 to 100 %
  int choices = 0;
  double regret = 0;  ///< mean share of the best measured rate that taking the predicted best gives away
};

[[nodiscard]] DecisionFindings judge_decisions(std::span<const ResultRow> rows, std::span<const Case> cases,
                                               const Knowledge& knowledge);

}  // namespace ridge::evidence
