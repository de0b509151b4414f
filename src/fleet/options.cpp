// The columns: the best way to serve each model, and to run each job, on each kind of device of the estate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "economics/economics_data.hpp"
#include "ridge/base/text.hpp"
#include "ridge/fleet/fleet.hpp"
#include "search/buyer/sentences.hpp"
#include "search/problem.hpp"
#include "search/problems/serving_problem.hpp"
#include "search/problems/training_problem.hpp"

namespace ridge::fleet {

namespace {

/// Replicas that an option is rated with: what they do together is shared out among them, and no more of them than this
/// are simulated at once (src/search/serving/confirm.cpp).
constexpr double kRatedReplicas = 12;

std::vector<std::string> kinds_of(const Problem& problem) {
  std::set<std::string> kinds;
  for (const Pool& pool : problem.pools) kinds.insert(pool.device);
  return {kinds.begin(), kinds.end()};
}

const Pool& any_pool(const Problem& problem, const std::string& device) {
  return *std::find_if(problem.pools.begin(), problem.pools.end(), [&](const Pool& p) { return p.device == device; });
}

Error at_line(const std::string& where, const std::string& who, const std::string& why) {
  return Error{ErrorCode::infeasible, where, who + ": " + why};
}

std::string reasons(const std::vector<Loser>& losers) {
  std::string out;
  for (const Loser& loser : losers) out += "\n  " + loser.device + ": " + loser.why;
  return out;
}

Result<std::vector<Option>> serving_options(const Service& service, int index, const AskedService& asked,
                                            const Problem& problem, const Knowledge& knowledge,
                                            const EconomicsData* economics, const Patience& patience) {
  ServingGoal goal;
  goal.model = service.model;
  goal.engine = asked.engine;
  goal.isl = asked.isl;
  goal.osl = asked.osl;
  goal.ttft_s = asked.ttft_s;
  goal.tpot_s = asked.tpot_s;
  goal.prefix_hit = asked.prefix_hit;
  goal.confidence = problem.confidence;
  goal.objective = Objective::gpus;  // of one kind, the fewest are the cheapest however they are had
  goal.buyer.announced = true;
  goal.buyer.devices = asked.devices.empty() ? kinds_of(problem) : asked.devices;
  goal.patience = patience;
  if (goal.ttft_s == 0 && goal.tpot_s == 0) {
    goal.ttft_s = 2;  // what plan serve assumes
    goal.tpot_s = 0.1;
  }
  const double peak = *std::max_element(service.demand.begin(), service.demand.end());
  goal.request_rate = std::max(peak, 1.0);
  for (int round = 0; round < 2; ++round) {
    const Result<ServingQuest> quest = prepare(goal, knowledge, economics);
    if (!quest) return at_line(asked.where, service.id, quest.error().message);
    search::SearchOptions how;
    how.observe = [&](const search::SearchState&) { return !patience.over(); };
    const search::SearchOutcome found = search::search(*quest->problem, how);
    if (round == 0) {
      // Enough requests that rounding up to whole replicas hardly counts.
      for (std::size_t g = 0; g < found.findings.groups.size(); ++g) {
        if (found.findings.groups[g].best.empty() || found.findings.groups[g].best.front().violation > 0) continue;
        const ServingPlan plan = search::serving_plan(*quest, g, found.findings.groups[g].best.front(), knowledge);
        goal.request_rate = std::max(goal.request_rate, kRatedReplicas * plan.requests_per_s);
      }
      continue;
    }
    ServingVerdict verdict = judge(*quest, found.findings, knowledge, goal.buyer.devices.size());
    if (verdict.plans.empty()) {
      std::vector<Loser> losers = quest->excluded;
      losers.insert(losers.end(), verdict.losers.begin(), verdict.losers.end());
      return at_line(
          asked.where, service.id,
          fmt::format("no kind of device that is there or on offer serves {} within the limits{}{}", service.model,
                      verdict.nearest_goal.empty() ? "" : "; nearest: " + marked(verdict.nearest_goal),
                      reasons(losers)));
    }
    std::vector<Option> options;
    for (ServingPlan& plan : verdict.plans) {
      Option option;
      option.service = index;
      option.device = plan.query.device;
      option.gpus = plan.query.gpus;
      option.requests_per_s = goal.request_rate / plan.replicas;
      const Pool& pool = any_pool(problem, option.device);
      const auto device = knowledge.catalogue.find_device(option.device);
      const double host = pool.watts - (device && device->tdp ? device->tdp->value.value() : 0);
      option.watts = std::min(plan.watts.mid / plan.replicas + option.gpus * host, option.gpus * pool.watts);
      option.layout = search::degrees_text(plan.query, plan.facts);
      if (plan.query.weights) option.layout += fmt::format(", {}", ridge::name(*plan.query.weights));
      option.slowness = plan.sure.step.factor(problem.confidence);
      option.query = std::move(plan.query);
      options.push_back(std::move(option));
    }
    return options;
  }
  return std::vector<Option>{};
}

Result<std::vector<JobRate>> job_rates(const Job& job, const AskedJob& asked, const Problem& problem,
                                       const Knowledge& knowledge, const EconomicsData* economics,
                                       const Patience& patience) {
  std::vector<JobRate> rates;
  if (!asked.gpu_hours.empty()) {
    for (const auto& [device, hours] : asked.gpu_hours) {
      const bool there = std::any_of(problem.pools.begin(), problem.pools.end(),
                                     [&, id = device](const Pool& p) { return p.device == id; });
      if (there) rates.push_back({device, 1 / hours, any_pool(problem, device).watts, "as the file says"});
    }
    if (rates.empty()) return at_line(asked.where, job.id, "none of the devices of gpu_hours is there or on offer");
    return rates;
  }
  TrainingGoal goal;
  goal.model = asked.model;
  goal.engine = asked.engine;
  goal.tokens = asked.tokens;
  const Result<TrainingTask> task = parse_training_task(asked.task);
  if (!task) return at_line(asked.where, job.id, task.error().message);
  goal.task = *task;
  goal.gpus = {asked.gpus};
  goal.confidence = problem.confidence;
  goal.objective = Objective::time;
  goal.buyer.announced = true;
  goal.buyer.devices = kinds_of(problem);
  goal.patience = patience;
  const Result<TrainingQuest> quest = prepare(goal, knowledge, economics);
  if (!quest) return at_line(asked.where, job.id, quest.error().message);
  search::SearchOptions how;
  how.observe = [&](const search::SearchState&) { return !patience.over(); };
  const TrainingVerdict verdict =
      judge(*quest, search::search(*quest->problem, how).findings, knowledge, goal.buyer.devices.size());
  for (const TrainingPick& pick : verdict.plans) {
    const double days = pick.days_sure ? *pick.days_sure : pick.days ? pick.days->mid : 0;
    const bool known =
        std::any_of(rates.begin(), rates.end(), [&](const JobRate& r) { return r.device == pick.device; });
    if (!(days > 0) || known) continue;
    rates.push_back({pick.device, 1 / (days * 24 * asked.gpus), any_pool(problem, pick.device).watts,
                     fmt::format("on {} GPUs: {:.3g} days", asked.gpus, days)});
  }
  if (rates.empty()) {
    return at_line(asked.where, job.id,
                   fmt::format("{} cannot be trained on {} of any device that is there or on offer{}", asked.model,
                               asked.gpus, reasons(verdict.losers)));
  }
  return rates;
}

}  // namespace

int pieces_to_rate(const Estate& estate) {
  return static_cast<int>(estate.services.size() + estate.jobs.size());
}

namespace {

/// A search that was cut short knows neither what serves a model best nor that nothing does.
Rated in_time(Rated rated, const Estate& estate, int piece, const Patience& patience) {
  if (!patience.over()) return rated;
  const auto at = static_cast<std::size_t>(piece);
  const std::size_t services = estate.services.size();
  const std::string& id = at < services ? estate.problem.services[at].id : estate.problem.jobs[at - services].id;
  rated = {};
  rated.error = Error{ErrorCode::refused, "",
                      fmt::format("no answer: time was over before it was known how fast each kind of device is for "
                                  "{}, {} of {}; give it more by ⟦time_limit⟧",
                                  id, piece + 1, pieces_to_rate(estate))};
  return rated;
}

}  // namespace

Rated rate_piece(const Estate& estate, int piece, const Knowledge& knowledge, const EconomicsData* economics,
                 const Patience& patience) {
  const Problem& problem = estate.problem;
  const auto at = static_cast<std::size_t>(piece);
  Rated out;
  if (at < estate.services.size()) {
    auto options =
        serving_options(problem.services[at], piece, estate.services[at], problem, knowledge, economics, patience);
    if (options) {
      out.options = *std::move(options);
    } else {
      out.error = options.error();
    }
    return in_time(std::move(out), estate, piece, patience);
  }
  const std::size_t j = at - estate.services.size();
  auto rates = job_rates(problem.jobs[j], estate.jobs[j], problem, knowledge, economics, patience);
  if (rates) {
    out.rates = *std::move(rates);
  } else {
    out.error = rates.error();
  }
  return in_time(std::move(out), estate, piece, patience);
}

Result<Problem> put_together(const Estate& estate, std::vector<Rated> pieces) {
  Problem problem = estate.problem;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool serves = i < problem.services.size();
    const bool elsewhere = serves && std::any_of(problem.apis.begin(), problem.apis.end(),
                                                 [&](const Api& a) { return a.service == static_cast<int>(i); });
    if (pieces[i].error && elsewhere && pieces[i].error->code != ErrorCode::refused) continue;
    if (pieces[i].error) return *pieces[i].error;
    if (serves) {
      std::move(pieces[i].options.begin(), pieces[i].options.end(), std::back_inserter(problem.options));
    } else {
      problem.jobs[i - problem.services.size()].rates = std::move(pieces[i].rates);
    }
  }
  problem.assumptions.push_back(fmt::format(
      "replicas are rated by {:g} of them together: rate and limits hold for 95 % of simulated requests with {:.0f} %",
      kRatedReplicas, 100 * problem.confidence));
  if (!problem.jobs.empty())
    problem.assumptions.emplace_back(
        "training takes what serving leaves free hour by hour, checkpoints and restarts as the goodput model counts "
        "them");
  if (std::any_of(problem.jobs.begin(), problem.jobs.end(), [](const Job& j) { return j.mixed; }))
    problem.assumptions.emplace_back(
        "of a job on mixed kinds of devices each takes samples in proportion to its own speed, so that none waits for "
        "another in a step; what it costs to reduce gradients between kinds is not counted");
  return problem;
}

Result<Problem> rate_options(const Estate& estate, const Knowledge& knowledge, const EconomicsData* economics,
                             const Patience& patience) {
  std::vector<Rated> pieces;
  for (int piece = 0; piece < pieces_to_rate(estate); ++piece) {
    pieces.push_back(rate_piece(estate, piece, knowledge, economics, patience));
    if (pieces.back().error && patience.over()) return *pieces.back().error;
  }
  return put_together(estate, std::move(pieces));
}

}  // namespace ridge::fleet
