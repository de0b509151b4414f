// A measured case: what ran, what was measured, and where it was read.
//
//   for (const Case& c : table.cases)
//     for (const Target& t : c.targets) fmt::print("{} {} {}\n", c.id, name(t.metric), t.measured);
//
// A case holds inputs and targets apart: prediction gets `input` and never sees `targets`. A row that cannot be read is
// a case too, with `refusal` set and without input, so that it is counted and shown. Values; any thread may read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "evidence/cases/diffusion_cases.hpp"
#include "evidence/cases/power_cases.hpp"
#include "evidence/kernels/cases.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/perf/training.hpp"
#include "ridge/perf/training_answer.hpp"

namespace ridge::evidence {

enum class CaseKind : std::uint8_t { training, inference, kernel, power, diffusion };
inline constexpr std::size_t kCaseKinds = 5;
[[nodiscard]] std::string_view name(CaseKind kind);

/// What may be measured; the name is the column.
enum class Metric : std::uint8_t {
  step_time_s,
  output_tok_s,
  total_tok_s,
  ttft_ms,
  tpot_ms,
  e2e_ms,
  power_w,
  joules_per_output_token,
  batch_latency_s,
  images_per_s,
  energy_per_image_j,
  seconds,
  watts,
  joules_per_token,
  tokens_per_sec_per_gpu,
};
inline constexpr std::size_t kMetrics = 15;
[[nodiscard]] std::string_view name(Metric metric);
[[nodiscard]] std::optional<Metric> parse_metric(std::string_view text);

struct Target {
  Metric metric = Metric::step_time_s;
  double measured = 0;       ///< in the unit of the column; NaN if the cell is not a positive number
  std::string refusal = {};  ///< why this one figure cannot be predicted, or empty
};

using CaseInput = std::variant<std::monostate, TrainingQuery, InferenceQuery, KernelCase, PowerCase, DiffusionCase>;

struct Case {
  CaseKind kind = CaseKind::inference;
  std::string id;
  std::string file;
  std::size_t line = 0;
  std::string source;
  std::string engine;
  std::string model;
  std::string device;
  std::string precision;
  std::string mode;         ///< inference: the load; training: the task; kernels: the operator; power: what ran
  std::string refusal;      ///< why the row cannot be predicted as it stands, or empty
  bool fitted = true;       ///< false: reported only (data/evidence/added)
  bool physics = true;      ///< false: not for parameters of the physics, only for effects (data/evidence/more)
  bool median_gap = false;  ///< its tpot is the median gap between tokens
  TrainingFreedom open;     ///< degrees that a user did not write down: chosen as `ridge estimate` does
  CaseInput input;
  std::vector<Target> targets;
};

}  // namespace ridge::evidence
