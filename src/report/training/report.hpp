// The answer to a question about training, for people and for programs; scaling curves; the pipeline as a trace.
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "report/page/provenance.hpp"
#include "ridge/perf/training_answer.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

struct TrainingReportOptions {
  double tokens = 0;                       ///< of the whole run, 0 = not asked
  std::optional<double> usd_per_gpu_hour;  ///< what a GPU-hour costs, for the curve
  double sold_bytes = 0;                   ///< memory of one device as its vendor names it; 0 = not known
};

[[nodiscard]] Document training_page(const TrainingAnswer& answer, const TrainingReportOptions& options,
                                     const std::optional<ScalingCurve>& curve);
/// docs/schema/estimate.json, kind "train".
[[nodiscard]] Json training_json(const TrainingAnswer& answer, const TrainingReportOptions& options,
                                 const std::optional<ScalingCurve>& curve);
/// One row for each predicted quantity: what, unit, low, mid, high.
[[nodiscard]] Table training_table(const TrainingAnswer& answer, const TrainingReportOptions& options);
/// "512 × h100-sxm, TP 8, PP 4, DP 16, fp8, megatron".
[[nodiscard]] std::string training_text(const TrainingAnswer& answer);

[[nodiscard]] Table scaling_table(const ScalingCurve& curve, std::optional<double> usd_per_gpu_hour = {});
/// Output per device against devices.
[[nodiscard]] std::string scaling_svg(const ScalingCurve& curve, const std::string& title);

/// One step of one replica in the trace format of Chrome and Perfetto: a row for each pipeline stage, from 0 to the
/// predicted time of the step. Refuses an answer that cannot run, DualPipe without the micro-batches it needs, and more
/// events than a browser shows.
Result<std::string> pipeline_trace(const TrainingAnswer& answer);
/// The same drawn; empty for one stage, for what pipeline_trace() refuses, and for more than a page takes.
[[nodiscard]] std::string pipeline_svg(const TrainingAnswer& answer);

/// The page with its charts, for a browser or paper.
[[nodiscard]] std::string training_html(const TrainingAnswer& answer, const TrainingReportOptions& options,
                                        const std::optional<ScalingCurve>& curve, const Provenance& provenance);

}  // namespace ridge::report
