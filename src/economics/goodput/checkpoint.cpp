// Checkpoints: what each strategy stalls, how late it is safe, what reading it back takes; and the checks of goodput's
// inputs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ridge/base/change.hpp"
#include "ridge/base/text.hpp"
#include "ridge/economics/goodput.hpp"

namespace ridge {

namespace {

constexpr std::string_view kCauses[kFailureCauses] = {"gpu", "hbm", "scale-up", "nic", "network", "node", "software"};
constexpr std::string_view kKinds[kLossKinds] = {"checkpoints",        "rework",     "restart",
                                                 "waiting for spares", "stragglers", "idle spares"};

Status check_one(double value, double low, double high, std::string_view field, std::string_view what) {
  if (value >= low && value <= high) return {};
  return Error{ErrorCode::bad_input, named(field),
               fmt::format("{} cannot be {}: it is between {} and {}", what, format_number(value), format_number(low),
                           format_number(high))};
}

}  // namespace

std::string_view name(FailureCause cause) {
  return kCauses[static_cast<std::size_t>(cause)];
}
std::string_view name(LossKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

Result<CheckpointStrategy> parse_checkpoint_strategy(std::string_view text) {
  std::array<std::string_view, kCheckpointStrategies> names;
  for (std::size_t i = 0; i < kCheckpointStrategies; ++i) {
    names[i] = name(static_cast<CheckpointStrategy>(i));
    if (text == names[i]) return static_cast<CheckpointStrategy>(i);
  }
  const std::string near = nearest(text, names.data(), names.size());
  return Error{ErrorCode::bad_input, "",
               fmt::format("{} is no way to checkpoint{}", quoted(text),
                           near.empty() ? ": write full, sharded, async, in-memory or delta"
                                        : fmt::format("; did you mean {}?", near))};
}

CheckpointCost checkpoint_cost(const CheckpointSetup& s) noexcept {
  const double write = s.bytes / s.storage_bytes_per_s;
  const double copy = s.bytes / s.gpus / s.copy_bytes_per_s;
  const double replicate = s.bytes / s.gpus / s.replica_bytes_per_s;
  switch (s.strategy) {
    case CheckpointStrategy::full: {
      const double alone = s.bytes / std::min(s.writer_bytes_per_s, s.storage_bytes_per_s);
      return {alone, 0, write, alone};
    }
    case CheckpointStrategy::sharded:
      return {write, 0, write, write};
    case CheckpointStrategy::async:
      return {copy, write, write, write};
    case CheckpointStrategy::in_memory:
      return {copy, replicate, replicate + copy, replicate};
    case CheckpointStrategy::delta:
      // Reading back takes the last full state and the delta on it.
      return {copy * s.delta_share, write * s.delta_share, write * (1 + s.delta_share), write * s.delta_share};
  }
  return {};
}

Status check(const GoodputInputs& in) {
  struct Range {
    double value;
    std::string_view field, what;
    double low, high;
  };
  const Range bounds[] = {
      {in.gpus, "gpus", "the number of GPUs", 1, 1e7},
      {in.spare_gpus, "spares", "the number of spare GPUs", 0, 1e7},
      {in.unit_gpus, "unit", "what is replaced together", 1, 1e5},
      {in.domain_gpus, "domain", "what fails together", 1, 1e5},
      {in.detection_s, "detection", "the time to detect, in seconds,", 0, 1e6},
      {in.restart_s, "restart", "the time to restart, in seconds,", 0, 1e6},
      {in.repair_s, "repair", "the time to repair, in seconds,", 0, 1e8},
      {in.interval_s, "interval", "the checkpoint interval, in seconds,", 0, 1e9},
      {in.straggler_share, "stragglers", "what stragglers cost", 0, 10},
      {in.useful_s, "duration", "the length of the run, in seconds,", 1, 1e10},
      {in.engineer_hours, "engineer_hours", "engineer hours for each interruption", 0, 1e4},
      {in.checkpoint.stall_s, "checkpoint", "the stall of a checkpoint, in seconds,", 0, 1e7},
      {in.checkpoint.lag_s, "checkpoint", "the time to write a checkpoint, in seconds,", 0, 1e8},
      {in.checkpoint.load_s, "checkpoint", "the time to read a checkpoint, in seconds,", 0, 1e8},
  };
  for (const Range& b : bounds) {
    if (Status s = check_one(b.value, b.low, b.high, b.field, b.what); !s) return s;
  }
  for (std::size_t i = 0; i < kFailureCauses; ++i) {
    if (Status s =
            check_one(in.per_gpu_hour[i], 0, 1, "rate", fmt::format("interruptions per GPU-hour ({})", kCauses[i]));
        !s)
      return s;
  }
  return {};
}

}  // namespace ridge
