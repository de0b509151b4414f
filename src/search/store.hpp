// A search on disk: what was asked, what it read, what is done, what was found. SQLite, one file.
//
//   Result<Store> store = Store::open("run.sqlite");
//   store->write({question, size, findings, done, basis});      // one transaction: all of it or nothing
//   Result<StoredSearch> before = store->read();
//   Status same = check_same(*before, "run.sqlite", now);       // "was made with other prices than are read now"
//
// Written so that a process that is killed leaves the last complete state. The file is known by its application id and
// schema version; somebody else's database is refused before anything is written to it. What is read is checked
// against a checksum and against the ranges that any search has, whoever wrote it. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/search/space.hpp"

namespace ridge::search {

/// Something that the question read, and its digest: {"prices", "3f2a..."}.
struct Basis {
  std::string name;
  std::string digest;
  friend bool operator==(const Basis&, const Basis&) = default;
};

struct StoredSearch {
  std::string question;  ///< the same text for the same space
  std::uint64_t size = 0;
  Findings findings;
  std::vector<Range> done;
  std::vector<Basis> basis;  ///< program, catalogue, prices, ...: all that the answer depends on beside the question
};

class Store {
 public:
  /// Opens, or makes, the file. Refuses, without a change to it, what is no such file, or of another version.
  static Result<Store> open(const std::string& path);
  /// As above, but refuses (not_found) a file that does not exist.
  static Result<Store> open_existing(const std::string& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// Whether a search has been written.
  [[nodiscard]] bool empty() const;
  Result<StoredSearch> read() const;
  Status write(const StoredSearch& search);
  /// Replaces a table of texts: for people with SQL.
  Status write_table(const std::string& name, const std::vector<std::string>& columns,
                     const std::vector<std::vector<std::string>>& rows);

 private:
  struct File;
  explicit Store(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

/// Refuses (bad_input, where = `file`) a search of another question or space than `now`, naming the first thing that it
/// read otherwise, and one that holds what the space has not: candidates beyond `group_ranges`, the candidates of each
/// group, or other groups.
Status check_same(const StoredSearch& stored, const std::string& file, const StoredSearch& now,
                  const std::vector<Range>& group_ranges);

/// What several searches of one space found together. Refuses (bad_input) searches of different questions.
Result<StoredSearch> merge(const std::vector<StoredSearch>& searches, const std::vector<std::string>& names);

/// Findings as bytes that read_findings() takes: for sending them to another process.
[[nodiscard]] std::string write_findings(const Findings& findings);
[[nodiscard]] Findings read_findings(const std::string& bytes);

}  // namespace ridge::search
