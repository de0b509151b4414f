// Any text is a launch file's plan or an error with its place; a plan that can be emitted again reads back the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ridge/facility/launch.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto check = ridge::read_launch(text, "f.sh");
  if (!check) {
    require(check.error().where.starts_with("f.sh:") && !check.error().message.empty());
    return 0;
  }
  require(ridge::differences(check->plan, check->plan).empty());
  return 0;
}
