// A day of each month of the answer, request by request.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "base/parallel.hpp"
#include "ridge/fleet/fleet.hpp"
#include "ridge/serve/simulation.hpp"
#include "search/buyer/sentences.hpp"

namespace ridge::fleet {

namespace {

constexpr int kMostTogether = 12;  ///< replicas simulated at once; more of them behave like as many dozens
constexpr double kPromisedShare = 0.95;
constexpr int kRounds = 4;            ///< of solving and simulating
constexpr int kHalvings = 6;          ///< of the loads between none and one that does not hold
constexpr double kLeastRating = 0.1;  ///< of what it was rated at; less than that is no way to serve

/// Replicas of one option at one load: what many hours have in common.
struct Situation {
  const Option* option = nullptr;
  const AskedService* asked = nullptr;
  int replicas = 1;
  double load = 0;  ///< of what they can do
  double within = 1, ttft = 0, tpot = 0, requests = 0;
  std::optional<Error> error = {};
};

void play(Situation& now, const Knowledge& knowledge, const Patience& patience) {
  const InferenceQuery& query = *now.option->query;
  const auto deployment = resolve(query, knowledge);
  if (!deployment) {
    now.error = deployment.error();
    return;
  }
  const double slow = now.option->slowness;
  SimulationQuery q;
  q.deployment = query;
  q.workload = fixed_workload(now.asked->isl, now.asked->osl);
  if (now.asked->prefix_hit > 0) {
    q.workload.classes.front().shared_prefix = static_cast<std::uint32_t>(now.asked->prefix_hit * now.asked->isl);
  }
  q.replicas = now.replicas;
  q.load.kind = OfferedKind::rate;
  // Steps that take s times as long: the predicted service at s times the rate, with limits divided by s.
  q.load.rate = now.load * now.replicas * now.option->requests_per_s * slow;
  q.requests = std::clamp(250.0 * q.replicas, 1000.0, 3000.0);
  q.limits.ttft = now.asked->ttft_s / slow;
  q.limits.tpot = now.asked->tpot_s / slow;
  search::PatientObserver observer(patience);
  const auto result = simulate(q, *deployment, nullptr, &observer);
  if (!result) {
    now.error = result.error();
    return;
  }
  now.requests = static_cast<double>(result->finished);
  // Each limit is promised for 95 % of the requests, as plan serve does.
  const double first = q.limits.ttft > 0 ? result->ttft.share_within(q.limits.ttft) : 1;
  const double pace = q.limits.tpot > 0 ? result->tpot.share_within(q.limits.tpot) : 1;
  now.within = result->overloaded ? 0 : std::min(first, pace);
  now.ttft = result->ttft.p95() * slow;
  now.tpot = result->tpot.p95() * slow;
}

/// Up to a 16th, up to a 64th where it is high.
double load_step(double load) {
  const double steps = load > 0.75 ? 64 : 16;
  return std::ceil(steps * load - 1e-6) / steps;
}

/// The load at which as many replicas hold the limits that they miss at this one.
double load_that_holds(Situation now, const Knowledge& knowledge, const Patience& patience) {
  double holds = 0;
  double misses = now.load;
  for (int i = 0; i < kHalvings && !patience.over(); ++i) {
    now.load = (holds + misses) / 2;
    play(now, knowledge, patience);
    (!now.error && now.within >= kPromisedShare ? holds : misses) = now.load;
  }
  return std::max(kLeastRating, holds);
}

/// Replicas are rated a dozen together; one or two of them do less. Options that missed a limit do as much as they were
/// seen to do.
void rate_lower(Problem& problem, const std::vector<Situation>& late, const Knowledge& knowledge,
                const Patience& patience) {
  std::vector<double> holds(late.size(), 1.0);
  parallel_for(late.size(), 0, [&](std::size_t i) { holds[i] = load_that_holds(late[i], knowledge, patience); });
  std::vector<double> share(problem.options.size(), 1.0);
  for (std::size_t i = 0; i < late.size(); ++i) {
    double& least = share[static_cast<std::size_t>(late[i].option - problem.options.data())];
    least = std::min(least, holds[i]);
  }
  for (std::size_t o = 0; o < share.size(); ++o) problem.options[o].requests_per_s *= share[o];
}

}  // namespace

bool Replayed::holds() const {
  return std::all_of(days.begin(), days.end(), [](const Replay& day) { return day.holds; });
}

namespace {

/// replay(), and what missed its limits.
Result<std::vector<Replay>> replayed(const Estate& estate, const Problem& problem, const Answer& answer,
                                     const Knowledge& knowledge, const Patience& patience,
                                     std::vector<Situation>* late) {
  struct Part {
    std::size_t row, situation;
    double rate;
  };
  std::vector<Situation> situations;
  std::map<std::tuple<int, int, double>, std::size_t> known;
  std::vector<Replay> days;
  std::vector<std::vector<Part>> parts;
  for (int month = 0; month < problem.months; ++month) {
    Replay& out = days.emplace_back();
    std::vector<Part>& of_day = parts.emplace_back();
    out.month = month;
    for (std::size_t s = 0; s < problem.services.size(); ++s) {
      for (int h = 0; h < problem.hours; ++h) {
        ReplayHour row;
        row.service = static_cast<int>(s);
        row.hour = h;
        double able = 0;
        for (const Placement& p : answer.placements) {
          const Option& option = problem.options[static_cast<std::size_t>(p.option)];
          if (option.service != static_cast<int>(s)) continue;
          const double replicas = p.replicas[p.stock < 0 ? static_cast<std::size_t>(month) : problem.at(month, h)];
          const double rate = p.routed[problem.at(month, h)];
          row.rate += rate;
          row.replicas += replicas;
          able += replicas * option.requests_per_s;
          if (!(replicas > 0.5 && rate > 1e-9 && option.query)) continue;
          const int together = std::min(kMostTogether, static_cast<int>(std::lround(replicas)));
          const double load = load_step(rate / (replicas * option.requests_per_s));
          const auto [at, is_new] = known.try_emplace({p.option, together, load}, situations.size());
          if (is_new) situations.push_back({&option, &estate.services[s], together, load});
          of_day.push_back({out.hours.size(), at->second, rate});
        }
        row.utilisation = able > 0 ? row.rate / able : 0;
        out.hours.push_back(row);
      }
    }
  }
  parallel_for(situations.size(), 0, [&](std::size_t i) {
    if (!patience.over()) play(situations[i], knowledge, patience);
  });
  for (const Situation& now : situations) {
    if (now.error) return *now.error;
    if (late != nullptr && now.within < kPromisedShare) late->push_back(now);
  }
  for (std::size_t month = 0; month < days.size(); ++month) {
    Replay& out = days[month];
    for (const Part& part : parts[month]) {
      Situation& now = situations[part.situation];
      ReplayHour& row = out.hours[part.row];
      row.within -= part.rate / row.rate * (1 - now.within);
      row.ttft_p95_s = std::max(row.ttft_p95_s, now.ttft);
      row.tpot_p95_s = std::max(row.tpot_p95_s, now.tpot);
      out.requests += now.requests;
      now.requests = 0;  // counted once, where it first comes up
    }
    for (const ReplayHour& row : out.hours) out.holds = out.holds && row.within >= kPromisedShare - 1e-9;
  }
  return days;
}

}  // namespace

Result<std::vector<Replay>> replay(const Estate& estate, const Problem& problem, const Answer& answer,
                                   const Knowledge& knowledge, const Patience& patience) {
  return replayed(estate, problem, answer, knowledge, patience, nullptr);
}

Result<Replayed> plan_replayed(const Estate& estate, Problem problem, PlanOptions options, const Knowledge& knowledge,
                               const Patience& patience) {
  Replayed out{std::move(problem), {}, {}};
  options.marginals = false;
  std::optional<Replayed> before;
  for (int round = 0; round < kRounds; ++round) {
    options.before = before ? &before->answer : nullptr;
    out.answer = plan_fleet(out.problem, options);
    out.days.clear();
    // Time was over: the plan before is the best so far, and its days say what it misses.
    if (!out.answer.found && !out.answer.clash && before) return *std::move(before);
    if (!out.answer.found || out.problem.services.empty() || patience.over()) break;
    std::vector<Situation> late;
    Result<std::vector<Replay>> days = replayed(estate, out.problem, out.answer, knowledge, patience, &late);
    if (!days) return days.error();
    if (patience.over()) break;  // what was not simulated proves nothing
    out.days = *std::move(days);
    if (out.holds() || round + 1 == kRounds) break;
    before = out;
    before->answer.stopped = true;
    rate_lower(out.problem, late, knowledge, patience);
  }
  return out;
}

}  // namespace ridge::fleet
