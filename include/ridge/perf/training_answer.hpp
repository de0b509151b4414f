// One question about training, one whole answer: layout completed, evaluated, or refused with what works; and how it
// scales.
//
//   TrainingQuery q;
//   q.model = "llama3.1-70b"; q.device = "h100-sxm"; q.plan.gpus = 512;
//   const TrainingFreedom free{.tp = true, .pp = true, .micro_batch = true, .global_batch = true};   // to be chosen
//   Result<TrainingAnswer> a = answer(q, free, knowledge);
//   if (a->refusal) say(a->refusal->why, a->refusal->nearest);
//   ScalingCurve curve = scaling(*a, Scaling::weak, 64, 16384);
//
// Pure; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ridge/perf/answer.hpp"
#include "ridge/perf/training.hpp"

namespace ridge {

/// What the question leaves open; the fastest choice that fits is taken.
struct TrainingFreedom {
  bool tp = false;
  bool pp = false;
  bool ep = false;
  bool micro_batch = false;
  bool schedule = false;      ///< DualPipe where the stack runs it and stages and batches allow it
  bool sequence = false;      ///< usual_sequence()
  bool global_batch = false;  ///< usual_batch(), or as near to it as a layout without choice can share out
};

/// Tokens of a sequence where nobody says: 8,192, or the model's context if that is shorter.
[[nodiscard]] int usual_sequence(const Model& model);
/// Tokens of a step where nobody says: four million (4 x 1024 x 1024) up to 4,096 devices, then 1,024 for each device,
/// as Llama 3 was trained (16 M tokens on 16,384 devices, arXiv:2407.21783, table 4), up to 64 million. Of fine-tuning
/// (sft, lora) 128 x 1024, as far as devices can share so few: Tulu 3 takes 128 sequences (arXiv:2411.15124).
[[nodiscard]] double usual_batch_tokens(int gpus, TrainingTask task = TrainingTask::pretrain);
/// Sequences of a step where nobody says: a power of two times the odd part of `shares`, which are devices times the
/// micro-batch asked for, so that replicas can share it out. Of these, the one that is nearest to usual_batch_tokens()
/// by its ratio to them.
[[nodiscard]] int usual_batch(int sequence, long shares, int gpus, TrainingTask task = TrainingTask::pretrain);
/// Tokens of a step beyond which a larger one gains little: 0.292 C^0.3271 for C = 6 x parameters x tokens operations
/// (DeepSeek LLM, arXiv:2401.02954, equation 1; fitted on dense models from 1e17 to 2e19).
[[nodiscard]] double critical_batch_tokens(double active_parameters, double tokens);

struct TrainingFacts {
  std::string device;
  std::string engine;
  std::string era;
  Format precision = Format::bf16;
  int dp = 1;
  double memory_bytes = 0;  ///< of one device, that a job can fill
  double peak = 0;          ///< dense FLOP/s of one device in that format
};

struct TrainingAnswer {
  TrainingQuery query;  ///< with the layout that was chosen
  TrainingFacts facts;
  TrainingOutcome outcome;
  std::optional<ExampleUse> examples;                       ///< where they do not fill rows by themselves
  std::vector<std::array<double, kTrainingMemory>> stages;  ///< memory of one device, by pipeline stage
  std::vector<std::string> assumptions;
  std::optional<Refusal> refusal;          ///< set if and only if the plan cannot run
  std::shared_ptr<const TrainingJob> job;  ///< to evaluate other plans of it
};

/// Refuses (bad_input, not_found, refused) what resolve() refuses, and a device that is not the system's. A plan that
/// cannot run is an answer with `refusal`.
Result<TrainingAnswer> answer(const TrainingQuery& query, const TrainingFreedom& freedom, const Knowledge& knowledge);

enum class Scaling : std::uint8_t {
  weak,    ///< the batch grows with the devices
  strong,  ///< the batch stays
};

struct ScalingPoint {
  TrainingPlan plan;
  TrainingOutcome outcome;
  double efficiency = 0;  ///< output per device over that of the first point that runs; 0 if this one cannot
};

struct ScalingCurve {
  Scaling scaling = Scaling::weak;
  std::vector<ScalingPoint> points;
  /// The share of the work that does not spread, which fits the points best: Gustafson's for weak scaling, Amdahl's for
  /// strong. Empty with fewer than two points that run.
  std::optional<double> serial_share;
};

/// The plan of an answer at `from`, twice that, and so on up to `to` devices: data parallelism grows, the rest stays.
[[nodiscard]] ScalingCurve scaling(const TrainingAnswer& answer, Scaling scaling, int from, int to);

}  // namespace ridge
