// Any text is a list of results or an error with its place; what is read is repaired without falling over.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ridge/mlperf/mlperf.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* const path : {"summary_results.json", "Acme/results/one/bert/result_0.txt"}) {
    auto results = ridge::mlperf::read_results({{path, text}}, {.round = "v9.0"});
    if (!results) {
      if (results.error().message.empty() || results.error().where.empty()) std::abort();
      continue;
    }
    const ridge::mlperf::Results repaired = ridge::mlperf::repair(*std::move(results), {});
    for (const auto& row : repaired.rows) {
      if (row.accelerators < 0 || row.nodes < 1 || row.id.empty()) std::abort();
    }
  }
  return 0;
}
