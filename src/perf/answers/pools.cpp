#include "ridge/perf/pools.hpp"

#include <algorithm>
#include <cmath>

#include "perf/inference/resolved.hpp"

namespace ridge {

double cache_bytes(const ResolvedInference& r, double tokens) noexcept {
  return perf::kv_bytes(r, tokens) * r.tp * r.pp;
}

double queued_prompt_s(const ResolvedInference& prefill, InferenceLoad prompts, double alone) noexcept {
  const double each = alone / prompts.batch;
  const double tokens = prompts.isl * 0.5 * (1 + prompts.length_low);
  prompts.batch *= std::max(1.0, std::floor(prefill.max_tokens / std::max(1.0, tokens)));
  const InferenceOutcome full = evaluate(prefill, prompts);
  return full.reason == Reason::none ? std::min(each, full.estimate.prefill_s.mid / prompts.batch) : each;
}

double busy_engines(const PoolsOutcome& outcome, double prefill, double decode) noexcept {
  return decode * std::min(1.0, prefill / (outcome.fewest_prefill * decode));
}

PoolsOutcome evaluate_pools(const ResolvedInference& prefill, const ResolvedInference& decode,
                            const InferenceLoad& load, const PoolsSetting& setting) noexcept {
  PoolsOutcome out;
  // Every data-parallel rank works on a prompt: a step takes as long for one as for all of them.
  InferenceLoad prompts = load;
  prompts.mode = LoadMode::prefill;
  prompts.osl = 1;
  prompts.prefilled = false;
  prompts.batch = out.prompts_at_once = std::max(1.0, prefill.gpus / (prefill.tp * prefill.pp));
  const InferenceOutcome first = evaluate(prefill, prompts);
  InferenceLoad tokens = load;
  tokens.prefilled = true;
  const InferenceOutcome second = evaluate(decode, tokens);
  const InferenceOutcome& failed = first.reason != Reason::none ? first : second;
  if (failed.reason != Reason::none) {
    out.reason = failed.reason;
    out.prefill_fails = first.reason != Reason::none;
    out.short_by = failed.short_by;
    return out;
  }
  out.prefill = first.estimate;
  out.decode = second.estimate;
  const double mean = 0.5 * (1 + load.length_low);
  out.kv_bytes = cache_bytes(prefill, load.isl * mean);
  out.transfer_s = out.kv_bytes / setting.link_bytes_per_s + setting.link_latency;
  out.output_tokens_per_s = out.decode.output_tokens_per_s;
  const double requests = out.output_tokens_per_s.mid / std::max(1.0, load.osl * mean);
  // Caches leave while the next prompts are worked on: the slower of the two sets the pace.
  const double use = std::clamp(setting.prefill_use, 0.05, 1.0);
  const double each =
      std::max(out.prefill.prefill_s.mid / out.prompts_at_once, out.kv_bytes / setting.link_bytes_per_s);
  out.prefill_engines = requests * each / use;
  const double queued = queued_prompt_s(prefill, prompts, out.prefill.prefill_s.mid);
  out.fewest_prefill = requests * std::max(queued, out.kv_bytes / setting.link_bytes_per_s);
  out.gpus = decode.gpus + out.prefill_engines * prefill.gpus;
  const auto scaled = [](const Interval& i, double by) { return Interval{i.low * by, i.mid * by, i.high * by}; };
  out.per_device = scaled(out.output_tokens_per_s, 1 / out.gpus);
  // Equal prompts at random times wait u / 2(1 - u) of one (M/D/1).
  const double wait = use < 1 ? 0.5 * use / (1 - use) : 0;
  const Interval& alone = out.prefill.prefill_s;
  const double spread_low = alone.mid > 0 ? alone.low / alone.mid : 1;
  const double spread_high = alone.mid > 0 ? alone.high / alone.mid : 1;
  const double server = decode.costs.server + decode.costs.server_token * load.isl * mean;
  const double ttft = server + alone.mid * (1 + wait) + out.transfer_s + out.decode.decode_step_s.mid;
  out.ttft_s = {ttft * spread_low, ttft, ttft * spread_high};
  out.tpot_s = out.decode.tpot_s;
  const double engines = out.prefill_engines;
  const auto watts = [&](double Interval::*part) {
    return out.decode.power_w.*part + engines * use * out.prefill.power_w.*part;
  };
  out.power_w = {watts(&Interval::low), watts(&Interval::mid), watts(&Interval::high)};
  return out;
}

}  // namespace ridge
