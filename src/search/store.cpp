#include "search/store.hpp"

#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <utility>

namespace ridge::search {

namespace {

constexpr const char* kVersion = "ridge.search/1";
constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS done (first INTEGER NOT NULL, past INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS found (kind TEXT NOT NULL, candidates INTEGER NOT NULL, candidate INTEGER NOT NULL,"
    " violation REAL NOT NULL, criterion_1 REAL NOT NULL, criterion_2 REAL NOT NULL, criterion_3 REAL NOT NULL);";

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
    return {ErrorCode::bad_input, path, std::string(what) + ": " + sqlite3_errmsg(db)};
  }
  bool run(const char* text) const { return sqlite3_exec(db, text, nullptr, nullptr, nullptr) == SQLITE_OK; }
};

Store::Store(std::unique_ptr<File> file) : file_(std::move(file)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& path) {
  auto file = std::make_unique<File>();
  file->path = path;
  if (sqlite3_open(path.c_str(), &file->db) != SQLITE_OK) return file->error("cannot be opened");
  sqlite3_busy_timeout(file->db, 5000);
  if (!file->run("PRAGMA synchronous=NORMAL") || !file->run(kTables)) return file->error("is no file of ridge plan");
  Statement version(file->db, "SELECT value FROM about WHERE key = 'version'");
  if (version.step()) {
    if (version.text(0) != kVersion) {
      return Error{ErrorCode::bad_input, path, "was written by another version: " + version.text(0)};
    }
  }
  return Store(std::move(file));
}

Result<Store> Store::open_existing(const std::string& path) {
  std::error_code absent;
  if (!std::filesystem::exists(path, absent)) return Error{ErrorCode::not_found, path, "there is no such file"};
  return open(path);
}

bool Store::empty() const {
  Statement question(file_->db, "SELECT value FROM about WHERE key = 'question'");
  return !question.step();
}

Result<StoredSearch> Store::read() const {
  StoredSearch out;
  Statement about(file_->db, "SELECT key, value FROM about");
  std::size_t groups = 0;
  while (about.step()) {
    const std::string key = about.text(0);
    const std::string value = about.text(1);
    if (key == "question") out.question = value;
    if (key == "size") out.size = std::strtoull(value.c_str(), nullptr, 10);
    if (key == "top") out.findings.top = std::strtoull(value.c_str(), nullptr, 10);
    if (key == "groups") groups = std::strtoull(value.c_str(), nullptr, 10);
  }
  if (out.question.empty() || groups > 10'000'000) {
    return Error{ErrorCode::bad_input, file_->path, "holds no search"};
  }
  out.findings.groups.resize(groups);
  Statement done(file_->db, "SELECT first, past FROM done ORDER BY first");
  while (done.step()) {
    out.done.push_back({static_cast<std::uint64_t>(done.integer(0)), static_cast<std::uint64_t>(done.integer(1))});
  }
  Statement found(file_->db,
                  "SELECT kind, candidates, candidate, violation, criterion_1, criterion_2, criterion_3 FROM found "
                  "ORDER BY rowid");
  while (found.step()) {
    const auto group = static_cast<std::size_t>(found.integer(1));
    if (group >= groups) return Error{ErrorCode::bad_input, file_->path, "is damaged: a group that does not exist"};
    const Scored scored{static_cast<std::uint64_t>(found.integer(2)),
                        found.number(3),
                        {found.number(4), found.number(5), found.number(6)}};
    Harvest& harvest = out.findings.groups[group];
    (found.text(0) == "best" ? harvest.best : harvest.front).push_back(scored);
  }
  if (about.failed() || done.failed() || found.failed()) return file_->error("cannot be read");
  return out;
}

Status Store::write(const StoredSearch& search) {
  if (!file_->run("BEGIN IMMEDIATE")) return file_->error("cannot be written");
  bool fine = file_->run("DELETE FROM about; DELETE FROM done; DELETE FROM found");
  {
    Statement about(file_->db, "INSERT INTO about VALUES (?, ?)");
    const std::pair<const char*, std::string> entries[] = {{"version", kVersion},
                                                           {"question", search.question},
                                                           {"size", std::to_string(search.size)},
                                                           {"top", std::to_string(search.findings.top)},
                                                           {"groups", std::to_string(search.findings.groups.size())}};
    for (const auto& [key, value] : entries) {
      about.bind(1, std::string(key));
      about.bind(2, value);
      about.step();
      about.again();
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
    fine = fine && !about.failed() && !done.failed() && !found.failed();
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

Result<StoredSearch> merge(const std::vector<StoredSearch>& searches, const std::vector<std::string>& names) {
  if (searches.empty()) return Error{ErrorCode::bad_input, "", "there is nothing to merge"};
  StoredSearch all = searches.front();
  for (std::size_t i = 1; i < searches.size(); ++i) {
    const StoredSearch& next = searches[i];
    if (next.question != all.question || next.size != all.size ||
        next.findings.groups.size() != all.findings.groups.size() || next.findings.top != all.findings.top) {
      return Error{ErrorCode::bad_input, names[i], "is of another question than " + names.front()};
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
