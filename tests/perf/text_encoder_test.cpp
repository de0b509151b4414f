// Encoders of texts and models of speech: work counted by hand, nothing cached, what is refused.
#include <gtest/gtest.h>

#include "perf/inference/step.hpp"
#include "ridge/perf/answer.hpp"
#include "ridge/perf/encoder.hpp"
#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::knowledge;

InferenceQuery asked(const std::string& model, double isl, double osl, LoadMode mode = LoadMode::prefill) {
  InferenceQuery q;
  q.model = model;
  q.device = "h100-sxm";
  q.gpus = q.tp = 1;
  q.load.mode = mode;
  q.load.isl = isl;
  q.load.osl = osl;
  return q;
}

perf::StepTime step_of(const InferenceDeployment& d, double prompts, double tokens) {
  perf::Step step;
  step.prompts = prompts;
  step.prefill = prompts * tokens;
  step.prefill_length = step.prefill_context = tokens;
  return perf::step_time(*d.resolved, step);
}

// 24 layers: 2 (4 h^2 + 2 h f) of products and 4 h for each of the L^2 pairs that see each other; no head.
TEST(TextEncoder, WorkIsCountedByHand) {
  const auto d = resolve(asked("bge-m3", 512, 1), knowledge());
  ASSERT_TRUE(d) << d.error().text();
  const double h = 1024;
  const double f = 4096;
  const double n = 512;
  const double flops = 24 * (2 * n * (4 * h * h + 2 * h * f) + 4 * h * n * n);
  EXPECT_NEAR(step_of(*d, 1, n).flops, flops, 1e-9 * flops);
  EXPECT_NEAR(step_of(*d, 8, n).flops, 8 * flops, 1e-8 * flops);
}

// Two layers in three of ModernBERT see 128 tokens: its attention of 8,192 grows much less than sixteen-fold over
// 2,048.
TEST(TextEncoder, LocalLayersSeeTheirWindow) {
  const auto d = resolve(asked("modernbert-base", 8192, 1), knowledge());
  ASSERT_TRUE(d) << d.error().text();
  const double h = 768;
  const double products = 22 * 2 * (4 * h * h + 3 * h * 1152);
  const auto attention = [&](double n) { return step_of(*d, 1, n).flops - n * products; };
  const double whole = 8 * 4 * h * 8192.0 * 8192;
  EXPECT_GT(attention(8192), whole);
  EXPECT_LT(attention(8192), 1.2 * whole);
}

TEST(TextEncoder, NothingIsCachedAndTextsAreNotCut) {
  const Model& model = *bundle().catalogue.model("bge-m3");
  EXPECT_TRUE(model.reads_both_ways());
  EXPECT_EQ(kv_bytes_per_sequence(model, 2, 8192).value(), 0);
  const auto d = resolve(asked("bge-m3", 8192, 1), knowledge());
  ASSERT_TRUE(d);
  EXPECT_EQ(perf::kv_bytes(*d->resolved, 8192), 0);
  EXPECT_GE(d->resolved->max_tokens, 8192);
  for (const LoadMode mode : {LoadMode::prefill, LoadMode::closed_loop, LoadMode::offline}) {
    InferenceQuery q = asked("bge-m3", 512, 1, mode);
    q.load.batch = q.load.concurrency = 64;
    const auto a = ridge::answer(q, knowledge(), {.explain = false});
    ASSERT_TRUE(a && !a->refusal);
    EXPECT_EQ(a->outcome.reason, Reason::none);
    EXPECT_GT(a->outcome.estimate.max_batch, 0);
  }
  const auto long_one = ridge::answer(asked("bge-large-en-v1.5", 1024, 1), knowledge());
  ASSERT_FALSE(long_one);
  EXPECT_NE(long_one.error().message.find("512"), std::string::npos) << long_one.error().text();
}

// Keys and values of 448 tokens and of all 1,500 positions of a clip: 32 layers x 2 x 1,280 x 2 bytes each.
TEST(TextEncoder, WritesNothing) {
  for (const char* model : {"bge-m3", "qwen3-embedding-0.6b"}) {
    const auto written = ridge::answer(asked(model, 512, 256, LoadMode::closed_loop), knowledge());
    ASSERT_FALSE(written) << model;
    EXPECT_NE(written.error().where.find("osl"), std::string::npos) << written.error().text();
  }
}

TEST(Speech, KeepsTheClipBesideItsWords) {
  const Model& model = *bundle().catalogue.model("whisper-large-v3");
  EXPECT_EQ(model.cross_tokens(), 1500);
  EXPECT_EQ(kv_bytes_per_sequence(model, 2, 448).value(), 32.0 * 2 * 1280 * 2 * (448 + 1500));
  const auto d = resolve(asked("whisper-large-v3", 4, 64, LoadMode::offline), knowledge());
  ASSERT_TRUE(d);
  EXPECT_NEAR(perf::kv_bytes(*d->resolved, 448), 32.0 * 2 * 1280 * 2 * (448 + 1500), 1);
  // 1.54 billion weights of 16 bits, but for a few biases and norms.
  EXPECT_NEAR(d->resolved->weight_bytes, 2 * 1.54e9, 0.02 * 2 * 1.54e9);
}

// The encoder, 2 n (4 h^2 + 2 h f) + 4 h n^2 a layer, and the keys and values that 32 layers of the decoder make of it.
TEST(Speech, EachClipIsEncodedOnce) {
  const auto d = resolve(asked("whisper-large-v3", 4, 64, LoadMode::offline), knowledge());
  ASSERT_TRUE(d);
  const double h = 1280;
  const double n = 1500;
  const double encoder = 32 * (2 * n * 12 * h * h + 4 * h * n * n + 2 * n * 2 * h * h);
  EXPECT_NEAR(d->resolved->encoder_flops, encoder, 1e-9 * encoder);
  const double one = step_of(*d, 1, 4).flops;
  EXPECT_GT(one, encoder);
  EXPECT_LT(one, 1.02 * encoder);
  EXPECT_NEAR(step_of(*d, 8, 4).flops, 8 * one, 1e-6 * one);
  const auto e =
      encode(*bundle().catalogue.find_model("whisper-large-v3"), d->facts, {.audio_s = 30}, false, knowledge());
  ASSERT_TRUE(e);
  EXPECT_EQ(e->tokens, 0);
}

// A decode step reads the clip again: more than a model without one, by its bytes at least.
TEST(Speech, DecodingReadsTheClip) {
  const auto d = resolve(asked("whisper-large-v3", 4, 64, LoadMode::offline), knowledge());
  ASSERT_TRUE(d);
  perf::Step step;
  step.decode = 64;
  step.context = 32;
  EXPECT_GT(perf::step_time(*d->resolved, step).bytes, 64 * 32.0 * 2 * 1280 * 2 * 1500);
  const auto small = resolve(asked("whisper-large-v3-turbo", 4, 64, LoadMode::offline), knowledge());
  ASSERT_TRUE(small);
  EXPECT_LT(perf::step_time(*small->resolved, step).seconds, 0.5 * perf::step_time(*d->resolved, step).seconds);
  EXPECT_FALSE(ridge::answer(asked("whisper-large-v3", 1024, 256, LoadMode::offline), knowledge()));
}

/// What somebody measured: clips or texts a second of one device.
struct Measured {
  const char* model;
  const char* device;
  const char* engine;
  double isl, osl, rate;
};

// MLPerf v5.1 and v6.0, closed, Offline, Whisper: the best of each device (63.5 tokens a sample of NVIDIA's stack, 75
// of vLLM's). BERT large on an L4: Infinity's benchmark, requests of 256 texts and 115,000 tokens (docs/benchmarking.md
// of michaelfeil/infinity): TEI, Infinity, TensorRT.
constexpr Measured kMeasured[] = {
    {"whisper-large-v3", "l4", "trtllm", 4, 63.5, 5.5},
    {"whisper-large-v3", "l40s", "trtllm", 4, 63.5, 18.3},
    {"whisper-large-v3", "h100-nvl", "trtllm", 4, 63.5, 43.6},
    {"whisper-large-v3", "h200-nvl", "trtllm", 4, 63.5, 63.0},
    {"whisper-large-v3", "h200-sxm", "trtllm", 4, 63.5, 67.9},
    {"whisper-large-v3", "b200-sxm-180", "trtllm", 4, 63.5, 97.2},
    {"whisper-large-v3", "b300-sxm", "trtllm", 4, 63.5, 99.6},
    {"whisper-large-v3", "gb200-nvl72", "trtllm", 4, 63.5, 87.7},
    {"whisper-large-v3", "rtx-pro-6000-bw-se", "trtllm", 4, 63.5, 36.3},
    {"whisper-large-v3", "l40s", "vllm", 4, 75, 24.3},
    {"whisper-large-v3", "h200-sxm", "vllm", 4, 75, 60.7},
    {"bge-large-en-v1.5", "l4", "vllm", 449, 1, 0.54 * 256},
    {"bge-large-en-v1.5", "l4", "vllm", 449, 1, 0.51 * 256},
    {"bge-large-en-v1.5", "l4", "vllm", 449, 1, 0.43 * 256},
};

TEST(EncodersMeasured, FourInFiveAreInsideTheInterval) {
  int inside = 0;
  for (const Measured& m : kMeasured) {
    InferenceQuery q = asked(m.model, m.isl, m.osl, m.osl > 1 ? LoadMode::offline : LoadMode::prefill);
    q.device = m.device;
    q.engine = m.engine;
    q.load.batch = 256;
    const auto a = ridge::answer(q, knowledge(), {.explain = false});
    ASSERT_TRUE(a && !a->refusal) << m.device;
    const InferenceEstimate& e = a->outcome.estimate;
    const Interval rate = m.osl > 1 ? Interval{e.output_tokens_per_s.low / m.osl, e.output_tokens_per_s.mid / m.osl,
                                               e.output_tokens_per_s.high / m.osl}
                                    : Interval{256 / e.prefill_s.high, 256 / e.prefill_s.mid, 256 / e.prefill_s.low};
    inside += rate.low <= m.rate && m.rate <= rate.high;
    EXPECT_LT(std::max(m.rate / rate.mid, rate.mid / m.rate), 2) << m.model << " on " << m.device << ": " << rate.mid;
  }
  EXPECT_GE(inside, 0.8 * std::size(kMeasured));
}

TEST(Encoder, IntervalHoldsWhatPlainTransformersTook) {
  InferenceEstimate e;
  e.ttft_s = {0.1, 0.2, 0.3};
  e.output_tokens_per_s = {900, 1000, 1100};
  EncoderEstimate encoder;
  encoder.seconds = 0.1;
  InferenceLoad load;
  load.mode = LoadMode::closed_loop;
  load.osl = 100;
  add_encoder(e, encoder, load, 1);
  EXPECT_NEAR(e.ttft_s.high, 0.3 + 0.27, 1e-12);
  EXPECT_LT(e.ttft_s.low, 0.2);
  EXPECT_LT(e.output_tokens_per_s.low, 900 * 0.28);
  InferenceEstimate bound;  // of a datasheet: no interval, no widening
  bound.ttft_s = {0.2, 0.2, 0.2};
  add_encoder(bound, encoder, load, 1);
  EXPECT_EQ(bound.ttft_s.low, bound.ttft_s.high);
}

}  // namespace
}  // namespace ridge
