// Any bytes are the flags of a verb or a refusal: no word of a line names a file, sets threads or begins another
// option.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "app/cli/call/api.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

const ridge::Catalogue& catalogue() {
  static const auto loaded =
      ridge::Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}, .texts = {}});
  require(loaded.ok());
  return *loaded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array<std::string_view, 7> kPaths = {"/v1/estimate", "/v1/simulate", "/v1/plan", "/v1/cost",
                                                             "/v1/goodput",  "/v1/facility", "/v1/check"};
  if (size == 0) return 0;
  ridge::http::Request request;
  request.method = "POST";
  request.path = kPaths[data[0] % kPaths.size()];
  request.body.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto asked = ridge::cli::request_call(request, catalogue(), {});
  if (!asked) {
    require(!asked.error().message.empty());
    return 0;
  }
  for (const std::string& word : asked->line()) {
    for (const char* flag :
         {"--threads", "--html", "--results", "--save", "--data", "--catalogue", "--plan=", "--svg"}) {
      require(!word.starts_with(flag));
    }
  }
  return 0;
}
