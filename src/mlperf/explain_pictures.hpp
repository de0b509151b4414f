// A submission of pictures or clips predicted by the engine of diffusion.
//
//   auto e = explain_diffusion(row, benchmark, device, names, knowledge);    // refuses what is not modelled
//
// Pure; any thread.
#pragma once

#include "ridge/mlperf/mlperf_analysis.hpp"

namespace ridge::mlperf {

Result<Explanation> explain_diffusion(const Row& row, const Benchmark& benchmark, const Device& device,
                                      const Names& names, const Knowledge& knowledge);

}  // namespace ridge::mlperf
