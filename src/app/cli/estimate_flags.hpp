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
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "ask/field.hpp"
#include "ridge/inference.hpp"
#include "ridge/training_answer.hpp"

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

/// A count with or without suffix ("15T") as a flag gives it, `otherwise` if the text is empty. Refuses (bad_input, the
/// flag) what is no number or out of range.
[[nodiscard]] Result<double> read_count(std::string_view flag, const std::string& text, double otherwise, double low,
                                        double high);
/// The same for whole numbers.
[[nodiscard]] Result<int> read_whole(std::string_view flag, const std::string& text, int otherwise, int low, int high);

class EstimateFlags {
 public:
  EstimateFlags();

  /// The flags object must outlive the parsing. Only flags that mean something for one of `words` are declared; the
  /// others stay empty.
  void declare(Options& options, unsigned words = kInfer | kTrain | kRl | kDiffusion | kFit | kTechniques | kCompare);
  /// Only these, for a verb that takes part of a plan.
  void declare_only(Options& options, std::initializer_list<std::string_view> names);

  /// What only questions about reinforcement learning have.
  void declare_rl(Options& options);
  /// Those of `words` whose names are not among `taken`, for a verb that has flags of its own.
  void declare_beside(Options& options, unsigned words, const std::vector<std::string_view>& taken);

  /// The value as given, empty if it was not. The name must be one of them (assert).
  [[nodiscard]] const std::string& value(std::string_view flag) const;
  [[nodiscard]] bool given(std::string_view flag) const { return !value(flag).empty(); }
  [[nodiscard]] bool is_on(std::string_view flag) const;
  /// As if it had been given so; empty = not at all. A switch is on or off.
  void set(std::string_view flag, std::string value);

  [[nodiscard]] std::vector<std::string_view> given_names() const;

  /// Refuses flags that mean nothing for the word.
  [[nodiscard]] Status check(EstimateWord word) const;
  /// Refuses the first flag that was given, as one of `whose`.
  [[nodiscard]] Status none_given(std::string_view whose) const;
  /// Refuses a value that is none of its flag, whether it will be used or not: no number, out of range, an unknown word
  /// or name. `lists`: values may be lists. Models and devices are looked up by whoever uses them.
  [[nodiscard]] Status valid(Session& session, bool lists = false) const;
  /// Reads all that was given into the fields of the question; others stay.
  [[nodiscard]] Status read(InferenceQuery& into) const;
  [[nodiscard]] Status read(TrainingQuery& into) const;
  /// What is not its own becomes the layout of its trainers.
  [[nodiscard]] Status read(RlQuery& into) const;

  /// A whole number, `otherwise` if it was not given.
  [[nodiscard]] Result<int> whole(std::string_view flag, int otherwise, int low, int high) const;
  /// A count with or without suffix ("15T"), `otherwise` if it was not given.
  [[nodiscard]] Result<double> count(std::string_view flag, double otherwise, double low, double high) const;
  [[nodiscard]] Result<double> share(std::string_view flag, double otherwise) const;

 private:
  struct Flag {
    const ask::Field* field;
    std::string name;
    std::string value = {};
    bool on = false;
  };
  static void declare_one(Options& options, Flag& flag);
  [[nodiscard]] const Flag& find(std::string_view flag) const;
  std::deque<Flag> flags_;
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

/// "a,b,c" → {"a", "b", "c"}; an inline model or spec is not taken apart. Refuses empty parts.
Result<std::vector<std::string>> split_list(std::string_view flag, std::string_view text);

}  // namespace ridge::cli
