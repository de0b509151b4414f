// Configurations of frameworks say the plan, and refuse what a framework has no words for.
#include <gtest/gtest.h>

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
                      {"--rollout_batch_size 64", "--n_samples_per_prompt 8", "--colocate_all_models",
                       "--train_batch_size 128", "--vllm_num_engines 32"}));
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
      {"fully_async_main", "staleness_threshold=0.5", "partial_rollout=True", "rollout.nnodes=2", "trainer.nnodes=2"}));
  EXPECT_TRUE(written(a, RlFramework::nemo_rl, {"async_grpo:", "max_trajectory_age_steps: 1", "enabled: false"}));
  EXPECT_TRUE(written(a, RlFramework::openrlhf, {"--async_train --partial_rollout"}));
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
}

}  // namespace
}  // namespace ridge
