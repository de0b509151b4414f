// What a shape implies: parameters, KV bytes, recurrent state. The algebra stands beside each number.
#include <gtest/gtest.h>

#include <string>

#include "ridge/catalogue/model.hpp"

namespace ridge {
namespace {

Model spec(const std::string& text) {
  const Result<Model> model = parse_model_spec(text);
  EXPECT_TRUE(model.ok()) << text << ": " << model.error().text();
  return model ? *model : Model{};
}

Model llama3_8b() {
  return spec("dense:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,gated=1,vocab=128256,tied=0");
}

/// One layer of the given group, without embeddings or norms.
Model one_layer(const LayerGroup& layer, int hidden) {
  Model model;
  model.hidden = hidden;
  model.norms_per_layer = 0;
  model.groups = {layer};
  model.groups[0].count = 1;
  model.order = {0};
  return model;
}

Model without_ffn(const Mixer& mixer, int hidden) {
  LayerGroup layer;
  layer.mixer = mixer;
  layer.ffn.kind = FfnKind::none;
  return one_layer(layer, hidden);
}

Model without_mixer(const Ffn& ffn, int hidden) {
  LayerGroup layer;
  layer.mixer.kind = MixerKind::none;
  layer.ffn = ffn;
  return one_layer(layer, hidden);
}

Mixer multi_head_latent_attention() {
  Mixer mixer;
  mixer.kind = MixerKind::mla;
  mixer.heads = 128;
  mixer.q_lora_rank = 1536;
  mixer.kv_lora_rank = 512;
  mixer.qk_nope_dim = 128;
  mixer.qk_rope_dim = 64;
  mixer.v_head_dim = 128;
  return mixer;
}

TEST(Parameters, OfLlama3AreThePublishedOnesToTheLastWeight) {
  // 32 x (4096 x (4096 + 2 x 1024) + 4096^2 + 3 x 4096 x 14336 + 2 x 4096) + 2 x 128256 x 4096 + 4096
  EXPECT_EQ(count_parameters(llama3_8b()).total, 8'030'261'248);
  EXPECT_EQ(llama3_8b().layers(), 32);
  EXPECT_FALSE(llama3_8b().is_moe());
}

TEST(Parameters, PartsAddUpToTheTotal) {
  Model model = spec(
      "moe:layers=4,hidden=512,heads=8,kv_heads=2,ffn=2048,gated=1,vocab=1000,tied=0,experts=16,topk=2,shared=1,"
      "moe_ffn=256,dense_layers=1");
  model.other_parameters = 77;
  model.learned_positions = 32;
  const Parameters p = count_parameters(model);
  EXPECT_EQ(p.total, p.embedding + p.head + p.attention + p.dense_ffn + p.routed_experts + p.shared_experts +
                         p.modulation + p.norms);
  double layers = 0;
  for (const LayerGroup& group : model.groups) layers += group.count * layer_parameters(model, group);
  EXPECT_EQ(p.total, layers + p.embedding + p.head + model.hidden + model.other_parameters);
}

TEST(Parameters, ActiveLeavesOutTheExpertsNotChosen) {
  const Model model = spec(
      "moe:layers=4,hidden=512,heads=8,kv_heads=8,ffn=2048,gated=1,vocab=1000,tied=1,experts=16,topk=2,shared=1,"
      "moe_ffn=256,dense_layers=1");
  const Parameters p = count_parameters(model);
  EXPECT_TRUE(model.is_moe());
  // three sparse layers, 14 of 16 experts idle, each 3 x 512 x 256
  EXPECT_EQ(p.total - p.active, 3.0 * 14 * 3 * 512 * 256);
  EXPECT_EQ(p.shared_experts, 3.0 * 1 * 3 * 512 * 256);
  EXPECT_EQ(p.dense_ffn, 3.0 * 512 * 2048);
  // tied embeddings count once
  EXPECT_EQ(p.head, 0);
  EXPECT_EQ(p.embedding, 512.0 * 1000);
}

TEST(Parameters, OfGroupedQueryAttentionWithAsManyKvHeadsAreThoseOfMultiHead) {
  const Model multi = spec("dense:layers=2,hidden=256,heads=8,kv_heads=8,ffn=512,gated=0,vocab=100,tied=1");
  Model grouped = spec("dense:layers=2,hidden=256,heads=8,kv_heads=4,ffn=512,gated=0,vocab=100,tied=1");
  EXPECT_LT(count_parameters(grouped).total, count_parameters(multi).total);
  grouped.groups[0].mixer.kv_heads = 8;
  EXPECT_EQ(count_parameters(grouped).total, count_parameters(multi).total);
  EXPECT_EQ(kv_bytes_per_token(grouped, 2), kv_bytes_per_token(multi, 2));
}

TEST(Parameters, OfAttentionHeadsNeedNotFillTheHiddenWidth) {
  Mixer mixer;
  mixer.heads = 16;
  mixer.kv_heads = 8;
  mixer.head_dim = 128;
  // hidden 1024: q and o are 1024 x 2048, k and v 1024 x 1024
  EXPECT_EQ(count_parameters(without_ffn(mixer, 1024)).attention, 2.0 * 1024 * 2048 + 2.0 * 1024 * 1024);
  mixer.output_gate = true;
  EXPECT_EQ(count_parameters(without_ffn(mixer, 1024)).attention, 3.0 * 1024 * 2048 + 2.0 * 1024 * 1024);
  mixer.output_gate = false;
  mixer.value_is_key = true;
  EXPECT_EQ(count_parameters(without_ffn(mixer, 1024)).attention, 2.0 * 1024 * 2048 + 1.0 * 1024 * 1024);
}

TEST(Parameters, BiasesNormsAndSinksAreCounted) {
  Mixer mixer;
  mixer.heads = 4;
  mixer.kv_heads = 2;
  mixer.head_dim = 16;
  mixer.qkv_bias = true;             // 64 + 32 + 32
  mixer.output_bias = true;          // 64
  mixer.sinks = true;                // 4
  mixer.qk_norm = QkNorm::per_head;  // 2 x 16
  EXPECT_EQ(count_parameters(without_ffn(mixer, 64)).norms, 128 + 64 + 4 + 32 + 0);
  mixer.qk_norm = QkNorm::full;  // (4 + 2) x 16
  EXPECT_EQ(count_parameters(without_ffn(mixer, 64)).norms, 128 + 64 + 4 + 96 + 0);

  Ffn ffn;
  ffn.width = 100;
  ffn.bias = true;
  EXPECT_EQ(count_parameters(without_mixer(ffn, 64)).norms, 2 * 100 + 64);
  ffn.gated = false;
  EXPECT_EQ(count_parameters(without_mixer(ffn, 64)).norms, 100 + 64);
}

TEST(Parameters, OfLatentAttentionAreItsFiveMatrices) {
  // q: 7168 x 1536 and 1536 x 128 x 192; kv: 7168 x 576 and 512 x 128 x 256; out: 128 x 128 x 7168
  const double expected = 7168.0 * 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 + 512.0 * 128 * 256 + 16384.0 * 7168;
  EXPECT_EQ(count_parameters(without_ffn(multi_head_latent_attention(), 7168)).attention, expected);
  Mixer direct = multi_head_latent_attention();
  direct.q_lora_rank = 0;
  EXPECT_EQ(count_parameters(without_ffn(direct, 7168)).attention,
            expected - 7168.0 * 1536 - 1536.0 * 128 * 192 + 7168.0 * 128 * 192);
}

TEST(Parameters, OfASparseIndexerAreQueriesOneKeyAndHeadWeights) {
  Mixer mixer = multi_head_latent_attention();
  const double without = count_parameters(without_ffn(mixer, 7168)).attention;
  mixer.index_heads = 64;
  mixer.index_dim = 128;
  mixer.index_topk = 2048;
  EXPECT_EQ(count_parameters(without_ffn(mixer, 7168)).attention - without, 1536.0 * 8192 + 7168.0 * 128 + 7168.0 * 64);
}

TEST(Parameters, OfLatentExpertsWorkOnFewerChannels) {
  Ffn ffn;
  ffn.kind = FfnKind::moe;
  ffn.experts = 8;
  ffn.top_k = 2;
  ffn.width = 100;
  ffn.gated = false;
  ffn.latent = 32;
  const Parameters p = count_parameters(without_mixer(ffn, 256));
  EXPECT_EQ(p.routed_experts, 8.0 * 2 * 32 * 100);
  EXPECT_EQ(p.shared_experts, 2.0 * 256 * 32);  // down and up, for every token
}

TEST(Parameters, OfAMultiTokenPredictionLayerAreALayerAndItsJoin) {
  const Model model = llama3_8b();
  EXPECT_EQ(mtp_layer_parameters(model), layer_parameters(model, model.groups[0]) + 2.0 * 4096 * 4096 + 3.0 * 4096);
  EXPECT_EQ(mtp_layer_parameters(Model{}), 0);
}

TEST(Parameters, OfAJointDiffusionBlockAreTwiceThoseOfOneStream) {
  LayerGroup layer;
  layer.mixer.heads = layer.mixer.kv_heads = 4;
  layer.mixer.head_dim = 16;
  layer.mixer.qkv_bias = layer.mixer.output_bias = true;
  layer.ffn.gated = false;
  layer.ffn.bias = true;
  layer.ffn.width = 256;
  layer.dit.modulation = 6;
  Model single = one_layer(layer, 64);
  single.type = ModelType::diffusion_dit;
  layer.dit.streams = 2;
  Model joint = one_layer(layer, 64);
  joint.type = ModelType::diffusion_dit;
  EXPECT_EQ(count_parameters(joint).total, 2 * count_parameters(single).total);
  EXPECT_EQ(count_parameters(single).modulation, 6.0 * 64 * 65);
  // where the text ends, it has neither an output projection nor a feed-forward part
  joint.groups[0].dit.text_stream_ends = true;
  const double output = 64 * 64 + 64;
  const double feed_forward = 2 * 64 * 256 + 256 + 64;
  EXPECT_EQ(count_parameters(joint).total, 2 * count_parameters(single).total - output - feed_forward);
}

TEST(KeyValueBytes, OfGroupedQueriesAreTwoVectorsPerKvHeadAndLayer) {
  EXPECT_EQ(kv_bytes_per_token(llama3_8b(), 2), bytes(2.0 * 32 * 8 * 128 * 2));
  EXPECT_EQ(kv_bytes_per_token(llama3_8b(), 1), bytes(2.0 * 32 * 8 * 128));
  EXPECT_EQ(kv_bytes_per_sequence(llama3_8b(), 2, 4096), bytes(4096.0 * 131072));
  EXPECT_EQ(kv_bytes_per_sequence(llama3_8b(), 2, 0), bytes(0));
}

TEST(KeyValueBytes, OfLatentAttentionAreTheLatentAndOneRotaryKey) {
  EXPECT_EQ(kv_bytes_per_token(without_ffn(multi_head_latent_attention(), 7168), 2), bytes((512 + 64) * 2));
}

TEST(KeyValueBytes, OfNarrowValuesAreNarrower) {
  Mixer mixer;
  mixer.heads = 64;
  mixer.kv_heads = 4;
  mixer.head_dim = 192;
  mixer.v_head_dim = 128;
  EXPECT_EQ(kv_bytes_per_token(without_ffn(mixer, 4096), 2), bytes(4 * (192 + 128) * 2));
}

TEST(KeyValueBytes, OfAWindowStopGrowingAtItsEnd) {
  Model model = llama3_8b();
  LayerGroup windowed = model.groups[0];
  windowed.count = model.groups[0].count = 16;
  windowed.mixer.window = 1024;
  model.groups.push_back(windowed);
  EXPECT_EQ(kv_bytes_per_token(model, 2, 1023), bytes(131072));
  EXPECT_EQ(kv_bytes_per_token(model, 2, 1024), bytes(65536));
  // 16 layers keep all tokens, 16 only the last 1024
  EXPECT_EQ(kv_bytes_per_sequence(model, 2, 1024), bytes(1024.0 * 131072));
  EXPECT_EQ(kv_bytes_per_sequence(model, 2, 4096), bytes(1024.0 * 131072 + 3072.0 * 65536));
}

TEST(KeyValueBytes, GrowTokenByTokenToTheSequence) {
  Model model = llama3_8b();
  model.groups[0].mixer.window = 7;
  double sum = 0;
  for (int context = 0; context < 20; ++context) sum += kv_bytes_per_token(model, 2, context).value();
  EXPECT_EQ(kv_bytes_per_sequence(model, 2, 20), bytes(sum));
}

TEST(KeyValueBytes, OfAnIndexerAreOneByteAChannelAndAScale) {
  Mixer mixer = multi_head_latent_attention();
  mixer.index_heads = 64;
  mixer.index_dim = 128;
  mixer.index_topk = 2048;
  const Model model = without_ffn(mixer, 7168);
  EXPECT_EQ(index_bytes_per_token(model), bytes(128 + 4));
  EXPECT_EQ(kv_bytes_per_token(model, 2), bytes(1152));
  EXPECT_EQ(kv_bytes_per_sequence(model, 2, 10), bytes(10 * (1152 + 132)));
}

TEST(RecurrentState, OfLinearAttentionDoesNotDependOnTheLength) {
  Mixer mixer;
  mixer.kind = MixerKind::linear_attention;
  mixer.state_k_heads = 16;
  mixer.state_k_dim = 128;
  mixer.state_v_heads = 32;
  mixer.state_v_dim = 128;
  mixer.conv = 4;
  const Model model = without_ffn(mixer, 2048);
  // 32 heads x 128 x 128 in FP32, and three inputs of the convolution over q, k and v in 16 bits
  const double state = 32.0 * 128 * 128 * 4 + 3.0 * (2 * 16 * 128 + 32 * 128) * 2;
  EXPECT_EQ(kv_bytes_per_sequence(model, 2, 1), bytes(state));
  EXPECT_EQ(kv_bytes_per_sequence(model, 1, 1'000'000), bytes(state));
  EXPECT_EQ(kv_bytes_per_token(model, 2), bytes(0));
}

TEST(RecurrentState, OfMamba2IsHeadsTimesHeadSizeTimesState) {
  Mixer mixer;
  mixer.kind = MixerKind::mamba2;
  mixer.state_v_heads = 128;
  mixer.state_v_dim = 80;
  mixer.state_k_dim = 128;
  mixer.state_k_heads = 8;
  mixer.conv = 4;
  const Model model = without_ffn(mixer, 4480);
  EXPECT_EQ(kv_bytes_per_sequence(model, 2, 9), bytes(128.0 * 80 * 128 * 4 + 3.0 * (10240 + 2 * 8 * 128) * 2));
  // in 4480 x (2 x 10240 + 2048 + 128), out 10240 x 4480
  EXPECT_EQ(count_parameters(model).attention, 4480.0 * (20480 + 2048 + 128) + 10240.0 * 4480);
}

}  // namespace
}  // namespace ridge
