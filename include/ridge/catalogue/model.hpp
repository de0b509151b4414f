// Model architectures: what has to be computed and stored, exactly.
//
//   Result<Model> m =
//   parse_model_spec("dense:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,gated=1,vocab=128256,tied=0");
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

#include "ridge/base/quantity.hpp"
#include "ridge/base/result.hpp"

namespace ridge {

enum class MixerKind : std::uint8_t {
  none,              ///< a layer that is only a feed-forward part
  attention,         ///< MHA, MQA, GQA; windowed if Mixer::window > 0
  mla,               ///< multi-head latent attention, sparse if Mixer::index_topk > 0
  linear_attention,  ///< gated delta rule and its kin: constant state per sequence
  mamba2,
};

/// Learned scales on queries and keys before the dot product.
enum class QkNorm : std::uint8_t {
  none,
  per_head,  ///< one vector of head_dim, shared by all heads (Qwen3)
  full,      ///< one scale per head and channel (OLMo 2, MiniMax M2)
};

struct Mixer {
  MixerKind kind = MixerKind::attention;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int window = 0;  ///< tokens a query sees; 0 = all of them
  bool qkv_bias = false;
  bool output_bias = false;
  bool output_gate =
      false;  ///< one more projection of the query's (linear attention: the value's) width gates the output
  bool value_is_key = false;  ///< keys and values come from one projection (Gemma 4, global layers); both are cached
  bool sinks = false;         ///< one learned logit per head (gpt-oss)
  bool both_ways = false;     ///< every token sees those after it too, and nothing is cached (BERT)
  int cross_tokens = 0;       ///< positions of an encoder that a second attention of the layer reads (Whisper)
  QkNorm qk_norm = QkNorm::none;
  // MLA; v_head_dim also for attention whose values are narrower than its keys (0 = head_dim)
  int q_lora_rank = 0;  ///< 0 = the query is projected directly
  int kv_lora_rank = 0;
  int qk_nope_dim = 0;
  int qk_rope_dim = 0;
  int v_head_dim = 0;
  // sparse indexer (DSA, MiniMax M3); index_heads = 0 with index_topk > 0: the layer uses the choice of an earlier one
  int index_heads = 0;
  int index_dim = 0;
  int index_topk = 0;
  // Latent attention whose latent is key and value of all heads as it is (DeepSeek-V4): nothing is projected up from
  // it. The last `window` tokens have an entry each, earlier ones one for `compress` of them (0: none at all), of which
  // the indexer chooses index_topk. The output passes through `output_groups` products of rank `output_rank`.
  bool shared_kv = false;
  int compress = 0;
  int output_groups = 0;
  int output_rank = 0;
  // linear attention and Mamba-2
  int state_k_heads = 0;  ///< groups in Mamba-2
  int state_k_dim = 0;    ///< state size in Mamba-2
  int state_v_heads = 0;  ///< heads in Mamba-2
  int state_v_dim = 0;    ///< head size in Mamba-2
  int conv = 0;
  bool state_gates = false;  ///< linear attention: decay and write strength of each head are projected from the input
  double state_bytes_per_element = 4;

  friend bool operator==(const Mixer&, const Mixer&) = default;
};

enum class FfnKind : std::uint8_t { none, dense, moe };

struct Ffn {
  FfnKind kind = FfnKind::dense;
  int width = 0;  ///< of the dense layer, or of one routed expert
  bool gated = true;
  bool bias = false;  ///< on every matrix of the dense layer or of the experts
  int experts = 0;
  int top_k = 0;
  int groups = 0;            ///< experts stand in so many equal groups and a token may go to few of them; 0 = to any
  int groups_chosen = 0;     ///< groups that a token may go to
  int shared_experts = 0;    ///< every token passes them, beside the routed ones
  int shared_width = 0;      ///< of one shared expert
  bool shared_gate = false;  ///< a learned scalar gate on the shared experts (Qwen2-MoE)
  bool router_bias = false;
  int latent = 0;     ///< routed experts work on this many channels, with one projection down and one up; 0 = hidden
  int depthwise = 0;  ///< side of a depth-wise convolution on the inner channels (GLUMBConv); 0 = none

  friend bool operator==(const Ffn&, const Ffn&) = default;
};

/// What a diffusion block has besides its mixer and feed-forward part.
struct DitBlock {
  int streams = 1;                ///< 2: image and text tokens attend jointly, each through weights of its own (MMDiT)
  bool text_stream_ends = false;  ///< of two streams, the text one only gives keys and values (last block)
  bool parallel = false;          ///< attention and feed-forward read one input and add up (FLUX single blocks)
  bool joint = false;             ///< image and text are one sequence through the same weights (Z-Image)
  int modulation = 0;             ///< shift, scale and gate vectors that each stream projects from the time embedding
  int text_modulation = 0;        ///< the same for the text stream, if it differs; 0 = as `modulation`
  int table = 0;                  ///< learned vectors added to a modulation that all blocks share (PixArt)
  int cross_attention = 0;        ///< width of the text tokens that a cross-attention reads; 0 = none
  bool second_attention = false;  ///< one more self-attention of the image stream (SD 3.5 Medium)
  bool skip = false;              ///< joins a long skip connection with a projection from 2 x hidden (HunyuanDiT)

  friend bool operator==(const DitBlock&, const DitBlock&) = default;
};

struct LayerGroup {
  int count = 0;
  Mixer mixer;
  Ffn ffn;
  DitBlock dit;
};

enum class ModelType : std::uint8_t { language, diffusion_dit, diffusion_unet };

/// What a diffusion transformer does besides its layers.
struct Diffusion {
  int patch = 2;
  int latent_channels = 16;
  int vae_down = 8;
  int text_tokens = 0;
  int passes_per_step = 1;     ///< 2 with classifier-free guidance
  int steps = 0;               ///< usual denoising steps, 0 = not published
  double text_parameters = 0;  ///< of all text encoders; 0 = unknown
  int frames = 1;              ///< of the usual clip; 1 = pictures
  double frames_per_s = 0;     ///< of that clip, played
  int vae_time = 1;            ///< frames that become one latent frame, after the first, which stays alone
  int patch_time = 1;          ///< latent frames in one token
  int denoisers = 1;           ///< whole networks that take turns over the steps (Wan 2.2 A14B: 2); one works at a time
  double vae_flops_per_pixel = 0;  ///< of the decoder, per pixel and frame; 0 = that of SD's
  std::string block;  ///< "mmdit_double:19,single_parallel:38", "self_attn+cross_attn+mlp:28", ... for people
  double flops_per_evaluation = 0;      ///< for a UNet, at 1024 x 1024, one image; 0 = unknown
  double attention_per_evaluation = 0;  ///< FLOPs of it that are attention
  double traffic_per_evaluation = 0;    ///< bytes moved by norms, activations and residuals that are not fused
};

/// What turns pictures or sound into tokens of a language model: a transformer over patches.
struct Encoder {
  enum class Kind : std::uint8_t { none, vision, audio };
  Kind kind = Kind::none;
  int layers = 0;
  int hidden = 0;
  int heads = 1;
  int width = 0;  ///< of the feed-forward part
  bool gated = false;
  int patch = 14;           ///< pixels of a patch's side
  int merge = 1;            ///< patches of a side that become one token of the language model
  int window = 0;           ///< patches of a side that attend to each other; 0 = all of an image or tile
  int full_layers = 0;      ///< layers that see everything although there is a window
  int tile = 0;             ///< pixels of the side of the tiles that an image is cut into; 0 = encoded as it is
  int most_tiles = 0;       ///< besides one of the whole image, scaled down
  int most_tokens = 0;      ///< of one image for the language model, 0 = no limit
  double frames_per_s = 0;  ///< audio: positions of the encoder per second of sound
  double clip_s = 0;        ///< audio: seconds that are encoded at once
  int audio_merge = 1;      ///< audio: positions that become one token
  double parameters = 0;    ///< as published, projector included; 0 = counted from the shape
};

/// Counts as the publisher gives them, and half a unit of the last digit given.
struct PublishedCounts {
  std::optional<double> total;
  std::optional<double> active;
  double total_rounding = 0;
  double active_rounding = 0;
};

struct Model {
  std::string id;
  std::string name;
  std::string notes;
  ModelType type = ModelType::language;
  int hidden = 0;
  int vocab = 0;
  bool tied_embeddings = false;
  int context = 0;                   ///< longest sequence it was trained for, 0 = unknown
  bool embeds = false;               ///< gives a vector or a score of what it reads, writes no answer
  int mtp_layers = 0;                ///< multi-token-prediction layers beyond `groups`, not counted in totals
  std::vector<LayerGroup> groups;    ///< in the order of first appearance
  std::vector<std::uint16_t> order;  ///< the group of each layer, first to last; its size is layers()
  int norms_per_layer = 2;           ///< 4 where the outputs are normalised too (Gemma 2), 1 where parts share one
  bool norm_bias = false;            ///< layer norm with bias instead of RMS norm
  int learned_positions = 0;         ///< rows of a learned position table
  double other_parameters = 0;  ///< outside layers, embedding and head: output bias, embedders of a DiT, a whole UNet
  std::string quantization;     ///< what the checkpoint comes in ("mxfp4", "fp8", ...), empty = 16 bit
  PublishedCounts published;
  std::string count_exception;  ///< why the computed count may differ from the published one, or empty
  Diffusion diffusion;
  Encoder encoder;  ///< in front of a language model that sees or hears

  std::uint32_t source = 0;  ///< index into Catalogue::sources(); 0 for models from outside
  std::string file;
  std::uint32_t line = 0;

  [[nodiscard]] int layers() const;
  [[nodiscard]] bool is_moe() const;
  [[nodiscard]] bool reads_both_ways() const;  ///< an encoder of texts: prompts are not cut, nothing is cached
  [[nodiscard]] int cross_tokens() const;      ///< of an encoder-decoder; 0 = it is none
};

struct Parameters {
  double total = 0;
  double active = 0;     ///< used by one token, embeddings and head counted as in `total`
  double embedding = 0;  ///< input embedding and learned positions
  double head = 0;       ///< output projection; 0 if tied
  double attention = 0;  ///< all mixers, cross-attention included
  double dense_ffn = 0;
  double routed_experts = 0;
  double shared_experts = 0;
  double modulation = 0;  ///< of diffusion blocks: applied once per image and step, not per token
  double norms = 0;       ///< and routers, biases and Model::other_parameters
};

/// The sum of its parts is `total` exactly; MTP layers are left out.
[[nodiscard]] Parameters count_parameters(const Model& model);
/// Parameters of one layer of the group, all experts counted.
[[nodiscard]] double layer_parameters(const Model& model, const LayerGroup& group);
/// Parameters of one multi-token-prediction layer: a copy of the last layer and the projection that joins it.
[[nodiscard]] double mtp_layer_parameters(const Model& model);

/// KV bytes that one more token of context adds, over all layers, at `context` tokens already there (windowed layers
/// stop growing at their window). The keys of a sparse indexer are not KV: see index_bytes_per_token.
[[nodiscard]] Bytes kv_bytes_per_token(const Model& model, double bytes_per_element, int context = 0);
/// Keys that sparse indexers (DSA) keep per token of context, over all layers: one byte a channel and a scale per
/// layer.
[[nodiscard]] Bytes index_bytes_per_token(const Model& model);
/// KV, indexer keys and recurrent state of one whole sequence of `tokens` tokens.
[[nodiscard]] Bytes kv_bytes_per_sequence(const Model& model, double bytes_per_element, int tokens);

/// "dense:layers=..,hidden=..,heads=..,kv_heads=..,ffn=..,gated=0|1,vocab=..,tied=0|1[,head_dim=..][,context=..]" or
/// "moe:" with experts=, topk=, moe_ffn= and optionally shared= (experts as wide as routed ones) and dense_layers= (the
/// first ones). Keys in any order. Refuses (bad_input, where = "column N") unknown, missing, repeated or absurd values.
Result<Model> parse_model_spec(std::string_view spec);

/// A Hugging Face config.json (its text; `where` names it in errors): Llama, Mistral, Mixtral, Qwen to 3.5, DeepSeek V2
/// to V3.2, Kimi K2, GLM-4 to 5, Gemma to 4, GPT-OSS, Phi, Falcon, Nemotron and Nemotron-H, MiniMax, Cohere, OLMo,
/// Granite, GPT-2, GPT-J, GPT-NeoX, OPT, BLOOM, MPT and others; of models that see or hear, the language part; the
/// number format by quantization_config. What the file leaves out is as in transformers' class of that model_type.
/// Refuses (bad_input) what is not JSON (where = "file:line:column") or too large or deep, an architecture it does not
/// know, naming the nearest, and a missing or absurd value (where = "file#/json/pointer").
Result<Model> parse_hf_config(std::string_view json, std::string_view where);

}  // namespace ridge
