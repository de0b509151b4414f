// Whole answers: what is chosen where a question says nothing, what is assumed, what is refused and what works instead.
#include "ridge/perf/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ridge/perf/ranking.hpp"
#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

InferenceQuery question(const char* model, const char* device) {
  InferenceQuery q;
  q.model = model;
  q.device = device;
  q.load = {.mode = LoadMode::closed_loop, .isl = 1000, .osl = 250, .concurrency = 8};
  return q;
}

InferenceAnswer answered(const InferenceQuery& q) {
  auto a = answer(q, knowledge());
  EXPECT_TRUE(a) << a.error().text();
  return a ? std::move(*a) : InferenceAnswer{};
}

bool says(const std::vector<std::string>& lines, std::string_view words) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

/// The nearest plans of a refused question, joined; each of them must run.
std::string nearest_of(const InferenceAnswer& a) {
  EXPECT_TRUE(a.refusal);
  std::string out;
  if (a.refusal) {
    for (const NearestPlan& plan : a.refusal->nearest) out += as_flags(plan.changes) + "|";
  }
  return out;
}

// 70B in bf16 are 141 GB: more than one H200 holds beside a cache, less than two.
TEST(Layout, WithoutDevicesTheNumberThatGivesMostPerDevice) {
  EXPECT_EQ(answered(question("llama3.3-70b", "h200-sxm")).facts.tp, 2);
  EXPECT_EQ(answered(question("llama3.1-8b", "h200-sxm")).facts.gpus, 1);
  const InferenceAnswer large = answered(question("llama3.1-405b", "h200-sxm"));
  EXPECT_EQ(large.facts.gpus, 8);
  EXPECT_TRUE(says(large.assumptions, "the number that gives most per device"));
  auto crowded = question("llama3.3-70b", "h100-sxm");  // one holds 70 GB and hardly a cache; 64 clients want more
  crowded.weights = Format::fp8;
  crowded.load.mode = LoadMode::closed_loop;
  crowded.load.concurrency = 64;
  EXPECT_EQ(answered(crowded).facts.tp, 2);
}

// 405B in bf16 are 812 GB, 640 GB a node: two nodes hold one replica in two stages. Cards that come one to a host by
// their data sheet are joined where several are asked for.
TEST(Layout, StagesComeBeforeReplicasWhereTheModelDoesNotFit) {
  auto two_nodes = question("llama3.1-405b", "h100-sxm");
  two_nodes.gpus = 16;
  const InferenceAnswer staged = answered(two_nodes);
  EXPECT_FALSE(staged.refusal);
  EXPECT_EQ(staged.facts.tp, 8);
  EXPECT_EQ(staged.facts.pp, 2);
  EXPECT_TRUE(says(staged.assumptions, "2 pipeline stages"));
  two_nodes.model = "llama3.3-70b";
  EXPECT_EQ(answered(two_nodes).facts.pp, 1);
  auto cards = question("qwen3-32b", "rtx4090");
  cards.gpus = 4;
  EXPECT_FALSE(answered(cards).refusal);
  EXPECT_EQ(answered(cards).facts.tp, 4);
}

// Cards over PCIe: eight replicas beat one of eight cards, and eight cards hold what one does not.
TEST(Layout, CardsWithoutAFabricAreJoinedOnlyAsFarAsItPays) {
  auto small = question("llama3.1-8b", "l40s");
  small.gpus = 8;
  small.load.mode = LoadMode::closed_loop;
  small.load.concurrency = 512;
  EXPECT_EQ(answered(small).facts.tp, 1);
  auto large = question("llama3.3-70b", "rtx5090");
  large.gpus = 8;
  EXPECT_EQ(answered(large).facts.tp, 8);
  EXPECT_FALSE(answered(large).refusal);
}

TEST(Layout, InstancesOfOneDeviceAreNotJoined) {
  auto q = question("llama3.1-8b", "h100-sxm/mig-1g.10gb");
  EXPECT_EQ(answered(q).facts.tp, 1);
  q.tp = q.gpus = 2;
  const auto refused = answer(q, knowledge(), {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("no links between them"), std::string::npos);
}

TEST(Layout, TensorParallelismBeyondTheDomainIsBoundByTheNetwork) {
  auto q = question("llama3.3-70b", "h100-sxm");
  q.tp = 16;
  EXPECT_EQ(answered(q).outcome.estimate.bound, Bound::scale_out);
}

TEST(Cap, BelowIdleIsRefusedAndAboveTheLimitChangesNothing) {
  auto q = question("llama3.1-8b", "h100-sxm");
  const double free = answered(q).outcome.estimate.output_tokens_per_s.mid;
  q.power_cap = 5000;
  EXPECT_DOUBLE_EQ(answered(q).outcome.estimate.output_tokens_per_s.mid, free);
  EXPECT_TRUE(says(answered(q).assumptions, "changes nothing"));
  q.power_cap = 100;
  EXPECT_FALSE(answer(q, knowledge(), {}));
}

TEST(Formats, ChipsWithoutBf16TakeFp16) {
  const InferenceAnswer a = answered(question("llama3.1-8b", "v100-sxm2-32"));
  EXPECT_EQ(a.facts.weights, Format::fp16);
  EXPECT_EQ(a.facts.kv, Format::fp16);
}

// Half a byte and a scale for each of 70.6 billion weights but for embedding and head: 16-bit ones would be 141 GB.
TEST(Formats, Mxfp4OfADenseModelNarrowsAllProducts) {
  auto q = question("llama3.3-70b", "b200-sxm-180");
  q.weights = Format::mxfp4;
  EXPECT_NEAR(answered(q).outcome.estimate.memory_bytes[0], 40.6e9, 1e9);
}

// Adapters treble the products of a layer; all of them count.
TEST(Adapters, NoProductIsLeftOut) {
  for (const char* model : {"deepseek-v3.2", "deepseek-v3", "llama3.1-8b"}) {
    auto q = question(model, "b200-sxm-180");
    q.gpus = q.tp = 8;
    const double bare = answered(q).outcome.estimate.memory_bytes[0];
    q.lora_rank = 16;
    EXPECT_GT(answered(q).outcome.estimate.memory_bytes[0], bare) << model;
  }
}

TEST(Layout, WithDevicesAloneTensorParallelismStaysInTheDomain) {
  auto q = question("llama3.3-70b", "h100-sxm");
  q.gpus = 16;  // two nodes of eight
  const InferenceAnswer a = answered(q);
  EXPECT_EQ(a.facts.tp, 8);
  EXPECT_TRUE(says(a.assumptions, "2 replicas"));
}

TEST(Layout, WithDevicesAloneTensorParallelismDividesTheHeads) {
  auto q = question("llama3.1-8b", "h100-sxm");
  q.gpus = 6;  // 32 heads and 8 KV heads: 6 and 3 do not divide them
  const InferenceAnswer a = answered(q);
  EXPECT_EQ(a.facts.tp, 2);
  EXPECT_FALSE(a.refusal);
}

TEST(Layout, TensorParallelismAloneSaysHowManyDevices) {
  auto q = question("llama3.3-70b", "h100-sxm");
  q.tp = 4;
  q.pp = 2;
  EXPECT_EQ(answered(q).facts.gpus, 8);
}

TEST(Layout, ASystemBringsItsDeviceAndRefusesAnother) {
  auto q = question("llama3.1-8b", "");
  q.system = "dgx-h200";
  EXPECT_EQ(answered(q).facts.device, "h200-sxm");
  q.device = "h100-sxm";
  const auto wrong = answer(q, knowledge());
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("dgx-h200 is made of h200-sxm"), std::string::npos);
  q.system = "dgx-h20";
  const auto unknown = answer(q, knowledge());
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("'dgx-h200'"), std::string::npos);
}

TEST(Assumptions, SayWhatIsUnusual) {
  auto q = question("llama3.1-8b", "h200-sxm");
  q.load.isl = 140'000;  // trained for 131,072
  EXPECT_TRUE(says(answered(q).assumptions, "more than the 131,072 that llama3.1-8b was trained for"));

  q = question("llama3.1-8b", "a100-sxm-80");
  q.weights = Format::fp8;
  EXPECT_TRUE(says(answered(q).assumptions, "fp8 weights are widened to 16 bits"));
}

TEST(Assumptions, TensorParallelismAcrossNodesIsSaidOnce) {
  auto q =
      question("dense:layers=32,hidden=4096,heads=64,kv_heads=16,ffn=14336,gated=1,vocab=128256,tied=0", "h100-sxm");
  q.gpus = q.tp = 16;
  const InferenceAnswer a = answered(q);
  ASSERT_FALSE(a.refusal);
  const auto lines = std::count_if(a.assumptions.begin(), a.assumptions.end(), [](const std::string& line) {
    return line.find("crosses the network") != std::string::npos;
  });
  EXPECT_EQ(lines, 1);
}

TEST(Refusals, OfMemoryNameTheShortfallAndWhatFits) {
  auto q = question("llama3.1-405b", "b200-sxm-180");
  q.gpus = q.tp = 1;
  q.weights = q.activations = Format::nvfp4;
  const InferenceAnswer a = answered(q);
  ASSERT_TRUE(a.refusal);
  EXPECT_EQ(a.refusal->reason, Reason::out_of_memory);
  EXPECT_GT(*a.refusal->short_by, 10e9);
  EXPECT_NE(a.refusal->why.find("of each b200-sxm-180"), std::string::npos) << a.refusal->why;
  EXPECT_NE(nearest_of(a).find("--tp 2 --gpus 2|"), std::string::npos) << nearest_of(a);
}

TEST(Refusals, OfMemoryOfferNarrowerWeightsOnTheSameDevices) {
  auto q = question("llama3.3-70b", "h100-sxm");
  q.gpus = q.tp = 1;
  q.kv = Format::bf16;  // with a narrow cache fp8 would just do
  const std::string near = nearest_of(answered(q));
  EXPECT_NE(near.find("--precision fp8|"), std::string::npos) << near;  // 141 GB, 71 GB in fp8
  EXPECT_NE(near.find("--tp 2 --gpus 2|"), std::string::npos) << near;
}

TEST(Refusals, OfALongPromptNameThePromptThatFits) {
  auto q = question("llama3.1-8b", "h100-sxm");
  q.gpus = q.tp = 1;
  q.load = {.mode = LoadMode::fixed_batch, .isl = 5e6, .osl = 1, .batch = 1};
  const std::string near = nearest_of(answered(q));
  const std::size_t at = near.find("--isl ");
  ASSERT_NE(at, std::string::npos) << near;
  q.load.isl = std::stod(near.substr(at + 6));
  EXPECT_FALSE(answered(q).refusal);
  q.load.isl *= 1.2;  // rounded down to two digits
  EXPECT_TRUE(answered(q).refusal);
}

TEST(Refusals, OfHeadsNameTheTensorParallelismBelowAndAbove) {
  auto q = question("llama3.1-8b", "h100-sxm");
  q.tp = 3;
  const InferenceAnswer a = answered(q);
  ASSERT_TRUE(a.refusal);
  EXPECT_EQ(a.refusal->why, "tensor parallel 3 does not divide the 32 heads and 8 KV heads of llama3.1-8b");
  EXPECT_EQ(nearest_of(a), "--tp 2 --gpus 2|--tp 4 --gpus 4|");
}

TEST(Refusals, OfFormatsKeepTheWeightsAndWidenThem) {
  auto q = question("llama3.1-8b", "a100-sxm-80");
  q.weights = q.activations = Format::fp8;
  const InferenceAnswer a = answered(q);
  ASSERT_TRUE(a.refusal);
  EXPECT_EQ(a.facts.gpus, 1);  // more devices would not help
  EXPECT_EQ(a.refusal->why, "a100-sxm-80 does not compute in fp8");
  EXPECT_EQ(nearest_of(a), "--weight-precision fp8|--precision int8|");
}

// NVFP4 is NVIDIA's own: the nearest on an MI355X is the MXFP4 of the OCP.
TEST(Refusals, OfFourBitsNameTheFormatThatTheChipHas) {
  auto q = question("llama3.1-8b", "mi355x");
  q.weights = q.activations = Format::nvfp4;
  const InferenceAnswer a = answered(q);
  ASSERT_TRUE(a.refusal);
  EXPECT_EQ(a.refusal->why, "mi355x does not compute in nvfp4");
  EXPECT_NE(nearest_of(a).find("--precision mxfp4|"), std::string::npos) << nearest_of(a);
}

// An A100 has no FP8 either, but kernels that widen it; for a 910B there are none, and the next design computes in it.
TEST(Refusals, OfFp8NameInt8WhereNoKernelReadsIt) {
  auto q = question("llama3.1-8b", "ascend-910b");
  q.weights = q.activations = Format::fp8;
  EXPECT_EQ(nearest_of(answered(q)), "--precision int8|");

  q.weights = q.activations = {};
  q.kv = Format::fp8;
  const InferenceAnswer cache = answered(q);
  ASSERT_TRUE(cache.refusal);
  EXPECT_EQ(cache.refusal->why, "no kernel for ascend-910b reads fp8");
  EXPECT_EQ(nearest_of(cache), "--kv-precision int8|");
  q.device = "a100-sxm-80";
  EXPECT_FALSE(answered(q).refusal);

  q = question("deepseek-v3", "ascend-910b");  // stored in FP8
  q.gpus = q.tp = 16;
  const InferenceAnswer stored = answered(q);
  ASSERT_TRUE(stored.refusal);
  EXPECT_EQ(stored.refusal->reason, Reason::format_not_supported);
}

TEST(Refusals, OfExperts) {
  auto q = question("llama3.1-8b", "h100-sxm");
  q.ep = 2;
  const InferenceAnswer dense = answered(q);
  ASSERT_TRUE(dense.refusal);
  EXPECT_NE(dense.refusal->why.find("is a dense model"), std::string::npos);
  EXPECT_EQ(nearest_of(dense), "--ep 1|");

  q = question("deepseek-r1", "h200-sxm");
  q.gpus = q.tp = 8;
  q.ep = 16;
  const InferenceAnswer wide = answered(q);
  ASSERT_TRUE(wide.refusal);
  EXPECT_NE(wide.refusal->why.find("more than the 8 ranks"), std::string::npos) << wide.refusal->why;
  EXPECT_EQ(nearest_of(wide), "--ep 8|");
}

TEST(Refusals, OfDevicesThatDoNotMultiply) {
  auto q = question("llama3.1-8b", "h100-sxm");
  q.tp = 2;
  q.gpus = 3;
  const InferenceAnswer a = answered(q);
  ASSERT_TRUE(a.refusal);
  EXPECT_EQ(a.refusal->why, "3 devices are no multiple of tp 2 x pp 1");
  EXPECT_EQ(nearest_of(a), "--gpus 2|--gpus 4|");
  q.gpus = 1;
  EXPECT_EQ(nearest_of(answered(q)), "--gpus 2|");
}

TEST(Refusals, OfAPipelineDeeperThanTheModel) {
  auto q = question("llama3.1-8b", "h100-sxm");
  q.tp = 1;
  q.pp = 64;
  const InferenceAnswer a = answered(q);
  ASSERT_TRUE(a.refusal);
  EXPECT_EQ(a.refusal->why, "64 stages are more than the 32 layers of llama3.1-8b");
  EXPECT_EQ(nearest_of(a), "--tp 1 --pp 32 --gpus 32|");
}

TEST(Explanation, NoOperatorIsFasterThanTheDatasheetAllows) {
  for (const Format f : {Format::bf16, Format::fp8}) {
    auto q = question("llama3.3-70b", "h200-sxm");
    q.gpus = q.tp = 2;
    q.weights = f;
    q.load.isl = 8000;
    const InferenceAnswer a = answered(q);
    ASSERT_TRUE(a.explanation);
    for (const auto* lines : {&a.explanation->decode, &a.explanation->prefill}) {
      for (const OperatorLine& line : *lines) EXPECT_LE(line.roofline_share, 1.0) << line.what;
    }
  }
}

TEST(IdealEngine, IsADefinitionWithoutAnInterval) {
  auto q = question("llama3.1-8b", "h100-sxm");
  q.engine = "ideal";
  const InferenceEstimate e = answered(q).outcome.estimate;
  EXPECT_EQ(e.tpot_s.low, e.tpot_s.high);
}

TEST(Ranking, OverlappingIntervalsTieWithTheBestOfTheirPlace) {
  const std::vector<Interval> values = {{80, 100, 120}, {50, 60, 70}, {90, 110, 130}, {65, 68, 71}, {10, 20, 30}};
  const auto ranks = rank_with_ties(values);
  std::string text;
  for (const Rank& rank : ranks) text += std::to_string(rank.index) + ":" + rank.text() + " ";
  EXPECT_EQ(text, "2:1 0:1= 3:3 1:3= 4:5 ");
}

TEST(Ranking, OfNothingIsNothing) {
  EXPECT_TRUE(rank_with_ties({}).empty());
}

}  // namespace
}  // namespace ridge
