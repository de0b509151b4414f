#include "catalogue/files/parse_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "ridge/base/file.hpp"
#include "ridge/base/folder.hpp"

namespace ridge {

namespace {

// A thread costs as much as about ten files; beyond four, starting them takes longer than they save.
constexpr std::size_t kFilesPerThread = 40;
constexpr std::size_t kMostThreads = 4;

Result<TomlNode> parse_file(const std::string& path) {
  const Result<std::string> text = read_file(path, kTomlSizeLimit);
  if (!text) return text.error();
  return parse_toml(*text, path);
}

}  // namespace

std::vector<Result<TomlNode>> parse_files(const std::vector<std::string>& paths) {
  std::vector<Result<TomlNode>> roots(paths.size(), Result<TomlNode>(TomlNode{}));
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++) roots[i] = parse_file(paths[i]);
  };
  const std::size_t threads =
      std::min({kMostThreads, paths.size() / kFilesPerThread, std::size_t{std::thread::hardware_concurrency()}});
  std::vector<std::thread> helpers;
  try {
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those there are, and this one, do the work.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  return roots;
}

Status each_table(const std::string& directory, std::string_view name,
                  const std::function<Status(const TomlNode&, const std::string&)>& take) {
  const Result<std::vector<std::string>> files = files_in(directory, ".toml");
  if (!files) return files.error();
  for (const std::string& file : *files) {
    const Result<TomlNode> root = parse_file(file);
    if (!root) return root.error();
    for (const TomlMember& member : root->members) {
      if (member.key != name || member.value.kind != TomlNode::Kind::array) {
        return Error{ErrorCode::bad_input, place_text(file, member.line, member.column),
                     fmt::format("unknown table '{}': write [[{}]]", member.key, name)};
      }
      for (const TomlNode& table : member.value.items) {
        if (const Status taken = take(table, file); !taken) return taken;
      }
    }
  }
  return {};
}

}  // namespace ridge
