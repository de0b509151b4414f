#include "ridge/catalogue/names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "bundled.hpp"
#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"

namespace ridge {
namespace {

using testing_support::bundled;

std::string model_id(std::string_view name) {
  const auto model = bundled().find_model(name);
  return model ? model->id : model.error().message;
}
std::string device_id(std::string_view name) {
  const auto device = bundled().find_device(name);
  return device ? device->id : device.error().message;
}

TEST(Names, RepositoriesOfModelsAreUnderstood) {
  const std::pair<const char*, const char*> names[] = {
      {"meta-llama/Llama-3.1-8B-Instruct", "llama3.1-8b"},
      {"mistralai/Mistral-Large-3-675B-Instruct-2512", "mistral-large-3"},
      {"nvidia/Llama-3_3-Nemotron-Super-49B-v1", "llama3.3-nemotron-super-49b"},
      {"moonshotai/Kimi-Linear-48B-A3B-Instruct", "kimi-linear-48b-a3b"},
      {"meta-llama/Meta-Llama-3-70B", "llama3-70b"},
      {"meta-llama/Llama-2-70b-chat-hf", "llama2-70b"},
      {"meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama4-scout"},
      {"nvidia/Llama-3.3-70B-Instruct-FP8", "llama3.3-70b"},
      {"nvidia/Llama-3_3-70B", "llama3.3-70b"},
      {"RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "llama3.1-8b"},
      {"openai/gpt-oss-120b", "gpt-oss-120b"},
      {"Qwen/Qwen2.5-72B-Instruct-AWQ", "qwen2.5-72b"},
      {"Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b"},
      {"Qwen/Qwen3-30B-A3B-Thinking-2507", "qwen3-30b-a3b"},
      {"Qwen/Qwen2-72B-Instruct", "qwen2.5-72b"},
      {"deepseek-ai/DeepSeek-R1-0528", "deepseek-r1"},
      {"deepseek-ai/DeepSeek-V3-0324", "deepseek-v3"},
      {"deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "llama3.3-70b"},
      {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
      {"mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3"},
      {"mistralai/Mistral-7B-v0.1", "mistral-7b"},
      {"mistralai/Mistral-Large-Instruct-2407", "mistral-large-123b"},
      {"CohereForAI/c4ai-command-r-plus", "command-r-plus"},
      {"moonshotai/Kimi-K2-Instruct-0905", "kimi-k2"},
      {"google/gemma-3-27b-it", "gemma3-27b"},
  };
  for (const auto& [name, id] : names) EXPECT_EQ(model_id(name), id) << name;
}

TEST(Names, CaseAndSeparatorsOfModelsDoNotMatter) {
  for (const char* name : {"LLAMA3.1-8B", "llama 3.1 8b", "llama_3_1_8b", "Llama3.1:8b", "Llama-3.1-8B"}) {
    EXPECT_EQ(model_id(name), "llama3.1-8b") << name;
  }
  EXPECT_EQ(model_id("llama_3_8b"), "llama3-8b");
  EXPECT_EQ(model_id("Command R+"), "command-r-plus");
  EXPECT_EQ(model_id("Qwen3 30B"), "qwen3-30b-a3b") << "only one of that size";
}

TEST(Names, WhatNvidiaSmiAndPeopleCallDevices) {
  const std::pair<const char*, const char*> names[] = {
      {"H100", "h100-sxm"},
      {"H100-SXM5-80GB", "h100-sxm"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm"},
      {"NVIDIA H100 PCIe", "h100-pcie"},
      {"NVIDIA H100 NVL", "h100-nvl"},
      {"NVIDIA A100-SXM4-80GB", "a100-sxm-80"},
      {"NVIDIA A100-PCIE-40GB", "a100-pcie-40"},
      {"NVIDIA A100 80GB PCIe", "a100-pcie-80"},
      {"NVIDIA H200", "h200-sxm"},
      {"NVIDIA B200", "b200-sxm-180"},
      {"B200", "b200-sxm-180"},
      {"GB200", "gb200-nvl72"},
      {"NVIDIA GH200 480GB", "gh200-96"},
      {"NVIDIA L40S", "l40s"},
      {"L40S", "l40s"},
      {"Tesla T4", "t4"},
      {"NVIDIA GeForce RTX 4090", "rtx4090"},
      {"4090", "rtx4090"},
      {"MI300X", "mi300x"},
      {"AMD Instinct MI300X", "mi300x"},
      {"Gaudi2", "gaudi2"},
      {"Gaudi 3", "gaudi3-oam"},
      {"Trainium2", "trainium2"},
      {"trn2", "trainium2"},
      {"trillium", "tpu-v6e"},
      {"TPU-v5p", "tpu-v5p"},
      {"v5p", "tpu-v5p"},
      {"h100_sxm", "h100-sxm"},
      {"H20", "h20-96"},
      {"NVIDIA H20 141GB", "h20-141"},
      {"NVIDIA GB10", "gb10"},
      {"DGX Spark", "gb10"},
      {"Jetson Thor", "jetson-thor"},
  };
  for (const auto& [name, id] : names) EXPECT_EQ(device_id(name), id) << name;
  EXPECT_EQ(device_id("H100/mig-3g.40gb"), "h100-sxm/mig-3g.40gb");
}

TEST(Names, WhatMayMeanSeveralIsRefusedWithAllOfThem) {
  EXPECT_EQ(model_id("llama3.1"),
            "the model 'llama3.1' may be 'llama3.1-405b', 'llama3.1-70b' or 'llama3.1-8b': write which");
  EXPECT_EQ(model_id("llama 70b"),
            "the model 'llama 70b' may be 'llama2-70b', 'llama3-70b', 'llama3.1-70b' or 'llama3.3-70b': write which");
  EXPECT_EQ(model_id("llama 405b"), "llama3.1-405b") << "one generation alone has that size";
  EXPECT_NE(model_id("deepseek").find("there is no model"), std::string::npos) << model_id("deepseek");
  EXPECT_NE(device_id("tpu").find("'tpu-v4'"), std::string::npos) << device_id("tpu");
}

// Another shape, another size, another memory: never taken for what is there.
TEST(Names, OtherThingsAreNotTakenForTheirNeighbours) {
  for (const char* name : {"nvidia/Llama-3_1-Nemotron-Ultra-253B-v1", "Qwen/Qwen2-57B", "deepseek-v4", "llama3.1-9b",
                           "meta-llama", "fp8", "-"}) {
    const auto model = bundled().find_model(name);
    EXPECT_TRUE(!model || std::string_view(name) == "Qwen/Qwen2-57B") << name << " became " << model_id(name);
  }
  EXPECT_EQ(model_id("Qwen/Qwen2-57B"), "qwen2-57b-a14b") << "and not qwen2.5-7b";
  for (const char* name : {"NVIDIA A10G", "Tesla V100-SXM2-16GB", "RTX 6000 Ada", "NVIDIA", "H1000", "", "gpu"}) {
    EXPECT_FALSE(bundled().find_device(name).ok()) << name << " became " << device_id(name);
  }
}

TEST(Names, SuggestionsAreOfTheSameFamily) {
  EXPECT_NE(device_id("Tesla V100-SXM2-16GB").find("did you mean 'v100-sxm2-32'"), std::string::npos)
      << device_id("Tesla V100-SXM2-16GB");
  EXPECT_NE(model_id("openai/gpt-oss-121b").find("did you mean 'gpt-oss-120b'"), std::string::npos)
      << model_id("openai/gpt-oss-121b");
  EXPECT_EQ(device_id("h1000"), "there is no device 'h1000' (did you mean 'h100-nvl', 'h100-pcie' or 'h100-sxm'?)");
}

TEST(Names, TheEndingTellsTheFormat) {
  EXPECT_EQ(format_in_name("nvidia/Llama-3.3-70B-Instruct-FP8"), "fp8");
  EXPECT_EQ(format_in_name("Qwen/Qwen2.5-72B-Instruct-AWQ"), "awq");
  EXPECT_EQ(format_in_name("llama3.3-70b"), "");
  EXPECT_EQ(format_in_name("fp8-lab/Llama-3.3-70B"), "") << "who made it tells nothing";
}

// `ridge check` and every other verb mean the same by one name.
TEST(Names, WhatDocumentsSayIsUnderstoodEverywhere) {
  const std::string path = std::string(RIDGE_DATA_DIR) + "/claims/names.toml";
  const auto text = read_file(path, 1 << 20);
  ASSERT_TRUE(text.ok());
  const auto root = parse_toml(*text, path);
  ASSERT_TRUE(root.ok()) << root.error().text();
  int checked = 0;
  for (const TomlNode& entry : root->find("name")->value.items) {
    const TomlMember* device = entry.find("device");
    const TomlMember* model = entry.find("model");
    if (device == nullptr && model == nullptr) continue;
    for (const TomlNode& spelling : entry.find("names")->value.items) {
      ++checked;
      if (spelling.text == "B200 192GB") continue;  // documents mean the same card, the catalogue has both figures
      if (device != nullptr) {
        EXPECT_EQ(device_id(spelling.text), device->value.text) << spelling.text;
      } else {
        EXPECT_EQ(model_id(spelling.text), model->value.text) << spelling.text;
      }
    }
  }
  EXPECT_GT(checked, 90);
}

}  // namespace
}  // namespace ridge
