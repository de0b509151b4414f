// Any bytes are a document: they are refused, or every finding stands on a line of it and says why.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ridge/claims.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

const ridge::Checker& checker() {
  static const ridge::Catalogue catalogue = [] {
    auto loaded = ridge::Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
    require(loaded.ok());
    return std::move(*loaded);
  }();
  static const ridge::Checker loaded = [] {
    auto made = ridge::Checker::load(catalogue, RIDGE_DATA_DIR);
    require(made.ok());
    return std::move(*made);
  }();
  return loaded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto audit = checker().check_text(text, "fuzz");
  if (!audit) {
    require(!audit.error().message.empty());
    return 0;
  }
  std::size_t lines = 1;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  for (const ridge::Finding& f : audit->findings) {
    require(f.claim.line >= 1 && f.claim.line <= lines && f.claim.column >= 1 && f.claim.column <= size + 1);
    require(f.verdict != ridge::Verdict::cannot_check || !f.because.empty());
    require(!f.right || std::isfinite(f.right->value));
  }
  (void)checker().read_toml(text, "fuzz.toml");
  return 0;
}
