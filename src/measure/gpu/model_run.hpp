// A decoder with random weights, run as plainly as possible: products of cuBLASLt, the attention kernels of this
// folder, fused norms, the whole step one graph. What a prediction is held against.
//
//   run_model(bench, arguments);       // adds profile.steps: whole steps, and each operator by itself
//
// Prefill passes all prompts at once and ends with the head on their last tokens; a decode step appends one token to
// each sequence, whose context has the given length with it. FP8: weights and inputs of the four projections in e4m3
// with one fixed scale, written by the kernel before; head, attention and cache in bf16. Throws GpuFailure.
#pragma once

#include "measure/gpu/suite.hpp"

namespace ridge::measure {

void run_model(Bench& bench, const Arguments& arguments);

}  // namespace ridge::measure
