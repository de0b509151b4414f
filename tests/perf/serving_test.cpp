// What serving engines add to the operators: host beside the device, sampling, kernels of their own, formats of caches.
#include "kernel_shapes.hpp"
#include "perf/inference_model.hpp"

namespace ridge {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace)

InferenceDeployment deployed(const std::string& model, const std::string& device, const std::string& engine,
                             const std::string& version, std::optional<Format> weights = {}) {
  InferenceQuery q;
  q.model = model;
  q.device = device;
  q.engine = engine;
  q.engine_version = version;
  q.gpus = q.tp = 1;
  q.weights = weights;
  auto d = resolve(q, knowledge());
  EXPECT_TRUE(d) << d.error().text();
  return std::move(*d);
}

// Device d, host h: one after the other d + h, overlapped sqrt(d^2 + h^2), at least the slower and at most the sum.
TEST(Serving, AnOverlappedHostCostsLessThanTheSumAndNoLessThanTheSlower) {
  auto d = deployed("llama3.1-8b", "h100-sxm", "vllm", "0.11.1");
  ResolvedInference& r = *d.resolved;
  ASSERT_TRUE(r.overlapped_host);
  const perf::Step step{.decode = 64, .context = 500};
  const double overlapped = perf::step_time(r, step).seconds;
  r.overlapped_host = false;
  const double apart = perf::step_time(r, step).seconds;
  const double host = r.costs.step + 64 * r.costs.sequence;
  EXPECT_LT(overlapped, 0.999 * apart);
  EXPECT_GE(overlapped, std::max(host, apart - host));
}

// Sorting is paid per sequence and entry of the vocabulary.
TEST(Serving, SamplingGrowsWithTheBatch) {
  InferenceQuery q;
  q.model = "llama3.1-8b";
  q.device = "h100-sxm";
  q.load.natural_text = 1;
  const auto text = resolve(q, knowledge());
  q.load.natural_text = 0;
  const auto random = resolve(q, knowledge());
  ASSERT_TRUE(text && random);
  EXPECT_GT(text->resolved->sample_seconds, 10 * random->resolved->sample_seconds);
  const auto head = [&](double sequences) {
    return perf::step_time(*text->resolved, {.decode = sequences, .context = 10})
        .terms[static_cast<std::size_t>(Term::head)];
  };
  EXPECT_GT(head(128) - head(64), 0.9 * 64 * text->resolved->sample_seconds);
}

// Groups of four query heads: four times the work of one head each. Groups of eight heads of 128 had a kernel.
TEST(Serving, DecodeHeadByHeadIsSlowerButForTheGroupsOfLlama70B) {
  const auto device = rates_of("h200-sxm");
  const auto grouped = perf::attention_rates(device, calibration(), Format::bf16, Format::fp8);
  auto alone = grouped;
  perf::decode_head_by_head(alone, device, calibration());
  perf::AttentionShape s;
  s.batch = 120;
  s.q_heads = 32;
  s.kv_heads = 8;
  s.head_dim = 128;
  s.q_len = 1;
  s.kv_len = 1152;
  EXPECT_GT(attention_decode_time(alone, s).seconds, 2 * attention_decode_time(grouped, s).seconds);
  s.q_heads = 64;
  EXPECT_DOUBLE_EQ(attention_decode_time(alone, s).seconds, attention_decode_time(grouped, s).seconds);
}

// A100: 108 cores at 1.41 GHz and 7 bytes a clock are 1.07 TB/s of 2.04; a 4090's 128 at 2.52 GHz 2.26 TB/s of 1.01.
TEST(Serving, PortableKernelsReadByCoreAndClock) {
  const auto bandwidth = [](const std::string& id) {
    const auto device = rates_of(id);
    auto g = perf::gemm_rates(device, calibration(), Format::fp16, Format::fp16);
    perf::use_portable_kernels(g, device, calibration());
    return g.bandwidth / device.memory_bandwidth;
  };
  EXPECT_NEAR(bandwidth("a100-sxm-80"), 108 * 1.41e9 * 7 / 2.039e12, 0.02);
  EXPECT_NEAR(bandwidth("rtx4090"), 0.92, 1e-9);
}

TEST(Serving, TheCacheFollowsTheCheckpoint) {
  // Narrowed afterwards: the tool notes scales for the cache. Trained in eight bits: none.
  EXPECT_EQ(deployed("llama3.1-8b", "h200-sxm", "vllm", "0.12", Format::fp8).facts.kv, Format::fp8);
  EXPECT_EQ(deployed("llama3.1-8b", "h200-sxm", "vllm", "0.11", Format::fp8).facts.kv, Format::bf16);
  EXPECT_EQ(deployed("minimax-m2.5", "h200-sxm", "vllm", "0.12", Format::fp8).facts.kv, Format::bf16);
  EXPECT_EQ(deployed("llama3.1-8b", "h200-sxm", "trtllm", "0.13", Format::fp8).facts.kv, Format::fp8);
}

}  // namespace
}  // namespace ridge
