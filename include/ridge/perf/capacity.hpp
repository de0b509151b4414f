// What fits where: the largest model of a device, the fewest devices of a model, what fills memory.
//
//   Model m = *catalogue.find_model("llama3.1-70b");
//   weight_memory(m, Format::int4);                    // {35.3e9 bare, 39.6e9 stored}
//   kv_by_context(m)[2];                               // {131072 tokens, 42.9e9 bytes in bf16, 21.5e9 in fp8}
//   CapacityQuestion q{.engine = "vllm"};
//   fewest_devices(q, "llama3.1-70b", "h100-sxm", Format::bf16, knowledge);     // 2, with what fills one of them
//   largest_model(q, "h100-sxm", Format::int4, 1, knowledge);                   // the largest of the catalogue
//
// "Fits" means that evaluate() can run it: weights, activations, the engine's buffers and one sequence of
// isl + osl tokens. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ridge/perf/inference.hpp"

namespace ridge {

struct CapacityQuestion {
  std::string engine = "vllm";
  std::string date = {};
  std::optional<Format> kv = {};
  double isl = 7936;
  double osl = 256;
};

/// Bytes of all weights.
struct WeightMemory {
  double bare = 0;    ///< parameters times the bits of one
  double stored = 0;  ///< with scales, and with what such checkpoints leave in 16 bits
};
/// Of a language model; refuses (refused) others.
Result<WeightMemory> weight_memory(const Model& model, Format format);

/// The cache of one sequence.
struct KvRow {
  int tokens = 0;
  double bf16_bytes = 0;
  double fp8_bytes = 0;
};
/// At 4,096 to 1,048,576 tokens of context: 4K, 8K, 16K, 32K, 64K, 128K, 256K, 512K, 1M.
[[nodiscard]] std::vector<KvRow> kv_by_context(const Model& model);

/// Adam in mixed precision: 16-bit weights and gradients, 32-bit master weights and two moments.
inline constexpr double kAdamBytesPerParameter = 16;

/// Devices that hold a model.
struct FewestDevices {
  int gpus = 0, tp = 1, pp = 1;
  InferenceEstimate estimate;  ///< memory and max_batch of that layout
};
/// The fewest of 1, 2, 4, ... `most` devices; empty if none of them holds it or the device lacks figures.
[[nodiscard]] std::optional<FewestDevices> fewest_devices(const CapacityQuestion& question, const std::string& model,
                                                          const std::string& device, Format weights,
                                                          const Knowledge& knowledge, int most = 64);

/// The largest language model of the catalogue that `gpus` devices hold, or nullptr.
[[nodiscard]] const Model* largest_model(const CapacityQuestion& question, const std::string& device, Format weights,
                                         int gpus, const Knowledge& knowledge);

/// Whether the device computes in the format, so that it is not only stored in it.
[[nodiscard]] bool computes_in(const Device& device, Format format);

}  // namespace ridge
