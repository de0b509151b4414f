// config.json files: tests/catalogue/hf/ID.json has the published dimensions of the bundled model ID, under the names
// its family uses, and has to give the same model.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "bundled.hpp"
#include "ridge/base/file.hpp"

namespace ridge {
namespace {

using testing_support::bundled;
using testing_support::contains;

Result<Model> parse_file(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path.string(), 1'000'000);
  if (!text) return text.error();
  return parse_hf_config(*text, path.string());
}

std::filesystem::path fixture(const std::string& id) {
  return std::filesystem::path(RIDGE_TEST_DIR) / "catalogue" / "hf" / (id + ".json");
}

constexpr const char* kLlama =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100})";

/// kLlama with `from` replaced by `to`.
std::string llama_with(const std::string& from, const std::string& to) {
  std::string text = kLlama;
  return text.replace(text.find(from), from.size(), to);
}

void expect_refused(const std::string& json, const std::string& where, const std::string& part) {
  const Result<Model> model = parse_hf_config(json, "config.json");
  ASSERT_FALSE(model.ok()) << json;
  EXPECT_EQ(model.error().code, ErrorCode::bad_input);
  EXPECT_EQ(model.error().where, where) << model.error().message;
  EXPECT_TRUE(contains(model.error().message, part));
}

TEST(HfConfig, GivesTheModelOfTheCatalogue) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(fixture("x").parent_path())) {
    const std::string id = entry.path().stem().string();
    const Model* known = bundled().model(id);
    ASSERT_NE(known, nullptr) << id;
    const Result<Model> read = parse_file(entry.path());
    ASSERT_TRUE(read.ok()) << read.error().text();
    const Parameters one = count_parameters(*read);
    const Parameters other = count_parameters(*known);
    EXPECT_EQ(one.total, other.total) << id;
    EXPECT_EQ(one.active, other.active) << id;
    EXPECT_EQ(one.embedding, other.embedding) << id;
    EXPECT_EQ(one.head, other.head) << id;
    EXPECT_EQ(one.attention, other.attention) << id;
    EXPECT_EQ(read->layers(), known->layers()) << id;
    EXPECT_EQ(read->order, known->order) << id;
    EXPECT_EQ(read->quantization, known->quantization) << id;
    EXPECT_EQ(read->mtp_layers, known->mtp_layers) << id;
    for (const int context : {0, 128, 5000, 100'000}) {
      EXPECT_EQ(kv_bytes_per_token(*read, 2, context), kv_bytes_per_token(*known, 2, context)) << id << ' ' << context;
      EXPECT_EQ(kv_bytes_per_sequence(*read, 2, context), kv_bytes_per_sequence(*known, 2, context)) << id;
    }
    ++files;
  }
  EXPECT_GE(files, 60);
}

TEST(HfConfig, SaysWhereItCameFrom) {
  const Result<Model> model = parse_hf_config(kLlama, "some/config.json");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(model->id, "some/config.json");
  EXPECT_EQ(model->name, "some/config.json");
  EXPECT_EQ(model->file, "some/config.json");
  EXPECT_EQ(parse_hf_config(llama_with("{", R"({"_name_or_path": "mine/llama", )"), "c")->name, "mine/llama");
}

TEST(HfConfig, TiesEmbeddingsAsTheFamilyDoesUnlessItSaysOtherwise) {
  const std::map<std::string, bool> defaults = {{"llama", false},    {"mistral", false},   {"qwen2", false},
                                                {"gemma2", true},    {"cohere", true},     {"gpt_neox", false},
                                                {"stablelm", false}, {"starcoder2", true}, {"olmo2", false}};
  for (const auto& [type, tied] : defaults) {
    const Result<Model> model = parse_hf_config(llama_with("llama", type), "c");
    ASSERT_TRUE(model.ok()) << model.error().text();
    EXPECT_EQ(model->tied_embeddings, tied) << type;
    const auto said = parse_hf_config(
        llama_with("{\"model_type\": \"llama\"", "{\"tie_word_embeddings\": " + std::string(tied ? "false" : "true") +
                                                     ", \"model_type\": \"" + type + '"'),
        "c");
    ASSERT_TRUE(said.ok()) << said.error().text();
    EXPECT_NE(said->tied_embeddings, tied) << type;
  }
}

TEST(HfConfig, OfANestedModelIsItsLanguagePart) {
  const std::string nested = R"({"model_type": "llava", "text_config": )" + std::string(kLlama) +
                             R"(, "vision_config": {"hidden_size": 1}, "tie_word_embeddings": true})";
  const Result<Model> model = parse_hf_config(nested, "c");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(model->hidden, 64);
  EXPECT_TRUE(model->tied_embeddings);  // said outside
  EXPECT_TRUE(contains(model->notes, "language part"));
  expect_refused(R"({"model_type": "llava", "text_config": {"model_type": "llama", "hidden_size": 64}})",
                 "config.json#/text_config/num_hidden_layers", "is missing");
}

TEST(HfConfig, IsKnownByItsClassWhereTheTypeIsNot) {
  std::string text = llama_with("\"model_type\": \"llama\"", "\"architectures\": [\"Qwen2ForCausalLM\"]");
  const Result<Model> model = parse_hf_config(text, "c");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_TRUE(model->groups[0].mixer.qkv_bias);
}

TEST(HfConfig, ReadsTheFormatOfTheWeights) {
  const std::map<std::string, std::string> cases = {
      {R"({"quant_method": "fp8"})", "fp8"},
      {R"({"quant_method": "fbgemm_fp8"})", "fp8"},
      {R"({"quant_method": "awq", "bits": 4})", "awq"},
      {R"({"quant_method": "gptq", "bits": 4})", "gptq"},
      {R"({"quant_method": "gptq", "bits": 8})", "int8"},
      {R"({"quant_method": "mxfp4"})", "mxfp4"},
      {R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})", "nvfp4"},
      {R"({"quant_method": "modelopt", "quant_algo": "FP8"})", "fp8"},
      {R"({"quant_method": "bitsandbytes", "load_in_4bit": true})", "int4"},
      {R"({"quant_method": "compressed-tensors", "format": "float-quantized"})", "fp8"},
      {R"({"quant_method": "compressed-tensors", "format": "pack-quantized",
           "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int"}}}})",
       "int4"},
      {R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
           "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}},
                             "group_1": {"weights": {"num_bits": 4, "type": "float"}}}})",
       "nvfp4"},
      {R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
           "quantized_layers": {"a": {"quant_algo": "FP8"}, "b": {"quant_algo": "W4A16_NVFP4"}}})",
       "nvfp4"}};
  for (const auto& [quantization, format] : cases) {
    const auto model = parse_hf_config(llama_with("{", "{\"quantization_config\": " + quantization + ", "), "c");
    ASSERT_TRUE(model.ok()) << quantization << ": " << model.error().text();
    EXPECT_EQ(model->quantization, format) << quantization;
  }
  EXPECT_EQ(parse_hf_config(kLlama, "c")->quantization, "");
  expect_refused(llama_with("{", R"({"quantization_config": {"quant_method": "gptq", "bits": 3}, )"),
                 "config.json#/quantization_config/bits", "4 or 8 are");
  expect_refused(llama_with("{", R"({"quantization_config": {"quant_method": "magic"}, )"),
                 "config.json#/quantization_config/quant_method", "'magic' is not known");
}

TEST(HfConfig, RefusesAnUnknownArchitectureNamingTheNearest) {
  expect_refused(llama_with("llama", "qwen3_mo"), "config.json#/model_type", "nearest: 'qwen3_moe'");
  expect_refused(llama_with("llama", "zzzzzzzzzz"), "config.json#/model_type", "nor anything like it");
  expect_refused(R"({"hidden_size": 64})", "config.json#/model_type", "'model_type' is missing");
  expect_refused(R"({"model_type": 7})", "config.json#/model_type", "expected a text, not 7");
}

TEST(HfConfig, NamesTheKeyThatIsMissing) {
  for (const std::string key :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}) {
    expect_refused(llama_with('"' + key + '"', "\"other\""), "config.json#/" + key, "'" + key + "' is missing");
  }
  expect_refused(llama_with("\"llama\"", R"("deepseek_v3", "kv_lora_rank": 512)"), "config.json#/qk_nope_head_dim",
                 "is missing");
  expect_refused(llama_with("\"llama\"", R"("mixtral", "num_local_experts": 8)"), "config.json#/num_experts_per_tok",
                 "is missing");
}

TEST(HfConfig, RefusesAbsurdValuesAtTheirPointer) {
  const std::string layers = "config.json#/num_hidden_layers";
  expect_refused(llama_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": -2"), layers, "from 1 to 4096, not -2");
  expect_refused(llama_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1000000000"), layers, "not 1000000000");
  expect_refused(llama_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1e300"), layers, "whole number");
  expect_refused(llama_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 2.5"), layers, "whole number");
  expect_refused(llama_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": \"2\""), layers, "the text '2'");
  expect_refused(llama_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": NaN"), layers, "the text 'NaN'");
  expect_refused(llama_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": -Infinity"), layers, "whole number");
  expect_refused(llama_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": [2]"), layers, "a list");
  expect_refused(llama_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": null"), layers, "is missing");
  expect_refused(llama_with("\"vocab_size\": 100", "\"vocab_size\": 100, \"tie_word_embeddings\": 1"),
                 "config.json#/tie_word_embeddings", "true or false");
  expect_refused(llama_with("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3"),
                 "config.json#/num_key_value_heads", "3 key-value heads do not divide 4 heads");
  expect_refused(llama_with("\"num_attention_heads\": 4", "\"num_attention_heads\": 6"),
                 "config.json#/num_attention_heads", "do not divide hidden_size 64");
  expect_refused(llama_with("\"llama\"", R"("llama", "layer_types": ["full_attention"])"), "config.json#/layer_types",
                 "1 types for 2 layers");
  expect_refused(llama_with("\"llama\"", R"("llama", "layer_types": ["full_attention", "magic"])"),
                 "config.json#/layer_types/1", "'magic' is none of");
  expect_refused(llama_with("\"llama\"", R"("llama", "layer_types": ["full_attention", "sliding_attention"])"),
                 "config.json#/sliding_window", "is missing");
  expect_refused(
      R"({"model_type": "nemotron_h", "hybrid_override_pattern": "MX", "num_hidden_layers": 2, "hidden_size": 64,
                     "vocab_size": 10, "mamba_num_heads": 1, "mamba_head_dim": 8, "ssm_state_size": 8, "n_groups": 1})",
      "config.json#/hybrid_override_pattern", "character 2 is none of");
}

TEST(HfConfig, RefusesWhatIsNoConfiguration) {
  expect_refused("", "config.json:1:1", "not JSON");
  expect_refused("{\"model_type\": \"llama\",\n  \"hidden_size\": 40", "config.json:2:20", "not JSON");
  expect_refused("[1, 2]", "config.json", "one object");
  expect_refused("{\"a\": \"\xff\"}", "config.json:1:8", "not JSON");
  expect_refused(std::string(200'000, '['), "config.json", "nested deeper");
  expect_refused(std::string(100'000'000, ' '), "config.json", "bytes are more than");
  std::string many = "{\"a\": [0";
  for (int i = 0; i < 600'000; ++i) many += ",0";
  expect_refused(many + "]}", "config.json", "values");
}

TEST(HfConfig, KnowsWhichLayersHaveAWindow) {
  const auto windows = [](const std::string& json) {
    const Result<Model> model = parse_hf_config(json, "c");
    EXPECT_TRUE(model.ok()) << model.error().text();
    std::vector<int> result;
    if (model) {
      for (const std::uint16_t group : model->order) result.push_back(model->groups[group].mixer.window);
    }
    return result;
  };
  const auto four_layers = [](const std::string& rest) {
    std::string text = llama_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 4");
    return text.replace(text.find("\"llama\""), 7, rest);
  };
  using V = std::vector<int>;
  EXPECT_EQ(windows(four_layers(R"("llama", "sliding_window": 16)")), V(4, 0));
  EXPECT_EQ(windows(four_layers(R"("mistral", "sliding_window": 16)")), V(4, 16));
  EXPECT_EQ(windows(four_layers(R"("mistral", "sliding_window": null)")), V(4, 0));
  EXPECT_EQ(windows(four_layers(R"("mistral")")), V(4, 4096));  // the class's default
  EXPECT_EQ(windows(four_layers(R"("mistral", "sliding_window": 16, "max_position_embeddings": 16)")), V(4, 0));
  EXPECT_EQ(windows(four_layers(R"("gemma2", "sliding_window": 16)")), (V{16, 0, 16, 0}));
  EXPECT_EQ(windows(four_layers(R"("gemma3_text", "sliding_window": 16, "sliding_window_pattern": 3)")),
            (V{16, 16, 0, 16}));
  EXPECT_EQ(windows(four_layers(R"("qwen2", "sliding_window": 16)")), V(4, 0));
  EXPECT_EQ(
      windows(four_layers(R"("qwen2", "sliding_window": 16, "use_sliding_window": true, "max_window_layers": 3)")),
      (V{0, 0, 0, 16}));
}

}  // namespace
}  // namespace ridge
