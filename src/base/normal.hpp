// The one number of a normal distribution that intervals of 80 % are made of.
#pragma once

namespace ridge {

/// 80 % lie within so many standard deviations of the middle: the ninetieth percentile.
inline constexpr double kNormal90 = 1.2815515655446004;

}  // namespace ridge
