// Model architectures: what has to be computed and stored, exactly.
//
//   Result<Model> m = parse_model_spec("dense:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,gated=1,vocab=128256,tied=0");
//   Parameters p = count_parameters(*m);          // p.total == 8.03e9
//   Bytes kv = kv_bytes_per_token(*m, 2.0, 8192); // per token of context, all layers, at two bytes an element
//
// A model is a list of layer groups: `count` equal layers, each with one token mixer and one feed-forward part. Hybrids
// (Mamba, linear attention, sliding windows) are several groups. Values; any thread may read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/quantity.hpp"
#include "ridge/result.hpp"

namespace ridge {

enum class MixerKind : std::uint8_t {
  none,              ///< a layer that is only a feed-forward part
  attention,         ///< MHA, MQA, GQA; windowed if Mixer::window > 0
  mla,               ///< multi-head latent attention, sparse if Mixer::index_topk > 0
  linear_attention,  ///< gated delta rule and its kin: constant state per sequence
  mamba2,
};

struct Mixer {
  MixerKind kind = MixerKind::attention;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int window = 0;  ///< tokens a query sees; 0 = all of them
  bool qkv_bias = false;
  bool output_gate = false;  ///< the query projection also makes a gate of the same width
  // MLA
  int q_lora_rank = 0;  ///< 0 = the query is projected directly
  int kv_lora_rank = 0;
  int qk_nope_dim = 0;
  int qk_rope_dim = 0;
  int v_head_dim = 0;
  // sparse indexer (DSA)
  int index_heads = 0;
  int index_dim = 0;
  int index_topk = 0;
  // linear attention and Mamba-2
  int state_k_heads = 0;  ///< groups in Mamba-2
  int state_k_dim = 0;    ///< state size in Mamba-2
  int state_v_heads = 0;  ///< heads in Mamba-2
  int state_v_dim = 0;    ///< head size in Mamba-2
  int conv = 0;
  double state_bytes_per_element = 4;
};

enum class FfnKind : std::uint8_t { none, dense, moe };

struct Ffn {
  FfnKind kind = FfnKind::dense;
  int width = 0;  ///< of the dense layer, or of one routed expert
  bool gated = true;
  int experts = 0;
  int top_k = 0;
  int shared_experts = 0;
  int shared_width = 0;  ///< of one shared expert
};

struct LayerGroup {
  int count = 0;
  Mixer mixer;
  Ffn ffn;
};

enum class ModelType : std::uint8_t { language, diffusion_dit, diffusion_unet };

/// What a diffusion transformer does besides its layers.
struct Diffusion {
  int patch = 2;
  int latent_channels = 16;
  int vae_down = 8;
  int text_tokens = 0;
  int passes_per_step = 1;  ///< 2 with classifier-free guidance
  std::string block;        ///< "mmdit_double:19,single_parallel:38", "self_attn+cross_attn+mlp:28", ...
  double flops_per_evaluation = 0;  ///< for a UNet, at 1024 x 1024, one image; 0 = unknown
};

struct PublishedCounts {
  std::optional<double> total;
  std::optional<double> active;
};

struct Model {
  std::string id;
  std::string name;
  std::string notes;
  ModelType type = ModelType::language;
  int hidden = 0;
  int vocab = 0;
  bool tied_embeddings = false;
  int context = 0;  ///< longest sequence it was trained for, 0 = unknown
  int mtp_layers = 0;  ///< multi-token-prediction layers beyond `groups`, not counted in totals
  std::vector<LayerGroup> groups;  ///< in the order of first appearance; see also `order`
  std::string quantization;        ///< what the checkpoint comes in ("mxfp4", "fp8", ...), empty = 16 bit
  PublishedCounts published;
  std::string count_exception;  ///< why the computed count may differ from the published one, or empty
  Diffusion diffusion;

  std::uint32_t source = 0;  ///< index into Catalogue::sources(); 0 for models from outside
  std::string file;
  std::uint32_t line = 0;

  [[nodiscard]] int layers() const;
  [[nodiscard]] bool is_moe() const;
};

struct Parameters {
  double total = 0;
  double active = 0;     ///< used by one token, embeddings and head counted as in `total`
  double embedding = 0;  ///< input embedding
  double head = 0;       ///< output projection; 0 if tied
  double attention = 0;  ///< all mixers
  double dense_ffn = 0;
  double routed_experts = 0;
  double shared_experts = 0;
  double norms = 0;      ///< and routers and biases
};

[[nodiscard]] Parameters count_parameters(const Model& model);
/// Parameters of one layer of the group, all experts counted.
[[nodiscard]] double layer_parameters(const Model& model, const LayerGroup& group);

/// KV bytes that one more token of context adds, over all layers, at `context` tokens already there (windowed layers stop
/// growing at their window).
[[nodiscard]] Bytes kv_bytes_per_token(const Model& model, double bytes_per_element, int context = 0);
/// KV and recurrent state of one whole sequence of `tokens` tokens.
[[nodiscard]] Bytes kv_bytes_per_sequence(const Model& model, double bytes_per_element, int tokens);

/// "dense:layers=..,hidden=..,heads=..,kv_heads=..,ffn=..,gated=0|1,vocab=..,tied=0|1[,head_dim=..][,context=..]" or
/// "moe:" with experts=, topk=, shared=, moe_ffn= and optionally dense_layers=. Refuses unknown, missing or absurd values
/// with the column.
Result<Model> parse_model_spec(std::string_view spec);

/// A Hugging Face config.json (its text; `where` names it in errors): Llama, Mistral, Mixtral, Qwen2/3 and MoE, DeepSeek
/// V2/V3, Gemma 2/3, GPT-OSS, Phi, Falcon, Nemotron, Kimi; nested text_config; quantization_config. Refuses an
/// architecture it does not know, naming the nearest.
Result<Model> parse_hf_config(std::string_view json, std::string_view where);

}  // namespace ridge
