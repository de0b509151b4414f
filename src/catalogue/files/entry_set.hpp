// Which entries there are, before any of them is read: ids, duplicates, replacements and what is based on what.
//
//   EntrySet set;
//   if (Status s = set.add(root, "mine.toml"); !s) return s.error();      // later files may add and replace
//   for (const Entry* entry : set.entries("device"))                      // by id
//     read_device(EntryReader("device", *set.layers(*entry), sources).root(), ...);
//
// Refuses, with file:line:column: a table that is no kind of entry, a duplicate id (naming the other place), `replace`
// of nothing, `based_on` of what does not exist or of itself in a circle. Trees must outlive the set.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue/files/table_reader.hpp"
#include "catalogue/files/toml_document.hpp"
#include "ridge/base/result.hpp"

namespace ridge {

/// The kinds of tables, in the order in which they have to be read.
inline constexpr std::string_view kEntryKinds[] = {"source", "architecture", "device", "fabric",
                                                   "system", "model",        "price",  "alias"};

struct Entry {
  std::string_view id;
  const TomlNode* table = nullptr;
  std::string_view file;
  const Entry* replaced = nullptr;  ///< what an overlay put this in place of
};

class EntrySet {
 public:
  Status add(const TomlNode& root, std::string_view file);

  /// All of one kind, sorted by id, without those replaced.
  [[nodiscard]] std::vector<const Entry*> entries(std::string_view kind) const;
  [[nodiscard]] bool contains(std::string_view kind, std::string_view id) const;
  /// The ids of one kind, sorted.
  [[nodiscard]] std::vector<std::string_view> ids(std::string_view kind) const;
  /// The entry and what it is based on, nearest first.
  [[nodiscard]] Result<std::vector<EntryLayer>> layers(std::string_view kind, const Entry& entry) const;

 private:
  using Kind = std::map<std::string_view, const Entry*, std::less<>>;

  Status add_entry(Kind& kind, std::string_view kind_name, const TomlNode& table, std::string_view file);

  std::deque<Entry> entries_;
  std::map<std::string_view, Kind, std::less<>> kinds_;
};

}  // namespace ridge
