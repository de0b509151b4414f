#include "search/store.hpp"

#include <gtest/gtest.h>
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

TEST(Store, FindingsSurviveTheWire) {
  const Findings findings = example(17).findings;
  EXPECT_EQ(read_findings(write_findings(findings)), findings);
}

}  // namespace
}  // namespace ridge::search
