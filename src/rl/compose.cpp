#include "rl/compose.hpp"

#include <algorithm>
#include <cmath>

#include "base/normal.hpp"

namespace ridge::rl {

namespace {

constexpr double kAssumedLengths = 0.35;  ///< spread of the logarithm, where nobody said how long answers are

class Composer {
 public:
  Composer(const RlParts& parts, const RlFactors& factors) : p_(parts), f_(factors) {}

  RlEstimate run() {
    phases();
    const double step = p_.placement == RlPlacement::colocated ? shared() : apart();
    finish(step);
    return std::move(e_);
  }

 private:
  double& seconds(RlPhase phase) { return seconds_[static_cast<std::size_t>(phase)]; }

  void phases() {
    seconds(RlPhase::generation) = f_.generation * p_.drawing.seconds;
    // Every pass of a model is a phase of its own: batches are handed out and gathered around it.
    const double around = f_.overhead + p_.padded_bytes / f_.handing;
    const auto pass = [&](double alone) { return alone > 0 ? f_.training * alone + around : 0; };
    seconds(RlPhase::reward) = p_.drawing.judging + pass(p_.reward_forward_s);
    seconds(RlPhase::log_probs) = pass(p_.policy_forward_s);
    seconds(RlPhase::reference) = pass(p_.reference_forward_s);
    seconds(RlPhase::values) = pass(p_.critic_forward_s);
    seconds(RlPhase::training) = pass(p_.policy_training_s);
    seconds(RlPhase::critic) = pass(p_.critic_training_s);
    seconds(RlPhase::weights) = p_.weight_bytes / (p_.weight_link * f_.refit);
    seconds(RlPhase::swap) = p_.swap_bytes / (p_.swap_link * f_.refit);
    seconds(RlPhase::other) = around;
  }

  double add(RlPhase phase, double start, int pool = 0) {
    if (seconds(phase) <= 0) return start;
    e_.timeline.push_back({phase, pool, start, seconds(phase)});
    return start + seconds(phase);
  }

  /// What the trainers do, from `start`; a critic on devices of its own works beside them.
  double train(double start) {
    if (!p_.critic_apart) {
      for (const RlPhase phase : {RlPhase::reward, RlPhase::log_probs, RlPhase::reference, RlPhase::values,
                                  RlPhase::training, RlPhase::critic, RlPhase::other}) {
        start = add(phase, start);
      }
      return start;
    }
    constexpr int kCritic = 2;
    const double judged = add(RlPhase::values, add(RlPhase::reward, start, kCritic), kCritic);
    start = std::max(judged, add(RlPhase::reference, add(RlPhase::log_probs, start)));
    const double critic = add(RlPhase::critic, start, kCritic);
    start = std::max(critic, add(RlPhase::training, start));
    return add(RlPhase::other, start);
  }

  double shared() {
    const double step = train(add(RlPhase::swap, add(RlPhase::generation, add(RlPhase::weights, 0))));
    e_.trainers_idle = seconds(RlPhase::generation) * (1 - p_.drawing.busy) / step;
    return step;
  }

  /// Of one batch where engines need not wait for its end; without partial answers they drain before new weights, once
  /// for all batches that are in flight.
  double flowing() {
    const double whole = seconds(RlPhase::generation);
    if (p_.placement == RlPlacement::one_step_off || p_.staleness <= 0) return whole;
    const double drain = p_.partial ? 0 : whole * p_.drawing.tail_share / (1 + p_.staleness);
    return std::min(whole, f_.generation * p_.drawing.flowing_seconds + drain);
  }

  /// Staleness 0: all answers are of the present weights, but each update starts once enough of them are there.
  [[nodiscard]] double stream(double drawn, double trained) const {
    const double updates = std::max(1.0, p_.updates);
    double now = 0;
    for (double i = 1; i <= updates; ++i) {
      const double at = i / updates * static_cast<double>(kTwentieths);
      const auto below = std::min(static_cast<std::size_t>(at), kTwentieths - 1);
      const auto& there = p_.drawing.there;
      const double share = there[below] + (at - static_cast<double>(below)) * (there[below + 1] - there[below]);
      now = std::max(now, share * drawn) + trained / updates;
    }
    return now;
  }

  /// When all answers of a batch are judged. Where answers flow, several batches wait for a verdict at once, but
  /// sandboxes judge no more in a step than they can.
  [[nodiscard]] double judged_after(double drawn) const {
    if (p_.placement == RlPlacement::one_step_off) return drawn + p_.drawing.judging;
    return std::max(drawn + p_.drawing.judging / (1 + p_.staleness), p_.drawing.judging_work);
  }

  double apart() {
    const double drawn = flowing();
    seconds(RlPhase::generation) = drawn;
    const double moved = seconds(RlPhase::weights);
    // Sandboxes judge one batch while the trainers work on another; models that judge are the trainers' work.
    seconds(RlPhase::reward) -= p_.drawing.judging;
    const double trained = train(0);
    seconds(RlPhase::reward) += p_.drawing.judging;
    const bool streamed = p_.placement == RlPlacement::asynchronous && p_.staleness <= 0;
    const double judged = judged_after(drawn);
    const double longer = streamed ? stream(judged, trained) : std::max(trained, judged);
    const double step = longer + moved;
    judging_binds_ = judged > trained && p_.drawing.judging_work > drawn;
    e_.timeline.push_back({RlPhase::generation, 1, 0, drawn});
    if (judged > drawn) e_.timeline.push_back({RlPhase::reward, 1, drawn, judged - drawn});
    e_.timeline.push_back({RlPhase::weights, 0, longer, moved});
    e_.timeline.push_back({RlPhase::weights, 1, longer, moved});
    e_.wait_s = longer - trained;
    e_.trainers_idle = e_.wait_s / step;
    const double at_work = drawn == f_.generation * p_.drawing.seconds ? p_.drawing.busy : 1;
    e_.generators_idle = (longer - drawn * at_work) / step;
    const int policy = p_.generators + p_.trainers;
    const double share = drawn * p_.generators / (drawn * p_.generators + trained * p_.trainers);
    const int engines = std::max(1, static_cast<int>(std::lround(share * policy / p_.engine_gpus)));
    e_.balanced_generators = std::clamp(engines * p_.engine_gpus, p_.engine_gpus, std::max(p_.engine_gpus, policy - 1));
    return step;
  }

  void finish(double step) {
    const double factor = std::exp(kNormal90 * std::hypot(f_.spread, p_.assumed_lengths ? kAssumedLengths : 0));
    const auto around = [&](double mid) { return Interval{mid / factor, mid, mid * factor}; };
    e_.step_s = around(step);
    for (std::size_t i = 0; i < kRlPhases; ++i) e_.phases_s[i] = around(seconds_[i]);
    e_.tokens = p_.tokens;
    e_.tokens_per_s_per_gpu = around(p_.tokens / step / p_.gpus);
    e_.updates = p_.updates;
    e_.tail_share = p_.drawing.tail_share;
    e_.mean_running = p_.drawing.running;
    e_.weight_bytes = p_.weight_bytes;
    // What binds is the longest phase of the pool that the step waits for.
    const bool both = p_.placement == RlPlacement::colocated;
    double longest = 0;
    for (std::size_t i = 0; i < kRlPhases; ++i) {
      const auto phase = static_cast<RlPhase>(i);
      const bool drawing = phase == RlPhase::generation;
      if (!both && drawing != (e_.wait_s > 0) && phase != RlPhase::weights) continue;
      if (seconds_[i] > longest) {
        longest = seconds_[i];
        e_.binds = phase;
      }
    }
    if (judging_binds_) e_.binds = RlPhase::reward;
  }

  const RlParts& p_;
  const RlFactors& f_;
  RlEstimate e_;
  std::array<double, kRlPhases> seconds_{};
  bool judging_binds_ = false;  ///< sandboxes do not keep up with the engines
};

}  // namespace

RlFactors factors_of(const Calibration& c) {
  return {c.value("rl.generation"), c.value("rl.training"), c.value("rl.refit"),
          c.value("rl.overhead"),   c.value("rl.handing"),  c.value("rl.spread")};
}

RlEstimate compose(const RlParts& parts, const RlFactors& factors) {
  return Composer(parts, factors).run();
}

}  // namespace ridge::rl
