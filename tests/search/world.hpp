// The bundled data, loaded once, and goals small enough to try every candidate.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "economics/economics_data.hpp"
#include "ridge/base/random.hpp"
#include "ridge/search/plan.hpp"
#include "search/problem.hpp"
#include "search/problems/serving_problem.hpp"
#include "search/problems/training_problem.hpp"
#include "support/knowledge.hpp"

namespace ridge::testing_support {

/// The bundled prices, loaded once.
inline const EconomicsData& economics() {
  static const EconomicsData data = [] {
    auto loaded = load_economics(std::string(RIDGE_DATA_DIR) + "/economics", bundle().catalogue);
    if (!loaded) std::abort();
    return *std::move(loaded);
  }();
  return data;
}

/// What is planned for a goal, serving or training, with one search; a goal that cannot be prepared fails the test.
template <class Goal>
auto planned(const Goal& goal, const EconomicsData* market = nullptr) {
  const auto quest = prepare(goal, knowledge(), market);
  EXPECT_TRUE(quest) << quest.error().text();
  return judge(*quest, search::search(*quest->problem, {}).findings, knowledge());
}

/// The same with the bundled prices.
template <class Goal>
auto priced(const Goal& goal) {
  return planned(goal, &economics());
}

/// Chats with an 8B model, 40 a second.
inline ServingGoal chat_goal(std::vector<std::string> devices) {
  ServingGoal goal;
  goal.model = "llama3.1-8b";
  goal.request_rate = 40;
  goal.isl = 1000;
  goal.osl = 250;
  goal.ttft_s = 2;
  goal.tpot_s = 0.04;
  goal.buyer.devices = std::move(devices);
  return goal;
}

inline TrainingGoal random_training_goal(Random& draws) {
  static constexpr const char* kModels[] = {"llama3.1-8b",  "llama3.1-70b", "qwen3-30b-a3b", "gpt-neox-20b",
                                            "mixtral-8x7b", "gpt2-xl",      "gpt3-175b"};
  static constexpr const char* kDevices[] = {"h100-sxm", "a100-sxm-80", "b200-sxm-180", "mi300x", "gb200-nvl72"};
  TrainingGoal goal;
  goal.model = kModels[draws.below(std::size(kModels))];
  goal.buyer.devices = {kDevices[draws.below(std::size(kDevices))]};
  goal.gpus = {8 << draws.below(6)};
  if (draws.below(2) == 0) goal.gpus.push_back(goal.gpus[0] + goal.gpus[0] / 2);
  goal.sequence = 1024 << draws.below(4);
  goal.global_batch = 64 << draws.below(5);
  goal.full_space = draws.below(2) == 0;
  goal.objective = draws.below(3) == 0 ? Objective::energy : Objective::time;
  goal.task = draws.below(5) == 0 ? TrainingTask::lora : TrainingTask::pretrain;
  if (draws.below(3) == 0) {
    goal.tokens = 1e10;
    goal.days = 0.5 + static_cast<double>(draws.below(20));
  }
  if (draws.below(4) == 0) goal.buyer.power_w = 5e3 * static_cast<double>(1 + draws.below(40));
  return goal;
}

inline ServingGoal random_serving_goal(Random& draws) {
  static constexpr const char* kModels[] = {"llama3.1-8b", "llama3.3-70b", "qwen3-30b-a3b", "gpt-oss-120b"};
  static constexpr const char* kDevices[] = {"h100-sxm", "h200-sxm", "b200-sxm-180", "mi300x", "l40s", "l4"};
  ServingGoal goal;
  goal.model = kModels[draws.below(std::size(kModels))];
  goal.buyer.devices = {kDevices[draws.below(std::size(kDevices))]};
  goal.request_rate = draws.below(6) == 0 ? 0 : 0.5 * static_cast<double>(1 + draws.below(200));
  if (goal.request_rate == 0) goal.buyer.gpus = 1 << draws.below(5);
  goal.isl = 64.0 * static_cast<double>(1 + draws.below(64));
  goal.osl = 16.0 * static_cast<double>(1 + draws.below(64));
  if (draws.below(3) != 0) goal.ttft_s = 0.1 * static_cast<double>(1 + draws.below(30));
  if (draws.below(3) != 0) goal.tpot_s = 0.005 * static_cast<double>(1 + draws.below(20));
  if (draws.below(4) == 0) goal.buyer.budget_usd = 1e5 * static_cast<double>(1 + draws.below(30));
  if (draws.below(4) == 0) goal.buyer.power_w = 2e3 * static_cast<double>(1 + draws.below(30));
  static constexpr Objective kObjectives[] = {Objective::cost, Objective::energy, Objective::gpus};
  goal.objective = kObjectives[draws.below(3)];
  goal.tp = draws.below(2) == 0 ? 0 : 1 << draws.below(4);
  goal.kv = {Format::bf16};
  return goal;
}

}  // namespace ridge::testing_support
