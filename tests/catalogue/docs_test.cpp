// The examples of docs/data-format.md are files that load.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "folder.hpp"
#include "ridge/file.hpp"

namespace ridge {
namespace {

/// "kind id" of every bundled entry.
std::set<std::string> bundled_entries(const Catalogue& c) {
  std::set<std::string> names;
  const auto add = [&](const char* kind, const auto& entries) {
    for (const auto& entry : entries) names.insert(std::string(kind) + ' ' + entry.id);
  };
  add("source", c.sources());
  add("architecture", c.architectures());
  add("device", c.devices());
  add("fabric", c.fabrics());
  add("system", c.systems());
  add("model", c.models());
  add("price", c.prices());
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
  const auto bundled = Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  ASSERT_TRUE(bundled.ok()) << bundled.error().text();
  const auto page = read_file(std::string(RIDGE_DATA_DIR) + "/../docs/data-format.md", 1'000'000);
  ASSERT_TRUE(page.ok()) << page.error().text();
  const std::string overlay = examples(*page, bundled_entries(*bundled));
  ASSERT_NE(overlay.find("[[device]]"), std::string::npos);

  const Folder folder;
  const auto loaded = Catalogue::load(
      {.data_directory = RIDGE_DATA_DIR, .overlays = {folder.write("page.toml", overlay)}, .price_lists = {}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->device("h200-600w")->tdp->value, watts(600));
  EXPECT_EQ(loaded->source(loaded->device("h200-600w")->memory_bandwidth->source).id, "stas00-accelerators-2026-08");
}

}  // namespace
}  // namespace ridge
