#include "ridge/mlperf/coupling.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::mlperf {
namespace {

constexpr int kNodeSize = 8;

/// The fastest submission of one side.
const Row* fastest(const Results& results, const Ratio& r, const std::string& accelerator, double size) {
  const Row* best = nullptr;
  for (const Row& row : results.rows) {
    const bool fits = row.benchmark == r.benchmark && row.scenario == r.scenario && row.published.round == r.round &&
                      row.accelerator == accelerator && row.accelerators == static_cast<int>(size) &&
                      row.published.division == "closed";
    if (fits && (best == nullptr || row.value > best->value)) best = &row;
  }
  return best;
}

/// Two predictions of one model err apart: the logarithms of their intervals add up as squares.
Interval over(const Interval& a, const Interval& b) {
  const double mid = a.mid / b.mid;
  const double down = std::hypot(std::log(a.mid / a.low), std::log(b.high / b.mid));
  const double up = std::hypot(std::log(a.high / a.mid), std::log(b.mid / b.low));
  return {mid * std::exp(-down), mid, mid * std::exp(up)};
}

Interval per_accelerator(const Explanation& e) {
  return {e.predicted.low / e.accelerators, e.predicted.mid / e.accelerators, e.predicted.high / e.accelerators};
}

}  // namespace

std::vector<Coupling> predicted_coupling(const Results& results, const Names& names, const Knowledge& knowledge) {
  std::vector<Coupling> all;
  for (Ratio& ratio : coupling(results, names)) {
    Coupling c;
    c.ratio = std::move(ratio);
    const Ratio& r = c.ratio;
    const Row* const rack = fastest(results, r, r.first, r.first_accelerators);
    const Row* const node = fastest(results, r, r.second, r.second_accelerators);
    if (rack != nullptr && node != nullptr) {
      const auto first = explain(*rack, names, knowledge);
      const auto second = explain(*node, names, knowledge);
      if (first && second && first->measured && second->measured) {
        c.predicted = over(per_accelerator(*first), per_accelerator(*second));
        c.rack_plan = first->plan;
        c.node_plan = second->plan;
        if (const auto narrow = explain(*rack, names, knowledge, kNodeSize)) {
          c.fabric = first->predicted.mid / narrow->predicted.mid;
        }
      } else {
        c.refusal = !first ? first.error().message : !second ? second.error().message : "counts something else";
      }
    }
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace ridge::mlperf
