// What kernels written once for all chips can use of any of them.
#pragma once

namespace ridge::perf {

/// FLOPs of a core and clock by the matrix instructions in 16 bits that NVIDIA's chips since Ampere share: four tensor
/// cores of 256 FMAs (A100 white paper), the rate that data/architectures.toml has for Ampere.
inline constexpr double kSharedMatrixFlops = 2048;

}  // namespace ridge::perf
