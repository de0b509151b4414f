// Whether figures that come one by one have left what was expected of them, and since when: a cumulative sum of their
// logarithms (Page, 1954).
//
//   Drift tpot(0.020);                     // seconds that are expected; 0 = the median of the first ten
//   tpot.add(0.031, "2026-11-16 01:12");
//   tpot.drifted(); tpot.since();          // the date of the first figure of the run that led there
//
// One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridge::bench {

class Drift {
 public:
  explicit Drift(double expected) : expected_(expected) {}
  /// Figures may be off by so much, in logarithms, for ever: the width of the prediction's interval.
  void allow(double slack) { slack_ = slack > kLeastSlack ? slack : kLeastSlack; }
  void add(double value, std::string_view date);
  [[nodiscard]] bool drifted() const { return !since_.empty(); }
  [[nodiscard]] const std::string& since() const { return since_; }
  /// ", TPOT drifts since ...", or nothing.
  [[nodiscard]] std::string text(std::string_view name, bool planned) const;

 private:
  static constexpr double kLeastSlack = 0.05;
  static constexpr double kAlarm = 0.5;  ///< of the sum
  static constexpr std::size_t kFirst = 10;
  double expected_;
  double slack_ = kLeastSlack;
  double above_ = 0, below_ = 0;
  std::string above_since_, below_since_, since_;
  double last_ = 0;
  std::vector<double> first_;
};

}  // namespace ridge::bench
