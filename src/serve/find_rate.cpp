// The highest open-loop rate that holds every limit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/base/text.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge {

std::string broken_limit(const SimulationResult& r, const LatencyLimits& limits) {
  if (r.overloaded) return "overload";
  if (r.finished == 0) return "overload";
  if (limits.ttft > 0 && r.ttft.quantile(limits.share) > limits.ttft) return "ttft";
  if (limits.tpot > 0 && r.tpot.count() > 0 && r.tpot.quantile(limits.share) > limits.tpot) return "tpot";
  if (limits.e2e > 0 && r.e2e.quantile(limits.share) > limits.e2e) return "e2e";
  return "";
}

namespace {

/// Tells the caller's observer nothing but how far the search is.
class SearchObserver final : public SimulationObserver {
 public:
  SearchObserver(SimulationObserver* outer, const int& done) : outer_(outer), done_(done) {}
  bool go_on(double share) override {
    constexpr double kUsual = 12;  // simulations of one search
    return outer_ == nullptr || outer_->go_on(std::min(0.99, (done_ + share) / kUsual));
  }

 private:
  SimulationObserver* outer_;
  const int& done_;
};

constexpr double kClose = 0.01;
constexpr double kLeast = 1e-3;  ///< of the first guess: below it nothing is sought
constexpr double kMost = 20;     ///< of the first guess, for each engine: only what ends at once holds more
constexpr double kUsefulRequests = 1000;
constexpr double kLoneRequests = 200;

}  // namespace

Result<RateSearch> find_rate(const SimulationQuery& query, const Knowledge& knowledge, SimulationObserver* observer) {
  RateSearch search;
  SearchObserver quiet(observer, search.simulations);
  SimulationQuery q = query;
  q.load.kind = OfferedKind::rate;
  bool stopped = false;
  const auto holds = [&](double rate) -> Result<bool> {
    q.load.rate = rate;
    Result<SimulationResult> r = simulate(q, knowledge, &quiet);
    if (!r) return r.error();
    ++search.simulations;
    stopped = r->stopped_early;
    if (stopped) return false;
    const std::string broken = broken_limit(*r, query.limits);
    if (broken.empty()) {
      search.rate = rate;
      search.at_rate = *std::move(r);
      return true;
    }
    search.refused_rate = rate;
    search.limited_by = broken;
    return false;
  };

  // What the engines do when all requests are there at once is more than any rate they can hold for long.
  SimulationQuery all = query;
  all.load.kind = OfferedKind::offline;
  all.requests = std::max(64.0, std::min(query.requests > 0 ? query.requests : 1000.0, 2000.0));
  all.duration = 0;
  all.policies.autoscaling.reset();
  all.policies.limits = {};
  Result<SimulationResult> offline = simulate(all, knowledge, &quiet);
  if (!offline) return offline.error();
  ++search.simulations;
  const double guess = std::max(1e-6, offline->requests_per_s);
  double low = 0;
  double high = 1.2 * guess;
  const double most = kMost * guess * (query.policies.autoscaling ? std::max(1, query.policies.autoscaling->most) : 1);
  while (!stopped) {
    const Result<bool> held = holds(high);
    if (!held) return held.error();
    if (!*held) break;
    low = high;
    high *= 1.5;
    if (high > most) {
      return Error{ErrorCode::refused, "requests",
                   fmt::format("{} requests are over before a queue can build up: even {} per second hold the limits; "
                               "ask for at least {}",
                               format_number(static_cast<double>(search.at_rate.arrived), 9), format_number(low),
                               format_number(kUsefulRequests, 9))};
    }
  }
  while (!stopped && high - low > kClose * high && high > kLeast * guess) {
    const double middle = low > 0 ? 0.5 * (low + high) : 0.6 * high;
    const Result<bool> held = holds(middle);
    if (!held) return held.error();
    (*held ? low : high) = middle;
  }
  if (search.rate <= 0 && !stopped) {
    SimulationQuery lone = query;
    lone.load = {.kind = OfferedKind::concurrency, .rate = 0, .concurrency = 1};
    lone.requests = kLoneRequests;
    lone.duration = 0;
    Result<SimulationResult> alone = simulate(lone, knowledge, &quiet);
    if (!alone) return alone.error();
    ++search.simulations;
    stopped = alone->stopped_early;
    if (const std::string broken = broken_limit(*alone, query.limits); !broken.empty()) search.limited_by = broken;
    search.at_rate = *std::move(alone);
  }
  search.at_rate.stopped_early |= stopped;
  return search;
}

}  // namespace ridge
