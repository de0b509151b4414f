// A figure where there is none: it prints as nothing and is like nothing, itself included.
#pragma once

#include <limits>

namespace ridge::evidence {

inline constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace ridge::evidence
