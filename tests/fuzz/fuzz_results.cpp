// Any bytes are a file of results or an error that names it; numbers that make a search are read back as they were; a
// search of which cells were changed is refused, or is what it was. The first byte says which of these, and 'F' that
// the rest are findings as another process sends them.
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

/// A database in memory that has a name: ours and the Store's connection see the same one, and no disk is waited for.
constexpr const char* kMemory = "file:ridge-fuzz?mode=memory&cache=shared";

struct Database {
  Database() {
    require(sqlite3_config(SQLITE_CONFIG_URI, 1) == SQLITE_OK);
    require(sqlite3_open(kMemory, &raw) == SQLITE_OK);
  }
  sqlite3* raw = nullptr;
};

sqlite3* raw() {
  static const Database kDatabase;
  return kDatabase.raw;
}

Store& in_memory() {
  raw();
  static Result<Store> store = Store::open(kMemory);
  require(store.ok());
  return *store;
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
  std::string rest() {
    std::string text(reinterpret_cast<const char*>(data_), std::min<std::size_t>(size_, 40));
    size_ = 0;
    return text;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

void check_ranges(const StoredSearch& search) {
  for (const Harvest& harvest : search.findings.groups) {
    for (const Scored& s : harvest.best) require(s.index < search.size && s.violation >= 0);
  }
}

void write_and_read(Numbers numbers) {
  constexpr std::size_t kMostLines = 30;  // more of the same
  StoredSearch search;
  search.question = "q";
  search.size = numbers.next<std::uint32_t>();
  search.findings.top = 1 + numbers.next<std::uint8_t>();
  search.findings.groups.resize(1 + numbers.next<std::uint8_t>());
  while (!numbers.empty() && search.done.size() < kMostLines) {
    Scored scored{numbers.next<std::uint32_t>(), numbers.next<double>(), {}};
    for (double& criterion : scored.criteria) criterion = numbers.next<double>();
    auto& harvest = search.findings.groups[numbers.next<std::uint8_t>() % search.findings.groups.size()];
    (numbers.next<std::uint8_t>() % 2 == 0 ? harvest.best : harvest.front).push_back(scored);
    search.done.push_back({numbers.next<std::uint32_t>(), numbers.next<std::uint32_t>()});
  }
  Store& store = in_memory();
  if (!store.write(search)) return;  // a number that is none
  const auto read = store.read();
  if (read) {
    require(read->findings == search.findings && read->done == search.done && read->size == search.size);
  } else {
    require(read.error().where == kMemory);
  }
}

/// One cell after the other of a search that is written as it should be.
void change_cells(Numbers numbers) {
  static const StoredSearch kSearch = [] {
    StoredSearch search;
    search.question = "train\n--gpus=8";
    search.size = 100;
    search.findings.top = 3;
    search.findings.groups.resize(2);
    search.findings.groups[0].best = {{3, 0, {1, 2, 3}}, {4, 0.5, {2, 2, 3}}};
    search.findings.groups[1].front = {{70, 0, {1, 1, 1}}};
    search.done = {{0, 50}, {60, 100}};
    search.basis = {{"prices", "3f2a"}};
    return search;
  }();
  static constexpr std::array<const char*, 8> kCells = {"UPDATE about SET value = ?1 WHERE key = 'size'",
                                                        "UPDATE about SET value = ?1 WHERE key = 'groups'",
                                                        "UPDATE about SET value = ?1 WHERE key = 'top'",
                                                        "UPDATE done SET past = ?1",
                                                        "UPDATE found SET candidate = ?1",
                                                        "UPDATE found SET candidates = ?1",
                                                        "UPDATE found SET violation = ?1, criterion_2 = ?1",
                                                        "UPDATE about SET value = ?1 WHERE key = 'question'"};
  Store& store = in_memory();
  require(store.write(kSearch).ok());
  do {
    const auto cell = numbers.next<std::uint8_t>();
    sqlite3_stmt* statement = nullptr;
    require(sqlite3_prepare_v2(raw(), kCells[cell % kCells.size()], -1, &statement, nullptr) == SQLITE_OK);
    switch (cell / kCells.size() % 4) {
      case 0:
        sqlite3_bind_int64(statement, 1, numbers.next<std::int64_t>());
        break;
      case 1:
        sqlite3_bind_double(statement, 1, numbers.next<double>());
        break;
      case 2:
        sqlite3_bind_int64(statement, 1, numbers.next<std::uint8_t>());
        break;
      default: {
        const std::string text = numbers.rest();
        sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
      }
    }
    sqlite3_step(statement);  // a cell that may not be empty refuses to be
    sqlite3_finalize(statement);
  } while (!numbers.empty());
  const auto read = store.read();
  if (!read) {
    require(read.error().where == kMemory && !read.error().message.empty());
    return;
  }
  require(read->findings == kSearch.findings && read->done == kSearch.done && read->size == kSearch.size);
}

void read_bytes(const std::uint8_t* data, std::size_t size) {
  unlink(path().c_str());
  std::ofstream(path(), std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto store = Store::open_existing(path());
  const auto read = store ? store->read() : Result<StoredSearch>(store.error());
  if (read) {
    check_ranges(*read);
  } else {
    require(read.error().where == path() && !read.error().message.empty());
  }
  unlink(path().c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  raw();  // SQLite is told about names before anybody opens a file
  switch (data[0]) {
    case 'N':
      write_and_read({data + 1, size - 1});
      break;
    case 'C':
      change_cells({data + 1, size - 1});
      break;
    case 'F':
      (void)read_findings(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
      break;
    default:
      read_bytes(data, size);
  }
  return 0;
}
