// All points of a measurement, in order: memory, launches, products, experts, attention, small kernels, host, power.
//
//   Bench bench(device_index, force);                 // refuses a busy device unless forced
//   measure_all(bench, arguments, profile);           // adds points; what failed or was spoilt goes to profile.skipped
//
// Throws GpuFailure only where nothing can be measured at all. One thread.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "measure/arguments.hpp"
#include "measure/gpu/gemm.hpp"
#include "measure/gpu/monitor.hpp"
#include "measure/gpu/timing.hpp"
#include "measure/profile.hpp"

namespace ridge::measure {

/// Says how far a long measurement is; `share` in [0, 1].
using Report = std::function<void(double share, const std::string& what)>;

/// Whether somebody asked the program to end: what was measured so far is kept then, nothing more is begun.
using Interrupted = std::function<bool()>;

/// The device and what every part needs of it.
struct Bench {
  Bench(int device, Monitor& monitor, Profile& profile, Report report, Interrupted interrupted);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// Runs one point; a failure is written down and the measurement goes on. A point that was disturbed twice is left
  /// out.
  void point(Point shape, const std::function<Timing()>& measure);
  /// Repeats an operation for `seconds` and reads power and clock meanwhile.
  void sustain(const std::string& work, double amount, const std::string& unit, double seconds, const Launch& launch,
               int rotation);
  /// Calls it, and once more if heat or a power fault slowed the clocks, another process came to the device or its
  /// memory had an error meanwhile; what that was if it was so both times, else empty.
  [[nodiscard]] std::string undisturbed(const std::function<void()>& measure);
  void skip(const std::string& what, const std::string& why);
  /// Offsets (in elements) of as many sets of `elements` as are needed to pass through the cache and fit the arena.
  [[nodiscard]] std::vector<std::size_t> rotate(std::size_t elements, std::size_t bytes_each, std::size_t arena) const;

  Monitor& monitor;
  Profile& profile;
  Report report;
  Interrupted interrupted;
  gpuStream_t stream = nullptr;
  std::size_t l2 = 0;
  int multiprocessors = 0;

  double done = 0, planned = 1;

 private:
  [[nodiscard]] std::string disturbance();

  int others_ = 0;  ///< processes on the device when the measurement began; inside a container this one is among them
  double memory_errors_ = 0;  ///< counted so far
  Reading latest_;
};

/// Facts without touching the device's memory.
[[nodiscard]] Facts device_facts(int device, const Monitor& monitor);

void measure_all(Bench& bench, const Arguments& arguments);

/// Times the products that lines ask for ("bf16 4096 4096 14336": m, n, k), one answer a line: seconds, 10th and 90th
/// percentile, clock, which of the algorithms was taken and how many were tried; or "refused: ..." and why. A line that
/// repeats the one before is timed with the same algorithm. So that other programs can take turns with this one.
void answer_products(Bench& bench, std::istream& in, std::ostream& out);

// Parts, each in a file of its own.
void measure_memory(Bench& bench, bool full);
void measure_launches(Bench& bench, bool full);
void measure_host(Bench& bench, bool full);
void measure_products(Bench& bench, bool full);
void measure_experts(Bench& bench, bool full);
void measure_attention(Bench& bench, bool full);
void measure_layers(Bench& bench, bool full);
void measure_sustained(Bench& bench, bool full);
void measure_collectives(Bench& bench, bool full);
/// Whole steps of a small decoder: what lies between operators, and the clock that a mix of them keeps.
void measure_steps(Bench& bench, bool full);

}  // namespace ridge::measure
