#include "search/store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/digest.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"

namespace ridge::search {

namespace {

constexpr int kApplication = 0x52444753;  // tells our files from other people's
constexpr int kVersion = 2;               // of the tables
constexpr std::uint64_t kMostTop = 1000;
constexpr const char* kTables =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE basis (name TEXT PRIMARY KEY, digest TEXT NOT NULL);"
    "CREATE TABLE done (first INTEGER NOT NULL, past INTEGER NOT NULL);"
    "CREATE TABLE found (kind TEXT NOT NULL, candidates INTEGER NOT NULL, candidate INTEGER NOT NULL,"
    " violation REAL NOT NULL, criterion_1 REAL NOT NULL, criterion_2 REAL NOT NULL, criterion_3 REAL NOT NULL);"
    "PRAGMA application_id = 1380206419; PRAGMA user_version = 2; COMMIT";
static_assert(kApplication == 1380206419 && kVersion == 2, "as the tables above say");

class Statement {
 public:
  Statement(sqlite3* db, const std::string& text) {
    failed_ = sqlite3_prepare_v2(db, text.c_str(), -1, &statement_, nullptr) != SQLITE_OK;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_, at, value); }
  void bind(int at, double value) { sqlite3_bind_double(statement_, at, value); }
  void bind(int at, const std::string& value) {
    sqlite3_bind_text(statement_, at, value.c_str(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
  }
  /// A row is there.
  bool step() {
    if (failed_) return false;
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) failed_ = true;
    return code == SQLITE_ROW;
  }
  void again() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  [[nodiscard]] std::int64_t integer(int column) { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] double number(int column) { return sqlite3_column_double(statement_, column); }
  [[nodiscard]] std::string text(int column) {
    const auto* bytes = sqlite3_column_text(statement_, column);
    return bytes == nullptr ? "" : std::string(reinterpret_cast<const char*>(bytes));
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  sqlite3_stmt* statement_ = nullptr;
  bool failed_ = false;
};

std::string identifier(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

struct Store::File {
  sqlite3* db = nullptr;
  std::string path;
  ~File() { sqlite3_close(db); }
  [[nodiscard]] Error error(const char* what) const {
    const int code = sqlite3_errcode(db);
    const bool full = code == SQLITE_FULL || (code == SQLITE_IOERR && sqlite3_system_errno(db) == ENOSPC);
    return {ErrorCode::bad_input, path, std::string(what) + ": " + (full ? "the disk is full" : sqlite3_errmsg(db))};
  }
  bool run(const char* text) const { return sqlite3_exec(db, text, nullptr, nullptr, nullptr) == SQLITE_OK; }
  /// The first cell of the answer.
  [[nodiscard]] std::optional<std::int64_t> number(const char* text) const {
    Statement statement(db, text);
    return statement.step() ? std::optional(statement.integer(0)) : std::nullopt;
  }
};

Store::Store(std::unique_ptr<File> file) : file_(std::move(file)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

namespace {

/// A file that nobody has written to yet.
bool is_blank(const std::string& path) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(path, absent);
  return absent || size == 0;
}

}  // namespace

Result<Store> Store::open(const std::string& path) {
  auto file = std::make_unique<File>();
  file->path = path;
  const bool blank = is_blank(path);
  if (sqlite3_open(path.c_str(), &file->db) != SQLITE_OK) return file->error("cannot be opened");
  sqlite3_busy_timeout(file->db, 5000);
  // Whatever the file holds, its views and triggers run nothing.
  sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  if (blank) {
    if (!file->run(kTables)) {
      // Another process may have made them meanwhile.
      const Error failed = file->error("cannot be written");
      file->run("ROLLBACK");
      if (file->number("PRAGMA application_id") != kApplication) return failed;
    }
  } else {
    const auto application = file->number("PRAGMA application_id");
    if (!application) {
      return sqlite3_errcode(file->db) == SQLITE_NOTADB
                 ? Error{ErrorCode::bad_input, path, "is no file of ridge plan: name another by ⟦results⟧"}
                 : file->error("cannot be read");
    }
    if (*application != kApplication) {
      return Error{ErrorCode::bad_input, path,
                   "is a database of another program, or of an older ridge: name another file by ⟦results⟧"};
    }
    const auto version = file->number("PRAGMA user_version");
    if (version != kVersion) {
      return Error{ErrorCode::bad_input, path,
                   "was written by another version of ridge (tables " +
                       (version ? std::to_string(*version) : std::string("unknown")) + ", this one knows " +
                       std::to_string(kVersion) + "): name another file by ⟦results⟧"};
    }
  }
  if (!file->run("PRAGMA synchronous=NORMAL")) return file->error("cannot be opened");
  return Store(std::move(file));
}

Result<Store> Store::open_existing(const std::string& path) {
  std::error_code absent;
  if (!std::filesystem::exists(path, absent)) return Error{ErrorCode::not_found, path, "there is no such file"};
  return open(path);
}

bool Store::empty() const {
  // What has lost its question but not its findings is damaged, not empty.
  return file_->number(
             "SELECT (SELECT count(*) FROM about) + (SELECT count(*) FROM done) + (SELECT count(*) FROM found)") == 0;
}

namespace {

/// Of all that a search says: one cell changed, or one row gone, and it is another.
std::string checksum(const StoredSearch& search) {
  Digest digest;
  digest.add(search.question).add(search.size).add(static_cast<std::uint64_t>(search.findings.top));
  for (const Basis& one : search.basis) digest.add(one.name).add(one.digest);
  digest.add(static_cast<std::uint64_t>(search.done.size()));
  for (const Range& range : search.done) digest.add(range.begin).add(range.end);
  digest.add(static_cast<std::uint64_t>(search.findings.groups.size()));
  for (const Harvest& harvest : search.findings.groups) {
    for (const std::vector<Scored>* list : {&harvest.best, &harvest.front}) {
      digest.add(static_cast<std::uint64_t>(list->size()));
      for (const Scored& s : *list) {
        // SQLite knows no zero below zero.
        digest.add(s.index).add(s.violation + 0.0);
        for (const double criterion : s.criteria) digest.add(criterion + 0.0);
      }
    }
  }
  return digest.hex();
}

bool read_whole(const std::string& text, std::uint64_t& into) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), into);
  return code == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<StoredSearch> Store::read() const {
  const auto damaged = [&](const char* what) {
    return Error{ErrorCode::bad_input, file_->path, std::string("is damaged: ") + what + "; begin anew"};
  };
  StoredSearch out;
  Statement about(file_->db, "SELECT key, value FROM about");
  std::uint64_t groups = 0;
  std::uint64_t top = 0;
  std::string sum;
  bool fine = true;
  while (about.step()) {
    const std::string key = about.text(0);
    const std::string value = about.text(1);
    if (key == "question") out.question = value;
    if (key == "checksum") sum = value;
    if (key == "size") fine = fine && read_whole(value, out.size);
    if (key == "top") fine = fine && read_whole(value, top);
    if (key == "groups") fine = fine && read_whole(value, groups);
  }
  if (about.failed()) return file_->error("cannot be read");
  if (out.question.empty()) return Error{ErrorCode::bad_input, file_->path, "holds no search"};
  if (!fine) return damaged("a number is none");
  if (static_cast<double>(groups) > limits::kGroups.most) {
    return Error{ErrorCode::bad_input, file_->path, "is damaged: " + limits::beyond(limits::kGroups)};
  }
  if (top < 1 || top > kMostTop) return damaged("it keeps an absurd number of the best");
  out.findings.top = top;
  out.findings.groups.resize(groups);
  Statement basis(file_->db, "SELECT name, digest FROM basis ORDER BY rowid");
  while (basis.step()) out.basis.push_back({basis.text(0), basis.text(1)});
  Statement done(file_->db, "SELECT first, past FROM done ORDER BY rowid");
  while (done.step()) {
    const std::int64_t first = done.integer(0);
    const std::int64_t past = done.integer(1);
    if (first < 0 || past < first || static_cast<std::uint64_t>(past) > out.size) {
      return damaged("a part that is done lies outside of the space");
    }
    out.done.push_back({static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(past)});
  }
  Statement found(file_->db,
                  "SELECT kind, candidates, candidate, violation, criterion_1, criterion_2, criterion_3 FROM found "
                  "ORDER BY rowid");
  while (found.step()) {
    const std::int64_t group = found.integer(1);
    const std::int64_t candidate = found.integer(2);
    if (group < 0 || static_cast<std::uint64_t>(group) >= groups) return damaged("a group that does not exist");
    if (candidate < 0 || static_cast<std::uint64_t>(candidate) >= out.size) {
      return damaged("a candidate that does not exist");
    }
    const Scored scored{
        static_cast<std::uint64_t>(candidate), found.number(3), {found.number(4), found.number(5), found.number(6)}};
    if (!(scored.violation >= 0) || std::any_of(scored.criteria.begin(), scored.criteria.end(),
                                                [](double criterion) { return std::isnan(criterion); })) {
      return damaged("a score is no number");
    }
    const std::string kind = found.text(0);
    if (kind != "best" && kind != "front") return damaged("a line is neither of the best nor of the front");
    Harvest& harvest = out.findings.groups[static_cast<std::size_t>(group)];
    (kind == "best" ? harvest.best : harvest.front).push_back(scored);
  }
  if (basis.failed() || done.failed() || found.failed()) return file_->error("cannot be read");
  if (sum != checksum(out)) return damaged("what it holds is not what was written");
  return out;
}

Status Store::write(const StoredSearch& search) {
  if (!file_->run("BEGIN IMMEDIATE")) return file_->error("cannot be written");
  bool fine = file_->run("DELETE FROM about; DELETE FROM basis; DELETE FROM done; DELETE FROM found");
  {
    Statement about(file_->db, "INSERT INTO about VALUES (?, ?)");
    const std::pair<const char*, std::string> entries[] = {{"question", search.question},
                                                           {"checksum", checksum(search)},
                                                           {"size", std::to_string(search.size)},
                                                           {"top", std::to_string(search.findings.top)},
                                                           {"groups", std::to_string(search.findings.groups.size())}};
    for (const auto& [key, value] : entries) {
      about.bind(1, std::string(key));
      about.bind(2, value);
      about.step();
      about.again();
    }
    Statement basis(file_->db, "INSERT INTO basis VALUES (?, ?)");
    for (const Basis& one : search.basis) {
      basis.bind(1, one.name);
      basis.bind(2, one.digest);
      basis.step();
      basis.again();
    }
    Statement done(file_->db, "INSERT INTO done VALUES (?, ?)");
    for (const Range& range : search.done) {
      done.bind(1, static_cast<std::int64_t>(range.begin));
      done.bind(2, static_cast<std::int64_t>(range.end));
      done.step();
      done.again();
    }
    Statement found(file_->db, "INSERT INTO found VALUES (?, ?, ?, ?, ?, ?, ?)");
    const auto put = [&](const char* kind, std::size_t group, const Scored& s) {
      found.bind(1, std::string(kind));
      found.bind(2, static_cast<std::int64_t>(group));
      found.bind(3, static_cast<std::int64_t>(s.index));
      found.bind(4, s.violation);
      for (int i = 0; i < static_cast<int>(kMostCriteria); ++i) {
        found.bind(5 + i, s.criteria[static_cast<std::size_t>(i)]);
      }
      found.step();
      found.again();
    };
    for (std::size_t g = 0; g < search.findings.groups.size(); ++g) {
      for (const Scored& s : search.findings.groups[g].best) put("best", g, s);
      for (const Scored& s : search.findings.groups[g].front) put("front", g, s);
    }
    fine = fine && !about.failed() && !basis.failed() && !done.failed() && !found.failed();
  }
  if (!fine || !file_->run("COMMIT")) {
    const Error error = file_->error("cannot be written");
    file_->run("ROLLBACK");
    return error;
  }
  return {};
}

Status Store::write_table(const std::string& name, const std::vector<std::string>& columns,
                          const std::vector<std::vector<std::string>>& rows) {
  const std::string table = identifier(name);
  std::string create = "CREATE TABLE " + table + " (";
  std::string insert = "INSERT INTO " + table + " VALUES (";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    create += (i > 0 ? ", " : "") + identifier(columns[i]);
    insert += i > 0 ? ", ?" : "?";
  }
  if (!file_->run("BEGIN IMMEDIATE")) return file_->error("cannot be written");
  bool fine = file_->run(("DROP TABLE IF EXISTS " + table).c_str()) && file_->run((create + ")").c_str());
  if (fine) {
    Statement statement(file_->db, insert + ")");
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) statement.bind(static_cast<int>(i) + 1, row[i]);
      statement.step();
      statement.again();
    }
    fine = !statement.failed();
  }
  if (!fine || !file_->run("COMMIT")) {
    const Error error = file_->error("cannot be written");
    file_->run("ROLLBACK");
    return error;
  }
  return {};
}

Status check_same(const StoredSearch& stored, const std::string& file, const StoredSearch& now,
                  const std::vector<Range>& group_ranges) {
  const auto refuse = [&](std::string why) { return Error{ErrorCode::bad_input, file, std::move(why)}; };
  if (stored.question != now.question) return refuse("is of another question; leave out ⟦resume⟧ to begin anew");
  for (const Basis& one : now.basis) {
    const auto at =
        std::find_if(stored.basis.begin(), stored.basis.end(), [&](const Basis& b) { return b.name == one.name; });
    if (at == stored.basis.end() || at->digest != one.digest) {
      return refuse("was made with another " + one.name + " than is read now: begin anew");
    }
  }
  if (stored.basis.size() != now.basis.size()) return refuse("was made with more than is read now: begin anew");
  if (stored.size != now.size || stored.findings.top != now.findings.top ||
      stored.findings.groups.size() != group_ranges.size()) {
    return refuse("is of another space of candidates than this question has: begin anew");
  }
  for (std::size_t g = 0; g < group_ranges.size(); ++g) {
    const Harvest& harvest = stored.findings.groups[g];
    if (harvest.best.size() > now.findings.top) return refuse("is damaged: too many are the best of a group");
    for (const std::vector<Scored>* list : {&harvest.best, &harvest.front}) {
      if (std::any_of(list->begin(), list->end(),
                      [&](const Scored& s) { return !group_ranges[g].contains(s.index); })) {
        return refuse("is damaged: a candidate stands in a group that is not its own");
      }
    }
  }
  return {};
}

Result<StoredSearch> merge(const std::vector<StoredSearch>& searches, const std::vector<std::string>& names) {
  if (searches.empty()) return Error{ErrorCode::bad_input, "", "there is nothing to merge"};
  StoredSearch all = searches.front();
  for (std::size_t i = 1; i < searches.size(); ++i) {
    const StoredSearch& next = searches[i];
    if (next.question != all.question || next.size != all.size ||
        next.findings.groups.size() != all.findings.groups.size() || next.findings.top != all.findings.top) {
      return Error{ErrorCode::bad_input, names[i], "is of another question than " + names.front()};
    }
    for (std::size_t k = 0; k < std::max(all.basis.size(), next.basis.size()); ++k) {
      if (k < all.basis.size() && k < next.basis.size() && all.basis[k] == next.basis[k]) continue;
      return Error{ErrorCode::bad_input, names[i],
                   "was made with another " + (k < all.basis.size() ? all.basis[k] : next.basis[k]).name + " than " +
                       names.front()};
    }
    all.findings = ridge::merge(std::move(all.findings), next.findings);
    all.done.insert(all.done.end(), next.done.begin(), next.done.end());
  }
  all.done = joined(std::move(all.done));
  return all;
}

// Numbers as they lie in memory: both ends of a message are the same program on machines of one kind.
std::string write_findings(const Findings& findings) {
  std::string out;
  const auto put = [&](std::uint64_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
  const auto list = [&](const std::vector<Scored>& scored) {
    put(scored.size());
    for (const Scored& s : scored) out.append(reinterpret_cast<const char*>(&s), sizeof s);
  };
  put(findings.top);
  put(findings.groups.size());
  for (const Harvest& harvest : findings.groups) {
    list(harvest.best);
    list(harvest.front);
  }
  return out;
}

Findings read_findings(const std::string& bytes) {
  Findings findings;
  std::size_t at = 0;
  const auto take = [&](void* into, std::size_t size) {
    if (at + size > bytes.size()) return false;
    std::memcpy(into, bytes.data() + at, size);
    at += size;
    return true;
  };
  const auto count = [&] {
    std::uint64_t value = 0;
    take(&value, sizeof value);
    return value;
  };
  findings.top = count();
  findings.groups.resize(std::min<std::uint64_t>(count(), bytes.size()));
  for (Harvest& harvest : findings.groups) {
    for (std::vector<Scored>* list : {&harvest.best, &harvest.front}) {
      list->resize(std::min<std::uint64_t>(count(), bytes.size() / sizeof(Scored)));
      for (Scored& s : *list) take(&s, sizeof s);
    }
  }
  return findings;
}

}  // namespace ridge::search
