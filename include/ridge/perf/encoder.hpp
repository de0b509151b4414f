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
};

/// Refuses (bad_input, refused): no media, sizes below one patch, a model without such an encoder, unknown devices.
Result<EncoderEstimate> encode(const Model& model, const DeploymentFacts& facts, const MediaLoad& media, bool ideal,
                               const Knowledge& knowledge);

/// The estimate of a load whose isl already holds the tokens: the encoder's time comes before each prompt.
void add_encoder(InferenceEstimate& estimate, const EncoderEstimate& encoder, const InferenceLoad& load,
                 double replicas);

}  // namespace ridge
