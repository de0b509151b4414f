// Bytes that a training plan puts on the wire, by collective and tier, counted as the training engine counts them.
//
//   TrainingTraffic t = training_traffic(*job->resolved, job->plan);
//   t.out_bytes();                        // per device and step, one direction, over the network
//   t.out_bytes() / compute_seconds;      // the rate that hides it: what a port has to carry
//
// Rings: each of n ranks sends (n-1)/n of the buffer per pass; across scale-up domains every member brings its own
// port, so that a device sends 1/(members of its domain) of that over the network. Pure, noexcept, any thread.
#pragma once

#include <array>

#include "ridge/perf/training.hpp"

namespace ridge {

enum class TrafficKind : std::uint8_t { data_parallel, tensor_parallel, context_parallel, expert_parallel, pipeline };
inline constexpr std::size_t kTrafficKinds = 5;
[[nodiscard]] std::string_view name(TrafficKind kind);

struct TrainingTraffic {
  std::array<double, kTrafficKinds> up{};      ///< bytes per device and step inside the scale-up domain, one direction
  std::array<double, kTrafficKinds> out{};     ///< the same over the network
  std::array<double, kTrafficKinds> ranks{};   ///< of the largest group of that kind, 0 = no such traffic
  std::array<double, kTrafficKinds> inside{};  ///< of them in one scale-up domain
  double port = 0;                             ///< bytes/s one direction that the network gives a device, datasheet
  [[nodiscard]] double up_bytes() const;
  [[nodiscard]] double out_bytes() const;
};

/// Zeros if the plan cannot run for another reason than memory.
[[nodiscard]] TrainingTraffic training_traffic(const ResolvedTraining& job, const TrainingPlan& plan) noexcept;

}  // namespace ridge
