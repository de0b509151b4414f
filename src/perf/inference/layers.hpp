// Operators and memory of a model under a parallel layout, as one device sees them.
//
//   ResolvedInference r;  r.tp = 8; ...             // the layout is known
//   Status s = fill_layers(r, model, {Format::fp8, Format::fp8, 0});
//   double bytes = weight_bytes(r, model, Format::fp8);
//
// Used by resolve() only. A layout that cannot be cut sets r.reason.
#pragma once

#include "perf/inference/resolved.hpp"

namespace ridge::perf {

/// Bytes per weight of embedding and head in llama.cpp's files: six bits and a half in the 4-bit ones, else as the
/// rest.
[[nodiscard]] inline double gguf_head(Format weights) {
  constexpr double kSixBitHead = 6.5 / 8;
  return weights == Format::q6_k || weights == Format::q8_0 ? bytes_per_weight(weights) : kSixBitHead;
}

struct LayerFormats {
  Format weights = Format::bf16;
  Format kv = Format::bf16;
  double lora_rank = 0;
};

/// Refuses a model with more kinds of layers than a deployment holds.
Status fill_layers(ResolvedInference& r, const Model& model, const LayerFormats& formats);

/// Weights of the fullest pipeline stage on one device: narrow where the checkpoint is, 16 bits elsewhere.
[[nodiscard]] double weight_bytes(const ResolvedInference& r, const Model& model, Format weights);

/// Elements of the widest intermediate of one token on one device.
[[nodiscard]] double widest_activation(const ResolvedInference& r, const Model& model);

/// Sets every share to 1 and every overhead to 0: what remains is the roofline.
void make_ideal(ResolvedInference& r, Format weights, Format activations, Format kv);

}  // namespace ridge::perf
