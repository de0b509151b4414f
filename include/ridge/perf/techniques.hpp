// What the known techniques of inference gain for one plan, evaluated instead of quoted.
//
//   auto gains = technique_gains(query, knowledge);
//   for (const TechniqueGain& g : *gains) g.id, g.throughput;       // "int4", 1.7: 1.7 times the output
//
// Each technique is compared with the plan without it, at the load of the plan where it has anything to say there.
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/perf/inference.hpp"

namespace ridge {

inline constexpr std::string_view kTechniques[] = {
    "fp8",         "int4",       "nvfp4",       "fp8-kv", "flash-attention", "paged-kv", "continuous-batching",
    "speculation", "multi-lora", "prefix-cache"};

/// Factors over the plan without the technique, 1 = nothing gained; empty where it does not touch them.
struct TechniqueGain {
  std::string id;
  std::string what;                   ///< the change, in words
  std::optional<double> throughput;   ///< output tokens per second
  std::optional<double> user_speed;   ///< 1 / TPOT
  std::optional<double> first_token;  ///< 1 / TTFT
  std::optional<double> sequences;    ///< that the cache holds
  std::string remark;                 ///< what it does here, or why it cannot be used
};

/// The plan without any of the techniques that the query turns on: no speculation, no adapters, no prefix cache. Their
/// settings in the query (draft tokens and acceptance, rank, hit ratio) are those that are evaluated; 3 and 0.7, 16,
/// and 0.5 where it has none.
[[nodiscard]] InferenceQuery plain_plan(const InferenceQuery& query);

/// One for each of kTechniques. Refuses what resolve() refuses, and (infeasible) a plain plan that cannot run.
Result<std::vector<TechniqueGain>> technique_gains(const InferenceQuery& query, const Knowledge& knowledge);

}  // namespace ridge
