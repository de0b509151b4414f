// Any bytes are a request or a refusal in JSON: the first chooses the endpoint, the rest is its body or query. Every
// one is read as far as the call that it stands for; one in 32 is answered.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "app/cli/call/api.hpp"
#include "catalogue/files/json_document.hpp"
#include "fuzz/sample.hpp"

namespace {

using ridge::cli::Api;

void require(bool condition) {
  if (!condition) std::abort();
}

const ridge::cli::Surroundings& here() {
  static const ridge::cli::Surroundings kHere{.program = "", .data_variable = RIDGE_DATA_DIR};
  return kHere;
}

const ridge::cli::SharedData& shared() {
  static const ridge::cli::SharedData kShared = *ridge::cli::Session({}, here()).share();
  return kShared;
}

Api& api() {
  static Api one(shared(), here(), {.long_seconds = 0.5});
  return one;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array<std::string_view, 10> kPosted = {
      "/v1/estimate", "/v1/estimate", "/v1/estimate", "/v1/simulate", "/v1/plan",
      "/v1/cost",     "/v1/goodput",  "/v1/facility", "/v1/check",    "/v1/jobs/1"};
  static constexpr std::array<std::string_view, 4> kGot = {"/v1/catalogue", "/v1/mlperf", "/v1/validate", "/v1/jobs/1"};
  if (size == 0) return 0;
  const std::size_t which = data[0] % (kPosted.size() + kGot.size());
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (text.find("async") != std::string::npos) return 0;  // what runs longer than a test would hide what is tested
  ridge::http::Request request;
  if (which < kPosted.size()) {
    request.method = "POST";
    request.path = kPosted[which];
    request.body = text;
  } else {
    request.method = "GET";
    request.path = kGot[which - kPosted.size()];
    const std::size_t equals = std::min(text.find('='), text.size());
    request.query.emplace_back(text.substr(0, equals), text.substr(std::min(equals + 1, text.size())));
  }
  if (!ridge::fuzz::one_in(32, data, size)) {
    const auto asked = ridge::cli::request_call(request, *shared().catalogue, {});
    require(asked.ok() || !asked.error().message.empty());
    return 0;
  }
  const ridge::http::Response response = api().answer(request, false);
  if (response.defer) return 0;
  require(response.status == 200 || (response.status >= 400 && response.status < 500));
  require(ridge::parse_json(response.body, "answer").ok());
  return 0;
}
