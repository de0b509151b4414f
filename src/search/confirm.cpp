// Finalists, looked at request by request and failure by failure before they are shown.
#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "economics/goodput_case.hpp"
#include "ridge/goodput.hpp"
#include "ridge/simulation.hpp"
#include "ridge/text.hpp"
#include "search/sentences.hpp"
#include "search/serving_problem.hpp"

namespace ridge::search {

namespace {

constexpr int kMostSimulated = 12;  ///< replicas; more of them behave like as many dozens
constexpr double kSecondsADay = 86400;
constexpr double kUsualRunDays = 30;
constexpr int kTrials = 60;

SimulationQuery question(const ServingQuest& quest, const ServingPlan& plan, int replicas) {
  const ServingGoal& goal = quest.goal;
  SimulationQuery q;
  q.deployment = plan.query;
  q.workload = fixed_workload(goal.isl, goal.osl);
  if (goal.prefix_hit > 0) {
    q.workload.classes.front().shared_prefix = static_cast<std::uint32_t>(goal.prefix_hit * goal.isl);
  }
  q.replicas = std::min(replicas, kMostSimulated);
  q.load.kind = OfferedKind::rate;
  q.load.rate = goal.request_rate * q.replicas / replicas;
  q.requests = std::clamp(250.0 * q.replicas, 1000.0, 3000.0);
  q.limits.ttft = goal.ttft_s;
  q.limits.tpot = goal.tpot_s;
  q.limits.e2e = goal.e2e_s;
  return q;
}

/// Of what a number of replicas gave.
struct Trial {
  int replicas = 0;
  bool holds = false;
  double concurrency = 0;   ///< of one replica, that makes as many requests by the mean as it is given; 0 = none does
  InferenceEstimate rated;  ///< at that
  double ttft_p95 = 0, tpot_p95 = 0;
  std::string broken;
};

class Confirmation {
 public:
  Confirmation(const ServingQuest& quest, const ServingPlan& plan, const InferenceDeployment& deployment)
      : quest_(quest), plan_(plan), deployment_(deployment) {}

  /// The fewest replicas that hold, near those of the plan; `holds` is false if twice as many do not.
  Trial run() {
    Trial best = look(plan_.replicas);
    if (best.holds) {
      int low = std::max(1, static_cast<int>(std::floor(plan_.replicas * quest_.goal.load))) - 1;  // does not hold
      while (best.holds && best.replicas - low > 1) {
        const int middle = low + (best.replicas - low) / 2;
        const Trial trial = look(middle);
        if (trial.holds) {
          best = trial;
        } else {
          low = middle;
        }
      }
      return best;
    }
    int low = plan_.replicas;
    for (const double more : {1.15, 1.4, 2.0}) {
      const int replicas = std::max(low + 1, static_cast<int>(std::ceil(plan_.replicas * more)));
      Trial trial = look(replicas);
      if (!trial.holds) {
        best = trial;
        low = replicas;
        continue;
      }
      while (trial.replicas - low > std::max(1, plan_.replicas / 20)) {
        const int middle = low + (trial.replicas - low) / 2;
        const Trial between = look(middle);
        if (between.holds) {
          trial = between;
        } else {
          low = middle;
        }
      }
      return trial;
    }
    return best;
  }

 private:
  Trial look(int replicas) {
    Trial trial;
    trial.replicas = replicas;
    const SimulationQuery q = question(quest_, plan_, replicas);
    PatientObserver observer(quest_.goal.patience);
    const auto result = simulate(q, deployment_, nullptr, &observer);
    if (!result) {
      trial.broken = result.error().message;
      return trial;
    }
    trial.ttft_p95 = result->ttft.p95();
    trial.tpot_p95 = result->tpot.p95();
    trial.broken = result->overloaded ? "overload" : broken_limit(*result, q.limits);
    rate_for(quest_.goal.request_rate / replicas, trial);
    // More than they can do at any concurrency would fall behind, however short the simulation.
    if (trial.broken.empty() && trial.concurrency <= 0) trial.broken = "overload";
    trial.holds = trial.broken.empty();
    return trial;
  }

  /// At the plan's concurrency, or the least above it that makes so many requests a second.
  void rate_for(double requests_per_s, Trial& trial) const {
    InferenceLoad load = plan_.query.load;
    for (const double concurrency : ServingProblem::concurrencies()) {
      if (concurrency < plan_.concurrency) continue;
      load.concurrency = concurrency;
      const InferenceOutcome o = evaluate(*deployment_.resolved, load);
      if (o.reason != Reason::none || o.estimate.output_tokens_per_s.mid / load.osl < requests_per_s) continue;
      trial.concurrency = concurrency;
      trial.rated = o.estimate;
      return;
    }
  }

  const ServingQuest& quest_;
  const ServingPlan& plan_;
  const InferenceDeployment& deployment_;
};

void apply(const ServingQuest& quest, ServingPlan& plan, const Trial& trial, const Knowledge& knowledge) {
  plan.ttft_p95_s = trial.ttft_p95;
  plan.tpot_p95_s = trial.tpot_p95;
  const SimulationQuery asked = question(quest, plan, trial.replicas);
  plan.simulated_requests = std::round(asked.requests * trial.replicas / asked.replicas);
  if (trial.replicas != plan.replicas) {
    plan.confirmed = fmt::format("simulated: {} replicas hold the limits for 95 % of the requests, {} by the mean",
                                 trial.replicas, plan.replicas);
    plan.replicas = trial.replicas;
    plan.gpus = trial.replicas * plan.query.gpus;
    plan.concurrency = plan.query.load.concurrency = trial.concurrency;
    rate(plan, trial.rated);
    price(plan, quest, knowledge);
  } else {
    plan.confirmed = "simulated: 95 % of the requests hold the limits";
  }
}

}  // namespace

void confirm(const ServingQuest& quest, ServingVerdict& verdict, std::size_t finalists, const Knowledge& knowledge) {
  if (quest.goal.request_rate <= 0) return;
  std::size_t count = 0;  // all plans of as many devices
  std::set<std::string> devices;
  while (count < verdict.plans.size()) {
    devices.insert(verdict.plans[count].query.device);
    if (devices.size() > finalists) break;
    ++count;
  }
  std::vector<Trial> trials(count);
  const Patience& patience = quest.goal.patience;
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    if (patience.over()) return;
    const ServingPlan& plan = verdict.plans[i];
    const auto deployment = resolve(plan.query, knowledge);
    if (deployment) trials[i] = Confirmation(quest, plan, *deployment).run();
  });
  if (patience.over()) {  // some were cut short: none is told from the others by it
    verdict.assumptions.emplace_back(kNotSimulated);
    return;
  }
  std::vector<ServingPlan> kept;
  for (std::size_t i = 0; i < verdict.plans.size(); ++i) {
    ServingPlan& plan = verdict.plans[i];
    if (i < count) {
      if (!trials[i].holds) {
        verdict.losers.push_back(
            {plan.query.device,
             fmt::format("simulated, even {} replicas do not hold the limits for 95 % of the requests ({})",
                         trials[i].replicas, trials[i].broken),
             trials[i].broken, 0, true});
        continue;
      }
      apply(quest, plan, trials[i], knowledge);
      ServingPlan means = plan;
      means.ttft_s.mid = means.tpot_s.mid = means.e2e_s.mid = 0;  // latency was simulated
      const Miss miss = worst_miss(quest, means, knowledge);
      if (miss.by > 1e-9) {
        verdict.losers.push_back({plan.query.device, "simulated, it " + miss.text, miss.limit, miss.by, true});
        continue;
      }
    }
    kept.push_back(std::move(plan));
  }
  verdict.plans = std::move(kept);
}

double goodput_of(const TrainingQuest& quest, const std::string& device, int gpus, double parameters,
                  const Knowledge& knowledge) {
  const TrainingGoal& goal = quest.goal;
  if (goal.goodput > 0) return goal.goodput;
  if (quest.economics == nullptr || goal.tokens <= 0) return 1;
  GoodputQuery query;
  query.gpus = gpus;
  query.parameters = parameters;
  query.device = device;
  query.useful_s = (goal.days > 0 ? goal.days : kUsualRunDays) * kSecondsADay;
  const auto inputs = goodput_inputs(query, knowledge.catalogue, *quest.economics);
  if (!inputs) return 1;
  const double share = expected_goodput(*inputs).goodput;
  return share > 0 && share <= 1 ? share : 1;
}

void confirm(const TrainingQuest& quest, TrainingVerdict& verdict, std::size_t finalists, const Knowledge& knowledge) {
  if (quest.economics == nullptr || quest.goal.goodput > 0) return;
  const auto model = knowledge.catalogue.find_model(quest.goal.model);
  if (!model) return;
  const double parameters = count_parameters(*model).total;
  const std::size_t count = std::min(finalists, verdict.plans.size());
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    TrainingPick& pick = verdict.plans[i];
    if (!pick.days || quest.goal.patience.over()) return;
    GoodputQuery query;
    query.gpus = pick.plan.gpus;
    query.parameters = parameters;
    query.device = pick.device;
    query.useful_s = pick.days->mid * pick.goodput * kSecondsADay;
    const auto inputs = goodput_inputs(query, knowledge.catalogue, *quest.economics);
    if (!inputs) return;
    const GoodputSample sample = simulate_goodput(*inputs, kTrials, 1, quest.goal.patience);
    if (quest.goal.patience.over()) return;
    pick.days_p95 = sample.time_to_train_s.high / kSecondsADay;
    pick.confirmed =
        fmt::format("simulated: {:.0f} interruptions, goodput {:.1f} %, {} days, {} at p95", sample.mean.interruptions,
                    100 * sample.mean.goodput, format_number(sample.mean.time_to_train_s / kSecondsADay),
                    format_number(*pick.days_p95));
  });
  if (quest.goal.patience.over()) verdict.assumptions.emplace_back(kNotSimulated);
}

}  // namespace ridge::search
