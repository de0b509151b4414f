// Answers drawn by engines, played request by request.
//
//   Result<Drawing> d = draw(question, deployment);
//   d->seconds;          // until the last answer of the batch is there and judged
//   d->flowing_seconds;  // of a batch's worth of answers where engines never run dry
//
// Pure; any thread. Refuses what simulate() refuses, and (refused) to go on once nobody waits any more.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "ridge/base/patience.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/rl/rl.hpp"

namespace ridge::rl {

struct DrawingQuestion {
  int engines = 1;
  double prompts = 1;
  double samples = 1;
  double prompt_tokens = 0;
  LengthDistribution answers;
  Verifier verifier;
  std::optional<BatchingPolicy> batching;  ///< of the engines; empty = the engine's own
  std::optional<double> ahead;  ///< batches in flight beside the one that is waited for; empty = only that one
};

inline constexpr std::size_t kTwentieths = 20;

struct Drawing {
  double seconds = 0;          ///< until the last token
  double judging_work = 0;     ///< seconds that all sandboxes together need for a batch
  double judging = 0;          ///< after it, until the last answer is judged
  double flowing_seconds = 0;  ///< of one batch in a steady flow; `seconds` unless `ahead` was asked for
  double busy = 0;             ///< share of the engines' time in which they work
  double tail_share = 0;       ///< of `seconds`, after nine in ten answers were there
  double running = 0;          ///< sequences per engine, on average
  /// When so many twentieths of the answers were there, as a share of `seconds`.
  std::array<double, kTwentieths + 1> there{};
};

Result<Drawing> draw(const DrawingQuestion& question, const InferenceQuery& query,
                     const InferenceDeployment& deployment, const Patience& patience = {});

/// Seconds after the last of the sorted `finished` until a verifier is through with all of them, first come first
/// served.
[[nodiscard]] double judging_after(const std::vector<double>& finished, const Verifier& verifier);

}  // namespace ridge::rl
