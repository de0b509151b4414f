#include "evidence/validate/folds.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ridge::evidence {
namespace {

const char* kSmall = "dense:layers=2,hidden=64,heads=4,kv_heads=4,ffn=256,gated=0,vocab=1000,tied=1";
const char* kSmallOtherVocabulary = "dense:layers=2,hidden=64,heads=4,kv_heads=4,ffn=256,gated=0,vocab=2000,tied=0";
const char* kDeeper = "dense:layers=3,hidden=64,heads=4,kv_heads=4,ffn=256,gated=0,vocab=1000,tied=1";

Case make(const char* model, const char* device, const char* source) {
  Case c;
  c.model = model;
  c.device = device;
  c.source = source;
  return c;
}

TEST(Folds, EqualShapesAreOneModelWhateverTheVocabulary) {
  const Catalogue catalogue;
  const std::vector<Case> cases = {make(kSmall, "a", "x"), make(kDeeper, "a", "x"),
                                   make(kSmallOtherVocabulary, "b", "y")};
  const auto folds = make_folds(cases, FoldBy::models, catalogue);
  ASSERT_EQ(folds.size(), 2u);
  std::set<std::vector<std::size_t>> parts;
  for (const Fold& f : folds) parts.insert(f.cases);
  EXPECT_TRUE(parts.contains({0, 2}));
  EXPECT_TRUE(parts.contains({1}));
}

TEST(Folds, PublishersJoinTheirTables) {
  EXPECT_EQ(publisher("trtllm-perf-overview-v1.1"), publisher("trtllm-static-v0.9.0"));
  EXPECT_EQ(publisher("argonne-vllm"), publisher("argonne-tp-pp-ep"));
  EXPECT_EQ(publisher("NVIDIA/dgxc-benchmarking"), publisher("docs.nvidia.com"));
  EXPECT_EQ(publisher("NVIDIA-NeMo/Megatron-Bridge"), publisher("NVIDIA/Megatron-LM"));
  EXPECT_NE(publisher("mosaicml/llm-foundry"), publisher("VIA-Research/vTrain"));
  EXPECT_NE(publisher("inferencex-agg"), publisher("aic-internal-agg"));
}

TEST(Folds, EveryCaseIsInExactlyOneFoldAndKeysAreNeverSplit) {
  const Catalogue catalogue;
  std::vector<Case> cases;
  for (int i = 0; i < 100; ++i) cases.push_back(make("", ("d" + std::to_string(i % 37)).c_str(), "s"));
  const auto folds = make_folds(cases, FoldBy::devices, catalogue, 5);
  ASSERT_EQ(folds.size(), 5u);
  std::vector<int> seen(cases.size(), 0);
  std::map<std::string, std::size_t> where;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    EXPECT_GE(folds[f].cases.size(), 15u);  // dealt out evenly: 20 each but for whole keys
    for (const std::size_t i : folds[f].cases) {
      ++seen[i];
      const auto [at, is_new] = where.emplace(cases[i].device, f);
      EXPECT_EQ(at->second, f) << cases[i].device;
    }
  }
  for (const int n : seen) EXPECT_EQ(n, 1);
}

}  // namespace
}  // namespace ridge::evidence
