// Any bytes are a file of results or an error that names it; numbers that make a search are read back as they were.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "search/store.hpp"

namespace {

using namespace ridge;
using namespace ridge::search;

void require(bool condition) {
  if (!condition) std::abort();
}

const std::string& path() {
  static const std::string kPath = "/dev/shm/ridge-fuzz-results-" + std::to_string(getpid()) + ".sqlite";
  return kPath;
}

/// Numbers taken from the input, zeros once it is used up.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  template <class T>
  T next() {
    T value{};
    const std::size_t bytes = std::min(sizeof value, size_);
    if (bytes > 0) std::memcpy(&value, data_, bytes);
    data_ += bytes;
    size_ -= bytes;
    return value;
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

void write_and_read(Numbers numbers) {
  StoredSearch search;
  search.question = "q";
  search.size = numbers.next<std::uint32_t>();
  search.findings.top = 1 + numbers.next<std::uint8_t>();
  search.findings.groups.resize(1 + numbers.next<std::uint8_t>());
  while (!numbers.empty()) {
    Scored scored{numbers.next<std::uint32_t>(), numbers.next<double>(), {}};
    for (double& criterion : scored.criteria) criterion = numbers.next<double>();
    auto& harvest = search.findings.groups[numbers.next<std::uint8_t>() % search.findings.groups.size()];
    (numbers.next<std::uint8_t>() % 2 == 0 ? harvest.best : harvest.front).push_back(scored);
    search.done.push_back({numbers.next<std::uint32_t>(), numbers.next<std::uint32_t>()});
  }
  auto store = Store::open(path());
  require(store.ok());
  if (!store->write(search)) return;  // a number that is none
  const auto read = store->read();
  if (read) {
    require(read->findings == search.findings && read->done == search.done && read->size == search.size);
  } else {
    require(read.error().where == path());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  unlink(path().c_str());
  if (size > 0 && data[0] == 'N') {
    write_and_read({data + 1, size - 1});
  } else {
    std::ofstream(path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    const auto store = Store::open_existing(path());
    const auto read = store ? store->read() : Result<StoredSearch>(store.error());
    if (!read) {
      require(read.error().where == path() && !read.error().message.empty());
    } else {
      for (const Harvest& harvest : read->findings.groups) {
        for (const Scored& s : harvest.best) require(s.index < read->size && s.violation >= 0);
      }
    }
  }
  unlink(path().c_str());
  return 0;
}
