// A step put together from its parts: what each phase takes by itself, who may overlap with whom, and a few factors.
//
//   RlEstimate e = compose(*answer.parts, factors_of(knowledge.calibration));
//
// The parts hold what costs time to find (simulations, layouts); putting them together costs none, so that factors can
// be fitted. Pure, any thread.
#pragma once

#include "ridge/catalogue/calibration.hpp"
#include "ridge/rl/rl.hpp"
#include "rl/drawing.hpp"

namespace ridge {

struct RlParts {
  RlPlacement placement = RlPlacement::colocated;
  double staleness = 0;
  bool partial = false;
  bool critic_apart = false;
  int gpus = 1, generators = 1, trainers = 1, engine_gpus = 1;
  double tokens = 0, updates = 1;
  rl::Drawing drawing;
  double policy_forward_s = 0, reference_forward_s = 0, policy_training_s = 0;
  double critic_forward_s = 0, critic_training_s = 0, reward_forward_s = 0;
  double weight_bytes = 0;
  double weight_link = 1;  ///< bytes/s of the slowest link between trainers and engines
  double swap_bytes = 0;   ///< of training state, to the host and back
  double swap_link = 1;
  double padded_bytes = 0;  ///< of a batch as it travels: every sequence as long as the longest
  bool assumed_lengths = false;
};

namespace rl {

/// data/calibration/rl.toml.
struct RlFactors {
  double generation = 1;
  double training = 1;
  double refit = 1;
  double overhead = 0;
  double handing = 1e9;
  double spread = 0.3;
};
[[nodiscard]] RlFactors factors_of(const Calibration& calibration);

[[nodiscard]] RlEstimate compose(const RlParts& parts, const RlFactors& factors);

}  // namespace rl
}  // namespace ridge
