// Time to first token against the length of a prompt: chunks, context parallelism and stages that work side by side.
//
//   InferenceQuery q;
//   q.model = "llama3.1-405b"; q.device = "h100-sxm"; q.tp = 8; q.gpus = 8;
//   ContextPlan plan{.cp = 16, .chunk = 0};                                // 128 devices, the prompt in one piece
//   auto curve = context_curve(q, plan, {128e3, 512e3, 1e6}, knowledge);   // refuses with a reason
//   curve->points[2].ttft_s.mid;  curve->points[2].kv_bytes;
//
// One prompt alone, nothing else running. Ranks of context parallelism hold a part of the sequence each; keys and
// values pass round the ring while attention works on those that are there, so that only what lasts longer than
// attention is waited for. Layers with a window, sparse attention (DSA) or a recurrent state do the work that such
// layers do. Pure; any thread.
#pragma once

#include <vector>

#include "ridge/perf/inference.hpp"

namespace ridge {

struct ContextPlan {
  int cp = 1;        ///< ranks that share the tokens of one prompt; devices = tp x pp x cp
  double chunk = 0;  ///< tokens of a step, of all ranks together; 0 = the engine's, with cp > 1 the whole prompt
};

struct ContextPoint {
  double tokens = 0;
  Reason reason = Reason::none;
  double short_by = 0;  ///< bytes per device
  Interval ttft_s;
  Interval tokens_per_s;        ///< of the prompt
  double kv_bytes = 0;          ///< of this prompt, per device
  double activation_bytes = 0;  ///< per device, at the largest step
  double attention_share = 0;   ///< of the time
  double exchange_share = 0;    ///< of the time: keys and values that had to be waited for
  double steps = 1;
  Bound bound = Bound::compute;
};

struct ContextCurve {
  DeploymentFacts facts;
  int cp = 1;
  double devices = 1;
  double kv_room_bytes = 0;  ///< per device
  std::vector<ContextPoint> points;
  std::vector<std::string> assumptions;
};

/// Refuses (bad_input, not_found) what resolve() refuses, cp or a chunk below 1, a list without lengths, and a model
/// with attention by data (dp > 1). A length that does not fit is a point with a reason.
Result<ContextCurve> context_curve(const InferenceQuery& query, const ContextPlan& plan,
                                   const std::vector<double>& lengths, const Knowledge& knowledge);

}  // namespace ridge
