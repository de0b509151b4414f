// The examples of docs/data-format.md are files that load.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "bundled.hpp"
#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"

namespace ridge {
namespace {

/// "kind id" of every entry below data/.
std::set<std::string> bundled_entries() {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::recursive_directory_iterator(RIDGE_DATA_DIR)) {
    if (file.path().extension() != ".toml") continue;
    const auto root = parse_toml(*read_file(file.path().string(), kTomlSizeLimit), file.path().string());
    if (!root) continue;
    for (const TomlMember& kind : root->members) {
      for (const TomlNode& entry : kind.value.items) {
        if (const TomlMember* id = entry.find("id")) names.insert(kind.key + ' ' + id->value.text);
      }
    }
  }
  return names;
}

/// All ```toml blocks as one overlay; an entry that is bundled too is marked as its replacement.
std::string examples(const std::string& page, const std::set<std::string>& bundled) {
  std::istringstream lines(page);
  std::string overlay, kind;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```toml";
    } else if (inside) {
      overlay += line + '\n';
      if (line.starts_with("[[")) kind = line.substr(2, line.find(']') - 2);
      if (line.starts_with("id = \"")) {
        const std::string id = line.substr(6, line.find('"', 6) - 6);
        if (bundled.contains(kind + ' ' + id)) overlay += "replace = true\n";
      }
    }
  }
  return overlay;
}

TEST(DataFormatPage, ExamplesLoad) {
  const auto page = read_file(std::string(RIDGE_DATA_DIR) + "/../docs/data-format.md", 1'000'000);
  ASSERT_TRUE(page.ok()) << page.error().text();
  const std::string overlay = examples(*page, bundled_entries());
  ASSERT_NE(overlay.find("[[device]]"), std::string::npos);

  const auto loaded = testing_support::load_with_overlay(overlay);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->device("h200-600w")->tdp->value, watts(600));
  EXPECT_EQ(loaded->source(loaded->device("h200-600w")->memory_bandwidth->source).id, "stas00-accelerators-2026-08");
}

}  // namespace
}  // namespace ridge
