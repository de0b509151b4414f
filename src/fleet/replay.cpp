// A day of the answer, request by request.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/parallel.hpp"
#include "ridge/fleet.hpp"
#include "ridge/simulation.hpp"
#include "search/sentences.hpp"

namespace ridge::fleet {

namespace {

constexpr int kMostTogether = 12;  ///< replicas simulated at once; more of them behave like as many dozens
constexpr double kPromisedShare = 0.95;
constexpr int kRounds = 4;          ///< of solving and simulating
constexpr double kDerating = 0.94;  ///< of an option whose requests came too late

/// One pool of one service in one hour.
struct Piece {
  std::size_t row = 0;  ///< of the replay
  const Option* option = nullptr;
  const AskedService* asked = nullptr;
  double rate = 0;
  double replicas = 0;
  double within = 1, ttft = 0, tpot = 0, requests = 0;
  std::optional<Error> error = {};
};

void play(Piece& piece, const Knowledge& knowledge, const Patience& patience) {
  const ServingPlan& plan = *piece.option->plan;
  const auto deployment = resolve(plan.query, knowledge);
  if (!deployment) {
    piece.error = deployment.error();
    return;
  }
  const double slow = piece.option->slowness;
  SimulationQuery q;
  q.deployment = plan.query;
  q.workload = fixed_workload(piece.asked->isl, piece.asked->osl);
  if (piece.asked->prefix_hit > 0) {
    q.workload.classes.front().shared_prefix = static_cast<std::uint32_t>(piece.asked->prefix_hit * piece.asked->isl);
  }
  q.replicas = std::min(kMostTogether, static_cast<int>(piece.replicas));
  q.load.kind = OfferedKind::rate;
  // Steps that take s times as long: the predicted service at s times the rate, with limits divided by s.
  q.load.rate = piece.rate * q.replicas / piece.replicas * slow;
  q.requests = std::clamp(250.0 * q.replicas, 1000.0, 3000.0);
  q.limits.ttft = piece.asked->ttft_s / slow;
  q.limits.tpot = piece.asked->tpot_s / slow;
  search::PatientObserver observer(patience);
  const auto result = simulate(q, *deployment, nullptr, &observer);
  if (!result) {
    piece.error = result.error();
    return;
  }
  piece.requests = static_cast<double>(result->finished);
  // Each limit is promised for 95 % of the requests, as plan serve does.
  const double first = q.limits.ttft > 0 ? result->ttft.share_within(q.limits.ttft) : 1;
  const double pace = q.limits.tpot > 0 ? result->tpot.share_within(q.limits.tpot) : 1;
  piece.within = result->overloaded ? 0 : std::min(first, pace);
  piece.ttft = result->ttft.p95() * slow;
  piece.tpot = result->tpot.p95() * slow;
}

/// The month in which the most is asked for.
int busiest_month(const Problem& problem) {
  int busiest = 0;
  double most = 0;
  for (int m = 0; m < problem.months; ++m) {
    double sum = 0;
    for (const Service& service : problem.services) {
      for (int h = 0; h < problem.hours; ++h) sum += service.demand[problem.at(m, h)] * service.output_tokens;
    }
    if (sum > most) {
      most = sum;
      busiest = m;
    }
  }
  return busiest;
}

/// Options of services that missed a limit do less than they were rated at.
void rate_lower(Problem& problem, const Answer& answer, const Replay& day) {
  std::vector<bool> late(problem.services.size(), false);
  for (const ReplayHour& hour : day.hours) {
    if (hour.within < kPromisedShare && hour.rate > 0) late[static_cast<std::size_t>(hour.service)] = true;
  }
  std::vector<bool> done(problem.options.size(), false);
  for (const Placement& p : answer.placements) {
    const auto o = static_cast<std::size_t>(p.option);
    if (done[o] || !late[static_cast<std::size_t>(problem.options[o].service)]) continue;
    problem.options[o].requests_per_s *= kDerating;
    done[o] = true;
  }
}

}  // namespace

Result<Replay> replay(const Estate& estate, const Problem& problem, const Answer& answer, int month,
                      const Knowledge& knowledge, const Patience& patience) {
  Replay out;
  out.month = month;
  std::vector<Piece> pieces;
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
        if (replicas > 0.5 && rate > 1e-9 && option.plan) {
          pieces.push_back({out.hours.size(), &option, &estate.services[s], rate, replicas});
        }
      }
      row.utilisation = able > 0 ? row.rate / able : 0;
      out.hours.push_back(row);
    }
  }
  parallel_for(pieces.size(), 0, [&](std::size_t i) {
    if (!patience.over()) play(pieces[i], knowledge, patience);
  });
  for (const Piece& piece : pieces) {
    if (piece.error) return *piece.error;
    ReplayHour& row = out.hours[piece.row];
    const double share = piece.rate / row.rate;
    row.within -= share * (1 - piece.within);
    row.ttft_p95_s = std::max(row.ttft_p95_s, piece.ttft);
    row.tpot_p95_s = std::max(row.tpot_p95_s, piece.tpot);
    out.requests += piece.requests;
  }
  for (const ReplayHour& row : out.hours) out.holds = out.holds && row.within >= kPromisedShare - 1e-9;
  return out;
}

Result<Replayed> plan_replayed(const Estate& estate, Problem problem, PlanOptions options, const Knowledge& knowledge,
                               const Patience& patience) {
  Replayed out{std::move(problem), {}, {}};
  options.marginals = false;
  for (int round = 0; round < kRounds; ++round) {
    out.answer = plan_fleet(out.problem, options);
    if (!out.answer.found || out.problem.services.empty() || patience.over()) break;
    Result<Replay> day = replay(estate, out.problem, out.answer, busiest_month(out.problem), knowledge, patience);
    if (!day) return day.error();
    out.day = *std::move(day);
    if (out.day->holds || round + 1 == kRounds) break;
    rate_lower(out.problem, out.answer, *out.day);
  }
  return out;
}

}  // namespace ridge::fleet
