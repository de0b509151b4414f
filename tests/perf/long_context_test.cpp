// Prompts of 128,000 to a million tokens: how time and memory grow, what ranks and stages share, what is refused.
#include "ridge/perf/long_context.hpp"

#include <gtest/gtest.h>

#include <map>

#include "perf/inference/step.hpp"
#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

InferenceQuery one_prompt(const std::string& model, int tp, int pp = 1) {
  InferenceQuery q;
  q.model = model;
  q.device = "h200-sxm";
  q.engine = "sglang";
  q.tp = tp;
  q.pp = pp;
  q.gpus = tp * pp;
  q.weights = Format::fp8;
  return q;
}

ContextCurve curve_of(const InferenceQuery& q, const ContextPlan& plan, const std::vector<double>& lengths) {
  const auto curve = context_curve(q, plan, lengths, knowledge());
  EXPECT_TRUE(curve) << curve.error().text();
  return curve ? *curve : ContextCurve{};
}

TEST(LongContext, FullAttentionGrowsFasterThanTheLengthAndSlowerThanItsSquare) {
  const auto points = curve_of(one_prompt("llama3.1-8b", 8), {}, {131072, 262144, 524288}).points;
  ASSERT_EQ(points.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    const double ratio = points[i].ttft_s.mid / points[i - 1].ttft_s.mid;
    EXPECT_GT(ratio, 2.5);
    EXPECT_LT(ratio, 4);
    EXPECT_GT(points[i].attention_share, points[i - 1].attention_share);
    EXPECT_LT(points[i].ttft_s.low, points[i].ttft_s.mid);
    EXPECT_GT(points[i].ttft_s.high, points[i].ttft_s.mid);
  }
}

// DSA looks at 2,048 keys however many there are, but its indexer at all of them; layers with windows and recurrent
// states grow with the length alone.
TEST(LongContext, SparseAndLinearLayersGrowLessThanFullAttention) {
  const auto growth = [](const char* model) {
    const auto points = curve_of(one_prompt(model, 8), {}, {131072, 524288}).points;
    EXPECT_EQ(points[1].reason, Reason::none) << model;
    return points[1].ttft_s.mid / points[0].ttft_s.mid;
  };
  const double full = growth("qwen3-30b-a3b");
  EXPECT_LT(growth("qwen3-next-80b-a3b"), 0.8 * full);
  EXPECT_LT(growth("llama4-scout"), 0.9 * full);
  EXPECT_GT(full, 7);
}

/// FLOPs of the operators of a layer, by name.
struct Flops {
  std::map<std::string, double> of;
  void operation(std::string_view what, Term /*term*/, const perf::OpTime& /*time*/, double flops, double /*bytes*/,
                 double /*layers*/) {
    of[std::string(what)] += flops;
  }
};

// Every query of a chunk far behind the beginning reads the 2,048 entries that were chosen for it, as wide as the
// latent that all heads share: 512 + 64 for the score and 512 for the value. At the beginning there are fewer to choose
// from.
TEST(LongContext, AQueryReadsAllEntriesThatWereChosenForIt) {
  ResolvedInference r;
  perf::LayerKind kind;
  kind.mixer = MixerKind::mla;
  kind.count = 1;
  kind.index_topk = 2048;
  kind.mla.heads = 16;
  perf::Step step;
  step.prefill = step.prefill_length = 8192;
  step.prompts = 1;
  const double each = 2 * 16 * (512 + 64 + 512);
  const auto flops = [&](double context) {
    step.prefill_context = context;
    Flops sink;
    perf::visit_mla(r, kind, step, sink);
    return sink.of.at("latent attention, prefill");
  };
  EXPECT_NEAR(flops(131072) / (8192.0 * 2048 * each), 1, 1e-3);
  const double beginning = 2048.0 * 2049 / 2 + (8192.0 - 2048) * 2048;
  EXPECT_NEAR(flops(8192) / (beginning * each), 1, 1e-3);
}

// The same model with and without an indexer: choosing costs less than reading all.
TEST(LongContext, SparseAttentionIsFasterThanReadingAll) {
  const auto seconds = [](const char* model) {
    return curve_of(one_prompt(model, 8), {}, {524288}).points.front().ttft_s.mid;
  };
  EXPECT_LT(seconds("deepseek-v3.2"), 0.9 * seconds("deepseek-v3"));
}

// 2 x 8 heads x 128 x 2 bytes in 32 layers are 131,072 bytes a token, over 8 devices.
TEST(LongContext, TheCacheOfAMillionTokensIsCountedByHand) {
  InferenceQuery q = one_prompt("llama3.1-8b", 8);
  q.kv = Format::bf16;
  const auto points = curve_of(q, {}, {1e6}).points;
  EXPECT_NEAR(points[0].kv_bytes, 131072.0 * 1e6 / 8, 0.01 * points[0].kv_bytes);
  const auto shared = curve_of(q, {.cp = 4}, {1e6}).points;
  EXPECT_NEAR(shared[0].kv_bytes, points[0].kv_bytes / 4, 1);
}

TEST(LongContext, RanksShareTheTimeButTheRingAndIntervalGrow) {
  const InferenceQuery q = one_prompt("llama3.1-70b", 8);
  const ContextPoint one = curve_of(q, {}, {524288}).points[0];
  double before = one.ttft_s.mid;
  for (const int cp : {2, 4, 8}) {
    const ContextCurve curve = curve_of(q, {.cp = cp}, {524288});
    EXPECT_EQ(curve.devices, 8 * cp);
    const ContextPoint& p = curve.points[0];
    EXPECT_LT(p.ttft_s.mid, before);
    EXPECT_GE(p.ttft_s.mid, one.ttft_s.mid / cp * 0.9) << cp;
    EXPECT_GT(p.ttft_s.high / p.ttft_s.low, one.ttft_s.high / one.ttft_s.low);
    before = p.ttft_s.mid;
  }
}

// Four stages over many chunks take a little more than a quarter of the time.
TEST(LongContext, StagesWorkSideBySideOnChunks) {
  InferenceQuery q = one_prompt("llama3.1-70b", 8);
  q.max_batched_tokens = 8192;
  const double one = curve_of(q, {}, {262144}).points[0].ttft_s.mid;
  InferenceQuery staged = one_prompt("llama3.1-70b", 8, 4);
  staged.max_batched_tokens = 8192;
  const double four = curve_of(staged, {}, {262144}).points[0].ttft_s.mid;
  EXPECT_GT(four, one / 4);
  EXPECT_LT(four, one / 3);
}

TEST(LongContext, ALengthThatDoesNotFitIsARowThatSaysSo) {
  const auto points = curve_of(one_prompt("llama3.1-70b", 2), {}, {131072, 1e7}).points;
  EXPECT_EQ(points[0].reason, Reason::none);
  EXPECT_EQ(points[1].reason, Reason::out_of_memory);
  EXPECT_GT(points[1].short_by, 1e11);
}

TEST(LongContext, RefusesWhatMakesNoSense) {
  const InferenceQuery q = one_prompt("llama3.1-8b", 8);
  EXPECT_FALSE(context_curve(q, {.cp = 0}, {1e5}, knowledge()));
  EXPECT_FALSE(context_curve(q, {.cp = 8, .chunk = 4}, {1e5}, knowledge()));
  EXPECT_FALSE(context_curve(q, {}, {}, knowledge()));
  EXPECT_FALSE(context_curve(q, {}, {0}, knowledge()));
  EXPECT_FALSE(context_curve(q, {}, {1e12}, knowledge()));
  InferenceQuery ranks = q;
  ranks.dp = 2;
  EXPECT_FALSE(context_curve(ranks, {}, {1e5}, knowledge()));
}

}  // namespace
}  // namespace ridge
