// Whole steps of a model as ridge-measure timed them, beside what the engine `native` is predicted to take.
//
//   Result<StepPrediction> p = predict_step(profile.steps[0], profile.model, "h200-sxm", knowledge);
//   p->seconds; p->operators;          // named as in the profile
//
// Refuses what resolve() refuses. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "measure/profile.hpp"
#include "ridge/base/result.hpp"
#include "ridge/perf/inference.hpp"

namespace ridge::evidence {

struct StepPrediction {
  double seconds = 0;
  std::vector<measure::ModelStep::Operator> operators;  ///< all layers together, as kernels alone
};

Result<StepPrediction> predict_step(const measure::ModelStep& step, const std::string& model, const std::string& device,
                                    const Knowledge& knowledge);

/// The model of a step: its own, or the profile's.
[[nodiscard]] const std::string& model_of(const measure::ModelStep& step, const measure::Profile& profile);

}  // namespace ridge::evidence
