// Runs of a user's own stack, and what they say of a question: what a stack makes of the physics differs from load to
// load, and runs near to the question know it best.
//
//   OwnRuns runs({{point, 0.31}});            // a run took 31 % longer (in logarithms) than predicted
//   OwnRuns::Says s = runs.of(question);      // s.slower 0.2, s.left 0.45 of the variance, s.rows 1
//
// A Gaussian process: the logarithm of measured over predicted time has a part that all runs of a stack share and a
// part that only runs at like loads share. Its spreads and its reach were chosen on stacks whose publisher the physics
// had not seen (docs/calibration.md). No runs of the stack: {0, 1, 0}. Read from overlays ([[run]]); immutable, any
// thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridge {

/// What a run, or a question, is about. Coordinates are logarithms, stretched so that one is equally far in each.
struct OwnPoint {
  static constexpr std::size_t kCoordinates = 5;
  std::string stack;  ///< "vllm-moe", "megatron-dense": family of the software and class of the model
  std::string device, model, format;
  std::string mode;  ///< "closed-loop", "training", ...
  std::array<double, kCoordinates> at{};

  /// Clients or batch, tokens in and out, tensor-parallel degree.
  [[nodiscard]] static std::array<double, kCoordinates> serving(double clients, double isl, double osl, double tp);
  /// Devices, micro-batch, tokens of a sequence, tensor and pipeline degrees.
  [[nodiscard]] static std::array<double, kCoordinates> training(double gpus, double micro_batch, double sequence,
                                                                 double tp, double pp);
};

struct OwnRun {
  OwnPoint point;
  double slower = 0;  ///< logarithm of measured over predicted time
};

class OwnRuns {
 public:
  /// What the runs know: they are fewer than this many for each stack, the first ones given.
  static constexpr std::size_t kMost = 256;

  struct Says {
    double slower = 0;  ///< mean of the logarithm of measured over predicted time
    double left = 1;    ///< of the variance between stacks and loads, what is still unknown
    int rows = 0;       ///< runs of the same stack
  };

  OwnRuns() = default;
  explicit OwnRuns(std::vector<OwnRun> runs);

  [[nodiscard]] std::span<const OwnRun> runs() const { return runs_; }
  [[nodiscard]] Says of(const OwnPoint& question) const;

  /// Standard deviation of what only like loads share; it is a part of EffectRest::within.
  [[nodiscard]] static double by_load();

 private:
  /// The runs of one stack, and their covariance in factors.
  struct Stack {
    std::vector<std::size_t> members;  ///< places in runs_
    std::vector<double> factor;        ///< lower triangle of the Cholesky factor, row by row
    std::vector<double> weights;       ///< inverse covariance times `slower`
  };

  std::vector<OwnRun> runs_;
  std::vector<Stack> stacks_;
};

}  // namespace ridge
