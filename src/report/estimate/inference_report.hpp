// The answer to a question about inference, for people and for programs.
//
//   Result<InferenceAnswer> a = answer(query, knowledge);
//   print(to_terminal(inference_page(*a, {.operators = true}), style));
//   print(inference_json(*a, {}).text());                              // docs/schema/estimate.json
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "report/page/page.hpp"
#include "ridge/base/change.hpp"
#include "ridge/perf/answer.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

inline constexpr std::string_view kEstimateSchema = "ridge.estimate/1";

struct InferenceReportOptions {
  bool operators = false;                   ///< the operator tables
  double sold_bytes = 0;                    ///< memory of one device as its vendor names it; 0 = not known
  bool embeds = false;                      ///< texts become vectors or scores
  double sound_s = 0;                       ///< seconds of sound that one sequence stands for; 0 = no speech
  std::optional<InferenceLoad> asked = {};  ///< the load without what pictures and sound make of it
  Changes media = {};                       ///< pictures and sound of a prompt, as they were asked for
};

/// "Memory of one device: sold as 180 GB (counted in GiB), 192 GB usable"; one figure where the two are alike.
[[nodiscard]] std::string memory_title(double sold_bytes, double usable_bytes);
[[nodiscard]] Document inference_page(const InferenceAnswer& answer, const InferenceReportOptions& options);
[[nodiscard]] Json inference_json(const InferenceAnswer& answer, const InferenceReportOptions& options);
/// One row for each predicted quantity: what, unit, low, mid, high.
[[nodiscard]] Table inference_table(const InferenceAnswer& answer);
/// Operators of a decode step and of a prefill, in one table.
[[nodiscard]] Table operator_table(const InferenceAnswer& answer);

/// "2 x h200-sxm, TP 2, fp8 weights, bf16 KV, vllm-0.12".
[[nodiscard]] std::string deployment_text(const InferenceAnswer& answer);
/// "1,000 tokens in, 250 out, 64 clients".
[[nodiscard]] std::string load_text(const InferenceLoad& load);
/// The flags that ask this question again: "--model llama3.3-70b --device h200-sxm --gpus 2 --tp 2 ...".
[[nodiscard]] std::string command_flags(const InferenceQuery& query);

/// Texts (or prompts) that are read in a second; seconds of sound that become text in one. Zero where nobody asks.
[[nodiscard]] Interval texts_per_s(const InferenceAnswer& answer, const InferenceReportOptions& options);
[[nodiscard]] Interval sound_per_s(const InferenceAnswer& answer, const InferenceReportOptions& options);
/// Output tokens per second of one device; of one user after the first token (1 / TPOT).
[[nodiscard]] Interval per_gpu(const InferenceAnswer& answer);
/// Tokens/s of a stack as tuned as its vendor's record, beside the answer, which speaks of what people run.
[[nodiscard]] double as_record(const InferenceAnswer& answer);
/// Whether records are known and differ by more than a tenth.
[[nodiscard]] bool tells_of_records(const InferenceAnswer& answer);
[[nodiscard]] Interval per_user(const InferenceAnswer& answer);
/// "decode" or "prefill": where most of the time goes.
[[nodiscard]] std::string_view phase(const InferenceEstimate& estimate);

}  // namespace ridge::report
