// How sure a prediction is, and what follows from it: the chance that a plan holds, and that one is cheaper than
// another.
//
//   const LogError error = time_error(estimate.tpot_s, {.device = "h100-sxm", .stack = "vllm", .model = "dense"});
//   error.factor(0.8);            // 1.18: in 8 of 10 cases a step takes at most 1.18 times what is predicted
//   error.probability(1.3);       // that it takes at most 1.3 times as long
//   Race race = run_race({{27.2, error_a, {}}, {38.2, error_b, {}}});
//   race.best[0];                 // 0.86: the first is the cheapest with 86 %
//
// The logarithm of measured over predicted time is a sum of independent effects, each with a key: what two predictions
// share (the model, the stack) has one key in both and cancels when they are compared. Its distribution has the heavy
// tails of Student's t with three degrees of freedom, scaled so that 80 % lie within 1.2816 standard deviations: of the
// left-out cases of data/calibration, the ninetieth percentile of the error is 3.2 times the median (step time 3.25,
// output in a closed loop 3.3), of a normal distribution 2.4, of this one 3.1. What is predicted is a little better
// than the median: where the interval reaches further up than down, so does the probability. Pure functions of their
// arguments: the same draws every time. Any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/catalogue/effects.hpp"
#include "ridge/perf/perf.hpp"
#include "ridge/perf/ranking.hpp"

namespace ridge {

/// A part of the error that is one and the same wherever the key is the same.
struct ErrorPart {
  std::string key;   ///< "device:h100-sxm", "stack:vllm@hopper", "run:vllm", "rest:..."
  double sigma = 0;  ///< of the logarithm
};

/// log(measured / predicted) of a time.
struct LogError {
  std::vector<ErrorPart> effects;
  double above = 1;     ///< errors towards longer times are so many times as large as `effects` say
  double below = 1;     ///< and those towards shorter ones
  double faster = 0.5;  ///< probability of those: of a time below the predicted one

  [[nodiscard]] double sigma() const;
  /// The factor on a predicted time that the measured one stays within with this probability, 0 < p < 1.
  [[nodiscard]] double factor(double p) const;
  /// That the measured time is at most `factor` times the predicted one.
  [[nodiscard]] double probability(double factor) const;
  /// What is left once effects of these kinds have been measured.
  [[nodiscard]] LogError without(std::span<const std::string_view> kinds) const;
};

/// What a prediction is about, as far as predictions share errors.
struct ErrorSubject {
  std::string device;
  std::string vendor;
  std::string stack;        ///< the engine
  std::string model;        ///< "dense", "moe"
  Sureness sure = {};       ///< what the evidence knows of device and stack (ridge/catalogue/effects.hpp)
  std::string metric = {};  ///< the figure of the interval: "output_tok_s/closed-loop"
};

/// Of a time whose 80 % interval is known; of a rate, pass inverse(rate). The distribution has its 10th and 90th
/// percentile there: two halves of Student's t of different width that meet at `mid`, which lies between the median and
/// the mode (src/search/buyer/confidence.cpp says where, and by which rows). The one place where intervals become
/// effects: their size is the interval's, their shares of the variance are those of `sure`: the device's ("device:"),
/// the software's on its architecture ("stack:"), that of who runs it
/// ("run:", the same for all devices of one question), those of the work and of
/// the design at it ("work:", "design:"), and the rest.
///
/// Without effects in the calibration (a user's own, say) it is assumed that 25 % of the variance is the model's and
/// the load's, 10 % the stack's, the same for all devices of a vendor, 35 % the device's, 30 % of none of them. With
/// publishers left out of the fit, errors of two devices of one vendor at the same work by the same publisher correlate
/// by 0.33 (455 pairs of output or token times) and 0.38 (1,205 pairs of training steps), of two vendors by 0.25 (24
/// pairs).
[[nodiscard]] LogError time_error(const Interval& time, const ErrorSubject& about);
/// The interval of 1/x.
[[nodiscard]] Interval inverse(const Interval& rate);

/// Of what is left once device, software and who runs it are known, the share that all devices have in common at one
/// work (its model, its load), and the share that those of one architecture have on top: the same kernels. Chosen by
/// looking at 480 pairs by publishers left out of the fit (`ridge validate --decisions`): with 0.5 for the design,
/// orders that were stated with 55, 65, 75 and 85 % were right in 66, 75, 90 and 93 % of the cases; with 0.65 in 58,
/// 81, 80, 93.
inline constexpr double kSharedByWork = 0.25;
inline constexpr double kSharedByDesign = 0.65;

/// The kinds that one run on the device settles.
inline constexpr std::array<std::string_view, 4> kSettledByARun = {"device", "stack", "run", "ttft"};

/// Of a time that has an error of its own on top of that of `step`, with which it shares the steps: what the interval
/// of `time` says beyond the interval of `step`. Its median is the predicted time: of published times to first token,
/// half are below and half are above it. Empty effects if that is nothing.
[[nodiscard]] LogError beyond(const LogError& step, const Interval& time, const std::string& key);

/// Something that costs `mid` if predictions and prices are right.
struct Runner {
  double mid = 0;  ///< less is better; above 0
  LogError time;   ///< it costs so much more as it takes longer
  LogError price;
};
struct Race {
  std::vector<double> best;   ///< the probability that each is the least
  std::vector<double> ahead;  ///< that the first of the list is less than each
  double regret =
      0;  ///< share by which the first of the list costs more than what turns out to be the least (geometric mean)
};
[[nodiscard]] Race run_race(const std::vector<Runner>& runners);

/// The probability below which two are not told apart.
inline constexpr double kToldApart = 0.75;
/// Places of runners in the order given, which is that of `mid`: who is not behind the first of a place with 75 %
/// shares it.
[[nodiscard]] std::vector<Rank> rank_race(const std::vector<Runner>& runners);

/// An 80 % interval that also holds an independent error of this standard deviation of the logarithm.
[[nodiscard]] Interval widened(const Interval& interval, double sigma);

}  // namespace ridge
