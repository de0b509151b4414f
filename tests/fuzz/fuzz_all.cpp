// Every target in one program: RIDGE_FUZZ_TARGET=quantity fuzz_all CORPUS. Shared libraries and sanitizers are then
// carried to another machine once instead of once for each.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// RIDGE_FUZZ_TARGETS is X(quantity) X(csv) ..., from CMakeLists.txt.
#define X(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
RIDGE_FUZZ_TARGETS
#undef X

namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);

Target chosen() {
  const char* wanted = std::getenv("RIDGE_FUZZ_TARGET");
#define X(name) \
  if (wanted != nullptr && std::string_view(wanted) == #name) return fuzz_##name;
  RIDGE_FUZZ_TARGETS
#undef X
#define X(name) " " #name
  std::fprintf(stderr, "set RIDGE_FUZZ_TARGET to one of:%s\n", RIDGE_FUZZ_TARGETS "");
#undef X
  std::exit(1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Target kTarget = chosen();
  return kTarget(data, size);
}
