// What pictures and sound cost a language model that sees or hears: tokens of the prompt, and an encoder in front of
// it.
//
//   MediaLoad media{.images = 2, .width = 1024, .height = 768};
//   auto e = encode(model, device, media, engine_is_ideal, knowledge);   // refuses models that see nothing
//   e->tokens;  e->seconds;                                              // of one request, on one replica
//   add_encoder(estimate, *e, load, replicas);                           // TTFT later, throughput less
//
// The encoder is a transformer over patches that sees all of an image, a tile, or windows; it runs before the prompt on
// the devices of the replica, data-parallel over images and tiles. Pure; any thread.
#pragma once

#include "ridge/perf/inference.hpp"

namespace ridge {

namespace usual {

// A clip of speech: the start, the language, the task and the absence of times before what was said; and the mean of
// what MLPerf's submissions write for a sample (tokens over samples a second of every TensorRT result of v5.1 and v6.0:
// 63.5).
inline constexpr double kSpeechPrompt = 4;
inline constexpr double kSpeechTokens = 64;

}  // namespace usual

struct MediaLoad {
  double images = 0;                   ///< per request
  double width = 1024, height = 1024;  ///< pixels
  double audio_s = 0;                  ///< seconds of sound per request
};

struct EncoderEstimate {
  double tokens = 0;      ///< of the prompt, for all images or all the sound of a request
  double patches = 0;     ///< that the encoder works on
  double flops = 0;       ///< of one request
  double seconds = 0;     ///< of one request on one replica
  double parameters = 0;  ///< of the encoder
  double device_s = 0;    ///< of `seconds`, the devices alone
  double host_s = 0;      ///< what the host takes to launch all layers once, however much they work on
};

/// Refuses (bad_input, refused): no media, sizes below one patch, a model without such an encoder, unknown devices.
Result<EncoderEstimate> encode(const Model& model, const DeploymentFacts& facts, const MediaLoad& media, bool ideal,
                               const Knowledge& knowledge);

/// Encoders have as many positions as they were built with: refuses (refused) a longer text, and more words than a
/// model of speech has places for. Other models are not held to the length that they were trained for.
Status within_reach(const Model& model, double isl, double osl);
/// What four in five encoders take where so many seconds are predicted.
[[nodiscard]] Interval encoder_interval(double seconds);
/// The estimate of a load whose isl already holds the tokens: the encoder's time comes before each prompt.
void add_encoder(InferenceEstimate& estimate, const EncoderEstimate& encoder, const InferenceLoad& load,
                 double replicas);

}  // namespace ridge
