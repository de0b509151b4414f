// Any bytes are a workload file or an error with its place; what is accepted draws lengths within its limits.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ridge/serve/workload.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void require_length(const ridge::LengthDistribution& length, ridge::Random& random) {
  require(std::isfinite(length.expected()) && length.expected() >= 0);
  for (int i = 0; i < 8; ++i) {
    const double drawn = length.draw(random);
    require(drawn <= ridge::kMostRequestTokens);
    require(length.kind != ridge::LengthKind::lognormal ||
            (drawn >= std::floor(length.low) && drawn <= std::ceil(length.high)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto workload = ridge::parse_workload({reinterpret_cast<const char*>(data), size}, "t.toml");
  if (!workload) {
    require(workload.error().where.starts_with("t.toml") && !workload.error().message.empty());
    return 0;
  }
  require(!workload->classes.empty());
  ridge::Random random(1);
  for (const ridge::RequestClass& c : workload->classes) {
    require(c.share >= 0 && c.priority >= 0 && c.priority < ridge::kPriorities && c.prefix_groups >= 1);
    require(std::isfinite(c.think_time) && c.think_time >= 0);
    for (const auto* length : {&c.input, &c.output, &c.turns}) require_length(*length, random);
  }
  require(std::isfinite(workload->mean_input()) && std::isfinite(workload->mean_output()) &&
          std::isfinite(workload->mean_turns()));
  return 0;
}
