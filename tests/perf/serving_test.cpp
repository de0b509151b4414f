// What serving engines add to the operators: host beside the device, sampling, kernels of their own, formats of caches.
#include "kernel_shapes.hpp"
#include "perf/inference/resolved.hpp"

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

// Four ranks around shared experts, one of them with a prompt of 1,500 tokens: the experts see the prompt once, or four
// times where every rank fills up to the longest.
TEST(Serving, RanksThatFillUpComputeThePromptOnEveryRank) {
  InferenceQuery q;
  q.model = "qwen3-30b-a3b";
  q.device = "h100-sxm";
  q.engine = "vllm";
  q.gpus = q.dp = q.ep = 4;
  q.tp = 1;
  q.engine_version = "0.11.1";
  auto d = resolve(q, knowledge());
  ASSERT_TRUE(d) << d.error().text();
  ResolvedInference& r = *d->resolved;
  ASSERT_TRUE(r.attention_dp && r.ranks_pad_prefill);
  const perf::Step step{
      .prefill = 1500, .prompts = 1, .prefill_length = 1500, .prefill_context = 1500, .expert_tokens = 1500};
  const double filled = perf::step_time(r, step).flops;
  r.ranks_pad_prefill = false;
  const double once = perf::step_time(r, step).flops;
  perf::Step alike = step;
  alike.expert_tokens = 6000;
  EXPECT_DOUBLE_EQ(filled, perf::step_time(r, alike).flops);
  EXPECT_GT(filled, once);
  q.engine_version = "0.12";
  EXPECT_FALSE(resolve(q, knowledge())->resolved->ranks_pad_prefill);
}

// A list of 200 prompts, sent again and again by 100 clients. While the cache has room for what ended in between,
// prompts come from it; in a smaller one none survives; with two replicas a prompt comes back to its own every second
// time.
TEST(Serving, RepeatedPromptsAreCachedWhileThereIsRoom) {
  auto d = deployed("llama3.1-8b", "h100-sxm", "vllm", "0.11.1");
  ResolvedInference& r = *d.resolved;
  InferenceLoad load{.mode = LoadMode::closed_loop, .isl = 2000, .osl = 200, .concurrency = 100, .queued = true};
  const double fresh = evaluate(r, load).estimate.output_tokens_per_s.mid;
  load.prefix_hit = 0.9;
  const double cached = evaluate(r, load).estimate.output_tokens_per_s.mid;
  load.distinct = 200;
  r.kv_pool_bytes = perf::kv_bytes(r, 1) * 2200 * 220;
  EXPECT_DOUBLE_EQ(evaluate(r, load).estimate.output_tokens_per_s.mid, cached);
  r.kv_pool_bytes = perf::kv_bytes(r, 1) * 2200 * 150;
  EXPECT_DOUBLE_EQ(evaluate(r, load).estimate.output_tokens_per_s.mid, fresh);
  r.kv_pool_bytes = perf::kv_bytes(r, 1) * 2200 * 220;
  r.gpus = 2;
  load.concurrency = 200;
  const double spread = evaluate(r, load).estimate.output_tokens_per_s.mid;
  EXPECT_LT(spread, 2 * cached);
  EXPECT_GT(spread, 2 * fresh);
}

// Fifty prompts for two hundred sequences: each further one only adds the tokens it writes.
TEST(Serving, SequencesOfTheSamePromptShareItsCache) {
  auto d = deployed("llama3.1-8b", "h100-sxm", "vllm", "0.11.1");
  ResolvedInference& r = *d.resolved;
  r.kv_pool_bytes = perf::kv_bytes(r, 1) * (50 * 2000 + 150 * 100);
  InferenceLoad load{.mode = LoadMode::closed_loop, .isl = 2000, .osl = 200, .concurrency = 1000, .queued = true};
  load.prefix_hit = 0.9;
  const double alone = evaluate(r, load).estimate.running_batch;
  load.distinct = 50;
  const double shared = evaluate(r, load).estimate.running_batch;
  EXPECT_NEAR(alone, 115000.0 / (2000 + r.costs.fill * 200), 1);
  EXPECT_NEAR(shared, 50 + (115000 - 50 * (2000 + r.costs.fill * 200)) / (r.costs.fill * 200), 1);
  load.prefix_hit = 0;
  EXPECT_DOUBLE_EQ(evaluate(r, load).estimate.running_batch, alone) << "without a prefix cache nothing is shared";
}

// Idle power is paid all the time, that of work only while it lasts: of a device that waits half of the time, with the
// same rates while it works, what it draws beyond idle halves.
TEST(Serving, PowerIsAMeanOverTime) {
  const auto d = deployed("llama3.1-8b", "h100-sxm", "vllm", "0.11.1");
  const ResolvedInference& r = *d.resolved;
  const double bytes = 0.4 * r.device.memory_bandwidth;
  const double always = perf::device_power(r.device, r.power, {0, bytes, 1, 0});
  const double half = perf::device_power(r.device, r.power, {0, bytes, 2, 1});
  const double idle = r.power.idle * r.device.tdp;
  EXPECT_GT(always, idle);
  EXPECT_NEAR(half - idle, 0.5 * (always - idle), 1e-9 * always);
}

// Stacks draw by the bytes they move: an H100 moves 0.7 of an H200's on the same 700 W.
TEST(Serving, MemoryThatMovesLessOnTheSameBoardDrawsLess) {
  const auto d = deployed("llama3.1-8b", "h200-sxm", "vllm", "0.12.0");
  perf::DeviceRates less = d.resolved->device;
  less.memory_bandwidth *= 0.7;
  const auto watts = [&](const perf::DeviceRates& rates) {
    return perf::device_power(rates, d.resolved->power, {0, rates.memory_bandwidth, 1, 0});
  };
  EXPECT_LT(watts(less), 0.97 * watts(d.resolved->device));
  EXPECT_GT(watts(less), 0.8 * watts(d.resolved->device));
}

// Kernels that start a block for each query head read the keys of a group of four four times.
TEST(Serving, EarlyPagedAttentionOnAMDReadsKeysForEachHead) {
  const auto early = deployed("llama3.1-8b", "mi300x", "vllm", "0.5.0", Format::bf16);
  const auto later = deployed("llama3.1-8b", "mi300x", "vllm", "0.9.0", Format::bf16);
  EXPECT_FALSE(deployed("llama3.1-8b", "h100-sxm", "vllm", "0.5.0").resolved->attention.heads_read_alone);
  const auto attention = [](const InferenceDeployment& d) {
    const perf::StepTime t = perf::step_time(*d.resolved, {.decode = 64, .context = 4000});
    return t.terms[static_cast<std::size_t>(Term::attention)];
  };
  EXPECT_GT(attention(early), 2.5 * attention(later));
}

// Libraries of 2024 had no kernels tuned for an MI300X: what computes is slow, what reads is not.
TEST(Serving, ProductsOnANewChipWereSlowWhereTheyCompute) {
  const auto early = deployed("llama3.1-8b", "mi300x", "vllm", "0.5.0", Format::bf16);
  const auto later = deployed("llama3.1-8b", "mi300x", "vllm", "0.9.0", Format::bf16);
  const auto products = [](const InferenceDeployment& d, double sequences) {
    const perf::StepTime t = perf::step_time(*d.resolved, {.decode = sequences, .context = 500});
    return t.terms[static_cast<std::size_t>(Term::linear)];
  };
  EXPECT_GT(products(early, 256), 2 * products(later, 256));
  EXPECT_LT(products(early, 1), 1.3 * products(later, 1));
}

// A server reads prompts token by token before the scheduler sees them, and not more than that.
TEST(Serving, TheWayToTheSchedulerGrowsWithThePrompt) {
  const perf::EngineCosts& k = deployed("llama3.1-8b", "h100-sxm", "vllm", "0.12.0").resolved->costs;
  EXPECT_LT(k.server, 0.01);
  EXPECT_GT(k.server_token, 1e-6);
  EXPECT_LT(1000 * k.server_token, 0.01);
}

// Routing and permutation are kernels of their own: the device works, if not on anything that streams.
TEST(Serving, SmallKernelsAroundExpertsAreNoWaiting) {
  const auto moe = deployed("qwen3-30b-a3b", "h100-sxm", "vllm", "0.12.0");
  const perf::StepTime t = perf::step_time(*moe.resolved, {.decode = 16, .context = 500});
  EXPECT_GT(t.routing, 48 * 20e-6) << "48 layers, 20 us each at the least";
  EXPECT_DOUBLE_EQ(t.waiting(), t.network + t.fixed - t.routing);
  const auto dense = deployed("llama3.1-8b", "h100-sxm", "vllm", "0.12.0");
  EXPECT_EQ(perf::step_time(*dense.resolved, {.decode = 16, .context = 500}).routing, 0);
}

// Norm, rotary, cache write, norm, activation: five small kernels. Qwen3 normalises queries and keys as well, Gemma 3
// the outputs of both parts too.
TEST(Serving, SmallKernelsAreThoseTheLayersHave) {
  const auto layers = [](const char* model) {
    return deployed(model, "h100-sxm", "vllm", "0.11.1").resolved->small_layers;
  };
  EXPECT_NEAR(layers("llama3.1-8b"), 32, 1e-9);
  EXPECT_NEAR(layers("qwen3-8b"), 36 * 7.0 / 5, 1e-9);
  EXPECT_NEAR(layers("gemma3-12b"), 48 * 9.0 / 5, 1e-9);
}

// vLLM up to 0.16 had tiles for a few shapes of 16-bit experts and one pair for all others; since then they follow the
// number of tokens. Everything else is as it was in 0.12: the later era shares its parameters.
TEST(Serving, OldReleasesRunExpertsWithUntunedTiles) {
  EXPECT_GT(deployed("qwen3-30b-a3b", "h100-sxm", "vllm", "0.11.1").resolved->moe.tile_step, 0);
  EXPECT_GT(deployed("qwen3-30b-a3b", "h100-sxm", "vllm", "0.16.0").resolved->moe.tile_step, 0);
  EXPECT_EQ(deployed("qwen3-30b-a3b", "h100-sxm", "vllm", "0.17.0").resolved->moe.tile_step, 0);
  EXPECT_EQ(deployed("qwen3-30b-a3b", "h100-sxm", "vllm", "0.17.0").resolved->costs.step,
            deployed("qwen3-30b-a3b", "h100-sxm", "vllm", "0.12.0").resolved->costs.step);
  EXPECT_EQ(deployed("qwen3-30b-a3b", "h100-sxm", "vllm", "0.11.1", Format::fp8).resolved->moe.tile_step, 0);
}

// FlashAttention fills a tile of 64 query rows; four heads a group leave 60 of them empty.
TEST(Serving, DecodeAttentionWorksOnEmptyRowsToo) {
  const auto d = deployed("llama3.1-8b", "h100-sxm", "vllm", "0.11.1");
  const perf::StepTime t = perf::step_time(*d.resolved, {.decode = 64, .context = 8000});
  const double attention = 4.0 * 64 * 8000 * 32 * 128 * 32;
  EXPECT_NEAR(t.filler, attention * 60 / 4, 1e-6 * t.filler);
}

// Hopper has no 4-bit tensor cores: each weight of a layer's experts and products is made 16 bits wide before it is
// used, and that takes power beside what bytes and FLOPs take.
TEST(Serving, WideningWeightsTakesPower) {
  const auto widened = deployed("llama3.1-8b", "h100-sxm", "vllm", "0.11.1", Format::int4);
  const auto plain = deployed("llama3.1-8b", "h100-sxm", "vllm", "0.11.1", Format::bf16);
  const perf::Step step{.decode = 8, .context = 1000};
  const double more = perf::step_time(*widened.resolved, step).filler - perf::step_time(*plain.resolved, step).filler;
  constexpr double kWeights = 32.0 * (4096.0 * (4096 + 1024) * 2 + 3.0 * 4096 * 14336);
  EXPECT_NEAR(more, testing_support::knowledge().calibration.value("power.widening") * kWeights, 1e-6 * more);
  EXPECT_EQ(deployed("llama3.1-8b", "h100-sxm", "vllm", "0.11.1", Format::fp8).resolved->widening, 0);
}

InferenceQuery queue(double requests) {
  InferenceQuery q;
  q.model = "llama3.3-70b";
  q.device = "h200-sxm";
  q.engine = "trtllm";
  q.engine_version = "1.1";
  q.tp = q.gpus = 2;
  q.weights = Format::fp8;
  q.load = {.mode = LoadMode::offline, .isl = 1024, .osl = 1024, .requests = requests};
  return q;
}

// Answers of one length, all sent at once: requests / rate is how long the last one takes. Nobody is served before
// others have been, the last round empties the places, and of very many requests one round more or less is nothing.
TEST(Serving, AQueueThatIsNotFilledUpAgainTakesWholeRounds) {
  const InferenceEstimate endless = testing_support::answer(queue(0)).estimate;
  const double places = endless.running_batch;
  const auto seconds = [&](double requests) {
    const InferenceEstimate e = testing_support::answer(queue(requests)).estimate;
    EXPECT_LE(e.running_batch, std::max(1.0, requests) + 1e-9);
    return 1024 * requests / e.output_tokens_per_s.mid;
  };
  double before = 0;
  for (const double rounds : {0.02, 0.1, 0.3, 0.6, 0.8, 1.2, 1.5, 2.0, 3.0, 10.0}) {
    const double now = seconds(rounds * places);
    EXPECT_GT(now, before) << rounds;
    before = now;
  }
  EXPECT_GT(seconds(1.3 * places), 1.4 * seconds(0.8 * places)) << "a third of a round takes most of one";
  EXPECT_LT(seconds(1.3 * places), 1.9 * seconds(0.8 * places));
  const double many = 1e6;
  EXPECT_NEAR(seconds(many), 1024 * many / endless.output_tokens_per_s.mid, 0.05 * seconds(many));
}

// Of Llama 4 Maverick's layers every second has experts, of Qwen3-30B every one. What experts cost a prompt on top is
// half as much there.
TEST(Serving, LayersWithoutExpertsCostAPromptNoMoreThanElsewhere) {
  const Calibration& c = testing_support::knowledge().calibration;
  const double factor = c.value("serving.prefill", {"moe"}) / c.value("serving.prefill");
  const auto more = [&](const char* model) {
    const perf::EngineCosts& k = deployed(model, "h200-sxm", "trtllm", "1.1", Format::fp8).resolved->costs;
    return (k.prefill / k.prefill_attention - 1) / (factor - 1);
  };
  EXPECT_NEAR(more("llama4-maverick"), 0.5, 1e-9);
  EXPECT_NEAR(more("qwen3-30b-a3b"), 1, 1e-9);
}

}  // namespace
}  // namespace ridge
