// Means over spans of time for a run whose end is not known: a fixed number of spans that double when time outgrows
// them.
//
//   Series series;
//   series.level(Track::queue, 3, from, to);      // three requests waited from `from` to `to`
//   series.count(Track::tokens, 24, at);
//
// One thread.
#pragma once

#include <array>
#include <vector>

#include "serve/cache/ticks.hpp"

namespace ridge::serve {

enum class Track : std::uint8_t { queue, running, kv, engines, arrivals, tokens, count };

class Series {
 public:
  static constexpr std::size_t kSpans = 256;

  void level(Track track, double value, Ticks from, Ticks to) {
    if (to <= from || value == 0) return;
    totals_[index(track)] += value * static_cast<double>(to - from);
    while (to > width_ * static_cast<Ticks>(kSpans)) fold();
    auto span = static_cast<std::size_t>(from / width_);
    Ticks edge = static_cast<Ticks>(span + 1) * width_;
    while (edge < to) {
      spans_[span][index(track)] += value * static_cast<double>(edge - from);
      from = edge;
      edge += width_;
      ++span;
    }
    spans_[span][index(track)] += value * static_cast<double>(to - from);
  }
  void count(Track track, double value, Ticks at) {
    totals_[index(track)] += value;
    while (at >= width_ * static_cast<Ticks>(kSpans)) fold();
    spans_[static_cast<std::size_t>(at / width_)][index(track)] += value;
  }
  /// Sum over all time: value x ticks of a level.
  [[nodiscard]] double total(Track track) const { return totals_[index(track)]; }
  [[nodiscard]] double value(Track track, std::size_t span) const { return spans_[span][index(track)]; }
  [[nodiscard]] Ticks width() const { return width_; }

 private:
  static constexpr std::size_t kTracks = static_cast<std::size_t>(Track::count);
  static constexpr std::size_t index(Track track) { return static_cast<std::size_t>(track); }
  void fold() {
    for (std::size_t i = 0; i < kSpans; ++i) {
      for (std::size_t t = 0; t < kTracks; ++t) {
        spans_[i][t] = 2 * i + 1 < kSpans ? spans_[2 * i][t] + spans_[2 * i + 1][t] : 0;
      }
    }
    width_ *= 2;
  }
  Ticks width_ = to_ticks(0.001);
  std::vector<std::array<double, kTracks>> spans_ = std::vector<std::array<double, kTracks>>(kSpans);
  std::array<double, kTracks> totals_{};
};

}  // namespace ridge::serve
