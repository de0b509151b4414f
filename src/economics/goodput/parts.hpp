// What the closed form and the simulation of goodput share. Pure; any thread.
#pragma once

#include "ridge/economics/goodput.hpp"

namespace ridge::economics {

/// Interruptions of the whole job, all causes.
[[nodiscard]] double interruptions_per_s(const GoodputInputs& in) noexcept;
/// Whether hardware has to be replaced before the job goes on. Switches and cables are routed around.
[[nodiscard]] bool needs_spare(FailureCause cause) noexcept;
/// GPUs that are out at once.
[[nodiscard]] double broken_gpus(const GoodputInputs& in, FailureCause cause) noexcept;
/// Daly's higher-order optimum.
[[nodiscard]] double daly_interval(double stall_s, double mtbf_s) noexcept;
/// Expected time of `interval_s` of training and its checkpoint, with failures.
[[nodiscard]] double expected_segment(double interval_s, double stall_s, double down_s, double per_s) noexcept;

}  // namespace ridge::economics
