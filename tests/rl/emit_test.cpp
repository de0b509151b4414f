// Configurations of frameworks say the plan, and refuse what a framework has no words for.
#include <gtest/gtest.h>

#include <sstream>

#include "ridge/facility/engine_flags.hpp"
#include "ridge/rl/rl.hpp"
#include "support/knowledge.hpp"

namespace ridge {
namespace {

RlAnswer planned(RlPlacement placement, RlAlgorithm algorithm = RlAlgorithm::grpo) {
  RlQuery q;
  q.model = "qwen2.5-7b";
  q.device = "h100-sxm";
  q.gpus = 32;
  q.placement = placement;
  q.algorithm = algorithm;
  q.prompts = 64;
  q.samples = 8;
  q.mini_batch = 16;
  q.staleness = 0.5;
  q.partial = placement == RlPlacement::asynchronous;
  q.answers = {.mean = 800, .most = 4096};
  q.training.engine = "fsdp";
  q.training.plan.sharding = Sharding::zero3;
  q.freedom.tp = q.freedom.pp = q.freedom.ep = false;
  Result<RlAnswer> a = answer(q, testing_support::knowledge(), {.suggest = false});
  EXPECT_TRUE(a && !a->refusal);
  return *std::move(a);
}

::testing::AssertionResult written(const RlAnswer& a, RlFramework f, std::initializer_list<std::string_view> parts) {
  const auto files = emit_rl(a, f, "Qwen/Qwen2.5-7B");
  if (!files) return ::testing::AssertionFailure() << files.error().text();
  for (const std::string_view part : parts) {
    if (files->front().text.find(part) == std::string::npos) {
      return ::testing::AssertionFailure() << part << " is not in\n" << files->front().text;
    }
  }
  return ::testing::AssertionSuccess();
}

TEST(RlFiles, SayTheBatchAndTheLayout) {
  const RlAnswer a = planned(RlPlacement::colocated);
  EXPECT_TRUE(written(a, RlFramework::verl,
                      {"verl.trainer.main_ppo", "data.train_batch_size=64", "rollout.n=8", "ppo_mini_batch_size=16",
                       "trainer.nnodes=4 trainer.n_gpus_per_node=8", "Qwen/Qwen2.5-7B"}));
  EXPECT_TRUE(written(a, RlFramework::nemo_rl,
                      {"num_prompts_per_step: 64", "num_generations_per_prompt: 8", "train_global_batch_size: 128",
                       "num_nodes: 4", "max_new_tokens: 4096"}));
  EXPECT_TRUE(written(a, RlFramework::openrlhf,
                      {"--rollout.batch_size 64", "--rollout.n_samples_per_prompt 8", "--train.colocate_all",
                       "--train.batch_size 128", "--vllm.num_engines 32"}));
}

// verl ends a run whose row of packed tokens is shorter than its longest sequence.
TEST(RlFiles, LeaveRoomForTheLongestSequence) {
  RlAnswer a = planned(RlPlacement::colocated);
  const auto row = [&] {
    const auto files = emit_rl(a, RlFramework::verl, "x");
    EXPECT_TRUE(files);
    const std::string& text = files->front().text;
    constexpr std::string_view kFlag = "ppo_max_token_len_per_gpu=";
    return std::stod(text.substr(text.find(kFlag) + kFlag.size()));
  };
  const double longest = 2 * a.query.prompt_tokens + a.query.answers.most;
  EXPECT_GE(row(), longest);
  a.query.training.plan.cp = 2;  // shared by two ranks
  EXPECT_GE(2 * row(), longest);
  EXPECT_LT(row(), longest);
}

TEST(RlFiles, CountNodesByTheirDevices) {
  const auto files = emit_rl(planned(RlPlacement::colocated), RlFramework::verl, "x", 4);
  ASSERT_TRUE(files);
  EXPECT_NE(files->front().text.find("trainer.nnodes=8 trainer.n_gpus_per_node=4"), std::string::npos);
}

TEST(RlFiles, SayPoolsAndStaleness) {
  const RlAnswer a = planned(RlPlacement::asynchronous);
  EXPECT_TRUE(written(
      a, RlFramework::verl,
      {"fully_async_main", "staleness_threshold=0.5", "partial_rollout=true", "rollout.nnodes=2", "trainer.nnodes=2"}));
  EXPECT_TRUE(written(a, RlFramework::nemo_rl, {"async_grpo:", "max_trajectory_age_steps: 1", "enabled: false"}));
  EXPECT_TRUE(written(a, RlFramework::openrlhf, {"--train.async_enable", "--train.partial_rollout_enable"}));
}

TEST(RlFiles, RefuseWhatAFrameworkHasNoWordsFor) {
  const auto refused = emit_rl(planned(RlPlacement::colocated, RlAlgorithm::ppo), RlFramework::nemo_rl, "x");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("verl"), std::string::npos);
  EXPECT_FALSE(emit_rl(planned(RlPlacement::colocated, RlAlgorithm::online_dpo), RlFramework::verl, "x"));
  RlAnswer deep = planned(RlPlacement::colocated);
  deep.query.training.plan.pp = 2;
  EXPECT_FALSE(emit_rl(deep, RlFramework::openrlhf, "x"));
  EXPECT_FALSE(parse_rl_framework("trl"));
  for (const RlFramework f : {RlFramework::verl, RlFramework::nemo_rl, RlFramework::openrlhf}) {
    EXPECT_FALSE(emit_rl(planned(RlPlacement::colocated, RlAlgorithm::online_dpo), f, "x")) << name(f);
  }
  RlAnswer narrow = planned(RlPlacement::colocated);
  narrow.generation.weights = Format::fp8;
  EXPECT_FALSE(emit_rl(narrow, RlFramework::openrlhf, "x"));
  RlAnswer split = planned(RlPlacement::asynchronous);
  split.generators = 4;  // of nodes of eight
  EXPECT_FALSE(emit_rl(split, RlFramework::nemo_rl, "x"));
}

// What a plan says stands in its file, or the file is refused: nothing is left out in silence.
TEST(RlFiles, SayAllOfThePlanOrRefuseIt) {
  const auto with = [](auto&& change, RlPlacement placement = RlPlacement::colocated) {
    RlAnswer a = planned(placement);
    change(a);
    return a;
  };
  const auto refused = [](const RlAnswer& a, RlFramework f, std::string_view part) {
    const auto files = emit_rl(a, f, "x");
    return !files && files.error().message.find(part) != std::string::npos;
  };
  const RlAnswer sglang = with([](RlAnswer& a) { a.generation.engine = "sglang"; });
  EXPECT_TRUE(written(sglang, RlFramework::verl, {"rollout.name=sglang"}));
  EXPECT_TRUE(refused(sglang, RlFramework::nemo_rl, "gen_engine=vllm"));
  EXPECT_TRUE(refused(sglang, RlFramework::openrlhf, "gen_engine=vllm"));
  EXPECT_TRUE(
      written(with([](RlAnswer& a) { a.generation.engine = "trtllm"; }), RlFramework::verl, {"rollout.name=trtllm"}));
  const RlAnswer filtered = with([](RlAnswer& a) { a.query.oversample = 1.5; });
  EXPECT_TRUE(refused(filtered, RlFramework::verl, "oversample"));
  EXPECT_TRUE(written(filtered, RlFramework::nemo_rl, {"use_dynamic_sampling: true", "batch_multiplier: 1.5"}));
  EXPECT_TRUE(written(filtered, RlFramework::openrlhf, {"--algo.dynamic_filtering_enable"}));
  const RlAnswer twice = with([](RlAnswer& a) { a.query.epochs = 2; });
  EXPECT_TRUE(written(twice, RlFramework::openrlhf, {"--train.max_epochs 2"}));
  EXPECT_TRUE(refused(twice, RlFramework::nemo_rl, "epochs"));
  const RlAnswer taken = with([](RlAnswer& a) { a.query.old_log_probs = false; });
  EXPECT_TRUE(written(taken, RlFramework::verl, {"bypass_mode=true"}));
  EXPECT_TRUE(refused(taken, RlFramework::nemo_rl, "engine_log_probs"));
  EXPECT_TRUE(refused(taken, RlFramework::openrlhf, "engine_log_probs"));
  const RlAnswer bounded = with([](RlAnswer& a) { a.query.generation.max_sequences = 128; });
  EXPECT_TRUE(written(bounded, RlFramework::verl, {"max_num_seqs=128"}));
  EXPECT_TRUE(written(bounded, RlFramework::nemo_rl, {"max_num_seqs: 128"}));
  EXPECT_TRUE(refused(bounded, RlFramework::openrlhf, "max_num_seqs"));
  RlAnswer narrow = with([](RlAnswer& a) { a.query.training.precision = Format::fp8; });
  EXPECT_TRUE(refused(narrow, RlFramework::nemo_rl, "precision"));
  EXPECT_TRUE(refused(narrow, RlFramework::verl, "for=nemo-rl"));
  narrow.training.engine = "megatron-lm";
  EXPECT_TRUE(written(narrow, RlFramework::nemo_rl, {"fp8_recipe: tensorwise"}));
  EXPECT_TRUE(
      refused(with([](RlAnswer& a) { a.query.reward_model = "llama3.1-8b"; }), RlFramework::nemo_rl, "reward_model"));
  RlAnswer again = with([](RlAnswer& a) { a.recompute = Recompute::full; });
  EXPECT_TRUE(written(again, RlFramework::openrlhf, {"--actor.gradient_checkpointing_enable"}));
  EXPECT_TRUE(written(again, RlFramework::nemo_rl, {"activation_checkpointing: true"}));
  again.training.engine = "megatron-lm";
  EXPECT_TRUE(written(again, RlFramework::verl, {"recompute_granularity=full"}));
}

// Megatron cuts experts as wide as the layers where nothing is said: more ranks than there are.
TEST(RlFiles, SayHowWideExpertsAreCut) {
  RlAnswer a = planned(RlPlacement::colocated);
  a.training.engine = "megatron-lm";
  a.query.training.plan.tp = a.query.training.plan.ep = 8;
  EXPECT_TRUE(written(a, RlFramework::verl, {"actor.megatron.expert_tensor_parallel_size=1"}));
  a.query.training.plan.etp = 2;
  EXPECT_TRUE(written(a, RlFramework::nemo_rl, {"    expert_tensor_parallel_size: 2"}));
}

// Rows of OpenRLHF are filled with as many sequences as fit, and hold the longest.
TEST(RlFiles, FillRowsOfOpenRlhfByTokens) {
  RlAnswer a = planned(RlPlacement::colocated);
  EXPECT_TRUE(written(a, RlFramework::openrlhf, {"--train.micro_batch_size 1", "--train.max_tokens_per_gpu 4608"}));
  a.query.packing = false;
  const auto padded = emit_rl(a, RlFramework::openrlhf, "x");
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->front().text.find("max_tokens_per_gpu"), std::string::npos);
}

// Rows are filled up until the ranks of context parallelism share them evenly: no length is refused for being odd.
TEST(RlRows, AreSharedByAnyNumberOfRanks) {
  RlQuery q;
  q.model = "qwen2.5-7b";
  q.device = "h100-sxm";
  q.gpus = 24;
  q.prompts = 48;
  for (const int cp : {2, 3}) {
    q.training.plan.cp = cp;
    const auto a = answer(q, testing_support::knowledge(), {.suggest = false});
    ASSERT_TRUE(a) << a.error().text();
    EXPECT_FALSE(a->refusal) << a->refusal->why;
  }
}

// verl chooses its workers by the strategy of the critic too, and the flow of answers ends after 100 prompts where
// nobody says how many there are.
TEST(RlFiles, SayWhatTheFrameworkChecksAtTheStart) {
  RlAnswer a = planned(RlPlacement::asynchronous);
  EXPECT_TRUE(written(a, RlFramework::verl, {"critic.strategy=fsdp2", "rollout.total_rollout_steps=null"}));
  a.query.steps = 10;
  EXPECT_TRUE(written(a, RlFramework::verl, {"rollout.total_rollout_steps=640"}));
  EXPECT_TRUE(written(a, RlFramework::nemo_rl, {"defaults: examples/configs/grpo_math_1B.yaml"}));
}

// --- what frameworks take, by their own source (data/engines/flags) -------------------------------------------------

struct Said {
  std::string key;
  std::optional<std::string> value;
};

/// Arguments of a script's last command: KEY=VALUE, or flags with what follows them.
std::vector<Said> said_in_script(const std::string& text) {
  std::istringstream words(text.substr(text.find("python3 -m")));
  std::vector<Said> all;
  for (std::string word; words >> word;) {
    if (word == "\\" || word == "python3" || word == "-m" || word == "\"$@\"") continue;
    const std::size_t equals = word.find('=');
    if (word.starts_with("--") && equals == std::string::npos) {
      all.push_back({word, std::nullopt});
    } else if (equals != std::string::npos) {
      all.push_back({word.substr(0, equals), word.substr(equals + 1)});
    } else if (!all.empty() && all.back().key.starts_with("--")) {
      all.back().value = all.back().value ? *all.back().value + " " + word : word;
    }
  }
  return all;
}

/// Leaves of a configuration of nested keys, two spaces a level.
std::vector<Said> said_in_yaml(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::string> path;
  std::vector<Said> all;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    const std::size_t colon = line.find(':');
    EXPECT_NE(colon, std::string::npos) << line;
    EXPECT_EQ(indent % 2, 0U) << line;
    path.resize(indent / 2);
    path.push_back(line.substr(indent, colon - indent));
    if (colon + 1 == line.size()) continue;
    std::string key;
    for (const std::string& part : path) key += (key.empty() ? "" : ".") + part;
    all.push_back({key, line.substr(colon + 2)});
  }
  return all;
}

/// One answer in every way that files differ by.
std::vector<RlAnswer> ways_of(const RlAnswer& answer) {
  std::vector<RlAnswer> all = {answer};
  const auto vary = [&](auto change) {
    const std::size_t before = all.size();
    for (std::size_t i = 0; i < before; ++i) {
      all.push_back(all[i]);
      change(all.back());
    }
  };
  vary([](RlAnswer& a) { a.training.engine = "megatron"; });
  vary([](RlAnswer& a) { a.query.lora_rank = 16; });
  vary([](RlAnswer& a) {
    a.query.packing = false;
    a.query.steps = 50;
    a.recompute = Recompute::full;
  });
  vary([](RlAnswer& a) {
    a.query.training.plan.cp = 2;
    a.query.training.plan.offload_optimizer = true;
    a.query.training.plan.sharding = Sharding::zero2;
    a.generation.ep = 2;
    a.recompute = Recompute::selective;
  });
  vary([](RlAnswer& a) {
    a.query.oversample = 1.5;
    if (a.training.engine == "megatron") a.query.training.plan.ep = a.query.training.plan.etp = 2;
  });
  vary([](RlAnswer& a) { a.query.generation.max_sequences = 128; });
  vary([](RlAnswer& a) { a.query.old_log_probs = false; });
  vary([](RlAnswer& a) { a.query.training.precision = Format::fp8; });
  vary([](RlAnswer& a) {
    a.generation.weights = Format::fp8;
    if (a.training.engine == "megatron") a.query.training.plan.pp = 2;
  });
  return all;
}

TEST(RlFacts, EveryKeyIsOneThatTheFrameworkTakes) {
  const auto releases = EngineReleases::open(std::string(RIDGE_DATA_DIR) + "/engines/flags");
  ASSERT_TRUE(releases) << releases.error().text();
  int files = 0;
  int keys = 0;
  for (const RlAlgorithm algorithm : {RlAlgorithm::grpo, RlAlgorithm::dapo, RlAlgorithm::ppo}) {
    for (const RlPlacement placement : {RlPlacement::colocated, RlPlacement::one_step_off, RlPlacement::asynchronous}) {
      for (const RlAnswer& a : ways_of(planned(placement, algorithm))) {
        for (const RlFramework f : {RlFramework::verl, RlFramework::nemo_rl, RlFramework::openrlhf}) {
          const auto written_files = emit_rl(a, f, "Qwen/Qwen2.5-7B");
          if (!written_files) continue;
          ++files;
          const bool yaml = f == RlFramework::nemo_rl;
          const auto release = releases->load(yaml ? "nemo_rl" : name(f), "");
          ASSERT_TRUE(release) << release.error().text();
          const std::string& text = written_files->front().text;
          for (const Said& said : yaml ? said_in_yaml(text) : said_in_script(text)) {
            if (said.key == "defaults" || said.key == "--config-name") continue;
            ++keys;
            EXPECT_EQ(release->problem(said.key, said.value), "") << name(f) << "\n" << text;
            if (f != RlFramework::verl) continue;
            // A key is one of the configuration that this command starts from.
            const EngineFlag* flag = release->find(said.key);
            ASSERT_NE(flag, nullptr) << said.key;
            const bool megatron = text.find("ppo_megatron_trainer") != std::string::npos;
            if (flag->file.find("_generated_") != std::string::npos) {
              EXPECT_EQ(flag->file.find("megatron") != std::string::npos, megatron) << said.key << "\n" << text;
            }
            for (const char* pools : {"fully_async", "one_step_off"}) {
              if (flag->file.find(pools) == std::string::npos) continue;
              EXPECT_NE(text.find(std::string(pools) + "_policy"), std::string::npos) << said.key << "\n" << text;
            }
            if (flag->file == "verl/experimental") {
              EXPECT_NE(text.find("verl.experimental"), std::string::npos) << said.key;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(files, 300);
  EXPECT_GT(keys, 8000);
}

}  // namespace
}  // namespace ridge
