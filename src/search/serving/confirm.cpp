// Serving finalists, looked at request by request before they are shown: how many replicas hold rate and limits with
// the probability asked for.
//
// A service whose steps take s times as long as predicted is the predicted one at s times the rate, with all its times
// multiplied by s. So one simulator answers for every s: requests come s times as fast, limits are divided by s.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "base/parallel.hpp"
#include "ridge/base/text.hpp"
#include "ridge/serve/simulation.hpp"
#include "search/buyer/sentences.hpp"
#include "search/problems/serving_problem.hpp"
#include "search/serving/filling.hpp"

namespace ridge::search {

namespace {

constexpr int kMostSimulated = 12;  ///< replicas; more of them behave like as many dozens
constexpr int kFewSimulated = 4;    ///< of those that have many requests at once
constexpr double kUsualPlayed = 3000;
constexpr std::size_t kLadders = 4;  ///< plans that are sized for other probabilities too
constexpr double kRungs[] = {0.5, 0.8, 0.95};
constexpr double kCloseEnough = 0.003;  ///< a probability that is short by less is held
constexpr double kNoGain = 0.004;       ///< more replicas that raise it by less are of no use
constexpr double kMostTimes = 2;        ///< replicas over those that rate and pace take

/// So many of a plan's replicas are simulated where each has `in_flight` requests at once: a few of many, as far as
/// they take long to fill.
int few_of(int replicas, double in_flight) {
  const double filled = kUsualPlayed / (kFillings * std::max(1.0, in_flight));
  return std::min(replicas,
                  static_cast<int>(std::clamp(std::floor(filled), 1.0 * kFewSimulated, 1.0 * kMostSimulated)));
}

SimulationQuery question(const ServingQuest& quest, const ServingPlan& plan, int replicas, double slowness, int played,
                         double in_flight) {
  const ServingGoal& goal = quest.goal;
  SimulationQuery q;
  q.deployment = plan.query;
  q.workload = goal.requests();
  q.replicas = played;
  q.load.kind = OfferedKind::rate;
  q.load.rate = goal.peak_rate() * played / replicas * slowness;
  q.requests = requests_to_fill(played * in_flight, std::clamp(250.0 * played, 1000.0, kUsualPlayed));
  q.limits.ttft = goal.ttft_s / slowness;
  q.limits.tpot = goal.tpot_s / slowness;
  q.limits.e2e = goal.e2e_s / slowness;
  return q;
}

/// What replicas did at one rate, at the speed predicted.
struct Sample {
  bool runs = false;        ///< as fast as requests come
  double concurrency = 0;   ///< of one replica, that makes as many requests by the mean as it is given; 0 = none does
  InferenceEstimate rated;  ///< at that
  double requests = 0;      ///< simulated, of one replica
  double ttft_p95 = 0, tpot_p95 = 0, e2e_p95 = 0, ttft_mean = 0, tpot_mean = 0;
  std::string broken;  ///< why it does not run
};

/// What a number of replicas gives at one slowness and the busiest time.
struct Trial {
  int replicas = 0;    ///< that are up: spares are down
  bool paces = false;  ///< rate, TPOT and request time hold
  bool holds = false;  ///< TTFT too, if only steps are slow
  Sample seen;         ///< its times are those of clients: at the slowness
  std::string broken;
};

/// Probabilities of one number of replicas.
struct Chance {
  double all = 0, rate = 0, ttft = 1;
};

/// How replicas of one plan do at any rate. A rate at which they were simulated is looked up, one between two at which
/// they did nearly the same is read off the line between them; of more replicas than are simulated, each does as it
/// does among so many.
class Curves {
 public:
  Curves(const ServingQuest& quest, const ServingPlan& plan, const InferenceDeployment& deployment)
      : quest_(quest), plan_(plan), deployment_(deployment) {}

  /// As `ridge simulate` plays a saved plan: all replicas of up to a dozen.
  const Sample& exactly(int replicas, double slowness) {
    return simulated(replicas, slowness, replicas <= kMostSimulated ? replicas : few_of(replicas, plan_.concurrency));
  }

  /// As simulated with a few of many, or between two such.
  Sample about(int replicas, double slowness) {
    const int alike = few_of(replicas, plan_.concurrency);
    const double rate = quest_.goal.peak_rate() * slowness / replicas;
    const Curve& curve = curves_[alike];
    const auto above = curve.lower_bound(rate);
    if (above != curve.begin()) {
      const auto below = std::prev(above);
      if (!below->second.runs) return below->second;  // nor at a higher rate
      if (above != curve.end() && close(*below, *above)) return between(*below, *above, rate);
    }
    return simulated(replicas, slowness, alike);
  }

 private:
  using Curve = std::map<double, Sample>;  ///< by requests a second of one replica
  static constexpr double kFar = 1.1;      ///< rates
  static constexpr double kUnlike = 1.1;   ///< times

  static bool close(const Curve::value_type& low, const Curve::value_type& high) {
    const auto alike = [](double a, double b) { return b <= kUnlike * a; };
    return high.second.runs && high.first <= kFar * low.first && alike(low.second.ttft_p95, high.second.ttft_p95) &&
           alike(low.second.tpot_p95, high.second.tpot_p95) && alike(low.second.e2e_p95, high.second.e2e_p95);
  }

  static Sample between(const Curve::value_type& low, const Curve::value_type& high, double rate) {
    const double share = std::log(rate / low.first) / std::log(high.first / low.first);
    Sample out = high.second;
    for (double Sample::*time :
         {&Sample::ttft_p95, &Sample::tpot_p95, &Sample::e2e_p95, &Sample::ttft_mean, &Sample::tpot_mean}) {
      out.*time = low.second.*time + share * (high.second.*time - low.second.*time);
    }
    return out;
  }

  const Sample& simulated(int replicas, double slowness, int played) {
    const double rate = quest_.goal.peak_rate() * slowness / replicas;
    Curve& curve = curves_[played];
    const auto at = curve.find(rate);
    return at != curve.end() ? at->second
                             : curve.emplace(rate, sample_at(replicas, slowness, played, rate)).first->second;
  }

  [[nodiscard]] Sample sample_at(int replicas, double slowness, int played, double rate) {
    Sample sample;
    if (quest_.goal.patience.over()) {
      sample.broken = "time";
      return sample;
    }
    // More than they can do at any concurrency would fall behind, however short the simulation.
    rate_for(rate, sample);
    sample.broken = "overload";
    if (sample.concurrency <= 0) return sample;
    const double in_flight = rate * sample.rated.e2e_s.mid;
    const SimulationQuery q = question(quest_, plan_, replicas, slowness, played, in_flight);
    sample.requests = q.requests / played;
    PatientObserver observer(quest_.goal.patience);
    const auto result = simulate(q, deployment_, nullptr, &observer);
    if (!result) {
      sample.broken = result.error().message;
      return sample;
    }
    sample.ttft_p95 = result->ttft.p95();
    sample.tpot_p95 = result->tpot.p95();
    sample.e2e_p95 = result->e2e.p95();
    sample.ttft_mean = result->ttft.mean();
    sample.tpot_mean = result->tpot.mean();
    sample.runs = !result->overloaded && result->finished > 0;
    if (sample.runs) sample.broken.clear();
    return sample;
  }

  /// At the plan's concurrency, or the least above it that makes so many requests a second.
  void rate_for(double requests_per_s, Sample& sample) {
    const std::vector<double>& all = ServingProblem::concurrencies();
    const auto first = std::lower_bound(all.begin(), all.end(), plan_.concurrency);
    for (std::size_t i = 0; i < static_cast<std::size_t>(all.end() - first); ++i) {
      const double concurrency = *(first + static_cast<std::ptrdiff_t>(i));
      if (i == rated_.size()) {  // asked for again at every rate
        InferenceLoad load = plan_.query.load;
        load.concurrency = concurrency;
        rated_.push_back(evaluate(*deployment_.resolved, load));
      }
      const InferenceOutcome& o = rated_[i];
      if (o.reason != Reason::none || o.estimate.output_tokens_per_s.mid / plan_.query.load.osl < requests_per_s) {
        continue;
      }
      sample.concurrency = concurrency;
      sample.rated = o.estimate;
      return;
    }
  }

  const ServingQuest& quest_;
  const ServingPlan& plan_;
  const InferenceDeployment& deployment_;
  std::map<int, Curve> curves_;          ///< by replicas simulated
  std::vector<InferenceOutcome> rated_;  ///< from the plan's concurrency on, as far as anybody asked
};

class Confirmation {
 public:
  Confirmation(const ServingQuest& quest, const ServingPlan& plan, const InferenceDeployment& deployment)
      : quest_(quest), curves_(quest, plan, deployment) {
    const double each = plan.requests_per_s * quest.goal.load_at_most;
    // The load of the plan is that of all replicas.
    const double all = each > 0 ? std::ceil(quest.goal.peak_rate() / each - 1e-9) : 1;
    least_ = std::max(1, static_cast<int>(all) - plan.spares);
  }

  /// The fewest replicas that hold at this slowness, looked for from `start` on; `holds` is false if no number that
  /// makes sense does. No fewer than the load allows.
  Trial fewest(double slowness, int start) {
    Trial best = look(std::max(start, least_), slowness);
    int low = least_ - 1;
    if (best.holds) {
      for (int step = 1; best.replicas - step > low; step *= 2) {
        const Trial trial = look(best.replicas - step, slowness);
        if (!trial.holds) {
          low = trial.replicas;
          break;
        }
        best = trial;
      }
    } else {
      const int first = best.replicas;
      for (const double more : {1.15, 1.4, 2.0}) {
        low = best.replicas;
        best = look(std::max(low + 1, static_cast<int>(std::ceil(first * more))), slowness);
        if (best.holds) break;
      }
      if (!best.holds) return best;
    }
    while (best.replicas - low > resolution(best.replicas)) {
      const Trial between = look(low + (best.replicas - low) / 2, slowness);
      if (between.holds) {
        best = between;
      } else {
        low = between.replicas;
      }
    }
    // What was read off a line is simulated before it is believed.
    constexpr int kMostOff = 4;
    Trial sure = simulated(best.replicas, slowness);
    for (int i = 0; i < kMostOff && !sure.holds; ++i) sure = simulated(sure.replicas + 1, slowness);
    return sure;
  }

  /// The same for a probability: TTFT with the error that is its own. Not `holds` where only TTFT stands against it;
  /// `chance` is then what twice as many give.
  Trial sized(double confidence, const LogError& step, const LogError& first, int start, Chance* chance = nullptr) {
    Trial trial = fewest(step.factor(confidence), start);
    if (!trial.holds) return trial;
    const auto enough = [&](const Chance& c) { return c.all >= confidence - kCloseEnough; };
    int low = trial.replicas;  // too few, once the first look says so
    Chance now = this->chance(low, step, first);
    if (!enough(now)) {
      const int most = static_cast<int>(std::ceil(kMostTimes * low)) + 1;
      int high = low + std::max(1, low / 4);
      Chance more = this->chance(high, step, first);
      if (!enough(more)) {
        const bool gains = more.all >= now.all + kNoGain;
        low = high;
        high = most;
        if (gains) more = this->chance(high, step, first);
        if (!enough(more)) {
          trial.holds = false;
          trial.broken = "ttft";
          if (chance != nullptr) *chance = more;
          return trial;
        }
      }
      now = more;
      while (high - low > resolution(high) && !quest_.goal.patience.over()) {
        const int middle = low + (high - low) / 2;
        const Chance there = this->chance(middle, step, first);
        if (enough(there)) {
          high = middle;
          now = there;
        } else {
          low = middle;
        }
      }
      trial = simulated(high, step.factor(confidence));
      trial.holds = true;
    }
    if (chance != nullptr) *chance = now;
    return trial;
  }

  Chance chance(int replicas, const LogError& step, const LogError& first) {
    const ServingGoal& goal = quest_.goal;
    std::vector<std::pair<double, double>> waits;  // logarithms of slowness and of TTFT
    double holds = 0;                              // the slowest that holds, and the fastest that does not
    double breaks = 0;
    const auto add = [&](double slowness, const Trial& trial) {
      waits.emplace_back(std::log(slowness), std::log(std::max(1e-9, trial.seen.ttft_p95)));
    };
    std::set<double> looks = {0.5, 0.8, 0.95, 0.99};
    looks.insert(goal.confidence);
    for (const double p : looks) {
      const double slowness = step.factor(p);
      if (slowness <= holds) continue;
      const Trial trial = look(replicas, slowness);
      if (!trial.paces) {
        breaks = slowness;
        break;
      }
      holds = slowness;
      add(slowness, trial);
    }
    if (holds == 0) {
      const double slowness = step.factor(0.1);
      const Trial trial = look(replicas, slowness);
      if (!trial.paces) return {0, 0, trial.seen.runs && trial.seen.ttft_p95 <= goal.ttft_s ? 1.0 : 0.0};
      holds = slowness;
      add(slowness, trial);
    }
    for (int i = 0; breaks > 0 && i < kHalvings; ++i) {
      const double middle = std::sqrt(holds * breaks);
      const Trial trial = look(replicas, middle);
      if (trial.paces) {
        holds = middle;
        add(middle, trial);
      } else {
        breaks = middle;
      }
    }
    Chance out;
    out.rate = step.probability(holds);
    out.ttft = 1;
    if (goal.ttft_s > 0) {
      const auto within = [&](double p) {
        return first.probability(goal.ttft_s / std::exp(line(waits, std::log(step.factor(p)))));
      };
      out.ttft = mean(within, 0, 1);
      out.all = out.rate * mean(within, 0, out.rate);
    } else {
      out.all = out.rate;
    }
    return out;
  }

  /// What `sized` does at the speed predicted, with a few replicas more where that is needed: near the most that they
  /// can do, a few of them may keep up where all of them do not.
  Trial predicted(Trial& sized, double slowness) {
    constexpr int kMostMore = 4;
    Trial at_speed = simulated(sized.replicas, 1);
    for (int i = 0; i < kMostMore && slowness >= 1 && !at_speed.holds; ++i) {
      sized = simulated(sized.replicas + 1, slowness);
      at_speed = simulated(sized.replicas, 1);
    }
    sized.holds = slowness < 1 || at_speed.holds;
    return at_speed;
  }

  Trial simulated(int replicas, double slowness) {
    return judged_at(replicas, slowness, curves_.exactly(replicas, slowness));
  }

 private:
  static constexpr int kHalvings = 4;
  static constexpr int kNodes = 24;

  /// Replicas that are not told apart.
  static int resolution(int replicas) { return std::max(1, replicas / 40); }

  Trial look(int replicas, double slowness) { return judged_at(replicas, slowness, curves_.about(replicas, slowness)); }

  [[nodiscard]] Trial judged_at(int replicas, double slowness, Sample sample) const {
    Trial trial;
    trial.replicas = replicas;
    trial.seen = std::move(sample);
    for (double Sample::*time :
         {&Sample::ttft_p95, &Sample::tpot_p95, &Sample::e2e_p95, &Sample::ttft_mean, &Sample::tpot_mean}) {
      trial.seen.*time *= slowness;
    }
    const ServingGoal& goal = quest_.goal;
    trial.broken = !trial.seen.runs                                       ? trial.seen.broken
                   : goal.tpot_s > 0 && trial.seen.tpot_p95 > goal.tpot_s ? "tpot"
                   : goal.e2e_s > 0 && trial.seen.e2e_p95 > goal.e2e_s    ? "e2e"
                                                                          : "";
    trial.paces = trial.broken.empty();
    if (trial.paces && goal.ttft_s > 0 && trial.seen.ttft_p95 > goal.ttft_s) trial.broken = "ttft";
    trial.holds = trial.broken.empty();
    return trial;
  }

  template <class Of>
  static double mean(const Of& of, double from, double to) {
    double sum = 0;
    for (int i = 0; i < kNodes; ++i) sum += of(from + (to - from) * (i + 0.5) / kNodes);
    return sum / kNodes;
  }

  /// Straight between points, level beyond them at the lower end, proportional to the slowness at the upper.
  static double line(const std::vector<std::pair<double, double>>& points, double x) {
    if (x <= points.front().first) return points.front().second + (x - points.front().first);
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (x > points[i].first) continue;
      const auto& [x0, y0] = points[i - 1];
      const auto& [x1, y1] = points[i];
      return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y1;
    }
    return points.back().second + (x - points.back().first);
  }

  const ServingQuest& quest_;
  Curves curves_;
  int least_ = 1;
};

void apply(const ServingQuest& quest, ServingPlan& plan, const Trial& trial, const Trial& predicted,
           const Knowledge& knowledge) {
  plan.ttft_p95_s = predicted.seen.ttft_p95;
  plan.tpot_p95_s = predicted.seen.tpot_p95;
  plan.ttft_mean_s = predicted.seen.ttft_mean;
  plan.tpot_mean_s = predicted.seen.tpot_mean;
  plan.simulated_requests = std::round(predicted.seen.requests * trial.replicas);
  if (trial.replicas + plan.spares != plan.replicas) {
    plan.confirmed =
        fmt::format("simulation: {} replicas meet the limits for 95 % of the requests (the closed form asked for {})",
                    trial.replicas, plan.replicas - plan.spares);
    plan.replicas = trial.replicas + plan.spares;
    plan.gpus = plan.replicas * plan.query.gpus;
    plan.concurrency = plan.query.load.concurrency = predicted.seen.concurrency;
    rate(plan, predicted.seen.rated);
    price(plan, quest, knowledge);
  } else {
    plan.confirmed = "simulation: 95 % of the requests meet the limits";
  }
}

/// What is left of a plan: the trial that sizes it, and the same at the speed predicted.
struct Confirmed {
  Trial sized;
  Trial predicted;
  Chance chance;
};

/// The same plan sized for other probabilities, and for what is left unknown after one run.
void climb(Confirmation& confirmation, const ServingGoal& goal, ServingPlan& plan) {
  const LogError& step = plan.sure.step;
  const auto fewest = [&](double confidence, const LogError& error, const LogError& first) -> std::optional<int> {
    const double times = error.factor(confidence) / step.factor(goal.confidence);
    const int start = std::max(1, static_cast<int>(std::lround((plan.replicas - plan.spares) * times)));
    const Trial trial = confirmation.sized(confidence, error, first, start);
    return trial.holds ? std::optional((trial.replicas + plan.spares) * plan.query.gpus) : std::nullopt;
  };
  std::set<double> rungs(std::begin(kRungs), std::end(kRungs));
  rungs.insert(goal.confidence);
  for (const double rung : rungs) {
    if (goal.patience.over()) return;
    const std::optional<int> gpus = rung == goal.confidence ? plan.gpus : fewest(rung, step, plan.sure.first);
    if (gpus) plan.sure.ladder.push_back({rung, *gpus});
  }
  plan.sure.gpus_if_measured =
      fewest(goal.confidence, step.without(kSettledByARun), plan.sure.first.without(kSettledByARun));
}

std::string not_sure_text(const ServingGoal& goal, const Confirmed& looked) {
  if (looked.sized.broken == "ttft" && looked.chance.all > 0) {
    return fmt::format("meets the TTFT limit with a probability of {:.0f} % at best, asked for {:.0f} % (simulated)",
                       std::floor(100 * looked.chance.all), 100 * goal.confidence);
  }
  const std::string& broken = looked.sized.broken;
  if (broken == "overload") return fmt::format("even {} replicas cannot keep up (simulated)", looked.sized.replicas);
  if (broken == "ttft" || broken == "tpot") {
    return fmt::format("even {} replicas miss the {} limit for more than 5 % of the requests (simulated)",
                       looked.sized.replicas, broken == "ttft" ? "TTFT" : "TPOT");
  }
  return fmt::format("even {} replicas do not meet the limits for 95 % of the requests (simulated: {})",
                     looked.sized.replicas, broken);
}

}  // namespace

void confirm(const ServingQuest& quest, ServingVerdict& verdict, std::size_t finalists, const Knowledge& knowledge) {
  const ServingGoal& goal = quest.goal;
  if (goal.request_rate <= 0) return;
  std::size_t count = 0;  // all plans of as many devices
  std::set<std::string> devices;
  while (count < verdict.plans.size()) {
    devices.insert(verdict.plans[count].query.device);
    if (devices.size() > finalists) break;
    ++count;
  }
  std::vector<Confirmed> looked(count);
  const Patience& patience = quest.goal.patience;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(verdict.plans[i].simulated_requests > 0)) order.push_back(i);  // or it was in a round before
  }
  // Those of many replicas take longest: first, so that no thread waits for the last of them.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return verdict.plans[a].replicas > verdict.plans[b].replicas; });
  parallel_for(order.size(), 0, [&](std::size_t at) {
    if (patience.over()) return;
    const std::size_t i = order[at];
    const ServingPlan& plan = verdict.plans[i];
    const auto deployment = resolve(plan.query, knowledge);
    if (!deployment) return;
    Confirmation confirmation(quest, plan, *deployment);
    Confirmed& l = looked[i];
    l.sized =
        confirmation.sized(goal.confidence, plan.sure.step, plan.sure.first, plan.replicas - plan.spares, &l.chance);
    if (l.sized.holds) l.predicted = confirmation.predicted(l.sized, plan.sure.step.factor(goal.confidence));
  });
  if (patience.over()) {  // some were cut short: none is told from the others by it
    verdict.assumptions.emplace_back(kNotSimulated);
    return;
  }
  std::vector<ServingPlan> kept;
  double surest = 0;                                         // of those that do not reach the probability asked for
  double closest = std::numeric_limits<double>::infinity();  // of those that miss another limit
  for (std::size_t i = 0; i < verdict.plans.size(); ++i) {
    ServingPlan& plan = verdict.plans[i];
    if (i < count && !(plan.simulated_requests > 0)) {
      const Confirmed& l = looked[i];
      if (!l.sized.holds) {
        const std::string limit = l.sized.broken == "overload" ? "rate" : l.sized.broken;
        verdict.losers.push_back({plan.query.device, not_sure_text(goal, l), limit, 0, true});
        if (l.chance.all <= surest) continue;
        surest = l.chance.all;
        verdict.fails_first =
            fmt::format("{}: meets the limit ({}) with a probability of {:.0f} % at best, asked for {:.0f} %",
                        plan.query.device, limit, 100 * surest, 100 * goal.confidence);
        verdict.nearest_goal = {{"confidence", fmt::format("{:.0f}%", std::floor(100 * surest - 1))}};
        verdict.nearest.assign(1, plan);
        continue;
      }
      apply(quest, plan, l.sized, l.predicted, knowledge);
      plan.sure.holds = l.chance.all;
      plan.sure.holds_rate = l.chance.rate;
      plan.sure.holds_ttft = l.chance.ttft;
      ServingPlan means = plan;
      means.ttft_s.mid = means.tpot_s.mid = means.e2e_s.mid = 0;  // latency was simulated
      const Miss miss = worst_miss(quest, means, knowledge);
      if (miss.by > 1e-9) {
        if (surest == 0 && miss.by < closest) {
          closest = miss.by;
          verdict.fails_first = fmt::format("{}: {} (simulated)", plan.query.device, miss.text);
          verdict.nearest_goal = miss.feasible;
          verdict.nearest.assign(1, plan);
        }
        verdict.losers.push_back({plan.query.device, miss.text + " (simulated)", miss.limit, miss.by, true});
        continue;
      }
    }
    kept.push_back(std::move(plan));
  }
  verdict.plans = std::move(kept);
  if (!verdict.plans.empty()) {
    verdict.fails_first.clear();
    verdict.nearest_goal.clear();
    verdict.nearest.clear();
  }
}

void climb(const ServingQuest& quest, ServingVerdict& verdict, const Knowledge& knowledge) {
  if (quest.goal.request_rate <= 0) return;
  parallel_for(std::min(kLadders, verdict.plans.size()), 0, [&](std::size_t i) {
    if (quest.goal.patience.over()) return;
    ServingPlan& plan = verdict.plans[i];
    const auto deployment = plan.sure.holds ? resolve(plan.query, knowledge) : Result<InferenceDeployment>(Error{});
    if (!deployment) return;
    Confirmation confirmation(quest, plan, *deployment);
    climb(confirmation, quest.goal, plan);
  });
}

}  // namespace ridge::search
