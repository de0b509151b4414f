// Rows of diffusion.csv: one image pipeline each.
//
//   DiffusionCase c = read_diffusion_case(row);   // row.refusal() says why not
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "evidence/rows/case_row.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge::evidence {

struct DiffusionCase {
  std::string model;
  std::string device;
  std::string engine;
  std::string date;
  int gpus = 1;
  int ulysses = 1, ring = 1;  ///< sequence parallelism; the product is `gpus`; 0 = not published
  std::optional<Format> weights;
  double steps = 0;
  double width = 0, height = 0;  ///< pixels
  double batch = 1;              ///< images per call
};

[[nodiscard]] DiffusionCase read_diffusion_case(CaseRow& row);

}  // namespace ridge::evidence
