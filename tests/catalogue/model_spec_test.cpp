#include <gtest/gtest.h>

#include "bundled.hpp"
#include "ridge/catalogue/model.hpp"

namespace ridge {
namespace {

using testing_support::contains;

constexpr const char* kDense = "dense:layers=48,hidden=8192,heads=64,kv_heads=64,ffn=32768,gated=0,vocab=51200,tied=1";
constexpr const char* kMoe =
    "moe:layers=4,hidden=512,heads=8,kv_heads=2,ffn=0,gated=1,vocab=1000,tied=0,experts=8,topk=2,shared=2,moe_ffn=256";

void expect_refused(const std::string& spec, std::size_t column, const std::string& part) {
  const Result<Model> model = parse_model_spec(spec);
  ASSERT_FALSE(model.ok()) << spec;
  EXPECT_EQ(model.error().code, ErrorCode::bad_input);
  EXPECT_EQ(model.error().where, "column " + std::to_string(column)) << model.error().message;
  EXPECT_TRUE(contains(model.error().message, part));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(ModelSpec, OfADenseModelSaysAllOfItsShape) {
  const Result<Model> model = parse_model_spec(std::string(kDense) + ",context=4096");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(model->layers(), 48);
  EXPECT_EQ(model->hidden, 8192);
  EXPECT_EQ(model->vocab, 51200);
  EXPECT_TRUE(model->tied_embeddings);
  EXPECT_EQ(model->context, 4096);
  ASSERT_EQ(model->groups.size(), 1);
  EXPECT_EQ(model->groups[0].mixer.heads, 64);
  EXPECT_EQ(model->groups[0].mixer.kv_heads, 64);
  EXPECT_EQ(model->groups[0].mixer.head_dim, 128);  // hidden / heads
  EXPECT_EQ(model->groups[0].ffn.width, 32768);
  EXPECT_FALSE(model->groups[0].ffn.gated);
  EXPECT_EQ(model->id, std::string(kDense) + ",context=4096");
}

TEST(ModelSpec, KeysMayComeInAnyOrder) {
  const Result<Model> model =
      parse_model_spec("dense:tied=1,vocab=51200,gated=0,ffn=32768,kv_heads=64,heads=64,hidden=8192,layers=48");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(count_parameters(*model).total, count_parameters(*parse_model_spec(kDense)).total);
}

TEST(ModelSpec, OfAMixtureHasSharedExpertsAsWideAsRoutedOnes) {
  const Result<Model> model = parse_model_spec(kMoe);
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Ffn& ffn = model->groups[0].ffn;
  EXPECT_EQ(ffn.experts, 8);
  EXPECT_EQ(ffn.top_k, 2);
  EXPECT_EQ(ffn.width, 256);
  EXPECT_EQ(ffn.shared_experts, 2);
  EXPECT_EQ(ffn.shared_width, 256);
}

TEST(ModelSpec, DenseLayersOfAMixtureComeFirst) {
  const Result<Model> model = parse_model_spec(replaced(kMoe, "ffn=0", "ffn=2048") + ",dense_layers=1");
  ASSERT_TRUE(model.ok()) << model.error().text();
  ASSERT_EQ(model->groups.size(), 2);
  EXPECT_EQ(model->groups[0].ffn.kind, FfnKind::dense);
  EXPECT_EQ(model->groups[0].ffn.width, 2048);
  EXPECT_EQ(model->groups[0].count, 1);
  EXPECT_EQ(model->groups[1].count, 3);
  EXPECT_EQ(model->order, (std::vector<std::uint16_t>{0, 1, 1, 1}));
}

TEST(ModelSpec, IsRefusedAtTheColumnThatIsWrong) {
  expect_refused("", 1, "starts with 'dense:' or 'moe:'");
  expect_refused("sparse:layers=1", 1, "starts with 'dense:' or 'moe:'");
  expect_refused("dense:", 7, "expected key=value");
  expect_refused("dense:layers", 7, "expected key=value");
  expect_refused("dense:layers=2,layer=3", 16, "nearest: 'layers'");
  expect_refused("dense:layers=2,layers=3", 16, "given twice");
  expect_refused("dense:layers=2,experts=3", 16, "belongs to a 'moe:' spec");
  expect_refused("dense:layers=0", 14, "from 1 to 4096, not '0'");
  expect_refused("dense:layers=-1", 14, "not '-1'");
  expect_refused("dense:layers=1000000000", 14, "from 1 to 4096");
  expect_refused("dense:layers=99999999999999999999", 14, "from 1 to 4096");
  expect_refused("dense:layers=2.5", 14, "whole number");
  expect_refused("dense:layers=nan", 14, "whole number");
  expect_refused("dense:layers= 2", 14, "whole number");
  expect_refused("dense:layers=2,gated=2", 22, "from 0 to 1");
  expect_refused(std::string(kDense) + ",", std::string(kDense).size() + 2, "expected key=value");
}

TEST(ModelSpec, NamesTheKeyThatIsMissing) {
  for (const std::string key : {"layers", "hidden", "heads", "kv_heads", "ffn", "gated", "vocab", "tied"}) {
    std::string spec = kDense;
    const std::size_t at = spec.find(key == "heads" ? ",heads=" : key + "=") + (key == "heads" ? 1 : 0);
    const std::size_t end = spec.find(',', at);
    spec.erase(at, end == std::string::npos ? std::string::npos : end + 1 - at);
    if (spec.back() == ',') spec.pop_back();
    expect_refused(spec, spec.size() + 1, "'" + key + "' is missing");
  }
  for (const std::string key : {"experts", "topk", "moe_ffn"}) {
    std::string spec = kMoe;
    const std::size_t at = spec.find("," + key + "=");
    const std::size_t end = spec.find(',', at + 1);
    spec.erase(at, end == std::string::npos ? std::string::npos : end - at);
    expect_refused(spec, spec.size() + 1, "'" + key + "' is missing");
  }
}

TEST(ModelSpec, RefusesShapesThatCannotBe) {
  expect_refused(replaced(kDense, "kv_heads=64", "kv_heads=48"), 47, "48 kv_heads do not divide 64 heads");
  expect_refused(replaced(kDense, "hidden=8192", "hidden=8191"), 35, "say head_dim as well");
  EXPECT_TRUE(parse_model_spec(replaced(kDense, "hidden=8192", "hidden=8191") + ",head_dim=128").ok());
  expect_refused(replaced(kDense, "ffn=32768", "ffn=0"), 54, "at least 1");
  expect_refused(replaced(kMoe, "topk=2", "topk=9"), 91, "topk=9 of experts=8");
  expect_refused(replaced(kMoe, "ffn=0", "ffn=9") + ",dense_layers=5", 127, "5 dense layers of 4");
  expect_refused(std::string(kMoe) + ",dense_layers=1", 48, "at least 1");
}

}  // namespace
}  // namespace ridge
