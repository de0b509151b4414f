// Prompts on one pool of engines, tokens on another: what the pair does together.
//
//   auto prefill = resolve(of_prompts, knowledge);      // 32 x H800, DP 32, EP 32
//   auto decode = resolve(of_tokens, knowledge);        // 144 x H800, DP 144, EP 144, +32 experts
//   PoolsOutcome o = evaluate_pools(*prefill->resolved, *decode->resolved, load, {.link_bytes_per_s = 32 * 50e9});
//   o.prefill_engines;              // so many for one decode engine keep it busy
//   o.output_tokens_per_s.mid;      // of one decode engine
//   o.per_device.mid;               // of all devices of both pools
//
// `load` is that of one decode engine: its clients and the lengths of their requests. A pool that cannot run is an
// answer (reason, and which of the two). Pure, noexcept, allocates nothing; any thread.
#pragma once

#include "ridge/perf/inference.hpp"

namespace ridge {

struct PoolsSetting {
  double link_bytes_per_s = 50e9;  ///< out of one prefill engine, for caches
  double link_latency = 20e-6;     ///< seconds
  double prefill_use = 0.6;        ///< share of the time in which a prefill engine works; 1: requests are queued anyway
};

struct PoolsOutcome {
  Reason reason = Reason::none;
  bool prefill_fails = false;  ///< the reason is that of the prefill pool
  double short_by = 0;
  double prefill_engines = 0;    ///< per decode engine, that work `prefill_use` of the time
  double fewest_prefill = 0;     ///< the same where they work all of it, on as many prompts as a step takes
  double prompts_at_once = 1;    ///< that one prefill engine works on
  double kv_bytes = 0;           ///< of one request
  double transfer_s = 0;         ///< of them, alone on the link
  double gpus = 0;               ///< of one decode engine and its share of prefill engines
  Interval output_tokens_per_s;  ///< of one decode engine
  Interval per_device;           ///< of all devices
  Interval ttft_s, tpot_s;
  Interval power_w;           ///< of one decode engine and its share of prefill engines
  InferenceEstimate prefill;  ///< of one engine
  InferenceEstimate decode;
};

[[nodiscard]] PoolsOutcome evaluate_pools(const ResolvedInference& prefill, const ResolvedInference& decode,
                                          const InferenceLoad& load, const PoolsSetting& setting) noexcept;

/// Seconds of an engine for each prompt where prompts wait: its ranks take as many at once as a step holds. `prompts`
/// is a load of prefill with one prompt on each rank, which takes `alone`.
[[nodiscard]] double queued_prompt_s(const ResolvedInference& prefill, InferenceLoad prompts, double alone) noexcept;

/// Of `decode` engines for tokens beside `prefill` for prompts, so many work at their full pace: where whole engines do
/// not balance, the pool that has no time left sets it.
[[nodiscard]] double busy_engines(const PoolsOutcome& outcome, double prefill, double decode) noexcept;

/// Bytes of cache that one request of `tokens` tokens leaves behind in all devices of a replica.
[[nodiscard]] double cache_bytes(const ResolvedInference& deployment, double tokens) noexcept;

}  // namespace ridge
