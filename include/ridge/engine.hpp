// Engines: the software that runs a model, and what it does differently. Data in data/engines/.
//
//   Engines engines = *load_engines("data/engines");
//   EngineMatch m = engines.find("text-generation-inference", EngineWork::inference);
//   m.engine->id;  // "vllm": the family it falls back to
//   m.exact;       // false: an assumption to be shown, and a wider interval
//
// An unknown engine is never refused: it falls back to its family, or to the median engine. Immutable; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ridge/result.hpp"

namespace ridge {

enum class EngineWork : std::uint8_t { inference, training };

/// How prefill and decode share steps.
enum class Batching : std::uint8_t {
  mixed,     ///< chunks of prefill ride along with decode (vLLM, TensorRT-LLM)
  separate,  ///< a prefill step stops decoding (SGLang)
  fixed,     ///< the batch runs to its end (plain PyTorch)
};

/// How the KV cache is given out.
enum class Admission : std::uint8_t {
  reserve_all,  ///< isl + osl blocks are reserved before a request starts (TensorRT-LLM)
  as_needed,    ///< blocks as the sequence grows, preemption when full (vLLM, SGLang)
};

/// A span of releases that behave alike: the scope of calibration parameters such as `host.step@vllm-2024`.
struct EngineEra {
  std::string id;         ///< "vllm-0.11"
  std::string since;      ///< first date, ISO; empty = from the beginning
  std::string version;    ///< first version, empty = by date only
  std::string notes;
};

struct Engine {
  std::string id;
  std::string name;
  std::string family;  ///< id of the engine whose calibration it shares, or its own id
  EngineWork work = EngineWork::inference;
  std::vector<std::string> aliases;
  Batching batching = Batching::mixed;
  Admission admission = Admission::as_needed;
  double max_batched_tokens = 8192;  ///< per step, default
  double max_sequences = 256;        ///< default cap on running sequences
  double memory_utilization = 0.9;   ///< share of the device the engine uses
  bool graphs = true;                ///< decode steps replay CUDA graphs
  bool quantised_kv_by_default = false;  ///< FP8/FP4 checkpoints keep KV in fp8
  std::vector<EngineEra> eras;       ///< oldest first
  std::string source;
};

struct EngineMatch {
  const Engine* engine = nullptr;
  const EngineEra* era = nullptr;
  bool exact = true;  ///< false: fell back to a family or to the median engine
};

class Engines {
 public:
  explicit Engines(std::vector<Engine> engines = {}) : engines_(std::move(engines)) {}
  [[nodiscard]] const std::vector<Engine>& all() const { return engines_; }
  /// By id or alias, else the median engine of that work; the era by version if it can be compared, else by date, else the
  /// newest. Never returns a null engine if any is loaded for that work.
  [[nodiscard]] EngineMatch find(std::string_view name, EngineWork work, std::string_view version = {},
                                 std::string_view date = {}) const;

 private:
  std::vector<Engine> engines_;
};

/// Reads every *.toml of the directory; refuses what is malformed, with the place.
Result<Engines> load_engines(const std::string& directory);

}  // namespace ridge
