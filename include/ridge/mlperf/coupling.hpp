// Racks against nodes: what was measured, what is predicted, and how much of it is the fabric.
//
//   for (const mlperf::Coupling& c : mlperf::predicted_coupling(results, names, knowledge)) {
//     c.ratio.per_accelerator();   // measured: rack over node, per accelerator
//     c.predicted->mid;            // the same predicted, both with the best plan for the scenario
//     c.fabric;                    // of that: groups of more than eight devices
//   }
//
// Both sides are given the same software; what is measured beyond the prediction is software, submissions or error.
// Pure but for reading; takes seconds, since every side tries dozens of plans.
#pragma once

#include "ridge/mlperf/mlperf_analysis.hpp"

namespace ridge::mlperf {

struct Coupling {
  Ratio ratio;
  std::optional<Interval> predicted;  ///< rack over node, per accelerator; nothing: one of the two is not modelled
  std::optional<double> fabric;       ///< the rack over the rack in groups of eight at most, predicted
  std::string rack_plan, node_plan;   ///< the predicted best
  std::string refusal;                ///< why there is no prediction

  /// Whether the measured ratio lies in the predicted interval.
  [[nodiscard]] bool held() const {
    return predicted && ratio.per_accelerator() >= predicted->low && ratio.per_accelerator() <= predicted->high;
  }
};

[[nodiscard]] std::vector<Coupling> predicted_coupling(const Results& results, const Names& names,
                                                       const Knowledge& knowledge);

}  // namespace ridge::mlperf
