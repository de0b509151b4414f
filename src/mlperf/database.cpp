// Rows in SQLite: one table of rows (as published, and as repaired for whoever asks in SQL), one of repairs.
#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <set>

#include "ridge/mlperf/mlperf.hpp"

namespace ridge::mlperf {

namespace {

constexpr int kApplication = 0x52444c50;  // tells our files from other people's
constexpr int kVersion = 1;

constexpr const char* kSchema = R"(
CREATE TABLE result (
  id TEXT PRIMARY KEY, suite TEXT NOT NULL, round TEXT NOT NULL, division TEXT NOT NULL, category TEXT NOT NULL,
  published_availability TEXT NOT NULL, submitter TEXT NOT NULL, system TEXT NOT NULL, platform TEXT NOT NULL,
  published_accelerator TEXT NOT NULL, published_benchmark TEXT NOT NULL, model TEXT NOT NULL,
  published_scenario TEXT NOT NULL, published_unit TEXT NOT NULL, host TEXT NOT NULL, software TEXT NOT NULL,
  published_weights TEXT NOT NULL, published_nodes INTEGER NOT NULL, accelerators_per_node INTEGER NOT NULL,
  published_result REAL NOT NULL, power_w REAL, log_samples_per_s REAL, log_tokens_per_s REAL, ttft_p99_ms REAL,
  tpot_p99_ms REAL, runs INTEGER NOT NULL, failed_runs INTEGER NOT NULL, global_batch REAL NOT NULL,
  fastest_minutes REAL, scaling_factor REAL,
  accelerator TEXT NOT NULL, device TEXT NOT NULL, bare_metal TEXT NOT NULL, benchmark TEXT NOT NULL,
  scenario TEXT NOT NULL, availability TEXT NOT NULL, weights TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL,
  nodes INTEGER NOT NULL, accelerators INTEGER NOT NULL, power_tuned INTEGER NOT NULL, copied INTEGER NOT NULL);
CREATE INDEX result_round ON result(suite, round);
CREATE TABLE repair (rule TEXT NOT NULL, suite TEXT NOT NULL, round TEXT NOT NULL, row TEXT NOT NULL,
  before TEXT NOT NULL, after TEXT NOT NULL);
)";
constexpr int kPublishedColumns = 30;
constexpr int kColumns = 43;

struct Close {
  void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Error failure(const std::string& path, sqlite3* connection) {
  const bool foreign = sqlite3_errcode(connection) == SQLITE_NOTADB;
  return {ErrorCode::bad_input, path,
          foreign ? "this file is no SQLite database" : std::string("SQLite says: ") + sqlite3_errmsg(connection)};
}

Status run(const std::string& path, sqlite3* connection, const char* sql) {
  if (sqlite3_exec(connection, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure(path, connection);
  return {};
}

Result<Connection> open(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Connection connection(raw);
  if (code != SQLITE_OK) {
    return Error{ErrorCode::not_found, path, std::string("SQLite cannot open it: ") + sqlite3_errstr(code)};
  }
  return connection;
}

Result<Statement> prepare(const std::string& path, sqlite3* connection, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(connection, sql, -1, &raw, nullptr) != SQLITE_OK) return failure(path, connection);
  return Statement(raw);
}

Result<int> pragma(const std::string& path, sqlite3* connection, const char* sql) {
  const Result<Statement> statement = prepare(path, connection, sql);
  if (!statement) return statement.error();
  if (sqlite3_step(statement->get()) != SQLITE_ROW) return failure(path, connection);
  return sqlite3_column_int(statement->get(), 0);
}

/// Whether it is empty (false) or ours (true); refuses other people's.
Result<bool> is_ours(const std::string& path, sqlite3* connection) {
  const Result<int> application = pragma(path, connection, "PRAGMA application_id");
  if (!application) return application.error();
  const Result<int> tables = pragma(path, connection, "SELECT count(*) FROM sqlite_master");
  if (!tables) return tables.error();
  if (*application == 0 && *tables == 0) return false;
  if (*application != kApplication) {
    return Error{ErrorCode::bad_input, path, "this SQLite database was not made by ridge mlperf import"};
  }
  const Result<int> version = pragma(path, connection, "PRAGMA user_version");
  if (!version) return version.error();
  if (*version != kVersion) {
    return Error{
        ErrorCode::bad_input, path,
        fmt::format("this database is of version {}, the program knows version {}: import again", *version, kVersion)};
  }
  return true;
}

class Binder {
 public:
  explicit Binder(sqlite3_stmt* statement) : statement_(statement) {}
  void text(std::string_view value) {
    // A null pointer would be bound as NULL.
    sqlite3_bind_text(statement_, ++at_, value.empty() ? "" : value.data(), static_cast<int>(value.size()),
                      SQLITE_STATIC);
  }
  void whole(int value) { sqlite3_bind_int(statement_, ++at_, value); }
  void number(double value) { sqlite3_bind_double(statement_, ++at_, value); }
  void number(const std::optional<double>& value) {
    ++at_;
    value ? sqlite3_bind_double(statement_, at_, *value) : sqlite3_bind_null(statement_, at_);
  }

 private:
  sqlite3_stmt* statement_;
  int at_ = 0;
};

void bind(sqlite3_stmt* statement, const Row& row) {
  const Published& p = row.published;
  Binder b(statement);
  b.text(row.id);
  b.text(name(row.suite));
  for (const std::string* text :
       {&p.round, &p.division, &p.category, &p.availability, &p.submitter, &p.system, &p.platform, &p.accelerator,
        &p.benchmark, &p.model, &p.scenario, &p.unit, &p.host, &p.software, &p.weights}) {
    b.text(*text);
  }
  b.whole(p.nodes);
  b.whole(p.accelerators_per_node);
  b.number(p.result);
  for (const auto* number : {&p.power_w, &p.log_samples_per_s, &p.log_tokens_per_s, &p.ttft_p99_ms, &p.tpot_p99_ms}) {
    b.number(*number);
  }
  b.whole(p.runs);
  b.whole(p.failed_runs);
  b.number(p.global_batch);
  b.number(p.fastest_minutes);
  b.number(p.scaling_factor);
  for (const std::string* text : {&row.accelerator, &row.device, &row.bare_metal, &row.benchmark, &row.scenario,
                                  &row.availability, &row.weights, &row.unit}) {
    b.text(*text);
  }
  b.number(row.value);
  b.whole(row.nodes);
  b.whole(row.accelerators);
  b.whole(row.power_tuned ? 1 : 0);
  b.whole(row.copied ? 1 : 0);
}

using Rounds = std::set<std::pair<std::string, std::string>>;

Status make_room(const std::string& path, sqlite3* connection, const Rounds& rounds, bool replace) {
  const auto count = prepare(path, connection, "SELECT count(*) FROM result WHERE suite = ? AND round = ?");
  if (!count) return count.error();
  for (const auto& [suite, round] : rounds) {
    sqlite3_reset(count->get());
    Binder b(count->get());
    b.text(suite);
    b.text(round);
    if (sqlite3_step(count->get()) != SQLITE_ROW) return failure(path, connection);
    const int rows = sqlite3_column_int(count->get(), 0);
    if (rows > 0 && !replace) {
      return Error{ErrorCode::refused, path,
                   fmt::format("{} {} is there already ({} rows); add ⟦replace⟧ to put the new rows in their place",
                               suite, round, rows)};
    }
    for (const char* sql :
         {"DELETE FROM result WHERE suite = ? AND round = ?", "DELETE FROM repair WHERE suite = ? AND round = ?"}) {
      const auto erase = prepare(path, connection, sql);
      if (!erase) return erase.error();
      Binder e(erase->get());
      e.text(suite);
      e.text(round);
      if (sqlite3_step(erase->get()) != SQLITE_DONE) return failure(path, connection);
    }
  }
  return {};
}

Status insert(const std::string& path, sqlite3* connection, const Results& results) {
  std::string sql = "INSERT INTO result VALUES (?";
  for (int i = 1; i < kColumns; ++i) sql += ",?";
  const auto statement = prepare(path, connection, (sql + ")").c_str());
  if (!statement) return statement.error();
  std::map<std::string_view, const Row*> by_id;
  for (const Row& row : results.rows) {
    sqlite3_reset(statement->get());
    bind(statement->get(), row);
    if (sqlite3_step(statement->get()) != SQLITE_DONE) return failure(path, connection);
    by_id.emplace(row.id, &row);
  }
  const auto repair = prepare(path, connection, "INSERT INTO repair VALUES (?,?,?,?,?,?)");
  if (!repair) return repair.error();
  for (const Repair& r : results.repairs) {
    const auto row = by_id.find(r.row);
    sqlite3_reset(repair->get());
    Binder b(repair->get());
    b.text(rules()[r.rule].name);
    b.text(row == by_id.end() ? "" : name(row->second->suite));
    b.text(row == by_id.end() ? std::string_view() : std::string_view(row->second->published.round));
    b.text(r.row);
    b.text(r.before);
    b.text(r.after);
    if (sqlite3_step(repair->get()) != SQLITE_DONE) return failure(path, connection);
  }
  return {};
}

Status write_all(const std::string& path, sqlite3* connection, const Results& results, const DatabaseOptions& options) {
  const Result<bool> ours = is_ours(path, connection);
  if (!ours) return ours.error();
  if (!*ours) {
    if (const Status s = run(path, connection, kSchema); !s) return s;
    const std::string stamp =
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kVersion);
    if (const Status s = run(path, connection, stamp.c_str()); !s) return s;
  }
  Rounds rounds;
  for (const Row& row : results.rows) rounds.emplace(std::string(name(row.suite)), row.published.round);
  if (const Status s = make_room(path, connection, rounds, options.replace); !s) return s;
  return insert(path, connection, results);
}

std::string text_at(sqlite3_stmt* statement, int column) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? "" : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

std::optional<double> number_at(sqlite3_stmt* statement, int column) {
  if (sqlite3_column_type(statement, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(statement, column);
}

Row row_at(sqlite3_stmt* s) {
  Row row;
  int c = 0;
  row.id = text_at(s, c++);
  row.suite = text_at(s, c++) == name(Suite::training) ? Suite::training : Suite::inference;
  Published& p = row.published;
  for (std::string* text :
       {&p.round, &p.division, &p.category, &p.availability, &p.submitter, &p.system, &p.platform, &p.accelerator,
        &p.benchmark, &p.model, &p.scenario, &p.unit, &p.host, &p.software, &p.weights}) {
    *text = text_at(s, c++);
  }
  p.nodes = sqlite3_column_int(s, c++);
  p.accelerators_per_node = sqlite3_column_int(s, c++);
  p.result = sqlite3_column_double(s, c++);
  for (auto* number : {&p.power_w, &p.log_samples_per_s, &p.log_tokens_per_s, &p.ttft_p99_ms, &p.tpot_p99_ms}) {
    *number = number_at(s, c++);
  }
  p.runs = sqlite3_column_int(s, c++);
  p.failed_runs = sqlite3_column_int(s, c++);
  p.global_batch = sqlite3_column_double(s, c++);
  p.fastest_minutes = number_at(s, c++);
  p.scaling_factor = number_at(s, c);
  static_assert(kPublishedColumns == 30, "as many as are read above");
  return row;
}

}  // namespace

Status write_database(const std::string& path, const Results& results, const DatabaseOptions& options) {
  std::error_code ignored;
  const bool fresh = !std::filesystem::exists(path, ignored);
  Status done;
  {
    const Result<Connection> connection = open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!connection) return connection.error();
    sqlite3* const db = connection->get();
    done = run(path, db, "BEGIN IMMEDIATE");
    if (done) {
      done = write_all(path, db, results, options);
      if (done) done = run(path, db, "COMMIT");
      if (!done) sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
    }
  }
  if (!done && fresh) std::filesystem::remove(path, ignored);
  return done;
}

Result<std::vector<Row>> read_database(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{ErrorCode::not_found, path, "there is no such file; `ridge mlperf import --db` makes one"};
  }
  const Result<Connection> connection = open(path, SQLITE_OPEN_READONLY);
  if (!connection) return connection.error();
  const Result<bool> ours = is_ours(path, connection->get());
  if (!ours) return ours.error();
  if (!*ours) return Error{ErrorCode::bad_input, path, "this database is empty; `ridge mlperf import --db` fills it"};
  const auto statement = prepare(path, connection->get(), "SELECT * FROM result ORDER BY rowid");
  if (!statement) return statement.error();
  std::vector<Row> rows;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement->get())) == SQLITE_ROW) rows.push_back(row_at(statement->get()));
  if (code != SQLITE_DONE) return failure(path, connection->get());
  return rows;
}

}  // namespace ridge::mlperf
