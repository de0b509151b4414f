// Training: step time, memory, MFU and scaling for one plan.
//
//   TrainingQuery q;
//   q.model = "llama3.1-405b"; q.device = "h100-sxm"; q.engine = "megatron";
//   q.plan = {.gpus = 1024, .tp = 8, .pp = 16, .dp = 8, .sequence = 8192, .global_batch = 512, .micro_batch = 1};
//   auto job = resolve(q, knowledge);                              // allocates; refuses unknown names
//   TrainingOutcome o = evaluate(*job->resolved, job->plan);       // pure, noexcept, no allocation, any thread
//
// A resolved job depends on model, device, system, engine and precision only, so that a search evaluates millions of
// plans against one of them. Infeasible is an answer (reason, short_by, stage).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ridge/inference.hpp"
#include "ridge/perf.hpp"

namespace ridge {

enum class Recompute : std::uint8_t { none, selective, full, unknown };
enum class TrainingTask : std::uint8_t { pretrain, sft, lora };
enum class Schedule : std::uint8_t { one_f_one_b, interleaved, zero_bubble, dual_pipe };

/// Small integers and enums: what a search varies. Zero = the engine's usual choice.
struct TrainingPlan {
  int gpus = 1;
  int tp = 1, pp = 1, vp = 0, cp = 1, ep = 1, etp = 0, dp = 0;
  int sequence = 4096;
  int global_batch = 1, micro_batch = 1;  ///< sequences
  Sharding sharding = Sharding::unknown;
  Recompute recompute = Recompute::unknown;
  Schedule schedule = Schedule::one_f_one_b;
};

struct TrainingQuery {
  std::string model;
  std::string device;
  std::string system;
  std::string engine = "megatron";
  std::string engine_version;
  std::string date;
  TrainingTask task = TrainingTask::pretrain;
  std::optional<Format> precision;  ///< of the matrix products
  int gpus_per_node = 0;            ///< 0 = the device's or system's
  int scale_up_domain = 0;
  double power_cap = 0;
  bool mtp = false;  ///< train the multi-token-prediction layers
  TrainingPlan plan;
};

enum class TrainingMemory : std::uint8_t { weights, gradients, optimizer, activations, buffers };
inline constexpr std::size_t kTrainingMemory = 5;

struct TrainingEstimate {
  Interval step_time_s;
  Interval tokens_per_s;
  Interval mfu;                      ///< against dense peak; FLOPs by the convention `model_flops` counts
  double model_flops_per_token = 0;  ///< forward and backward, causal attention counted in full (12 L h s)
  double six_p_flops_per_token = 0;
  std::array<double, kTerms> terms_s{};
  std::array<double, kTrainingMemory> memory_bytes{};  ///< of the fullest stage, per device
  int fullest_stage = 0;
  Recompute recompute = Recompute::none;  ///< as evaluated
  int vp = 1;
  Interval power_w;  ///< all devices
  Bound bound = Bound::compute;
};

struct TrainingOutcome {
  Reason reason = Reason::none;
  double short_by = 0;
  int stage = 0;
  TrainingEstimate estimate;
};

struct ResolvedTraining;

struct TrainingJob {
  TrainingJob();
  TrainingJob(TrainingJob&&) noexcept;
  TrainingJob& operator=(TrainingJob&&) noexcept;
  ~TrainingJob();
  std::unique_ptr<ResolvedTraining> resolved;
  TrainingPlan plan;
  std::vector<std::string> assumptions;
};

Result<TrainingJob> resolve(const TrainingQuery& query, const Knowledge& knowledge);
[[nodiscard]] TrainingOutcome evaluate(const ResolvedTraining& job, const TrainingPlan& plan) noexcept;

}  // namespace ridge
