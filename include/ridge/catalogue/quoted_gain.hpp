// What people say a technique gains, with who said it: data/techniques/*.toml.
//
//   auto quotes = load_quoted_gains("data/techniques");
//   for (const QuotedGain& q : *quotes) q.technique, q.low, q.high;     // "speculation", 2, 3
//
// Values; any thread may read them.
#pragma once

#include <string>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge {

struct QuotedGain {
  std::string technique;  ///< id as in ridge/perf/techniques.hpp
  double low = 1;         ///< factor
  double high = 1;
  std::string of;     ///< of what: "throughput", "speed", "memory"
  std::string title;  ///< of the source
  std::string where;
  std::string date;
};

/// Reads every *.toml of the directory, each with [[quote]] tables; refuses what is malformed, with the place.
Result<std::vector<QuotedGain>> load_quoted_gains(const std::string& directory);

}  // namespace ridge
