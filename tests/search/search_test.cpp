// What must hold of any search: pruned equals exhaustive, and threads, cuts and interruptions change nothing.
#include <gtest/gtest.h>

#include "world.hpp"

namespace ridge {
namespace {

using search::SearchOptions;
using search::SearchOutcome;
using testing_support::knowledge;
using testing_support::random_serving_goal;
using testing_support::random_training_goal;

SearchOutcome run(const search::Problem& problem, bool prune, int threads = 2) {
  SearchOptions options;
  options.prune = prune;
  options.threads = threads;
  return search::search(problem, options);
}

TEST(Search, PrunedTrainingFindsWhatExhaustiveFinds) {
  Random draws(3);
  int compared = 0;
  std::uint64_t pruned = 0;
  for (int i = 0; i < 36; ++i) {
    const TrainingGoal goal = random_training_goal(draws);
    const auto quest = prepare(goal, knowledge());
    if (!quest || quest->problem->all().size() > 200'000) continue;
    const SearchOutcome all = run(*quest->problem, false);
    const SearchOutcome some = run(*quest->problem, true);
    EXPECT_EQ(all.findings, some.findings) << goal.model << " on " << goal.buyer.devices[0] << ", " << goal.gpus[0];
    EXPECT_EQ(all.count.evaluated, quest->problem->all().size());
    EXPECT_EQ(some.count.evaluated + some.count.pruned, quest->problem->all().size());
    pruned += some.count.pruned;
    ++compared;
  }
  EXPECT_GE(compared, 15);
  EXPECT_GT(pruned, 50'000u) << "a test of pruning in which nothing is pruned shows nothing";
}

TEST(Search, PrunedServingFindsWhatExhaustiveFinds) {
  Random draws(5);
  int compared = 0;
  std::uint64_t pruned = 0;
  for (int i = 0; i < 36; ++i) {
    const ServingGoal goal = random_serving_goal(draws);
    const auto quest = prepare(goal, knowledge());
    if (!quest || quest->problem->all().size() > 30'000) continue;
    const SearchOutcome all = run(*quest->problem, false);
    const SearchOutcome some = run(*quest->problem, true);
    EXPECT_EQ(all.findings, some.findings)
        << goal.model << " on " << goal.buyer.devices[0] << " rate " << goal.request_rate << " seed round " << i;
    pruned += some.count.pruned;
    ++compared;
  }
  EXPECT_GE(compared, 12);
  EXPECT_GT(pruned, 50'000u);
}

TEST(Search, ThreadsShardsAndResumingChangeNothing) {
  TrainingGoal goal;
  goal.model = "llama3.1-70b";
  goal.buyer.devices = {"h100-sxm", "mi300x"};
  goal.gpus = {32};
  goal.full_space = true;
  const auto quest = prepare(goal, knowledge());
  ASSERT_TRUE(quest) << quest.error().text();
  const search::Problem& problem = *quest->problem;
  const Findings whole = run(problem, true, 1).findings;
  EXPECT_EQ(run(problem, true, 8).findings, whole);

  Findings together;
  for (const int part : {2, 0, 1}) {
    SearchOptions options;
    options.range = shard(problem.all(), part, 3);
    options.prune = part != 1;
    const SearchOutcome found = search::search(problem, options);
    together = together.groups.empty() ? found.findings : merge(std::move(together), found.findings);
  }
  EXPECT_EQ(together, whole);

  SearchOptions stopped;
  int batches = 0;
  stopped.prune = false;
  stopped.observe = [&](const search::SearchState&) { return ++batches < 20; };
  const SearchOutcome first = search::search(problem, stopped);
  EXPECT_FALSE(first.complete);
  SearchOptions resumed;
  resumed.prune = false;
  resumed.known = first.findings;
  resumed.done = first.done;
  const SearchOutcome second = search::search(problem, resumed);
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(second.findings, whole);
  EXPECT_EQ(first.count.evaluated + second.count.evaluated, problem.all().size());
  EXPECT_EQ(second.done, (std::vector<Range>{problem.all()}));
}

TEST(TrainingSpace, HoldsEachPlanOnceAndOnlyWhatCanBeLaidOut) {
  for (const auto breadth : {search::Breadth::usual, search::Breadth::full}) {
    search::TrainingShape shape;
    shape.layers = 12;
    shape.heads = {12};
    shape.experts = 8;
    shape.sequence = 2048;
    shape.global_batch = 48;
    shape.breadth = breadth;
    const search::TrainingSpace space = search::training_space(shape, 24);
    ASSERT_GT(space.size(), 100u);
    std::set<std::string> seen;
    for (std::uint64_t i = 0; i < space.size(); ++i) {
      const TrainingPlan p = space.at(i);
      const int dp = p.gpus / (p.tp * p.pp * p.cp);
      EXPECT_EQ(p.tp * p.pp * p.cp * dp, 24);
      EXPECT_EQ(12 % p.tp, 0);
      EXPECT_EQ(p.tp * p.cp * dp % (p.ep * p.etp), 0);
      EXPECT_EQ(48 % (dp * p.micro_batch), 0);
      const bool fresh =
          seen.insert(std::to_string(p.tp) + "," + std::to_string(p.pp) + "," + std::to_string(p.vp) + "," +
                      std::to_string(p.cp) + "," + std::to_string(p.ep) + "," + std::to_string(p.etp) + "," +
                      std::to_string(p.micro_batch) + "," + std::to_string(static_cast<int>(p.sharding)) + "," +
                      std::to_string(p.shard_group) + "," + std::to_string(static_cast<int>(p.recompute)) + "," +
                      std::to_string(static_cast<int>(p.schedule)) + "," + std::to_string(static_cast<int>(p.context)) +
                      "," + std::to_string(p.offload) + "," + std::to_string(p.offload_optimizer))
              .second;
      EXPECT_TRUE(fresh);
    }
  }
}

TEST(TrainingProblem, ScoresAreThoseOfEvaluate) {
  TrainingGoal goal;
  goal.model = "mixtral-8x7b";
  goal.buyer.devices = {"h100-sxm"};
  goal.gpus = {64};
  goal.full_space = true;
  goal.objective = Objective::time;
  const auto quest = prepare(goal, knowledge());
  ASSERT_TRUE(quest);
  const SearchOutcome found = run(*quest->problem, true);
  for (std::size_t g = 0; g < found.findings.groups.size(); ++g) {
    for (const Scored& s : found.findings.groups[g].best) EXPECT_EQ(quest->problem->score(g, s.index), s);
  }
}

TEST(ServingModel, MoreRequestsAtOnceAreNeverFasterForOne) {
  Random draws(9);
  int compared = 0;
  for (int i = 0; i < 40; ++i) {
    const auto quest = prepare(random_serving_goal(draws), knowledge());
    if (!quest) continue;
    const auto& deployments = quest->problem->spec(0).deployments;
    const InferenceQuery& query = deployments[draws.below(deployments.size())];
    const auto deployment = resolve(query, knowledge());
    ASSERT_TRUE(deployment);
    InferenceEstimate before;
    double last = 0;
    for (const double c : search::ServingProblem::concurrencies()) {
      InferenceLoad load = quest->problem->load();
      load.concurrency = c;
      const InferenceOutcome o = evaluate(*deployment->resolved, load);
      if (o.reason != Reason::none) break;
      if (before.output_tokens_per_s.mid > 0) {
        const double less = 1 - 1e-6;
        // L = c / X, by Little's law.
        EXPECT_GE(c / o.estimate.output_tokens_per_s.mid, last / before.output_tokens_per_s.mid * less) << query.model;
        EXPECT_GE(o.estimate.tpot_s.mid, before.tpot_s.mid * less) << query.model << " at " << c;
        EXPECT_GE(o.estimate.ttft_s.mid, before.ttft_s.mid * less) << query.model << " at " << c;
        EXPECT_GE(o.estimate.e2e_s.mid, before.e2e_s.mid * less) << query.model << " at " << c;
        ++compared;
      }
      before = o.estimate;
      last = c;
    }
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace ridge
