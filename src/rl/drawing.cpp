#include "rl/drawing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "ridge/serve/simulation.hpp"

namespace ridge::rl {

namespace {

constexpr int kFlowEngines = 4;      ///< of a steady flow, so many engines stand for all
constexpr double kFlowRounds = 5;    ///< times each slot is filled; the middle half is timed
constexpr double kMostGroups = 1e6;  ///< of equal beginnings, that the workload can tell apart

class Finishes final : public SimulationObserver {
 public:
  explicit Finishes(const Patience& patience) : patience_(patience) {}
  bool go_on(double) override { return !patience_.over(); }
  void request(const RequestRecord& r) override {
    if (r.end == RequestRecord::End::finished) at.push_back(static_cast<double>(r.last_token) / kTicksPerSecond);
  }
  std::vector<double> at;

 private:
  const Patience& patience_;
};

Workload workload_of(const DrawingQuestion& q) {
  Workload w = fixed_workload(std::max(1.0, std::round(q.prompt_tokens)), 1);
  RequestClass& c = w.classes.front();
  c.output = q.answers;
  if (q.samples > 1 && q.prompts < kMostGroups) {  // answers to one prompt share its cache
    c.shared_prefix = static_cast<std::uint32_t>(std::max(1.0, std::round(q.prompt_tokens)));
    c.prefix_groups = static_cast<std::uint32_t>(std::max(1.0, q.prompts));
  }
  return w;
}

Result<SimulationResult> play(const SimulationQuery& query, const InferenceDeployment& deployment, Finishes& finishes) {
  Result<SimulationResult> result = simulate(query, deployment, nullptr, &finishes);
  if (!result) return result;
  if (result->stopped_early)
    return Error{ErrorCode::refused, "", "drawing the answers was ended before all were there"};
  if (result->too_long > 0) {
    return Error{ErrorCode::infeasible, "answer lengths",
                 "answers of " + std::to_string(result->longest_too_long) +
                     " tokens do not fit the cache of one engine: give it more devices (⟦gen_tp⟧)"};
  }
  std::sort(finishes.at.begin(), finishes.at.end());
  return result;
}

/// Seconds between two answers of a steady flow over all engines.
Result<double> flow(const DrawingQuestion& q, SimulationQuery query, const InferenceDeployment& deployment,
                    const Patience& patience) {
  const int engines = std::min(q.engines, kFlowEngines);
  const double in_flight = (0.5 + *q.ahead) * q.prompts * q.samples / q.engines;
  query.replicas = engines;
  // More clients than an engine has slots for only wait.
  constexpr double kMostWaiting = 2048;
  const double clients = std::clamp(in_flight, 1.0, kMostWaiting) * engines;
  query.load = {.kind = OfferedKind::concurrency, .concurrency = std::max(1.0, std::floor(clients))};
  query.requests = std::ceil(kFlowRounds * clients) + 8;
  Finishes finishes(patience);
  if (const auto result = play(query, deployment, finishes); !result) return result.error();
  const std::size_t n = finishes.at.size();
  const std::size_t from = n / 4;
  const std::size_t to = n * 3 / 4;
  const double span = finishes.at[to] - finishes.at[from];
  const auto count = static_cast<double>(to - from);
  return span / count * engines / q.engines;
}

}  // namespace

double judging_after(const std::vector<double>& finished, const Verifier& verifier) {
  if (finished.empty() || verifier.seconds <= 0) return 0;
  if (verifier.parallel <= 0) return verifier.seconds;
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  const auto seats = static_cast<std::size_t>(std::min(verifier.parallel, static_cast<double>(finished.size())));
  for (std::size_t i = 0; i < std::max<std::size_t>(1, seats); ++i) free.push(0);
  double last = 0;
  for (const double at : finished) {
    const double end = std::max(at, free.top()) + verifier.seconds;
    free.pop();
    free.push(end);
    last = std::max(last, end);
  }
  return last - finished.back();
}

Result<Drawing> draw(const DrawingQuestion& q, const InferenceQuery& deployment_query,
                     const InferenceDeployment& deployment, const Patience& patience) {
  SimulationQuery query;
  query.deployment = deployment_query;
  query.replicas = q.engines;
  query.workload = workload_of(q);
  query.load.kind = OfferedKind::offline;
  query.requests = q.prompts * q.samples;
  query.policies.router = RouterPolicy::round_robin;  // a batch is handed out in equal parts
  query.policies.batching = q.batching;
  query.server_overhead = false;  // the trainer calls the engine itself
  Finishes finishes(patience);
  const Result<SimulationResult> result = play(query, deployment, finishes);
  if (!result) return result.error();
  Drawing d;
  d.seconds = result->makespan;
  d.judging = judging_after(finishes.at, q.verifier);
  if (q.verifier.parallel > 0) {
    d.judging_work = static_cast<double>(finishes.at.size()) * q.verifier.seconds / q.verifier.parallel;
  }
  d.busy = result->busy_share;
  d.running = result->mean_running;
  d.tail_share = d.seconds > 0 ? 1 - finishes.at[finishes.at.size() * 9 / 10] / d.seconds : 0;
  for (std::size_t i = 0; i <= kTwentieths && d.seconds > 0; ++i) {
    const std::size_t n = finishes.at.size();
    d.there[i] = finishes.at[std::min(n - 1, n * i / kTwentieths)] / d.seconds;
  }
  d.flowing_seconds = d.seconds;
  if (q.ahead && *q.ahead > 0) {
    const Result<double> between = flow(q, query, deployment, patience);
    if (!between) return between.error();
    d.flowing_seconds = std::min(d.seconds, *between * q.prompts * q.samples);
  }
  return d;
}

}  // namespace ridge::rl
