// Any bytes are a trace or an error with its place; what is accepted is in order, believable and can be drawn from.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ridge/serve/workload.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto workload = ridge::parse_trace(std::string(reinterpret_cast<const char*>(data), size), "t.csv");
  if (!workload) {
    require(workload.error().where.starts_with("t.csv") && !workload.error().message.empty());
    return 0;
  }
  const ridge::Trace& trace = *workload->trace;
  require(!trace.requests.empty() && !workload->classes.empty());
  double before = 0;
  std::size_t keys = 0;
  for (const ridge::Trace::Request& r : trace.requests) {
    require(std::isfinite(r.arrival) && r.arrival >= before);
    require(r.input <= ridge::kMostRequestTokens && r.output <= ridge::kMostRequestTokens);
    require(r.priority >= 0 && r.priority < ridge::kPriorities);
    require(r.first_key == keys);
    keys += r.key_count;
    before = r.arrival;
  }
  require(keys == trace.keys.size());
  require(std::isfinite(workload->mean_input()) && std::isfinite(workload->mean_output()));
  return 0;
}
