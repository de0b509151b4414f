// Effects: what devices, software and publishers make of the physics, and how sure that is. Data, not code.
//
//   const Effects& effects = calibration.effects();
//   Sureness s = effects.of("serving", {"mi355x", "cdna4", false}, "vllm");
//   s.time();                       // 1.08: this chip under this software takes 8 % longer than the physics says
//   s.spread("tpot_ms/closed-loop");  // {0.74, 1.41}: 80 % of what was left out stayed within, as factors on the
//   answer
//
// The logarithm of measured over predicted time is a sum: an effect of the device (within its architecture), one of the
// software on that architecture, one of who ran it, and a rest. What has rows has an estimate, shrunk towards its
// parent; what has none has the parent's mean and the parent's variance on top. So the variance only grows with
// novelty: an answer about something less measured is never narrower. Errors of two devices under one software share
// the last two, so that their difference is surer than each. Written by `ridge calibrate`
// (src/evidence/calibration/effects_fit.hpp) from errors on rows that the physics had not seen. Immutable; any thread
// may read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/catalogue/own_runs.hpp"

namespace ridge {

/// One device, architecture or engine on an architecture and what is known of it, its parents included.
struct Effect {
  std::string group;  ///< "serving", "training", "power", "diffusion"
  std::string level;  ///< "device", "architecture", "engine", "tuned" (records); "new" for one nobody heard of
  std::string key;    ///< "mi355x", "vllm@cdna4"
  double mean = 0;    ///< of the logarithm of time: 0.1 = a tenth slower than the physics
  double spread = 0;  ///< standard deviation of what is not known about it
  int rows = 0;       ///< measured figures behind it, 0 for parents that stand in
};

/// What remains of one figure's error when device and software are known, and how far out 80 % reaches.
struct EffectRest {
  std::string group;
  bool measured = true;  ///< of chips whose kernels the physics was fitted to, or of the others
  std::string metric;    ///< "output_tok_s/offline", or "output_tok_s" for loads without evidence
  double between = 0;    ///< between those who ran the same software on the same chip: one measurement takes it out
  double within = 0;     ///< between the runs of one of them
  double low =
      -1.28;  ///< quantiles of the standardised error in time, from rows left out together with their publisher,
  double high = 1.28;  ///< their device or their engine: 10 % of them stayed below, 10 % above
  int rows = 0;
  double median_error = 0;  ///< of |predicted/measured - 1| on those rows
  double p90_error = 0;
};

/// Factors on an answer that hold 80 %.
struct Spread80 {
  double low = 0.7;
  double high = 1.4;
};

/// What the evidence knows of one question.
struct Sureness {
  std::string device;  ///< key of the entry that was found, "" if none
  std::string software;
  double device_mean = 0, software_mean = 0;
  double device_spread = 0, software_spread = 0;
  double tuned_mean = 0;  ///< of a record, beside what people run: -0.1 = a tenth less time
  int device_rows = 0, software_rows = 0, tuned_rows = 0;
  int own_rows = 0;   ///< points of a server that `ridge bench --learn` fitted factors to
  OwnPoint asked;     ///< what the question is about, for runs of the user's own
  OwnRuns::Says own;  ///< and what those say of it
  std::vector<EffectRest> rests;

  /// Factor on the time of every step.
  [[nodiscard]] double time() const;
  /// What a stack as tuned as records (MLPerf) on this design would have of that time: 0.8 = a fifth less. 1: no
  /// record.
  [[nodiscard]] double as_tuned() const;
  /// The interval of a figure that grows with time (`grows`), or of a rate that falls with it.
  [[nodiscard]] Spread80 spread(std::string_view metric, bool grows) const;
  /// Variances of the logarithm of that figure: of the device, the software, who runs it, and from run to run.
  struct Variance {
    double device = 0, software = 0, stack = 0, run = 0;
  };
  [[nodiscard]] Variance variance(const EffectRest& rest) const;
  /// Standard deviation of the logarithm of that figure.
  [[nodiscard]] double deviation(std::string_view metric) const;
  /// The rest of that figure, or of its metric under any load, or nullptr.
  [[nodiscard]] const EffectRest* rest(std::string_view metric) const;
};

struct DeviceKeys {
  std::string_view device, architecture;
  bool measured = false;  ///< the physics was fitted to kernels of this design or of one it inherits from
};

class Effects {
 public:
  Effects() = default;
  Effects(std::vector<Effect> effects, std::vector<EffectRest> rests);

  /// Whether there are any: without them every factor is 1.
  [[nodiscard]] bool empty() const { return effects_.empty(); }
  [[nodiscard]] std::span<const Effect> effects() const { return effects_; }
  [[nodiscard]] std::span<const EffectRest> rests() const { return rests_; }
  /// The entry of the device, or of the nearest parent that has one; of the engine on that architecture likewise. As
  /// tuned as a record: the effect of records takes the engine's place.
  [[nodiscard]] Sureness of(std::string_view group, const DeviceKeys& device, std::string_view engine,
                            bool as_tuned = false) const;

 private:
  [[nodiscard]] const Effect* find(std::string_view group, std::string_view level, std::string_view key) const;

  std::vector<Effect> effects_;
  std::vector<EffectRest> rests_;
};

}  // namespace ridge
