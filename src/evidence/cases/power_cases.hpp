// Rows of power.csv: what boards draw while they do one thing.
//
//   PowerCase c = read_power_case(row);   // row.refusal() says why not
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "evidence/rows/case_row.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge::evidence {

enum class PowerWork : std::uint8_t { idle, copy, gemm8192, prefill, decode };

struct PowerCase {
  std::string device;
  std::string model;  ///< prefill and decode
  int gpus = 1;
  PowerWork work = PowerWork::idle;
  std::optional<Format> precision;
  double batch = 1;
  double isl = 0;      ///< tokens of a prefill
  double context = 0;  ///< tokens each sequence of a decode step looks back on
};

[[nodiscard]] PowerCase read_power_case(CaseRow& row);

}  // namespace ridge::evidence
