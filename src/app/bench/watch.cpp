#include "app/bench/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ridge::bench {

void Drift::add(double value, std::string_view date) {
  if (!(value > 0)) return;
  if (expected_ <= 0) {
    first_.push_back(value);
    if (first_.size() < kFirst) return;
    std::nth_element(first_.begin(), first_.begin() + kFirst / 2, first_.end());
    expected_ = first_[kFirst / 2];
    return;
  }
  last_ = value;
  const double off = std::log(value / expected_);
  const auto move = [&](double& sum, std::string& since, double by) {
    sum = std::max(0.0, sum + by - slack_);
    if (sum == 0) {
      since.clear();
    } else if (since.empty()) {
      since = date;
    }
  };
  move(above_, above_since_, off);
  move(below_, below_since_, -off);
  if (above_ > kAlarm) {
    since_ = above_since_;
  } else if (below_ > kAlarm) {
    since_ = below_since_;
  } else if (above_ == 0 && below_ == 0) {
    since_.clear();
  }
}

std::string Drift::text(std::string_view name, bool planned) const {
  if (!drifted()) return {};
  return fmt::format(", {} is {:.2f} times {} since {}", name, last_ / expected_, planned ? "the plan's" : "what it was",
                     since_);
}

}  // namespace ridge::bench
