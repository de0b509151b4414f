#include "app/cli/session/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "ridge/report/report.hpp"

namespace ridge::cli {

namespace {

constexpr int kBar = 20;
constexpr double kTooEarlyToTell = 0.02;
constexpr std::chrono::milliseconds kBetween{100};
constexpr std::string_view kWipe = "\r\033[K";

void write(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

}  // namespace

std::string progress_line(std::string_view what, double share, double elapsed_seconds, double done,
                          std::string_view of) {
  share = std::clamp(share, 0.0, 1.0);
  std::string line = std::string(what) + "  ";
  const int filled = static_cast<int>(std::floor(share * kBar));
  for (int i = 0; i < kBar; ++i) line += i < filled ? "━" : "─";
  line += "  " + std::to_string(static_cast<int>(std::floor(share * 100))) + " %";
  if (done > 0 && elapsed_seconds > 0)
    line += ", " + format_count(done / elapsed_seconds) + " " + std::string(of) + "/s";
  if (share >= kTooEarlyToTell && share < 1) {
    line += ", " + std::to_string(std::lround(std::ceil(elapsed_seconds * (1 - share) / share))) + " s left";
  }
  return line;
}

Progress::Progress(std::string what, std::FILE* to, std::atomic<double>* told)
    : what_(std::move(what)), to_(to), told_(told), terminal_(to != nullptr && isatty(fileno(to)) != 0) {}

Progress::~Progress() {
  if (drawn_) write(to_, kWipe);
}

void Progress::show(double share, double done, std::string_view of) {
  if (told_ != nullptr) told_->store(std::clamp(share, 0.0, 1.0), std::memory_order_relaxed);
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now - last_ < kBetween) return;
  last_ = now;
  drawn_ = true;
  write(to_, std::string(kWipe) +
                 progress_line(what_, share, std::chrono::duration<double>(now - start_).count(), done, of));
}

}  // namespace ridge::cli
