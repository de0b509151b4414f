#include <array>
#include <string>
#include <utility>

#include "ridge/base/text.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {
namespace {

struct FormatFacts {
  std::string_view name;
  double weight;   // bytes of one weight, scales included
  double element;  // bytes of one activation or KV element
};

// Scales: mxfp8 and mxfp4 one byte per 32 elements, nvfp4 one byte per 16 (OCP MX 1.0; NVFP4), int4 an fp16 scale and a
// 4-bit zero point per group of 128 (AWQ, GPTQ), q4_k_m as llama.cpp reports it for whole models, its other
// formats as their blocks are laid out: q4_0 and q8_0 an fp16 scale per 32, q6_k 210 bytes per 256. fp8 and int8 keep
// one scale per row or per 128 x 128 block: too few to count.
constexpr std::array<FormatFacts, kFormats> kFacts = {{{"fp32", 4, 4},
                                                       {"bf16", 2, 2},
                                                       {"fp16", 2, 2},
                                                       {"fp8", 1, 1},
                                                       {"mxfp8", 1 + 1.0 / 32, 1 + 1.0 / 32},
                                                       {"int8", 1, 1},
                                                       {"int4", (4 + 20.0 / 128) / 8, 0.5},
                                                       {"mxfp4", 4.25 / 8, 4.25 / 8},
                                                       {"nvfp4", 4.5 / 8, 4.5 / 8},
                                                       {"q4-k-m", 4.85 / 8, 4.85 / 8},
                                                       {"q4-0", 4.5 / 8, 4.5 / 8},
                                                       {"q6-k", 210.0 / 256, 210.0 / 256},
                                                       {"q8-0", 8.5 / 8, 8.5 / 8}}};

constexpr auto kSpellings = std::to_array<std::pair<std::string_view, Format>>(
    {{"fp32", Format::fp32},     {"float32", Format::fp32}, {"bf16", Format::bf16},     {"bfloat16", Format::bf16},
     {"fp16", Format::fp16},     {"float16", Format::fp16}, {"half", Format::fp16},     {"fp8", Format::fp8},
     {"fp8-e4m3", Format::fp8},  {"e4m3", Format::fp8},     {"fp8-block", Format::fp8}, {"fp8_block", Format::fp8},
     {"mxfp8", Format::mxfp8},   {"int8", Format::int8},    {"w8a16", Format::int8},    {"w8a8", Format::int8},
     {"int4", Format::int4},     {"awq", Format::int4},     {"gptq", Format::int4},     {"w4a16", Format::int4},
     {"nf4", Format::int4},  // bitsandbytes' own four bits, stored and widened as integers are

     {"mxfp4", Format::mxfp4},   {"nvfp4", Format::nvfp4},  {"fp4", Format::nvfp4},     {"q4-k-m", Format::q4_k_m},
     {"q4_k_m", Format::q4_k_m}, {"q4-0", Format::q4_0},    {"q4_0", Format::q4_0},     {"q6-k", Format::q6_k},
     {"q6_k", Format::q6_k},     {"q8-0", Format::q8_0},    {"q8_0", Format::q8_0}});

constexpr std::array<std::string_view, kTerms> kTermNames = {
    "attention", "linear",   "experts",   "state",     "head", "elementwise", "scale_up",
    "scale_out", "pipeline", "recompute", "optimizer", "host", "queue",       "offload"};
constexpr std::array<std::string_view, 7> kBoundNames = {
    "compute", "memory bandwidth", "scale-up", "scale-out", "latency", "host", "capacity"};
constexpr std::array<std::string_view, 10> kReasonNames = {"none",
                                                           "out of memory",
                                                           "heads not divisible",
                                                           "experts not divisible",
                                                           "layers too few",
                                                           "batch not divisible",
                                                           "gpus do not multiply",
                                                           "format not supported",
                                                           "sequence not divisible",
                                                           "bad value"};

}  // namespace

std::string_view name(Format format) {
  return kFacts[static_cast<std::size_t>(format)].name;
}
double bytes_per_weight(Format format) {
  return kFacts[static_cast<std::size_t>(format)].weight;
}
double bytes_per_element(Format format) {
  return kFacts[static_cast<std::size_t>(format)].element;
}

Result<Format> parse_format(std::string_view text) {
  std::array<std::string_view, kSpellings.size()> known;
  for (std::size_t i = 0; i < kSpellings.size(); ++i) {
    if (kSpellings[i].first == text) return kSpellings[i].second;
    known[i] = kSpellings[i].first;
  }
  const std::string near = nearest(text, known.data(), known.size());
  return Error{ErrorCode::bad_input, "",
               quoted(text) + " is no number format" +
                   (near.empty() ? ": write bf16, fp8, int8, int4, nvfp4 or mxfp4" : "; did you mean " + near + "?")};
}

std::string_view name(Term term) {
  return kTermNames[static_cast<std::size_t>(term)];
}
std::string_view name(Bound bound) {
  return kBoundNames[static_cast<std::size_t>(bound)];
}
std::string_view name(Reason reason) {
  return kReasonNames[static_cast<std::size_t>(reason)];
}

}  // namespace ridge
