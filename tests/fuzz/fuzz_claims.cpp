// Any bytes are a document, cut into passages whose tokens stand in it, and perhaps a file of claims. One in 16 is also
// checked: it is refused, or every finding stands on a line of it and says why.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "claims/text/names.hpp"
#include "claims/text/passage.hpp"
#include "fuzz/sample.hpp"
#include "ridge/claims/claims.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

const ridge::Catalogue& catalogue() {
  static const ridge::Catalogue kCatalogue = [] {
    auto loaded = ridge::Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
    require(loaded.ok());
    return std::move(*loaded);
  }();
  return kCatalogue;
}

const ridge::Checker& checker() {
  static const ridge::Checker kChecker = [] {
    auto made = ridge::Checker::load(catalogue(), RIDGE_DATA_DIR);
    require(made.ok());
    return std::move(*made);
  }();
  return kChecker;
}

const ridge::claims::Names& names() {
  static const ridge::claims::Names kNames = [] {
    std::ifstream file(RIDGE_DATA_DIR "/claims/names.toml");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    auto made = ridge::claims::Names::load(catalogue(), text, "names.toml");
    require(made.ok());
    return std::move(*made);
  }();
  return kNames;
}

void read_only(std::string_view text) {
  const ridge::claims::Text clean = ridge::claims::clean(text);
  require(clean.origin.size() >= clean.text.size());
  for (const ridge::claims::Passage& passage : ridge::claims::read_passages(clean, names())) {
    for (const ridge::claims::Token& token : passage.tokens) {
      require(token.offset < token.end && token.end <= clean.text.size());
      require(!token.is_number() || std::isfinite(token.measure.value));
      const auto place = clean.place(token.offset);
      require(place.line >= 1 && place.column >= 1 && place.column <= text.size() + 1);
    }
  }
}

void check_in_full(std::string_view text) {
  const auto audit = checker().check_text(text, "fuzz");
  if (!audit) {
    require(!audit.error().message.empty());
    return;
  }
  std::size_t lines = 1;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  for (const ridge::Finding& f : audit->findings) {
    require(f.claim.line >= 1 && f.claim.line <= lines && f.claim.column >= 1 && f.claim.column <= text.size() + 1);
    require(f.verdict != ridge::Verdict::cannot_check || !f.because.empty());
    require(!f.right || std::isfinite(f.right->value));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find('\0') == std::string_view::npos) read_only(text);  // others are refused before they are read
  if (text.find('=') != std::string_view::npos) (void)checker().read_toml(text, "fuzz.toml");
  if (ridge::fuzz::one_in(16, data, size)) check_in_full(text);
  return 0;
}
