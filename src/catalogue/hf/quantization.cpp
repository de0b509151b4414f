#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "catalogue/hf/decoder.hpp"
#include "ridge/base/letters.hpp"

namespace ridge {

namespace {

/// A format by what its name contains: "NVFP4", "nvfp4-pack-quantized", "W8A8_FP8", "MXFP4", ...
std::string format_of_name(const std::string& name) {
  for (const std::string_view format : {"nvfp4", "mxfp4", "mxfp8"}) {
    if (contains(name, format)) return std::string(format);
  }
  if (contains(name, "fp8") || contains(name, "float-quantized")) return "fp8";
  if (contains(name, "w4a16") || contains(name, "int4")) return "int4";
  if (contains(name, "w8a8") || contains(name, "w8a16") || contains(name, "int8")) return "int8";
  return {};
}

/// By the bits and the type of the weights in "config_groups" (compressed-tensors, modelopt). Of several groups the
/// narrowest counts: it is where most weights are.
std::string format_of_groups(JsonReader& quantization) {
  std::string format;
  int narrowest = 32;
  for (JsonReader& group : quantization.children("config_groups", 64)) {
    JsonReader weights = group.object("weights");
    const int bits = weights.optional_integer({"num_bits"}, 32, 1, 32);
    const bool floating = lower(weights.optional_text("type")) == "float";
    if (bits >= narrowest) continue;
    if (bits == 4) format = floating ? "nvfp4" : "int4";
    if (bits == 8) format = floating ? "fp8" : "int8";
    narrowest = bits;
  }
  return format;
}

/// By the algorithm of each layer (modelopt, mixed precision); again the narrowest counts.
std::string format_of_layers(JsonReader& quantization) {
  std::string narrowest;
  for (JsonReader& layer : quantization.children("quantized_layers", 100'000)) {
    const std::string format = format_of_name(lower(layer.optional_text("quant_algo")));
    if (narrowest.empty() || contains(format, "4")) narrowest = format;
  }
  return narrowest;
}

std::string format_of_bits(JsonReader& quantization, std::string_view four_bits) {
  const int bits = quantization.optional_integer({"bits", "w_bit"}, 4, 1, 32);
  if (bits == 4) return std::string(four_bits);
  if (bits == 8) return "int8";
  quantization.refuse("bits", fmt::format("{} bits are not supported: 4 or 8 are", bits));
  return {};
}

}  // namespace

std::string read_quantization(JsonReader& config) {
  if (!config.has("quantization_config")) return {};
  JsonReader quantization = config.object("quantization_config");
  const std::string method = lower(quantization.optional_text("quant_method"));
  if (method == "awq") return format_of_bits(quantization, "awq");
  if (method == "gptq") return format_of_bits(quantization, "gptq");
  if (method == "auto-round" || method == "auto_round") return format_of_bits(quantization, "int4");
  // Experts, where nearly all weights are, may be narrower than the rest (DeepSeek-V4).
  if (method == "fp8" && lower(config.optional_text("expert_dtype")) == "fp4") return "mxfp4";
  if (method == "fp8" || method == "fbgemm_fp8" || method == "mxfp4") return format_of_name(method);
  if (method == "bitsandbytes") return quantization.flag({"load_in_8bit"}, false) ? "int8" : "int4";
  // The others (modelopt, compressed-tensors, quark, ...) name the format somewhere inside.
  for (const std::string_view key : {"quant_algo", "format", "quantization_type"}) {
    if (!quantization.is_text(key)) continue;
    const std::string format = format_of_name(lower(quantization.optional_text(key)));
    if (!format.empty()) return format;
  }
  std::string format = format_of_groups(quantization);
  if (format.empty()) format = format_of_layers(quantization);
  if (format.empty()) {
    quantization.refuse("quant_method", fmt::format("the format of '{}' is not known: fp8, awq, gptq, mxfp4, modelopt, "
                                                    "compressed-tensors and bitsandbytes are",
                                                    method.substr(0, 40)));
  }
  return format;
}

}  // namespace ridge
