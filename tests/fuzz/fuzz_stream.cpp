// Any bytes are a stream or a refusal, the same wherever they are cut; a page of metrics is read or not.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "app/bench/server_metrics.hpp"
#include "app/bench/stream_reader.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t cut = data[0] % size;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  ridge::bench::StreamReader whole(true);
  whole.feed(text);
  whole.finish();
  ridge::bench::StreamReader parts(true);
  parts.feed(text.substr(0, cut));
  parts.feed(text.substr(std::min(cut, text.size())));
  parts.finish();
  require(whole.failed() == parts.failed() && whole.chunks() == parts.chunks() && whole.done() == parts.done());
  require(whole.text() == parts.text() && whole.text().size() <= text.size());
  (void)ridge::bench::read_metrics_page(text);
  return 0;
}
