#include <gtest/gtest.h>

#include "folder.hpp"

namespace ridge {
namespace {

class Lookup : public testing::Test {
 protected:
  Folder folder_;
  Catalogue catalogue_ =
      *Catalogue::load({.data_directory = folder_.small_catalogue(), .overlays = {}, .price_lists = {}});
};

TEST_F(Lookup, FindsByIdOrNotAtAll) {
  EXPECT_NE(catalogue_.device("base"), nullptr);
  EXPECT_EQ(catalogue_.device("bas"), nullptr);
  EXPECT_EQ(catalogue_.device(""), nullptr);
  EXPECT_NE(catalogue_.architecture("hopper"), nullptr);
  EXPECT_EQ(catalogue_.fabric("x"), nullptr);
  EXPECT_EQ(catalogue_.system("x"), nullptr);
  EXPECT_EQ(catalogue_.model("x"), nullptr);
}

TEST_F(Lookup, AnUnknownDeviceIsAnsweredWithTheNearest) {
  const Result<Device> device = catalogue_.find_device("bsae");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::not_found);
  EXPECT_NE(device.error().message.find("did you mean 'base'?"), std::string::npos) << device.error().message;
}

TEST_F(Lookup, APartitionHasItsShareOfTheDevice) {
  const Result<Device> part = catalogue_.find_device("base/mig-3g.71gb");
  ASSERT_TRUE(part.ok()) << part.error().text();
  EXPECT_EQ(part->id, "base/mig-3g.71gb");
  EXPECT_NEAR(part->peak(PeakFormat::bf16)->value.value(), 989.4e12 * 0.4286, 1e9);
  EXPECT_NEAR(part->peak(PeakFormat::fp8)->value.value(), 1978.9e12 * 0.4286, 1e9);
  EXPECT_NEAR(part->memory_bandwidth->value.value(), 2.4e12, 1);
  EXPECT_NEAR(part->l2->value.value(), 30e6, 1e-3);
  EXPECT_EQ(part->memory_capacity->value, gigabytes(71));
  EXPECT_EQ(part->cores->value, 57);  // 132 x 3/7 = 56.6
  EXPECT_NEAR(part->tdp->value.value(), 700 * 0.4286, 1e-9);
  EXPECT_EQ(part->boost_clock->value.value(), 1.83e9);
  EXPECT_EQ(part->scale_up_topology, ScaleUpTopology::none);
  EXPECT_FALSE(part->scale_up_per_direction.has_value());
  EXPECT_FALSE(part->peak(PeakFormat::fp4).has_value());
}

TEST_F(Lookup, AnUnknownPartitionIsAnsweredWithAllThereAre) {
  const Result<Device> part = catalogue_.find_device("base/mig-9g");
  ASSERT_FALSE(part.ok());
  EXPECT_EQ(part.error().message, "'base' has no partition 'mig-9g'; there are mig-3g.71gb");
  EXPECT_FALSE(catalogue_.find_device("base/").ok());
  EXPECT_FALSE(catalogue_.find_device("none/mig-3g.71gb").ok());
}

TEST_F(Lookup, AModelMayBeASpecOrAPathToAConfiguration) {
  const auto spec =
      catalogue_.find_model("dense:layers=2,hidden=64,heads=4,kv_heads=4,ffn=128,gated=1,vocab=1000,tied=1");
  ASSERT_TRUE(spec.ok()) << spec.error().text();
  EXPECT_EQ(spec->hidden, 64);

  const std::string config =
      R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 128, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 256, "vocab_size": 1000,
          "max_position_embeddings": 2048, "tie_word_embeddings": false})";
  const std::string path = folder_.write("llama/config.json", config);
  for (const std::string& where : {path, folder_.path("llama")}) {
    const auto model = catalogue_.find_model(where);
    ASSERT_TRUE(model.ok()) << model.error().text();
    EXPECT_EQ(model->hidden, 128);
  }
}

TEST_F(Lookup, AModelThatIsNotThereIsRefused) {
  for (const char* id : {"llama", "", "no/such/config.json", "gone.json"}) {
    const auto model = catalogue_.find_model(id);
    ASSERT_FALSE(model.ok()) << id;
    EXPECT_EQ(model.error().code, ErrorCode::not_found) << id;
  }
  EXPECT_FALSE(catalogue_.find_model("dense:layers=").ok());
}

}  // namespace
}  // namespace ridge
