// Where the weights of a model are: Hugging Face repositories by model and format, from data/checkpoints.csv.
//
//   const Result<Checkpoints> known = load_checkpoints(data + "/checkpoints.csv");
//   const Checkpoint* c = known->find("llama3.3-70b", Format::fp8, "NVIDIA");   // nvidia/Llama-3.3-70B-Instruct-FP8
//   known->repository("nvidia/Llama-3.3-70B-Instruct-FP8");                     // the same
//
// A value; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

struct Checkpoint {
  std::string model;  ///< id of the catalogue
  Format format = Format::bf16;
  std::string repository;
  std::string scheme;  ///< how quantised weights are stored: compressed-tensors, modelopt, fp8, awq, quark, ...
  bool gated = false;  ///< a licence has to be accepted first
  std::string source;  ///< where the repository was seen
};

class Checkpoints {
 public:
  explicit Checkpoints(std::vector<Checkpoint> all = {}) : all_(std::move(all)) {}
  [[nodiscard]] const std::vector<Checkpoint>& all() const { return all_; }
  /// The preferred one that devices of this vendor can load: modelopt is NVIDIA's, quark comes last there. nullptr if
  /// none is known.
  [[nodiscard]] const Checkpoint* find(std::string_view model, Format format, std::string_view vendor) const;
  /// By its name on the Hub, letter case aside.
  [[nodiscard]] const Checkpoint* repository(std::string_view name) const;

 private:
  std::vector<Checkpoint> all_;
};

/// Columns model, format, repository, scheme, gated, source; the preferred repository of a model and format first.
Result<Checkpoints> load_checkpoints(const std::string& file);

/// "llm-compressor", "ModelOpt" or "Quark": the tool that makes such weights out of 16-bit ones, with its command;
/// empty where the format is nothing one converts to.
[[nodiscard]] std::string conversion_command(Format format, std::string_view vendor, std::string_view repository,
                                             std::string_view folder);

}  // namespace ridge
