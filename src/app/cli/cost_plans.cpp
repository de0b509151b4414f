#include "app/cli/cost_plans.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/plan_flags.hpp"
#include "report/plan_report.hpp"
#include "ridge/report.hpp"
#include "ridge/usual.hpp"
#include "search/problem.hpp"
#include "search/serving_problem.hpp"

namespace ridge::cli {

namespace {

/// What both verbs know under the same name. Anything else that is said describes what runs.
constexpr std::string_view kOfTheWork[] = {"--model",  "--isl",       "--osl",          "--prefix-hit",
                                           "--engine", "--precision", "--kv-precision", "--power-cap"};
constexpr std::string_view kOfTheGoal[] = {"--request-rate", "--ttft", "--tpot", "--e2e", "--confidence"};

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
  CostQuery query;
  if (const Status s = command.cost.fill(query); !s) return s.error();
  goal->patience = session.patience();
  goal->buyer.devices = devices;
  goal->buyer.purchase = purchase;
  goal->buyer.owner = query.profile;
  goal->buyer.region = purchase == Purchase::own ? query.region : query.provider;
  return goal;
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
  const std::vector<std::string_view> given = command.estimate.given_names();
  return std::all_of(given.begin(), given.end(), [](std::string_view flag) {
    return flag == "--device" || std::find(std::begin(kOfTheWork), std::end(kOfTheWork), flag) != std::end(kOfTheWork);
  });
}

Result<PlannedWork> planned_work(Session& session, const CostCommand& command, const EconomicsData& data,
                                 Purchase purchase, const std::vector<std::string>& devices) {
  bool usual_rate = false;
  const Result<ServingGoal> goal = goal_of(session, command, purchase, devices, usual_rate);
  if (!goal) return goal.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<ServingQuest> quest = prepare(*goal, *knowledge, &data);
  if (!quest) return quest.error();
  search::SearchOptions options;
  options.observe = [&](const search::SearchState&) { return !session.stopped(); };
  const Findings found = search::search(*quest->problem, options).findings;
  if (const Status s = session.in_time(); !s) return s.error();
  const ServingVerdict verdict = judge(*quest, found, *knowledge);
  if (const Status s = session.in_time(); !s) return s.error();

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
    out.devices.push_back({plan.query.device, *std::move(work), std::min(1.0, plan.load()),
                           fmt::format("{} in {}", report::layout_text(plan), report::formats_text(plan))});
    return {};
  };
  for (const ServingPlan& plan : verdict.plans) {
    if (const Status s = add(plan); !s) return s.error();
  }
  for (const UnpricedPlan& one : verdict.unpriced) {
    if (const Status s = add(one.plan); !s) return s.error();
  }
  for (const Loser& loser : verdict.losers) {
    if (out.of(loser.device) == nullptr) out.devices.push_back({loser.device, std::nullopt, 1, loser.why});
  }
  return out;
}

CostFlags flags_of(const CostFlags& flags, const PlannedDevice& planned) {
  CostFlags out = flags;
  if (!out.given("--utilization")) out.set("--utilization", exact_number(planned.utilisation));
  return out;
}

}  // namespace ridge::cli
