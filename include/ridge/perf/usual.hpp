// What a question means where it says nothing: one place, for every verb.
//
//   double isl = usual::kInputTokens;                                    // 1024
//   std::vector<Format> formats = usual_formats(device, model);          // {bf16, fp8, nvfp4} on a B200
//
// Verbs that are told what runs (estimate, simulate, emit, cost of a plan) take the first format, which is what an
// engine does with the checkpoint as it is; verbs that choose (plan, cost devices, cost decide) try them all. Constants
// and pure functions; any thread.
#pragma once

#include <optional>
#include <vector>

#include "ridge/catalogue/catalogue.hpp"
#include "ridge/catalogue/model.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

enum class TrainingTask : std::uint8_t;

namespace usual {

// One request, and who sends it.
inline constexpr double kInputTokens = 1024;
inline constexpr double kOutputTokens = 256;
inline constexpr double kClients = 32;
inline constexpr double kRequestRate =
    100;  ///< a second, where devices are chosen: enough that single ones matter little

// Network of a device and direction where nobody published one: 200 Gb/s, as hosts of the A100 have (DGX A100 user
// guide).
inline constexpr double kNetwork = 25e9;  ///< bytes/s

// What a chat needs, of those who choose.
inline constexpr double kTtft = 2;  ///< seconds
inline constexpr double kTpot = 0.1;

// Of tokens that somebody else proposes, the share accepted. Where the model predicts them itself: the parameter
// speculation.acceptance of the calibration.
inline constexpr double kAcceptance = 0.7;

}  // namespace usual

/// What the device computes in with 8 bits and with 4; empty where it does not. All lists of formats are made of these.
[[nodiscard]] std::optional<Format> eight_bits(const Device& device);
[[nodiscard]] std::optional<Format> four_bits(const Device& device);

/// What a KV cache of eight bits is kept in: FP8 wherever kernels read it, whether they compute in it or not. A design
/// that has FP8 in other chips has no kernels that widen it in those without: theirs is INT8 (Ascend 910B, TPU v5e).
[[nodiscard]] Format eight_bit_cache(const Device& device, const Catalogue& catalogue);

/// What people serve in: as the checkpoint is stored, else 16 bits; then 8 bits and 4 where the device computes in
/// them. Other formats of 4 bits change answers enough to be asked for.
[[nodiscard]] std::vector<Format> usual_formats(const Device& device, const Model& model);

/// What people store weights in so that they fit: 16, 8 and 4 bits, widened for the product where the device does not
/// compute in them; then the 4 bits that it computes in.
[[nodiscard]] std::vector<Format> fitting_formats(const Device& device);

/// What trains where nobody names an engine: Megatron-LM; adapters on frozen weights transformers with PEFT, which most
/// tools for them are built on.
[[nodiscard]] const char* usual_training_engine(TrainingTask task);

/// What people train in: 16 bits; then 8 where the device computes in them.
[[nodiscard]] std::vector<Format> usual_training_formats(const Device& device);

}  // namespace ridge
