// A line on standard error that says how far a long computation is, where somebody is there to read it.
//
//   Progress progress("searching");
//   for (...) progress.show(done / total);     // cheap: draws at most ten times a second
//
// Draws only on a terminal and wipes its line when it ends. For one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace ridge::cli {

/// "searching  ━━━━━━━━━━──────────  50 %, 3.10M plans/s, 12 s left": share in [0, 1], seconds since the start. The
/// rate is that of `done` things called `of`; nothing is said of it if none are.
[[nodiscard]] std::string progress_line(std::string_view what, double share, double elapsed_seconds, double done = 0,
                                        std::string_view of = {});

class Progress {
 public:
  /// `told` hears the share too, terminal or not, for somebody who waits elsewhere.
  explicit Progress(std::string what, std::FILE* to = stderr, std::atomic<double>* told = nullptr);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(double share, double done = 0, std::string_view of = {});

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::FILE* to_;
  std::atomic<double>* told_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace ridge::cli
