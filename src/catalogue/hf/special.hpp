// Families of Hugging Face configurations whose layers the shared reader (hf_decoder.hpp) cannot put together.
//
//   {.type = "nemotron_h", .norms = 1, .read = read_nemotron_h}
//
// Each returns a Model; errors stay in the reader. Pure; any thread may call.
#pragma once

#include "catalogue/hf/decoder.hpp"

namespace ridge {

/// Falcon: key-value heads by multi_query and new_decoder_architecture, norms by parallel_attn.
Model read_falcon(JsonReader& config, const Family& family);
/// MPT: attention in attn_config, width as a ratio.
Model read_mpt(JsonReader& config, const Family& family);
/// DBRX: attn_config and ffn_config.
Model read_dbrx(JsonReader& config, const Family& family);
/// ChatGLM 2 and 3, GLM-4-9B: multi_query_attention and padded vocabulary.
Model read_chatglm(JsonReader& config, const Family& family);
/// Nemotron-H and Nemotron 3: hybrid_override_pattern, one part per layer.
Model read_nemotron_h(JsonReader& config, const Family& family);
/// Models pruned by architecture search: block_configs, every layer of its own shape.
Model read_nemotron_nas(JsonReader& config, const Family& family);
/// BERT and its kin, which read texts both ways: RoBERTa, ModernBERT, Nomic's, Alibaba's "new".
Model read_text_encoder(JsonReader& config, const Family& family);
/// Whisper and what is distilled from it: the decoder, its encoder beside it.
Model read_whisper(JsonReader& config, const Family& family);
/// Mamba-2 alone.
Model read_mamba2_model(JsonReader& config, const Family& family);

}  // namespace ridge
