// How much of a long run survives failures: goodput, interruptions, checkpoints, time to train.
//
//   GoodputInputs in;
//   in.gpus = 16384; in.useful_s = 49 * 86400.0;
//   in.per_gpu_hour = rates;                             // by cause, from a record of data/economics
//   in.checkpoint = checkpoint_cost({.strategy = CheckpointStrategy::sharded, .bytes = 5.7e12, ...});
//   if (Status s = check(in); !s) return s.error();
//   GoodputOutputs mean = expected_goodput(in);          // Young/Daly: closed form, allocates nothing
//   GoodputSample sample = simulate_goodput(in, 1000, 7);  // discrete events: the same and its spread, p95
//
// Failures are Poisson: independent, at a constant rate for each cause and GPU-hour while the job is up or coming up.
// The closed form is exact for blocking checkpoints with enough spares, and approximate otherwise; the simulation
// follows every failure, checkpoint, spare and repair. Pure and reproducible from the seed; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ridge/base/patience.hpp"
#include "ridge/base/result.hpp"
#include "ridge/facility/storage.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

enum class FailureCause : std::uint8_t {
  gpu,       ///< the accelerator itself, its caches, firmware, silent corruption
  hbm,       ///< its memory
  scale_up,  ///< links, switches and backplane between accelerators
  nic,
  network,  ///< switches and cables
  node,     ///< host, disks, power supplies, chassis, maintenance
  software,
};
inline constexpr std::size_t kFailureCauses = 7;
[[nodiscard]] std::string_view name(FailureCause cause);

/// "full", "sharded", "async", "in-memory", "delta"; refuses others, naming the nearest.
Result<CheckpointStrategy> parse_checkpoint_strategy(std::string_view text);

/// What there is to save and the way it takes.
struct CheckpointSetup {
  CheckpointStrategy strategy = CheckpointStrategy::sharded;
  double bytes = 0;  ///< of the whole state: 14 for each parameter with BF16 weights and Adam
  double gpus = 1;
  double storage_bytes_per_s = 0;     ///< all ranks together
  double writer_bytes_per_s = 5e9;    ///< one writer
  double copy_bytes_per_s = 25e9;     ///< from one GPU to its host
  double replica_bytes_per_s = 25e9;  ///< from one GPU's host to another node
  double delta_share = 0.1;           ///< of the state that a delta holds
};

struct CheckpointCost {
  double stall_s = 0;              ///< training waits
  double lag_s = 0;                ///< after the stall, until the checkpoint can be gone back to
  double load_s = 0;               ///< to read it back
  double shortest_interval_s = 0;  ///< before the last one is written, no other begins
};
[[nodiscard]] CheckpointCost checkpoint_cost(const CheckpointSetup& setup) noexcept;

struct GoodputInputs {
  double gpus = 0;                                    ///< that the job runs on
  double spare_gpus = 0;                              ///< that stand ready beside them
  double unit_gpus = 8;                               ///< replaced together: a node, or a tray
  double domain_gpus = 8;                             ///< down together if the scale-up fabric fails: a node, or a rack
  std::array<double, kFailureCauses> per_gpu_hour{};  ///< interruptions
  double detection_s = 0;                             ///< until somebody or something notices
  double restart_s = 0;                               ///< until the job is up again, without reading the checkpoint
  double repair_s = 0;                                ///< until a broken unit is a spare again
  CheckpointCost checkpoint;
  double interval_s = 0;       ///< of training between two checkpoints; 0 = the best
  double straggler_share = 0;  ///< by which the slowest rank slows down all
  double useful_s = 0;         ///< the run, if nothing ever failed
  double engineer_hours = 0;   ///< for each interruption
};

/// What GPU-hours are lost to.
enum class LossKind : std::uint8_t {
  checkpoints,  ///< waiting for them
  rework,       ///< done, lost, done again
  restart,      ///< noticing and coming back
  spares,       ///< waiting for a spare
  stragglers,
  idle_spares,  ///< spares that stand ready; beside the run, not in its time
};
inline constexpr std::size_t kLossKinds = 6;
[[nodiscard]] std::string_view name(LossKind kind);

struct GoodputOutputs {
  double goodput = 0;                ///< useful time over time to train
  double interruptions = 0;          ///< of the whole run
  double mtbf_s = 0;                 ///< of the job
  double checkpoint_interval_s = 0;  ///< used
  double young_s = 0;                ///< sqrt(2 stall MTBF)
  double daly_s = 0;                 ///< its higher order
  double time_to_train_s = 0;
  double engineer_hours = 0;
  std::array<double, kLossKinds> lost_gpu_hours{};
  std::array<double, kFailureCauses> lost_by_cause{};  ///< rework, restart and waiting for spares, GPU-hours
};

/// Refuses (bad_input, `where` = the flag) what is negative, not finite or absurd, and a run of no length.
[[nodiscard]] Status check(const GoodputInputs& in);

/// Closed form. Noexcept, allocates nothing.
[[nodiscard]] GoodputOutputs expected_goodput(const GoodputInputs& in) noexcept;

/// The mean of all trials, and how they spread.
struct GoodputSample {
  GoodputOutputs mean;
  int trials = 0;
  Interval time_to_train_s;  ///< 5 %, 50 % and 95 % of the trials
  Interval goodput;          ///< the same
  Interval interruptions;    ///< the same
  bool gave_up = false;      ///< some trial would take 20 times its useful time: the job fails faster than it gets on
};
/// Discrete events. `trials` >= 1; fewer are run (GoodputSample::trials) where each has very many interruptions,
/// or once patience is over.
[[nodiscard]] GoodputSample simulate_goodput(const GoodputInputs& in, int trials, std::uint64_t seed,
                                             const Patience& patience = {});

/// Mean goodput by checkpoint interval, simulated with the same failures for each, and the best of them.
struct IntervalCurve {
  struct Point {
    double interval_s = 0;
    double simulated = 0;
    double expected = 0;
  };
  std::vector<Point> points;
  double best_s = 0;
};
[[nodiscard]] IntervalCurve sweep_interval(const GoodputInputs& in, int points, int trials, std::uint64_t seed,
                                           const Patience& patience = {});

}  // namespace ridge
