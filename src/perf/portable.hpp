// What kernels written once for all chips can use of any of them.
#pragma once

namespace ridge::perf {

/// FLOPs of a core and clock by the matrix instructions in 16 bits that NVIDIA's chips since Ampere share.
inline constexpr double kSharedMatrixFlops = 2048;

}  // namespace ridge::perf
