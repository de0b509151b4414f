// Goodput by discrete events: every failure, checkpoint, spare and repair of a run, many runs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "economics/goodput/parts.hpp"
#include "ridge/base/random.hpp"
#include "ridge/economics/goodput.hpp"

namespace ridge {

using namespace economics;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// A run that takes so many times its useful time is not going to end.
constexpr double kHopeless = 20;
/// Interruptions after which what a run got done tells how long the rest will take.
constexpr double kTelling = 10'000;
/// Interruptions that all trials together simulate: the more a run has, the less one differs from another.
constexpr double kMostInterruptions = 1e6;
constexpr double kFewestTrials = 5;

constexpr std::size_t at(LossKind kind) {
  return static_cast<std::size_t>(kind);
}

/// Spare units and those under repair.
class SparePool {
 public:
  SparePool(double gpus, double repair_s) : free_(gpus), repair_s_(repair_s) {}

  /// Takes `gpus` out at `now` and returns how long the job waits until as many stand ready.
  double replace(double gpus, double now) {
    bring_back(now);
    double ready = now;
    while (free_ < gpus && !broken_.empty()) {
      ready = std::max(ready, broken_.front().back_at);
      bring_back(ready);
    }
    // Fewer spares than one failure takes: what broke has to be repaired itself.
    if (free_ < gpus) {
      ready = now + repair_s_;
    } else {
      free_ -= gpus;
      broken_.push_back({now + repair_s_, gpus});
    }
    return ready - now;
  }

 private:
  struct Broken {
    double back_at = 0;
    double gpus = 0;
  };
  // All repairs take equally long, so that the first to break is the first to be back.
  void bring_back(double now) {
    std::size_t back = 0;
    while (back < broken_.size() && broken_[back].back_at <= now) free_ += broken_[back++].gpus;
    broken_.erase(broken_.begin(), broken_.begin() + static_cast<std::ptrdiff_t>(back));
  }
  double free_;
  double repair_s_;
  std::vector<Broken> broken_;
};

struct Run {
  double wall_s = 0;
  double interruptions = 0;
  std::array<double, kLossKinds> lost_s{};
  std::array<double, kFailureCauses> by_cause_s{};
  bool hopeless = false;
};

class Simulation {
 public:
  Simulation(const GoodputInputs& in, double interval_s)
      : in_(in),
        per_s_(interruptions_per_s(in)),
        work_(in.useful_s * (1 + in.straggler_share)),
        interval_(std::min(interval_s, std::max(work_, 1.0))) {
    double sum = 0;
    for (std::size_t i = 0; i < kFailureCauses; ++i) {
      sum += in.per_gpu_hour[i];
      cumulated_[i] = sum;
    }
  }

  Run run(std::uint64_t seed, std::uint64_t trial) const {
    Random draws(seed, trial);
    Run run;
    SparePool spares(in_.spare_gpus, in_.repair_s);
    const double down = in_.detection_s + in_.restart_s + in_.checkpoint.load_s;
    double done = 0;
    while (true) {
      const double left = work_ - done;
      // No checkpoint after the last stretch.
      const double to_the_end = left + (std::ceil(left / interval_) - 1) * in_.checkpoint.stall_s;
      const double failure = per_s_ > 0 ? draws.exponential() / per_s_ : kNever;
      if (failure >= to_the_end) {
        run.wall_s += to_the_end;
        run.lost_s[at(LossKind::checkpoints)] += to_the_end - left;
        break;
      }
      run.wall_s += failure;
      const std::size_t cause = draw_cause(draws);
      done += survive(failure, cause, run);
      come_back(down, cause, draws, spares, run);
      const double end = kHopeless * work_;
      if (run.wall_s > end || (run.interruptions > kTelling && run.wall_s * work_ > end * done)) {
        run.hopeless = true;
        stretch(run, std::max(1.0, end / run.wall_s));
        break;
      }
    }
    return run;
  }

 private:
  /// As if it had gone on as it began.
  static void stretch(Run& run, double factor) {
    run.wall_s *= factor;
    run.interruptions *= factor;
    for (double& lost : run.lost_s) lost *= factor;
    for (double& lost : run.by_cause_s) lost *= factor;
  }

  std::size_t draw_cause(Random& draws) const {
    const double u = draws.uniform() * cumulated_.back();
    const auto found = std::upper_bound(cumulated_.begin(), cumulated_.end(), u);
    return std::min<std::size_t>(static_cast<std::size_t>(found - cumulated_.begin()), kFailureCauses - 1);
  }

  /// What a stretch that ends in a failure after `up_s` leaves behind.
  double survive(double up_s, std::size_t cause, Run& run) const {
    const double stall = in_.checkpoint.stall_s;
    const double cycle = interval_ + stall;
    const double begun = std::floor(up_s / cycle);
    const double saved = std::max(0.0, std::floor((up_s - in_.checkpoint.lag_s) / cycle)) * interval_;
    const double stalled = begun * stall + std::max(0.0, up_s - begun * cycle - interval_);
    const double again = up_s - stalled - saved;
    run.lost_s[at(LossKind::checkpoints)] += stalled;
    run.lost_s[at(LossKind::rework)] += again;
    run.by_cause_s[cause] += again;
    return saved;
  }

  /// Detection, spares, restart; a failure on the way starts it over.
  void come_back(double down_s, std::size_t cause, Random& draws, SparePool& spares, Run& run) const {
    for (double tries = 0; tries <= kTelling; ++tries) {
      run.interruptions += 1;
      const auto kind = static_cast<FailureCause>(cause);
      if (needs_spare(kind) && in_.repair_s > 0) {
        const double wait = spares.replace(broken_gpus(in_, kind), run.wall_s);
        run.wall_s += wait;
        run.lost_s[at(LossKind::spares)] += wait;
        run.by_cause_s[cause] += wait;
      }
      const double next = draws.exponential() / per_s_;
      const double spent = std::min(next, down_s);
      run.wall_s += spent;
      run.lost_s[at(LossKind::restart)] += spent;
      run.by_cause_s[cause] += spent;
      if (next >= down_s || run.wall_s > kHopeless * work_) return;
      cause = draw_cause(draws);
    }
  }

  const GoodputInputs& in_;
  double per_s_;
  double work_;
  double interval_;
  std::array<double, kFailureCauses> cumulated_{};
};

Interval spread(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    const double place = q * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (values[high] - values[low]) * (place - static_cast<double>(low));
  };
  return {quantile(0.05), quantile(0.5), quantile(0.95)};
}

}  // namespace

GoodputSample simulate_goodput(const GoodputInputs& in, int trials, std::uint64_t seed, const Patience& patience) {
  GoodputSample sample;
  GoodputOutputs& mean = sample.mean;
  mean = expected_goodput(in);  // interval, MTBF and the two optima stay as they are
  const double enough = std::max(kFewestTrials, kMostInterruptions / std::max(1.0, mean.interruptions));
  sample.trials = static_cast<int>(std::clamp<double>(trials, 1, enough));
  mean.interruptions = mean.time_to_train_s = 0;
  mean.lost_gpu_hours = {};
  mean.lost_by_cause = {};
  const Simulation simulation(in, mean.checkpoint_interval_s);
  std::vector<double> times, shares, counts;
  const double weight = 1.0 / sample.trials;
  const double gpu_hours = in.gpus / 3600;
  for (int trial = 0; trial < sample.trials; ++trial) {
    if (trial > 0 && patience.over()) {  // whoever waited does not wait for this either: the caller says so
      sample.trials = trial;
      break;
    }
    const Run run = simulation.run(seed, static_cast<std::uint64_t>(trial));
    sample.gave_up = sample.gave_up || run.hopeless;
    times.push_back(run.wall_s);
    shares.push_back(in.useful_s / run.wall_s);
    counts.push_back(run.interruptions);
    mean.time_to_train_s += run.wall_s * weight;
    mean.interruptions += run.interruptions * weight;
    for (std::size_t i = 0; i < kLossKinds; ++i) mean.lost_gpu_hours[i] += run.lost_s[i] * gpu_hours * weight;
    for (std::size_t i = 0; i < kFailureCauses; ++i) mean.lost_by_cause[i] += run.by_cause_s[i] * gpu_hours * weight;
  }
  mean.lost_gpu_hours[at(LossKind::stragglers)] = in.useful_s * in.straggler_share * gpu_hours;
  mean.lost_gpu_hours[at(LossKind::idle_spares)] = in.spare_gpus * mean.time_to_train_s / 3600;
  mean.goodput = in.useful_s / mean.time_to_train_s;
  mean.engineer_hours = mean.interruptions * in.engineer_hours;
  sample.time_to_train_s = spread(times);
  sample.goodput = spread(shares);
  sample.interruptions = spread(counts);
  return sample;
}

IntervalCurve sweep_interval(const GoodputInputs& in, int points, int trials, std::uint64_t seed,
                             const Patience& patience) {
  IntervalCurve curve;
  const GoodputOutputs base = expected_goodput(in);
  const double centre = std::isfinite(base.young_s) && base.young_s > 0 ? base.young_s : base.checkpoint_interval_s;
  double best = -1;
  for (int i = 0; i < points && !patience.over(); ++i) {
    // From an eighth to eight times Young's.
    const double power = points > 1 ? 6.0 * i / (points - 1) - 3 : 0;
    GoodputInputs one = in;
    one.interval_s = std::max({centre * std::exp2(power), in.checkpoint.shortest_interval_s, 1.0});
    const double simulated = simulate_goodput(one, trials, seed, patience).mean.goodput;
    curve.points.push_back({one.interval_s, simulated, expected_goodput(one).goodput});
    if (simulated > best) {
      best = simulated;
      curve.best_s = one.interval_s;
    }
  }
  return curve;
}

}  // namespace ridge
