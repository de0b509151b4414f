// Experts that live on other devices: how tokens reach them, how they are dealt out, how much of it is hidden.
//
//   InferenceQuery q;
//   q.model = "deepseek-r1"; q.device = "gb200-nvl72"; q.tp = 1; q.dp = q.ep = q.gpus = 72;
//   q.experts.redundant = 32;                        // 256 + 32 slots, four on each of 72 ranks
//   q.experts.exchange = ExpertExchange::dispatch;   // --dispatch kernels
//   q.experts.two_batches = true;                    // --two-batch-overlap on
//
// What is left open is the engine's habit (data/engines) and is listed among the assumptions. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ridge/base/result.hpp"

namespace ridge {

/// How the tokens of data-parallel ranks reach experts on other ranks, and how the results come back.
enum class ExpertExchange : std::uint8_t {
  gather,       ///< every rank gets all tokens, outputs are reduced and scattered: grows with the ranks
  dispatch,     ///< low-latency kernels in steps that only decode, throughput kernels in those with prompts
  low_latency,  ///< one copy of a token for each chosen expert, straight to its rank (DeepEP low-latency, pplx)
  throughput,   ///< one copy per domain and per rank that holds a chosen expert (DeepEP normal, NVLink one-sided)
};
/// "gather", "kernels", "low-latency", "throughput": the words of --dispatch.
[[nodiscard]] std::string_view name(ExpertExchange exchange);
/// Refuses other words, with these.
Result<ExpertExchange> parse_expert_exchange(std::string_view word);

struct ExpertPlan {
  std::optional<ExpertExchange> exchange;  ///< nothing: what the release does with so many ranks
  int redundant = -1;                      ///< copies of experts beside the experts; -1 = what deals them out evenly
  std::optional<bool> two_batches;         ///< halves of a batch hide each other's exchange; nothing: where it helps
  std::optional<bool> rebalanced;          ///< experts are placed by their load (EPLB); nothing: with wide groups
};

}  // namespace ridge
