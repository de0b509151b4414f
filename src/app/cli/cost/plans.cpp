#include "app/cli/cost/plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "app/cli/plan/flags.hpp"
#include "app/cli/plan/save.hpp"
#include "report/plan/report.hpp"
#include "ridge/perf/usual.hpp"
#include "ridge/report/report.hpp"
#include "search/problem.hpp"
#include "search/problems/serving_problem.hpp"
#include "search/problems/training_problem.hpp"

namespace ridge::cli {

namespace {

/// What both verbs know under the same name. Anything else that is said describes what runs.
constexpr std::string_view kOfTheWork[] = {"--model",  "--isl",       "--osl",          "--prefix-hit",
                                           "--engine", "--precision", "--kv-precision", "--power-cap"};
constexpr std::string_view kOfTheRun[] = {"--model", "--gpus",   "--tokens",    "--seq-length", "--global-batch",
                                          "--task",  "--engine", "--precision", "--power-cap"};
constexpr std::string_view kOfTheGoal[] = {"--request-rate", "--ttft", "--tpot", "--e2e", "--confidence"};

/// Whether nothing is said but these and the devices.
bool says_only(const EstimateFlags& flags, std::span<const std::string_view> known) {
  const std::vector<std::string_view> given = flags.given_names();
  return std::all_of(given.begin(), given.end(), [&](std::string_view flag) {
    return flag == "--device" || std::find(known.begin(), known.end(), flag) != known.end();
  });
}

/// What only a training run has makes it one; how many devices it has is said.
bool trains_openly(const CostCommand& command) {
  return command.estimate.given("--gpus") && !command.estimate.check(kInfer).ok() &&
         says_only(command.estimate, kOfTheRun);
}

Status set_buyer(Session& session, const CostCommand& command, Purchase purchase,
                 const std::vector<std::string>& devices, Buyer& buyer) {
  CostQuery query;
  if (const Status s = command.cost.fill(query); !s) return s.error();
  buyer.date = session.price_date();
  buyer.software_date = session.software_date();
  buyer.devices = devices;
  buyer.purchase = purchase;
  buyer.owner = query.profile;
  buyer.region = purchase == Purchase::own ? query.region : query.provider;
  return {};
}

Result<ServingGoal> goal_of(Session& session, const CostCommand& command, Purchase purchase,
                            const std::vector<std::string>& devices, bool& usual_rate) {
  PlanFlags flags;
  for (const std::string_view flag : kOfTheWork) flags.fill(flag, command.estimate.value(flag));
  for (const std::string_view flag : kOfTheGoal) flags.fill(flag, command.cost.value(flag));
  usual_rate = !flags.given("--request-rate");
  if (usual_rate) flags.fill("--request-rate", exact_number(usual::kRequestRate));
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  Result<ServingGoal> goal =
      serving_goal(flags, {session.price_date(), session.software_date(), *data, session.files()});
  if (!goal) return goal.error();
  goal->patience = session.patience();
  if (const Status s = set_buyer(session, command, purchase, devices, goal->buyer); !s) return s.error();
  return goal;
}

Result<TrainingGoal> run_of(Session& session, const CostCommand& command, Purchase purchase,
                            const std::vector<std::string>& devices) {
  PlanFlags flags;
  for (const std::string_view flag : kOfTheRun) flags.fill(flag, command.estimate.value(flag));
  for (const std::string_view flag : kOfTheGoal) flags.fill(flag, command.cost.value(flag));
  flags.fill("--goodput", command.cost.value("--goodput"));
  flags.fill("--objective", "cost");
  if (const Status s = flags.check(PlanKind::train); !s) return s.error();
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  Result<TrainingGoal> goal =
      training_goal(flags, {session.price_date(), session.software_date(), *data, session.files()});
  if (!goal) return goal.error();
  goal->patience = session.patience();
  if (const Status s = set_buyer(session, command, purchase, devices, goal->buyer); !s) return s.error();
  return goal;
}

/// What a search found; refuses what prepare() refuses.
template <class Verdict, class Quest>
Result<Verdict> searched(Session& session, const Quest& quest, const Knowledge& knowledge) {
  search::SearchOptions options;
  options.observe = [&](const search::SearchState&) { return !session.stopped(); };
  const Findings found = search::search(*quest.problem, options).findings;
  if (const Status s = session.in_time(); !s) return s.error();
  Verdict verdict = judge(quest, found, knowledge);
  if (const Status s = session.in_time(); !s) return s.error();
  return verdict;
}

void add_losers(const std::vector<Loser>& losers, PlannedWork& out) {
  for (const Loser& loser : losers) {
    if (out.of(loser.device) == nullptr) out.devices.push_back({loser.device, std::nullopt, 1, 1, loser.why});
  }
}

/// The plan as `ridge plan --save` would write it.
InferenceQuestion question_of(const ServingPlan& plan) {
  InferenceQuestion question{plan.query, {}};
  question.query.gpus = plan.replicas * plan.query.gpus;
  question.query.load.concurrency = plan.concurrency * plan.replicas;
  question.query.weights = plan.facts.weights;
  question.query.activations = plan.facts.activations;
  question.query.kv = plan.facts.kv;
  return question;
}

}  // namespace

const PlannedDevice* PlannedWork::of(std::string_view device) const {
  const auto at = std::find_if(devices.begin(), devices.end(), [&](const auto& one) { return one.device == device; });
  return at == devices.end() ? nullptr : &*at;
}

bool leaves_open(const CostCommand& command) {
  if (!command.estimate.given("--model")) return false;
  for (const char* direct : {"--throughput", "--mfu"}) {
    if (command.cost.given(direct)) return false;
  }
  return trains_openly(command) || says_only(command.estimate, kOfTheWork);
}

namespace {

Result<PlannedWork> planned_serving(Session& session, const CostCommand& command, const EconomicsData& data,
                                    Purchase purchase, const std::vector<std::string>& devices,
                                    const Knowledge& knowledge) {
  bool usual_rate = false;
  const Result<ServingGoal> goal = goal_of(session, command, purchase, devices, usual_rate);
  if (!goal) return goal.error();
  const Result<ServingQuest> quest = prepare(*goal, knowledge, &data);
  if (!quest) return quest.error();
  const Result<ServingVerdict> verdict = searched<ServingVerdict>(session, *quest, knowledge);
  if (!verdict) return verdict.error();
  PlannedWork out;
  out.question = report::goal_text(quest->goal);
  out.assumptions = quest->assumptions;
  if (usual_rate) {
    out.assumptions.insert(out.assumptions.begin(),
                           fmt::format("{:.0f} requests a second, since no rate is given", usual::kRequestRate));
  }
  const auto add = [&](const ServingPlan& plan) -> Status {
    Result<CostWork> work = work_of(session, question_of(plan));
    if (!work) return work.error();
    work->model = command.estimate.value("--model");
    out.devices.push_back({plan.query.device, *std::move(work), std::min(1.0, plan.load()), 1,
                           fmt::format("{} in {}", report::layout_text(plan), report::formats_text(plan))});
    return {};
  };
  for (const ServingPlan& plan : verdict->plans) {
    if (const Status s = add(plan); !s) return s.error();
  }
  for (const UnpricedPlan& one : verdict->unpriced) {
    if (const Status s = add(one.plan); !s) return s.error();
  }
  add_losers(verdict->losers, out);
  return out;
}

Result<PlannedWork> planned_training(Session& session, const CostCommand& command, const EconomicsData& data,
                                     Purchase purchase, const std::vector<std::string>& devices,
                                     const Knowledge& knowledge) {
  const Result<TrainingGoal> goal = run_of(session, command, purchase, devices);
  if (!goal) return goal.error();
  const Result<TrainingQuest> quest = prepare(*goal, knowledge, &data);
  if (!quest) return quest.error();
  const Result<TrainingVerdict> verdict = searched<TrainingVerdict>(session, *quest, knowledge);
  if (!verdict) return verdict.error();
  PlannedWork out;
  out.question = report::goal_text(quest->goal);
  out.assumptions = quest->assumptions;
  for (const TrainingPick& pick : verdict->plans) {
    TrainingQuestion question;
    question.query = training_query(quest->goal, pick, command.estimate.value("--model"));
    question.query.date = quest->goal.buyer.software_date;
    Result<CostWork> work = work_of(session, question);
    if (!work) return work.error();
    work->run_tokens = quest->goal.tokens;
    out.devices.push_back({pick.device, *std::move(work), 1, pick.goodput / kept_share(goal->buyer, &data),
                           fmt::format("{} in {}", report::layout_text(pick), name(pick.precision))});
  }
  add_losers(verdict->losers, out);
  return out;
}

}  // namespace

Result<PlannedWork> planned_work(Session& session, const CostCommand& command, const EconomicsData& data,
                                 Purchase purchase, const std::vector<std::string>& devices) {
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  return trains_openly(command) ? planned_training(session, command, data, purchase, devices, *knowledge)
                                : planned_serving(session, command, data, purchase, devices, *knowledge);
}

CostFlags flags_of(const CostFlags& flags, const PlannedDevice& planned) {
  CostFlags out = flags;
  if (!out.given("--utilization")) out.set("--utilization", exact_number(planned.utilisation));
  if (!out.given("--goodput") && planned.goodput < 1) out.set("--goodput", exact_number(planned.goodput));
  return out;
}

}  // namespace ridge::cli
