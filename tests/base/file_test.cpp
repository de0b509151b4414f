#include "ridge/base/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "ridge/base/folder.hpp"

namespace ridge {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test, gone afterwards.
class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ridge-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(File, WhatIsWrittenReadsBack) {
  const std::string text("two\nlines \0 and a NUL", 21);
  ASSERT_TRUE(write_file_atomically(path("f"), text));
  EXPECT_EQ(*read_file(path("f"), 1000), text);
  ASSERT_TRUE(write_file_atomically(path("f"), ""));
  EXPECT_EQ(*read_file(path("f"), 0), "");
  EXPECT_EQ(entries(), 1u) << "no temporary file stays behind";
}

TEST_F(File, SizeLimitIsExact) {
  ASSERT_TRUE(write_file_atomically(path("f"), "12345"));
  EXPECT_EQ(*read_file(path("f"), 5), "12345");
  const auto refused = read_file(path("f"), 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), path("f") + ": the file is larger than the limit of 4 bytes");
}

TEST_F(File, MissingFileIsNotFound) {
  const auto refused = read_file(path("none"), 10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_EQ(refused.error().text(), path("none") + ": cannot be read: there is no such file or folder");
  const auto written = write_file_atomically(path("none/f"), "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::not_found);
  EXPECT_FALSE(read_file("", 10));
  EXPECT_FALSE(write_file_atomically("", "x"));
}

TEST_F(File, FolderIsNotAFile) {
  const auto refused = read_file(folder_.string(), 10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), folder_.string() + ": this is a folder, a file is needed");
  EXPECT_FALSE(write_file_atomically(folder_.string(), "x"));
  EXPECT_TRUE(fs::is_directory(folder_));
}

TEST_F(File, DeviceIsReadUpToTheLimitAndNeverReplaced) {
  const auto endless = read_file("/dev/zero", 1 << 20);
  ASSERT_FALSE(endless);
  EXPECT_NE(endless.error().message.find("larger than the limit"), std::string::npos);
  EXPECT_EQ(*read_file("/dev/null", 10), "");
  EXPECT_FALSE(write_file_atomically("/dev/null", "x"));
}

TEST_F(File, PipeIsReadToItsEnd) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string text(200'000, 'x');  // several times what a pipe holds
  std::thread writer([&] { std::ofstream(path("pipe")) << text; });
  const auto read = read_file(path("pipe"), 1 << 20);
  writer.join();
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, text);
}

TEST_F(File, ReplacingKeepsPermissionsAndLinks) {
  ASSERT_TRUE(write_file_atomically(path("f"), "old"));
  ASSERT_EQ(::chmod(path("f").c_str(), 0640), 0);
  fs::create_symlink("f", path("link"));
  ASSERT_TRUE(write_file_atomically(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(*read_file(path("f"), 10), "new");
  EXPECT_EQ(fs::status(path("f")).permissions(), fs::perms(0640));
}

TEST_F(File, UnreadableFileSaysPermissionDenied) {
  ASSERT_TRUE(write_file_atomically(path("f"), "x"));
  ASSERT_EQ(::chmod(path("f").c_str(), 0), 0);
  const bool root = ::geteuid() == 0;  // may read everything, so become nobody for a moment
  ASSERT_TRUE(!root || ::seteuid(65534) == 0);
  const auto refused = read_file(path("f"), 10);
  ASSERT_TRUE(!root || ::seteuid(0) == 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), path("f") + ": cannot be read: permission denied");
}

TEST_F(File, FailedWriteLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(write_file_atomically(path("f"), "old"));
  // A limit on the size of files stands in for a full disk: the write fails in the middle.
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto written = write_file_atomically(path("f"), std::string(100, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);

  EXPECT_FALSE(written);
  EXPECT_EQ(*read_file(path("f"), 1000), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, AFolderGivesItsFilesOfOneKindInOrder) {
  for (const char* name : {"b.toml", "a.toml", "a.csv"}) ASSERT_TRUE(write_file_atomically(path(name), "x"));
  fs::create_directory(folder_ / "below");
  ASSERT_TRUE(write_file_atomically(path("below/c.toml"), "x"));
  const auto files = files_in(folder_.string(), ".toml");
  ASSERT_TRUE(files) << files.error().text();
  EXPECT_EQ(*files, (std::vector<std::string>{path("a.toml"), path("b.toml")}));
  const auto none = files_in(path("nowhere"), ".toml");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ridge
