// What it costs to serve a rate with whole replicas that are rented by the hour, and by others at a price for each
// request: a staircase, where a program without whole numbers sees a ramp.
//
//   RentSteps steps({{.able = 4, .usd = 10}, {.able = 1.5, .usd = 4}}, kNoLimit, 100);
//   steps.least(5);                    // 14: nothing costs less
//   steps.choose(5);                   // {1, 1}: replicas of each kind, enough for 5 requests/s
//
// Rates are looked at in cells: `choose` errs upwards by less than a cell for each replica, `least` downwards and only
// where unlike sums meet in a cell.
#pragma once

#include <vector>

#include "ridge/fleet/fleet.hpp"

namespace ridge::fleet {

/// What whole numbers of some kinds cost at least, by what they can do together: for each cell of that, no sum is
/// cheaper than `usd` and none can do more than `able`. The last cell is for all that can do `most` or more.
class CheapestSums {
 public:
  CheapestSums(double most, std::size_t cells);

  /// Any number of one more kind.
  void take(double able, double usd);
  [[nodiscard]] std::size_t last() const { return usd_.size() - 1; }
  [[nodiscard]] double usd(std::size_t cell) const { return usd_[cell]; }  ///< infinity where no sum falls
  [[nodiscard]] double able(std::size_t cell) const { return able_[cell]; }
  [[nodiscard]] double width() const { return width_; }

 private:
  double width_;
  std::vector<double> usd_, able_;
};

class RentSteps {
 public:
  struct Kind {
    double able = 0;  ///< requests/s of one replica
    double usd = 0;   ///< of one replica and hour
  };
  /// `usd_elsewhere`: of 1 request/s over an hour, served by others or lost; infinity if there is no such way.
  RentSteps(std::vector<Kind> kinds, double usd_elsewhere, double most_rate);

  [[nodiscard]] double least(double rate) const;
  /// What choose() costs, and the rest elsewhere; infinity where there is no such way.
  [[nodiscard]] double enough(double rate) const;
  /// What is left over goes elsewhere.
  [[nodiscard]] std::vector<int> choose(double rate) const;

 private:
  std::vector<Kind> kinds_;
  double elsewhere_;
  double cell_ = 1;
  CheapestSums sums_;
  std::vector<double> more_;         ///< by cells: the least of this and all larger sums
  std::vector<double> less_;         ///< by cells: the least of all smaller sums if nothing were to be served elsewhere
  std::vector<double> enough_;       ///< by cells, of what certainly is so much
  std::vector<double> bundle_;       ///< by kind: replicas that are taken together
  std::vector<std::size_t> choice_;  ///< by cells: the kind taken first, or kinds_.size()
};

/// What a service may rent in a month.
[[nodiscard]] std::vector<RentSteps::Kind> rent_kinds(const Problem& problem, int service, int month);
/// Dollars for 1 request/s over an hour at the cheapest of others, or lost; infinity if there is no such way.
[[nodiscard]] double usd_elsewhere(const Problem& problem, int service, bool unlimited_only);

/// A line under a falling curve: no less than `height - slope x`.
struct LineBelow {
  double height = 0, slope = 0;
};
/// The lower hull of points from left to right.
[[nodiscard]] std::vector<LineBelow> lines_below(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace ridge::fleet
