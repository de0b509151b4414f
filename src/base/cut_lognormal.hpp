// Lengths of texts: log-normal, and nothing is longer than where they are cut.
//
//   const CutLognormal lengths = cut_lognormal(400, 0.8, 2048);     // a mean of 400 after the cut
//   lengths.moment(2) / lengths.moment(1);                          // the length that has the same attention
//   lengths.longest_of(8);                                          // what eight of them are padded to, on average
//
// Pure, noexcept, no allocation; any thread.
#pragma once

namespace ridge {

struct CutLognormal {
  double mean = 0;  ///< before the cut
  double cv = 0;    ///< standard deviation over mean, before the cut; 0 = all are as long as the mean
  double most = 0;  ///< what is longer is cut to this

  /// Share that is at most `length` long.
  [[nodiscard]] double share_below(double length) const noexcept;
  /// E[L^power] after the cut, power 1 or 2.
  [[nodiscard]] double moment(int power) const noexcept;
  /// The longest of `count`, on average.
  [[nodiscard]] double longest_of(double count) const noexcept;
};

/// The one whose mean after the cut is `mean`. Nothing varies where `cv` is 0, or the mean is as long as the cut
/// allows.
[[nodiscard]] CutLognormal cut_lognormal(double mean, double cv, double most) noexcept;

}  // namespace ridge
