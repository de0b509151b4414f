// How a Hugging Face config.json becomes a Model: what all decoders share, and what each family adds.
//
//   const Family* family = find_family("qwen3_moe");              // nullptr: not known
//   Model model = read_decoder(config, outer, *family);           // errors stay in the reader
//
// The shared part reads dimensions under all names in use and decides by presence (experts, latent attention, windows).
// A family says what the file does not: defaults, biases, norms, which layers a window applies to. A new family is one
// line in hf_families.cpp, and a function if it has parts of its own. Pure; any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue/files/json_document.hpp"
#include "ridge/catalogue/model.hpp"

namespace ridge {

enum class LayerType : std::uint8_t { full, sliding, linear, mamba };

/// A decoder while it is read: the parts its layers are put together from.
struct Decoder {
  Model model;
  int layers = 0;
  Mixer full;
  Mixer sliding;
  Mixer linear;
  Mixer mamba;
  Ffn dense;
  Ffn sparse;                    ///< of kind moe if there are experts
  std::vector<LayerType> types;  ///< of each layer
  std::vector<bool> moe;         ///< whether a layer has the sparse feed-forward part
};

enum class BiasRule : std::uint8_t {
  none,
  by_flag,      ///< "attention_bias" (or its older names) puts one on all four projections
  qkv_by_flag,  ///< the same, but never on the output
  qkv,          ///< always on query, key and value
  all,
};

enum class WindowRule : std::uint8_t {
  none,
  all_layers,
  above,   ///< "use_sliding_window" and layers from "max_window_layers" on (Qwen2)
  repeat,  ///< all but the last layer of each `window_period`
};

struct Family {
  std::string_view type;  ///< "model_type" of the file
  bool tied = false;      ///< embeddings, where the file does not say
  BiasRule bias = BiasRule::by_flag;
  bool bias_default = false;  ///< of the flag
  bool gated = true;
  bool ffn_bias = false;            ///< where "mlp_bias" does not say
  bool ffn_is_four_hidden = false;  ///< where no width is given
  int norms = 2;
  bool norm_bias = false;
  QkNorm qk_norm = QkNorm::none;
  int head_dim = 0;  ///< where the file does not say; 0 = hidden / heads
  WindowRule windows = WindowRule::none;
  int window_period = 0;
  int window_default = 0;  ///< where the file does not mention a window
  // Defaults of the configuration class that published files rely on; 0 = the file has to say.
  int heads = 0;
  int kv_heads = 0;
  int vocab = 0;
  bool router_bias = false;
  void (*adjust)(JsonReader& config, Decoder& decoder) = nullptr;     ///< before the layers are put together
  Model (*read)(JsonReader& config, const Family& family) = nullptr;  ///< instead of the shared reader
};

/// By model_type or one of its aliases.
const Family* find_family(std::string_view model_type);
/// By the class name in "architectures" ("Qwen3MoeForCausalLM"), for files without a usable model_type.
const Family* find_family_of_class(std::string_view architecture);
/// For "did you mean".
std::vector<std::string_view> family_names();

/// Everything but embeddings being tied and the quantization, which may stand outside of a nested configuration.
Model read_decoder(JsonReader& config, const Family& family);

/// Parts of the shared reader that families with a reader of their own use as well.
/// `layers` where the file need not say it.
Decoder read_dimensions(JsonReader& config, const Family& family, int layers = 0);
Mixer read_attention(JsonReader& config, const Family& family, int hidden);
/// Sets Decoder::sparse and ::moe; without experts nothing happens.
void read_experts(JsonReader& config, const Family& family, Decoder& decoder);
int read_ffn_width(JsonReader& config, const Family& family, int hidden);
/// Mamba-2 under the names of Nemotron-H, Granite and the plain Mamba-2 models.
Mixer read_mamba2(JsonReader& config, int hidden);

/// The number format of the weights by "quantization_config" (or "hf_quant_config"): "fp8", "awq", "gptq", "int8",
/// "mxfp4", "nvfp4", ... or empty.
std::string read_quantization(JsonReader& config);

}  // namespace ridge
