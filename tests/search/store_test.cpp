#include "search/store.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ridge::search {
namespace {

class StoreFile {
 public:
  StoreFile()
      : path_(std::filesystem::temp_directory_path() / ("ridge-store-" + std::to_string(getpid()) + ".sqlite")) {
    std::filesystem::remove(path_);
  }
  ~StoreFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

StoredSearch example(std::uint64_t index) {
  StoredSearch search;
  search.question = "train\n--model=a";
  search.size = 1000;
  search.findings.top = 2;
  search.findings.groups.resize(2);
  search.findings.groups[0].add({index, 0, {1.0 / 3, 0.1, 7}}, 2);
  search.findings.groups[1].add({index + 1, 2.5, {1e-300, 1e300, 0}}, 2);
  search.done = {{index, index + 100}};
  search.basis = {{"program", "p"}, {"list of prices", "l"}};
  return search;
}

TEST(Store, ReadsBackWhatWasWrittenToTheLastBit) {
  const StoreFile file;
  const StoredSearch written = example(5);
  {
    auto store = Store::open(file.path());
    ASSERT_TRUE(store);
    EXPECT_TRUE(store->empty());
    ASSERT_TRUE(store->write(example(900)));
    ASSERT_TRUE(store->write(written)) << "the second state replaces the first";
    ASSERT_TRUE(store->write_table("answer", {"device", "a \"b\""}, {{"h100", "1"}, {"x", "2"}}));
  }
  const auto store = Store::open_existing(file.path());
  ASSERT_TRUE(store);
  EXPECT_FALSE(store->empty());
  const auto read = store->read();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->question, written.question);
  EXPECT_EQ(read->size, written.size);
  EXPECT_EQ(read->findings, written.findings);
  EXPECT_EQ(read->done, written.done);
  EXPECT_EQ(read->basis, written.basis);
}

TEST(Store, RefusesWhatIsNoSearchAndWhatIsNotThere) {
  EXPECT_FALSE(Store::open_existing("/nowhere/there.sqlite"));
  const StoreFile file;
  std::ofstream(file.path()) << "this is no database, but text of some length that SQLite will not take for one";
  EXPECT_FALSE(Store::open(file.path()));
}

TEST(Store, MergesPartsOfOneQuestionOnly) {
  StoredSearch a = example(0);
  StoredSearch b = example(100);
  const auto both = merge({a, b}, {"a", "b"});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->done, (std::vector<Range>{{0, 200}}));
  EXPECT_EQ(both->findings.groups[0].best.size(), 2u);
  b.question += "\n--days=3";
  const auto refused = merge({a, b}, {"a", "b"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "b");
}

/// Runs SQL on the file as anybody could.
void tamper(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << (message ? message : "");
  sqlite3_free(message);
  sqlite3_close(db);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Store, LeavesSomebodyElsesDatabaseAlone) {
  const StoreFile file;
  tamper(file.path(),
         "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL); INSERT INTO about VALUES "
         "('mine', '1'); CREATE TABLE answer (x); INSERT INTO answer VALUES (42);");
  const std::string before = bytes_of(file.path());
  const auto store = Store::open(file.path());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().where, file.path());
  EXPECT_FALSE(Store::open_existing(file.path()));
  EXPECT_EQ(bytes_of(file.path()), before);
}

TEST(Store, RefusesTablesOfAnotherVersion) {
  const StoreFile file;
  { ASSERT_TRUE(Store::open(file.path())->write(example(5))); }
  tamper(file.path(), "PRAGMA user_version = 99");
  const auto store = Store::open(file.path());
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find("99"), std::string::npos);
}

// Every cell that a search depends on, changed by hand: none is believed.
TEST(Store, NoCellThatWasChangedIsBelieved) {
  for (const char* sql : {"UPDATE found SET candidate = 9000000000000000000",
                          "UPDATE found SET candidate = -1",
                          "UPDATE found SET candidates = 7",
                          "UPDATE found SET candidates = -1",
                          "UPDATE found SET violation = -1",
                          "UPDATE found SET kind = 'worst'",
                          "UPDATE found SET criterion_1 = criterion_1 + 1e-9",
                          "UPDATE about SET value = '9999999' WHERE key = 'groups'",
                          "UPDATE about SET value = '1' WHERE key = 'groups'",
                          "UPDATE about SET value = '-1' WHERE key = 'groups'",
                          "UPDATE about SET value = 'x' WHERE key = 'size'",
                          "UPDATE about SET value = '18446744073709551616' WHERE key = 'size'",
                          "UPDATE about SET value = '0' WHERE key = 'top'",
                          "UPDATE about SET value = '' WHERE key = 'question'",
                          "DELETE FROM about",
                          "DELETE FROM found",
                          "DELETE FROM found WHERE rowid = 1",
                          "DELETE FROM done",
                          "DELETE FROM basis",
                          "UPDATE basis SET digest = 'other'",
                          "UPDATE done SET past = 1000000",
                          "UPDATE done SET first = -5",
                          "UPDATE done SET past = past + 1",
                          "DROP TABLE found",
                          "DROP TABLE done; CREATE VIEW done AS SELECT 0 AS first, 1 AS past"}) {
    const StoreFile file;
    { ASSERT_TRUE(Store::open(file.path())->write(example(5))); }
    tamper(file.path(), sql);
    const auto store = Store::open_existing(file.path());
    const bool believed = store && store->read();
    EXPECT_FALSE(believed) << sql;
  }
}

TEST(Store, ASearchGoesOnOnlyWithWhatItBeganWith) {
  const StoredSearch now = example(5);
  const std::vector<Range> groups = {{0, 6}, {6, 1000}};
  const auto why = [&](const StoredSearch& stored) {
    const Status s = check_same(stored, "f", now, groups);
    return s ? std::string() : s.error().message;
  };
  EXPECT_EQ(why(now), "");
  StoredSearch other = now;
  other.basis[1].digest = "changed";
  EXPECT_NE(why(other).find("another list of prices"), std::string::npos) << why(other);
  other = now;
  other.basis.pop_back();
  EXPECT_NE(why(other), "");
  other = now;
  other.question += "\n--days=3";
  EXPECT_NE(why(other).find("another question"), std::string::npos);
  other = now;
  other.size = 999;
  EXPECT_NE(why(other).find("another space"), std::string::npos);
  other = now;
  other.findings.groups[0].best[0].index = 6;
  EXPECT_NE(why(other).find("damaged"), std::string::npos) << "a candidate of the second group";
}

TEST(Store, PartsThatReadDifferentThingsAreNotMerged) {
  const StoredSearch a = example(0);
  StoredSearch b = example(100);
  ASSERT_TRUE(merge({a, b}, {"a", "b"}));
  b.basis[0].digest = "another build";
  const auto refused = merge({a, b}, {"a", "b"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("program"), std::string::npos);
}

TEST(Store, FindingsSurviveTheWire) {
  const Findings findings = example(17).findings;
  EXPECT_EQ(read_findings(write_findings(findings)), findings);
}

}  // namespace
}  // namespace ridge::search
