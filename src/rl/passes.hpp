// Passes of the trainers over one step's sequences.
//
//   Result<Passes> p = passes(query, freedom, work, knowledge);
//   p->forward_s;    // one pass over all sequences, as log-probabilities take
//   p->training_s;   // forward and backward over all, with every update of the weights
//
// Sequences of many lengths are evaluated as equal ones of the length that has the same attention per token, packed
// into rows of the longest. Pure; any thread.
#pragma once

#include "ridge/perf/inference.hpp"
#include "ridge/perf/training_answer.hpp"

namespace ridge::rl {

struct PassWork {
  double sequences = 1;    ///< of a step
  double mean_tokens = 1;  ///< prompt and answer
  double attended = 1;     ///< E[L²]/E[L] of prompt and answer
  double longest = 1;      ///< prompt and longest answer
  double updates = 1;      ///< of the weights, per epoch
  double epochs = 1;       ///< times the sequences are trained on
  bool packing = true;     ///< false: every sequence is as long as the longest of its micro-batch
};

struct Passes {
  TrainingAnswer answer;  ///< layout and memory; `refusal` if it cannot run
  double forward_s = 0;
  double training_s = 0;
  double state_bytes = 0;  ///< weights, gradients and optimizer of one device
};

Result<Passes> passes(TrainingQuery query, const TrainingFreedom& freedom, const PassWork& work,
                      const Knowledge& knowledge);

/// Of a training step's time, what its forward pass alone takes.
[[nodiscard]] double forward_seconds(const TrainingEstimate& estimate);

}  // namespace ridge::rl
