// One question about inference, one whole answer: layout completed, evaluated, explained, or refused with what works.
//
//   InferenceQuery q;
//   q.model = "llama3.3-70b"; q.device = "h200-sxm"; q.load = {.mode = LoadMode::closed_loop, .concurrency = 64};
//   Result<InferenceAnswer> a = answer(q, knowledge);
//   if (!a) return a.error();                         // names that do not exist, contradictions
//   if (a->refusal) say(a->refusal->why, a->refusal->nearest);
//   else use(a->outcome.estimate, a->explanation);
//
// What every front end (command line, HTTP, Python) calls; evaluate() alone is for searches. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ridge/base/change.hpp"
#include "ridge/perf/inference.hpp"

namespace ridge {

/// A plan near the refused one that can run.
struct NearestPlan {
  Changes changes;     ///< {{"tp", "4"}, {"gpus", "4"}}
  std::string effect;  ///< in words: "fits, with room for 38 sequences"
};

/// Why a plan cannot run.
struct Refusal {
  Reason reason = Reason::none;
  std::string why;                   ///< one sentence, with by how much
  std::optional<double> short_by;    ///< bytes per device, if memory is what lacks
  std::vector<NearestPlan> nearest;  ///< nearest first; empty if nothing near was found
};

struct InferenceAnswer {
  InferenceQuery query;  ///< with the layout that was chosen
  DeploymentFacts facts;
  InferenceOutcome outcome;
  std::vector<std::string> assumptions;  ///< every default used, and what is unusual about the plan
  std::optional<InferenceExplanation> explanation;
  std::optional<Refusal> refusal;  ///< set if and only if the plan cannot run
};

struct AnswerOptions {
  bool explain = true;  ///< elasticities, suggestions and operators; costs some dozens of evaluations
};

/// Completes what the query leaves open, in this order: without `gpus` and `tp` the fewest devices of one scale-up
/// domain that hold the model; with `gpus` alone the widest tensor parallelism that divides heads and devices and
/// stays inside the domain, as replicas beyond it. Refuses (bad_input, not_found, refused) what resolve() refuses, and
/// a device that is not the system's. A plan that cannot run is an answer with `refusal`.
Result<InferenceAnswer> answer(const InferenceQuery& query, const Knowledge& knowledge,
                               const AnswerOptions& options = {});

/// Why `outcome` of `query` is infeasible and what near it is not. Evaluates some dozens of variants.
[[nodiscard]] Refusal explain_refusal(const InferenceQuery& query, const InferenceOutcome& outcome,
                                      const Knowledge& knowledge);

}  // namespace ridge
