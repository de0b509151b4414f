// The flags of `ridge estimate`, and the questions they make. Which there are, what they take and for which words they
// mean anything is in the table of fields (ask/field.hpp); here they are declared, checked and read.
//
//   EstimateFlags flags;
//   flags.declare(options);
//   if (const Status s = flags.check("infer"); !s) return s.error();       // "--tokens: is for train, not for infer"
//   Result<InferenceQuestion> q = inference_question(flags, as_of);
//
// Values stay text until a question is made of them, so that a list ("--tp 2,4") can be taken apart first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/fields/flags.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/perf/training_answer.hpp"

namespace ridge::cli {

/// What may stand after `ridge estimate`, as bits.
enum EstimateWord : std::uint8_t {
  kInfer = ask::kInfer,
  kTrain = ask::kTrain,
  kFit = ask::kFit,
  kTechniques = ask::kTechniques,
  kCompare = ask::kCompare,
  kDiffusion = ask::kDiffusion,
  kRl = ask::kRl,
};
[[nodiscard]] std::string_view name(EstimateWord word);
/// The bit of `ridge simulate`, which shares the flags of a deployment.
inline constexpr unsigned kSimulate = ask::kSimulate;
inline constexpr EstimateWord kEstimateWords[] = {kInfer, kTrain, kRl, kDiffusion, kFit, kTechniques, kCompare};

/// Of one plan; degrees whose product is larger are refused, so that no product of them leaves an int.
inline constexpr int kMostDevices = 1'000'000;
[[nodiscard]] Error too_many_devices(std::string_view flag, double product);

class EstimateFlags : public Flags {
 public:
  EstimateFlags() : Flags({ask::deployment_fields(), ask::rl_fields()}) {}

  void declare(Options& options, unsigned words = kInfer | kTrain | kRl | kDiffusion | kFit | kTechniques | kCompare) {
    Flags::declare(options, words);
  }

  /// Refuses flags that mean nothing for the word.
  [[nodiscard]] Status check(EstimateWord word) const;
  /// Refuses a value that is none of its flag, whether it will be used or not: no number, out of range, an unknown word
  /// or name. `lists`: values may be lists. Models and devices are looked up by whoever uses them.
  [[nodiscard]] Status valid(Session& session, bool lists = false) const;
  /// Reads all that was given into the fields of the question; others stay.
  [[nodiscard]] Status read(InferenceQuery& into) const;
  [[nodiscard]] Status read(TrainingQuery& into) const;
  /// What is not its own becomes the layout of its trainers.
  [[nodiscard]] Status read(RlQuery& into) const;
};

/// A question and what was chosen where the flags say nothing.
struct InferenceQuestion {
  InferenceQuery query;
  std::vector<std::string> assumptions;
};

/// Refuses (bad_input, `where` = the flag): what is no number or name, loads that exclude each other, what needs
/// another flag beside it.
Result<InferenceQuestion> inference_question(const EstimateFlags& flags, const std::string& as_of);

/// A question about training, with what it leaves open.
struct TrainingQuestion {
  TrainingQuery query;
  TrainingFreedom freedom;
  double tokens = 0;               ///< of the whole run, 0 = not asked
  std::optional<Scaling> scaling;  ///< asked for by --scale
  int from = 0, to = 0;
  std::vector<std::string> assumptions;
};
Result<TrainingQuestion> training_question(const EstimateFlags& flags, const std::string& as_of);

}  // namespace ridge::cli
