// Any text is a quantity or an error that can be printed; a quantity prints as text that reads back.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.hpp"
#include "ridge/base/text.hpp"

namespace {

using namespace ridge;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_error(const Error& error) {
  require(!error.where.empty() && !error.message.empty() && error.message.size() < 1000);
  for (std::string_view rest = error.message; !rest.empty();) {
    const std::size_t length = utf8_length(rest);
    require(length > 0 && (length > 1 || rest[0] >= ' '));
    rest.remove_prefix(length);
  }
}

template <class Q>
void check(std::string_view text) {
  const auto q = parse_quantity<Q>(text);
  if (!q) return check_error(q.error());
  require(std::isfinite(q->value()));
  (void)format(*q);
  if (std::abs(q->value()) < 1e-290 || std::abs(q->value()) > 1e290) return;  // where the last digits are lost
  const auto back = parse_quantity<Q>(format(*q, 17));
  require(back.ok() && std::abs(back->value() / q->value() - 1) < 1e-14);
}

void check_number(const Result<double>& number) {
  if (!number) return check_error(number.error());
  require(std::isfinite(*number) && *number >= 0);
  (void)format_number(*number);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_number(parse_count(text));
  check_number(parse_share(text));
  // An unknown unit is unknown in every dimension; asking once keeps the fuzzer fast.
  const auto first = parse_quantity<Bytes>(text);
  if (!first && first.error().message.find(" is no unit") != std::string::npos) {
    check_error(first.error());
    return 0;
  }
  check<Bytes>(text);
  check<Seconds>(text);
  check<BytesPerSecond>(text);
  check<FlopsPerSecond>(text);
  check<Watts>(text);
  check<GpuRent>(text);
  check<DollarsPerToken>(text);
  check<Dollars>(text);
  check<decltype(Kilograms() / Metres() / Metres())>(text);
  return 0;
}
