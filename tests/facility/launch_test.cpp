// Launch files say what the plan says: every target, written and read back, over random plans.
#include "ridge/facility/launch.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bundled.hpp"
#include "facility/launch/words.hpp"
#include "ridge/base/random.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::knowledge;

int choose(Random& draws, std::initializer_list<int> from) {
  return *(from.begin() + static_cast<std::ptrdiff_t>(draws.below(from.size())));
}

const std::vector<LaunchVendor>& vendors() {
  static const std::vector<LaunchVendor> loaded = *load_launch_vendors(std::string(RIDGE_DATA_DIR) + "/launch");
  return loaded;
}
const LaunchVendor& vendor_of(std::string_view name) {
  return vendor_named(vendors(), name);
}

LaunchPlan random_serving(Random& draws, LaunchTarget runner) {
  const bool llamacpp = runner == LaunchTarget::llamacpp;
  LaunchPlan p;
  p.runner = runner;
  p.release = draws.below(2) == 0 ? "1.2.3" : "b42";
  p.model = "model-" + std::to_string(draws.below(1000));
  p.checkpoint = draws.below(2) == 0 ? "org/Model-70B" : "/models/my model's weights";
  if (llamacpp && draws.below(2) == 0) p.checkpoint = "/models/my model's weights.gguf";
  p.device = draws.below(2) == 0 ? "h200-sxm" : "b200-sxm-180";
  p.vendor = "NVIDIA";
  p.hardware = vendor_of("NVIDIA");
  p.gated = draws.below(2) == 0;
  p.gpus_per_node = choose(draws, {4, 8});
  p.tp = choose(draws, {1, 2, 4});
  if (!llamacpp && (runner != LaunchTarget::trtllm || p.tp == 1)) p.dp = choose(draws, {1, 2, 4});
  if (!llamacpp || p.tp == 1) p.pp = choose(draws, {1, 1, 2});
  const int each = p.tp * p.pp * p.dp;
  if (each <= p.gpus_per_node) {
    p.replicas = (p.gpus_per_node / each) * choose(draws, {1, 2, 3});
    if (draws.below(3) == 0) p.replicas = 1;
  } else if (each % p.gpus_per_node != 0) {
    return random_serving(draws, runner);
  }
  p.gpus = p.replicas * each;
  if (p.gpus > p.gpus_per_node && p.gpus % p.gpus_per_node != 0) return random_serving(draws, runner);
  if (p.nodes() > 1) p.network = draws.below(2) == 0 ? "infiniband" : "ethernet";
  if (!llamacpp && draws.below(2) == 0) p.ep = p.tp * p.dp;
  constexpr Format kWeights[] = {Format::bf16, Format::fp16,  Format::fp8,  Format::int8,
                                 Format::int4, Format::mxfp4, Format::nvfp4};
  if (p.ep > 1) {
    constexpr ExpertExchange kWays[] = {ExpertExchange::gather, ExpertExchange::dispatch, ExpertExchange::low_latency,
                                        ExpertExchange::throughput};
    if (p.dp > 1) p.exchange = kWays[draws.below(std::size(kWays))];
    p.redundant_experts = choose(draws, {0, 0, 32});
    p.rebalanced = draws.below(2) == 0 || p.redundant_experts > 0;
    const bool kernels = p.exchange && *p.exchange != ExpertExchange::gather;
    p.two_batches = kernels && runner != LaunchTarget::trtllm && draws.below(2) == 0;
    if (runner == LaunchTarget::trtllm && p.rebalanced) p.experts = 256;
  }
  p.weights = kWeights[draws.below(std::size(kWeights))];
  p.activations = draws.below(2) == 0 ? Format::bf16 : Format::fp8;
  p.mode = draws.below(2) == 0   ? LoadMode::closed_loop
           : draws.below(2) == 0 ? LoadMode::offline
                                 : LoadMode::fixed_batch;
  p.online = p.weights == Format::fp8 && (runner == LaunchTarget::vllm || runner == LaunchTarget::sglang) &&
             draws.below(2) == 0;
  if (p.weights == Format::int4 && draws.below(2) == 0) p.base = "org/Wide";
  p.kv = draws.below(2) == 0 ? Format::bf16 : llamacpp ? Format::int8 : Format::fp8;
  p.max_sequences = choose(draws, {0, 64, 512});
  p.max_batched_tokens = choose(draws, {0, 8192});
  p.max_length = choose(draws, {0, 1250, 131072});
  if (draws.below(2) == 0) p.memory_utilization = 0.5 + 0.01 * static_cast<double>(draws.below(50));
  if (runner == LaunchTarget::trtllm) p.kv_fraction = choose(draws, {0, 1}) * 0.75;
  if (draws.below(2) == 0) {
    p.isl = 1000;
    p.osl = 250;
    p.concurrency = 64;
  }
  if (draws.below(4) == 0) p.lora_rank = choose(draws, {7, 16});
  if (draws.below(4) == 0) {
    p.draft_tokens = 3;
    p.acceptance = 0.7;
    p.draft = llamacpp || draws.below(2) == 0 ? "org/Small" : "mtp";
  }
  return p;
}

LaunchPlan random_training(Random& draws, LaunchTarget runner) {
  LaunchPlan p;
  p.runner = runner;
  p.release = "0.19.0";
  p.model = "model-" + std::to_string(draws.below(1000));
  p.checkpoint = "org/Model";
  p.device = "h100-sxm";
  p.vendor = "NVIDIA";
  p.hardware = vendor_of("NVIDIA");
  p.gpus_per_node = choose(draws, {4, 8});
  p.tp = choose(draws, {1, 2, 4, 8});
  p.pp = choose(draws, {1, 2, 4});
  p.cp = choose(draws, {1, 1, 2});
  p.dp = choose(draws, {1, 2, 4, 16});
  p.gpus = p.tp * p.pp * p.cp * p.dp;
  if (p.gpus > p.gpus_per_node && p.gpus % p.gpus_per_node != 0) return random_training(draws, runner);
  if (p.nodes() > 1) p.network = draws.below(2) == 0 ? "infiniband" : "ethernet";
  p.sequence = choose(draws, {2048, 8192, 131072});
  p.micro_batch = choose(draws, {1, 2});
  p.global_batch = p.micro_batch * p.dp * choose(draws, {4, 16});
  p.precision = draws.below(2) == 0 ? Format::bf16 : Format::fp8;
  constexpr Recompute kRecompute[] = {Recompute::none, Recompute::selective, Recompute::full};
  p.recompute = kRecompute[draws.below(3)];
  if (p.dp >= 4 && draws.below(3) == 0) {
    p.sharding = Sharding::hsdp;
    p.shard_group = 2;
  } else if (p.dp > 1 && draws.below(2) == 0) {
    p.sharding = Sharding::zero3;
  }
  if (runner == LaunchTarget::torchrun) {
    p.flavor = "llama3/70B";
    p.ep = choose(draws, {1, 2, 8});
    p.etp = choose(draws, {1, 1, 2});
  }
  if (runner == LaunchTarget::bridge) {
    p.flavor = "llama31_8b_pretrain_2gpu_h100_bf16_config";
    if (p.cp > 1 && draws.below(2) == 0) p.context = ContextParallel::ulysses;
    if (p.pp > 1) p.vp = choose(draws, {1, 2});
    p.ep = choose(draws, {1, 2, 8});
    if (p.ep > 1) p.etp = choose(draws, {1, 2});
    if (p.sharding == Sharding::none && draws.below(2) == 0) p.sharding = Sharding::zero1;
    p.block_scales = p.precision == Format::fp8 && draws.below(2) == 0;
    if (p.recompute == Recompute::full) p.recompute_layers = choose(draws, {0, 3});
  }
  if (runner == LaunchTarget::deepspeed || runner == LaunchTarget::maxtext) {
    p.pp = 1;
    p.gpus = p.tp * p.cp * p.dp;
    if (p.gpus > p.gpus_per_node && p.gpus % p.gpus_per_node != 0) return random_training(draws, runner);
    p.network = p.nodes() > 1 ? "infiniband" : "";
  }
  if (runner == LaunchTarget::deepspeed) {
    if (p.cp > 1) p.context = ContextParallel::ulysses;
    p.precision = draws.below(2) == 0 ? Format::bf16 : Format::fp16;
    if (p.sharding == Sharding::none && p.dp > 1) p.sharding = draws.below(2) == 0 ? Sharding::zero1 : Sharding::zero2;
    if (p.tp > 1 && (p.sharding == Sharding::zero3 || p.sharding == Sharding::hsdp))
      return random_training(draws, runner);
    p.offload_optimizer = p.sharding != Sharding::none && draws.below(2) == 0;
  }
  if (runner == LaunchTarget::maxtext) {
    p.flavor = "llama3.1-8b";
    if (p.dp >= 4) p.ep = choose(draws, {1, 2, 4});
    if (p.sharding == Sharding::none && p.dp > 1 && draws.below(2) == 0) p.sharding = Sharding::zero1;
    if (p.cp > 1 && draws.below(2) == 0) p.context = ContextParallel::all_gather;
    if (draws.below(2) == 0) {
      p.vendor = "Google";
      p.device = "tpu-v5p";
    }
  }
  if (runner == LaunchTarget::primus) {
    p.vendor = "AMD";
    p.device = "mi300x";
  }
  if (runner == LaunchTarget::megatron || runner == LaunchTarget::primus) {
    if (p.cp > 1 && draws.below(3) == 0) p.context = ContextParallel::all_gather;
    if (p.recompute == Recompute::full) p.recompute_layers = choose(draws, {0, 3});
    if (p.sharding == Sharding::none && draws.below(2) == 0) p.sharding = Sharding::zero1;
    if (p.sharding == Sharding::none && draws.below(4) == 0) p.sharding = Sharding::zero2;
    constexpr Format kPrecision[] = {Format::bf16, Format::fp8, Format::mxfp8, Format::nvfp4, Format::fp16};
    const bool sharded = p.sharding != Sharding::none && p.sharding != Sharding::zero1;
    p.precision = kPrecision[draws.below(sharded ? 4 : 5)];
    p.block_scales = p.precision == Format::fp8 && draws.below(2) == 0;
    if (p.pp > 1) p.vp = choose(draws, {1, 1, 2});
    p.shape.layers = choose(draws, {32, 61, 80});
    p.shape.hidden = 8192;
    p.shape.heads = 64;
    p.shape.kv_heads = choose(draws, {0, 8});
    p.shape.head_dim = 128;
    p.shape.ffn = 28672;
    p.shape.vocab = 128256;
    p.shape.context = 131072;
    p.shape.gated = draws.below(2) == 0;
    p.shape.tied = draws.below(2) == 0;
    p.shape.qk_norm = draws.below(2) == 0;
    p.shape.qkv_bias = draws.below(2) == 0;
    p.shape.norm_bias = draws.below(3) == 0;
    p.shape.learned_positions = draws.below(3) == 0;
    if (!p.shape.learned_positions) {
      p.shape.rotary_base = choose(draws, {0, 500000});
      p.shape.rotary_open = p.shape.rotary_base == 0 && draws.below(2) == 0;
      p.shape.rope_scaling = choose(draws, {0, 8});
    }
    p.shape.norm_epsilon = choose(draws, {0, 1}) * 1e-6;
    if (draws.below(2) == 0) {
      p.shape.experts = 256;
      p.shape.top_k = 8;
      p.shape.expert_ffn = 2048;
      p.shape.shared_ffn = choose(draws, {0, 2048});
      p.shape.dense_layers = choose(draws, {0, 3});
      p.shape.groups = choose(draws, {0, 8});
      p.shape.groups_chosen = p.shape.groups / 2;
      p.shape.sigmoid_router = draws.below(2) == 0;
      p.shape.router_scaling = choose(draws, {0, 1}) * 2.5;
      p.ep = choose(draws, {1, 2, 8});
      p.etp = choose(draws, {1, 1, 2});
      if (p.gpus % (p.ep * p.etp * p.pp) != 0) return random_training(draws, runner);
    }
    if (draws.below(3) == 0) {
      p.shape.kv_heads = p.shape.head_dim = 0;
      p.shape.q_lora = 1536;
      p.shape.kv_lora = 512;
      p.shape.qk_nope = 128;
      p.shape.qk_rope = 64;
      p.shape.v_dim = 128;
      p.shape.yarn = choose(draws, {0, 40});
      p.shape.mtp_layers = choose(draws, {0, 1});
    }
  }
  return p;
}

LaunchPlan random_plan(Random& draws, LaunchTarget runner) {
  return trains(runner) ? random_training(draws, runner) : random_serving(draws, runner);
}

constexpr LaunchTarget kRunners[] = {
    LaunchTarget::vllm,     LaunchTarget::trtllm, LaunchTarget::sglang, LaunchTarget::llamacpp,  LaunchTarget::megatron,
    LaunchTarget::torchrun, LaunchTarget::bridge, LaunchTarget::primus, LaunchTarget::deepspeed, LaunchTarget::maxtext};
const LaunchOptions kInImage{.image = "registry.example/engine:1"};

bool spans(const LaunchPlan& p) {
  return !trains(p.runner) && p.tp * p.pp * p.dp > p.gpus_per_node;
}

void expect_same(const LaunchPlan& plan, const LaunchFile& file, LaunchTarget target) {
  const Result<LaunchCheck> back = read_launch(file.text, file.name);
  ASSERT_TRUE(back) << back.error().text() << "\n" << file.text;
  EXPECT_EQ(back->target, target) << file.text;
  for (const std::string& problem : back->problems) ADD_FAILURE() << problem << "\n" << file.text;
  for (const std::string& difference : differences(back->plan, plan)) ADD_FAILURE() << difference << "\n" << file.text;
  EXPECT_TRUE(back->plan == plan);
}

TEST(Launch, WhatIsEmittedReadsBackAsTheSamePlan) {
  for (const LaunchTarget runner : kRunners) {
    int emitted = 0;
    for (std::uint64_t seed = 0; seed < 400 && !::testing::Test::HasFailure(); ++seed) {
      Random draws(seed, static_cast<std::uint64_t>(runner));
      const LaunchPlan plan = random_plan(draws, runner);
      const auto files = emit(plan, runner);
      if (!files && plan.vp > 1) continue;                                    // chunks that do not divide the layers
      if (!files && spans(plan) && runner == LaunchTarget::trtllm) continue;  // MPI
      ASSERT_TRUE(files) << name(runner) << ": " << files.error().text();
      expect_same(plan, files->front(), runner);
      ++emitted;
    }
    EXPECT_GT(emitted, 300) << name(runner);
  }
}

// Seven replicas of two devices on nodes of eight: four here, three there.
TEST(Launch, TheLastNodeMayHaveFewerReplicas) {
  for (const LaunchTarget runner : {LaunchTarget::vllm, LaunchTarget::sglang, LaunchTarget::trtllm}) {
    Random draws(5, static_cast<std::uint64_t>(runner));
    LaunchPlan plan = random_serving(draws, runner);
    plan.tp = 2;
    plan.pp = plan.dp = plan.ep = 1;
    plan.exchange.reset();
    plan.experts = plan.redundant_experts = 0;
    plan.rebalanced = plan.two_batches = false;
    plan.draft_tokens = 0;
    plan.draft.clear();
    plan.acceptance = 0;
    plan.gpus_per_node = 8;
    plan.replicas = 7;
    plan.gpus = 14;
    plan.network = "infiniband";
    for (const LaunchTarget target : {runner, LaunchTarget::slurm}) {
      const auto files = emit(plan, target);
      ASSERT_TRUE(files) << files.error().text();
      expect_same(plan, files->front(), target);
      LaunchFile changed = files->front();
      const std::size_t all = changed.text.find("ALL_REPLICAS=7");
      ASSERT_NE(all, std::string::npos) << changed.text;
      changed.text.replace(all, 14, "ALL_REPLICAS=9");
      const Result<LaunchCheck> check = read_launch(changed.text, changed.name);
      ASSERT_TRUE(check);
      EXPECT_FALSE(check->problems.empty()) << "nine do not fit on two nodes";
    }
    plan.gpus_per_node = 5;  // a replica would lie across nodes
    EXPECT_FALSE(emit(plan, runner));
  }
}

TEST(Launch, SlurmAndKubernetesJobsReadBackAsTheSamePlan) {
  for (const LaunchTarget target : {LaunchTarget::slurm, LaunchTarget::k8s}) {
    for (const LaunchTarget runner : kRunners) {
      int emitted = 0;
      for (std::uint64_t seed = 0; seed < 200 && !::testing::Test::HasFailure(); ++seed) {
        Random draws(seed, 10 + static_cast<std::uint64_t>(runner));
        const LaunchPlan plan = random_plan(draws, runner);
        const auto files = emit(plan, target, kInImage);
        if (!files && plan.vp > 1) continue;
        if (!files) {
          // TensorRT-LLM over several nodes is started by MPI; everything else has to work.
          EXPECT_EQ(target, LaunchTarget::k8s) << files.error().text();
          EXPECT_TRUE(spans(plan) && runner == LaunchTarget::trtllm) << files.error().text();
          continue;
        }
        ++emitted;
        expect_same(plan, files->front(), target);
      }
      EXPECT_GT(emitted, 100) << name(target) << " " << name(runner);
    }
  }
}

// Two pools are two plans: each file reads back as its own, and a router stands between them.
TEST(Launch, PoolsReadBackAsTheirOwnPlans) {
  for (const LaunchTarget runner : {LaunchTarget::vllm, LaunchTarget::sglang, LaunchTarget::trtllm}) {
    for (const LaunchTarget target : {runner, LaunchTarget::slurm, LaunchTarget::k8s}) {
      for (std::uint64_t seed = 0; seed < 100 && !::testing::Test::HasFailure(); ++seed) {
        Random draws(seed, 20 + static_cast<std::uint64_t>(runner));
        LaunchPools pools{random_serving(draws, runner), {}};
        pools.prefill.role = PoolRole::prefill;
        pools.prefill.mode = LoadMode::closed_loop;
        if (spans(pools.prefill)) continue;
        pools.decode = pools.prefill;
        pools.decode.role = PoolRole::decode;
        const auto files = emit(pools, target, kInImage);
        if (runner == LaunchTarget::trtllm && target == LaunchTarget::k8s) {
          EXPECT_FALSE(files) << "its router has to know every server";
          continue;
        }
        ASSERT_TRUE(files) << files.error().text();
        ASSERT_GE(files->size(), 3U);
        const auto file = [&](std::string_view start) {
          return *std::find_if(files->begin(), files->end(),
                               [&](const LaunchFile& f) { return f.name.starts_with(start); });
        };
        expect_same(pools.prefill, file("prefill."), target);
        expect_same(pools.decode, file("decode."), target);
        EXPECT_TRUE(file("router.").text.find(runner == LaunchTarget::trtllm ? "generation_servers" : "decode") !=
                    std::string::npos);
      }
    }
  }
  LaunchPools llama;
  llama.prefill.runner = llama.decode.runner = LaunchTarget::llamacpp;
  llama.prefill.role = PoolRole::prefill;
  llama.decode.role = PoolRole::decode;
  EXPECT_FALSE(emit(llama, LaunchTarget::llamacpp)) << "hands no caches over";
}

// 1P1D of four devices on a node of eight: the second pool starts behind the first.
TEST(Launch, SmallPoolsShareANode) {
  LaunchPools pools;
  pools.prefill.checkpoint = "org/Model";
  pools.prefill.vendor = "NVIDIA";
  pools.prefill.hardware = vendor_of("NVIDIA");
  pools.prefill.device = "h200-sxm";
  pools.prefill.tp = pools.prefill.gpus = 4;
  pools.prefill.role = PoolRole::prefill;
  pools.decode = pools.prefill;
  pools.decode.role = PoolRole::decode;
  const auto files = emit(pools, LaunchTarget::vllm);
  ASSERT_TRUE(files) << files.error().text();
  EXPECT_EQ((*files)[0].text.find("FIRST_DEVICE"), std::string::npos);
  EXPECT_NE((*files)[1].text.find("FIRST_DEVICE:-4"), std::string::npos) << (*files)[1].text;
  pools.decode.gpus = 8;
  pools.decode.tp = 8;
  const auto apart = emit(pools, LaunchTarget::vllm);
  ASSERT_TRUE(apart);
  EXPECT_EQ((*apart)[1].text.find("FIRST_DEVICE"), std::string::npos);
}

TEST(Launch, AChangedFlagIsADifference) {
  Random draws(7);
  const LaunchPlan plan = random_training(draws, LaunchTarget::megatron);
  std::string text = emit(plan, LaunchTarget::megatron)->front().text;
  const std::string flag = "--seq-length " + std::to_string(plan.sequence);
  text.replace(text.find(flag), flag.size(), "--seq-length 4095");
  const auto back = read_launch(text, "x.sh");
  ASSERT_TRUE(back);
  const auto found = differences(back->plan, plan);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("sequence: 4095 in the file"), std::string::npos) << found[0];
}

TEST(Launch, ContradictionsWithinAFileAreFound) {
  LaunchPlan plan;
  plan.runner = LaunchTarget::torchrun;
  plan.flavor = "llama3/8B";
  plan.model = plan.checkpoint = "m";
  plan.device = "h100-sxm";
  plan.hardware = vendor_of("");
  plan.gpus = plan.dp = 16;
  plan.sequence = 4096;
  plan.micro_batch = 1;
  plan.global_batch = 64;
  plan.network = "infiniband";
  std::string text = emit(plan, LaunchTarget::slurm)->front().text;
  const std::string nodes = "#SBATCH --nodes=2";
  text.replace(text.find(nodes), nodes.size(), "#SBATCH --nodes=3");
  const auto back = read_launch(text, "job.sbatch");
  ASSERT_TRUE(back);
  ASSERT_EQ(back->problems.size(), 1u);
  EXPECT_NE(back->problems[0].find("--nodes=3"), std::string::npos);
}

TEST(Launch, FlagsThatAreNotOfThePlanAreKeptApart) {
  const auto back = read_launch("vllm serve org/m --tensor-parallel-size 2 --seed 7 --enable-prefix-caching\n", "s.sh");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->plan.tp, 2);
  EXPECT_EQ(back->other, std::vector<std::string>{"--seed"});
}

TEST(Launch, WhatCannotBeReadIsRefusedWithItsLine) {
  const auto missing = read_launch("#!/bin/bash\nvllm serve m \\\n  --tensor-parallel-size\n", "s.sh");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where, "s.sh:3");
  const auto word = read_launch("vllm serve m --tensor-parallel-size two\n", "s.sh");
  ASSERT_FALSE(word);
  EXPECT_NE(word.error().message.find("whole number"), std::string::npos);
  EXPECT_FALSE(read_launch("echo hello\n", "s.sh"));
  EXPECT_FALSE(read_launch("", "s.sh"));
}

TEST(Launch, SpoiledFilesAreSurvived) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Random draws(seed, 99);
    const LaunchTarget runner = kRunners[draws.below(std::size(kRunners))];
    const LaunchTarget target = draws.below(2) == 0 ? LaunchTarget::slurm : LaunchTarget::k8s;
    const auto files = emit(random_plan(draws, runner), target);
    if (!files) continue;
    std::string text = files->front().text;
    if (draws.below(3) == 0) text.resize(draws.below(text.size()));
    for (int i = 0; i < 12 && !text.empty(); ++i) {
      constexpr std::string_view kSharp = "$'\"\\(){}#\n :-=";
      text[draws.below(text.size())] = kSharp[draws.below(kSharp.size())];
    }
    const auto back = read_launch(text, "x");
    if (!back) {
      EXPECT_TRUE(back.error().where.starts_with("x:")) << back.error().text();
    }
  }
}

TEST(Launch, WhatAnEngineCannotSayIsRefused) {
  Random draws(3);
  LaunchPlan plan = random_serving(draws, LaunchTarget::vllm);
  plan.tp = 4;
  plan.dp = 1;
  plan.pp = 1;
  plan.replicas = 1;
  plan.gpus = 4;
  plan.network = "";
  plan.ep = 2;
  const auto experts = emit(plan, LaunchTarget::vllm);
  ASSERT_FALSE(experts);
  EXPECT_EQ(experts.error().code, ErrorCode::refused);
  plan.ep = 1;
  plan.kv = Format::int8;
  EXPECT_FALSE(emit(plan, LaunchTarget::vllm));
  EXPECT_FALSE(emit(plan, LaunchTarget::sglang));  // another runner
}

TEST(Launch, AHostIsHeldAgainstThePlan) {
  LaunchPlan plan;
  plan.device = "h100-sxm";
  plan.vendor = "NVIDIA";
  plan.hardware = vendor_of("NVIDIA");
  plan.gpus = 16;
  plan.tp = 8;
  plan.pp = 2;
  plan.network = "infiniband";
  HostFacts facts = {{"gpu.count", "8"},          {"gpu.name", "NVIDIA H100 80GB HBM3"}, {"gpu.driver.branch", "570"},
                     {"nvswitch.present", "yes"}, {"nvswitch.manager", "active"},        {"rdma.present", "yes"}};
  EXPECT_TRUE(host_problems(plan, facts).empty());
  EXPECT_TRUE(host_problems(plan, {}).empty());  // nothing seen, nothing said
  facts["gpu.count"] = "7";
  facts["gpu.name"] = "NVIDIA H200";
  facts["gpu.driver.branch"] = "470";
  facts["nvswitch.manager"] = "inactive";
  facts["rdma.present"] = "no";
  EXPECT_EQ(host_problems(plan, facts).size(), 5u);
  facts["files.free_gigabytes"] = "68";
  EXPECT_EQ(host_problems(plan, facts, 140e9).size(), 6u);
  EXPECT_EQ(host_problems(plan, facts, 16e9).size(), 5u);
  facts["files.shared"] = "lustre";
  EXPECT_EQ(host_problems(plan, facts, 140e9).size(), 5u) << "weights lie on what hosts share";
}

TEST(Launch, WordsSurviveTheShell) {
  for (const char* text : {"plain", "two words", "it's", "$HOME", "a\"b", "([0]*3+[1]*58)", "", "new\nline", "&|;"}) {
    const auto script = launch::read_script("program " + shell_word(text) + " end\n");
    ASSERT_EQ(script.commands.size(), 1u) << text;
    ASSERT_EQ(script.commands[0].size(), 3u) << text;
    EXPECT_EQ(script.commands[0][1].text, text);
  }
}

TEST(Launch, PlansComeFromAnswers) {
  InferenceQuery q;
  q.model = "llama3.3-70b";
  q.device = "h200-sxm";
  q.gpus = 8;
  q.tp = 2;
  q.weights = Format::fp8;
  q.activations = Format::fp8;
  q.load = {.mode = LoadMode::closed_loop, .isl = 1000, .osl = 250, .concurrency = 64};
  const auto served = answer(q, knowledge(), {});
  ASSERT_TRUE(served) << served.error().text();
  const Checkpoints checkpoints = *load_checkpoints(std::string(RIDGE_DATA_DIR) + "/checkpoints.csv");
  const std::vector<ModelSettings> settings = *load_model_settings(std::string(RIDGE_DATA_DIR) + "/model_settings.csv");
  const LaunchStock stock{checkpoints, settings, {}, vendors()};
  const auto serve = launch_plan(*served, knowledge(), stock, {LaunchTarget::vllm, {}, {}});
  ASSERT_TRUE(serve) << serve.error().text();
  EXPECT_EQ(serve->replicas, 4);
  EXPECT_EQ(serve->weights, Format::fp8);
  EXPECT_EQ(serve->max_length, 2560);  // twice the load's, in steps of 256
  EXPECT_EQ(serve->max_sequences, 256);
  EXPECT_EQ(serve->memory_utilization, 0.9);
  EXPECT_EQ(serve->checkpoint, "nvidia/Llama-3.3-70B-Instruct-FP8");
  EXPECT_FALSE(serve->online);
  for (const LaunchTarget target : {LaunchTarget::vllm, LaunchTarget::slurm, LaunchTarget::k8s}) {
    LaunchOptions options;
    options.image = "some/image:1";
    const auto files = emit(*serve, target, options);
    ASSERT_TRUE(files) << files.error().text();
    expect_same(*serve, files->front(), target);
  }

  const auto again = answer(inference_query(*serve), knowledge(), {});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_DOUBLE_EQ(again->outcome.estimate.output_tokens_per_s.mid, served->outcome.estimate.output_tokens_per_s.mid);
  EXPECT_DOUBLE_EQ(again->outcome.estimate.tpot_s.mid, served->outcome.estimate.tpot_s.mid);

  for (const char* model : {"llama3.1-70b", "deepseek-v3", "mixtral-8x7b"}) {
    TrainingQuery t;
    t.model = model;
    t.system = "dgx-h100";
    t.plan.gpus = 512;
    t.plan.tp = 8;
    t.plan.pp = 4;
    t.plan.ep = model[0] == 'l' ? 1 : 8;
    t.plan.sequence = 4096;
    const auto trained = answer(t, {.micro_batch = true, .global_batch = true}, knowledge());
    ASSERT_TRUE(trained) << trained.error().text();
    if (trained->refusal) continue;
    const auto train = launch_plan(*trained, knowledge(), stock, {LaunchTarget::megatron, {}, {}});
    ASSERT_TRUE(train) << train.error().text();
    EXPECT_EQ(train->shape.layers, bundle().catalogue.model(model)->layers());
    EXPECT_EQ(train->dp, 16);
    const auto repeated = answer(training_query(*train), {}, knowledge());
    ASSERT_TRUE(repeated) << repeated.error().text();
    EXPECT_DOUBLE_EQ(repeated->outcome.estimate.step_time_s.mid, trained->outcome.estimate.step_time_s.mid) << model;
    const auto files = emit(*train, LaunchTarget::megatron);
    ASSERT_TRUE(files) << files.error().text();
    expect_same(*train, files->front(), LaunchTarget::megatron);
  }
}

}  // namespace
}  // namespace ridge
