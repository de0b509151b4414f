// The small kernels of a decoder layer: norm with residual, rotary and cache, gated activation, embedding, choice of a
// token. 16-bit values are bf16, held as their bits; narrow outputs are e4m3 with one fixed scale of 1.
//
//   add_norm(residual, delta, weight, out, Narrow::no, tokens, hidden, stream);   // residual += delta; out =
//   norm(residual)
//
// `hidden` and widths must be multiples of 8. All enqueue on the stream and throw GpuFailure.
#pragma once

#include <cstdint>

#include "measure/gpu/gpu.hpp"

namespace ridge::measure {

enum class Narrow : bool { no, yes };

/// delta may be null: nothing is added then. out: bf16 or e4m3.
void add_norm(std::uint16_t* residual, const std::uint16_t* delta, const std::uint16_t* weight, void* out,
              Narrow narrow, int tokens, int hidden, gpuStream_t stream);

struct Heads {
  int query = 32, kv = 8, dim = 128;
  [[nodiscard]] int qkv_width() const { return (query + 2 * kv) * dim; }
};

/// Rotates queries in place, rotates keys and puts them with the values into the cache [sequence][kv
/// head][capacity][dim]. Token t belongs to sequence t / per_sequence and stands at position first_position + t %
/// per_sequence.
void rotate_and_store(std::uint16_t* qkv, std::uint16_t* keys, std::uint16_t* values, const float2* rotations,
                      const Heads& heads, int tokens, int per_sequence, int first_position, int capacity,
                      gpuStream_t stream);
/// rotations[position][dim / 2]: cosine and sine.
void make_rotations(float2* rotations, int positions, int dim, float base, gpuStream_t stream);

/// out[t][i] = silu(in[t][i]) * in[t][width + i], or gelu(in[t][i]) where the model has no gate.
void activate(const std::uint16_t* in, void* out, Narrow narrow, bool gated, int tokens, int width, gpuStream_t stream);

/// out[t] = table[token[t]].
void embed(const std::uint16_t* table, const int* tokens_in, std::uint16_t* out, int tokens, int hidden,
           gpuStream_t stream);
/// out[s] = rows[(s + 1) * stride - 1]: the last token of each prompt.
void take_last(const std::uint16_t* rows, std::uint16_t* out, int sequences, int stride, int hidden,
               gpuStream_t stream);
/// token[t] = index of the largest logit.
void choose_token(const std::uint16_t* logits, int* token, int tokens, int vocabulary, gpuStream_t stream);

}  // namespace ridge::measure
