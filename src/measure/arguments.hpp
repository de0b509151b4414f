// The command line of ridge-measure.
//
//   Result<Arguments> a = parse_arguments({"--quick", "--out", "profile.toml"});
//   if (!a) ...;                                    // "--contxt: is no option; ..."
//   Result<Arguments> m = parse_arguments({"model", "--model", "llama3.1-8b", "--layers", "32", ...});
//
// Pure; any thread. Refuses (bad_input, where = the word): unknown words and options, missing and malformed values.
#pragma once

#include <string>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge::measure {

enum class Task { measure, model, products, check, help };

/// The shape of a decoder that `ridge-measure model` runs; `ridge measure model` fills it from the catalogue.
struct ModelShape {
  std::string name = "llama3.1-8b";
  int layers = 32, hidden = 4096, heads = 32, kv_heads = 8, head_dim = 128, ffn = 14336, vocabulary = 128256;
  bool gated = true;
};

struct Arguments {
  Task task = Task::measure;
  bool full = false;
  bool force = false;  ///< measure a device that others use, and say so in the profile
  int device = 0;
  std::string out;                ///< empty: standard output
  std::vector<std::string> only;  ///< parts of the measurement; empty: all
  ModelShape model;
  std::vector<std::string> precisions = {"bf16", "fp8"};
  std::vector<std::string> phases = {"decode", "prefill"};
  std::vector<int> batches = {1, 4, 16, 32, 64, 128, 256};
  std::vector<int> contexts = {1024, 2048, 4096, 8192};
  int most_tokens = 32768;  ///< of one prefill pass
};

/// What may stand after --only.
[[nodiscard]] const std::vector<std::string>& parts();

Result<Arguments> parse_arguments(const std::vector<std::string>& words);
[[nodiscard]] std::string usage();

}  // namespace ridge::measure
