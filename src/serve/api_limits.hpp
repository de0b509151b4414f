// What an API lets through: requests and tokens per minute as token buckets of one minute, and requests at once.
//
//   ApiGate gate(limits);
//   if (!gate.admits(tokens, in_system, now)) reject();
//
// One thread.
#pragma once

#include "serve/cache/ticks.hpp"

namespace ridge::serve {

class ApiGate {
 public:
  explicit ApiGate(const ApiLimits& limits)
      : limits_(limits), requests_(limits.requests_per_minute), tokens_(limits.tokens_per_minute) {}

  /// Whether the request may enter; counts it if so.
  bool admits(double tokens, double in_system, Ticks now) {
    const double minutes = to_seconds(now - last_) / 60;
    last_ = now;
    requests_ = std::fmin(limits_.requests_per_minute, requests_ + minutes * limits_.requests_per_minute);
    tokens_ = std::fmin(limits_.tokens_per_minute, tokens_ + minutes * limits_.tokens_per_minute);
    if (limits_.concurrency > 0 && in_system >= limits_.concurrency) return false;
    if (limits_.requests_per_minute > 0 && requests_ < 1) return false;
    if (limits_.tokens_per_minute > 0 && tokens_ < tokens) return false;
    requests_ -= 1;
    tokens_ -= tokens;
    return true;
  }
  /// When a request that comes now is let through: the end of its batch window.
  [[nodiscard]] Ticks release(Ticks now) const {
    const Ticks window = to_ticks(limits_.batch_window);
    return window > 0 ? (now + window - 1) / window * window : now;
  }

 private:
  ApiLimits limits_;
  double requests_;
  double tokens_;
  Ticks last_ = 0;
};

}  // namespace ridge::serve
