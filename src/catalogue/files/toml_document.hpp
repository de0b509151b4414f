// A TOML file as a plain tree in which every key and value knows its line and column.
//
//   Result<TomlNode> root = parse_toml(text, "mine.toml");
//   if (!root) return root.error();                       // "mine.toml:3:9: ..."
//   const TomlMember* devices = root->find("device");
//
// parse_toml is pure and may be called from any thread; a tree is a value. Refused: malformed TOML, text that is not
// UTF-8, more than kTomlSizeLimit bytes, brackets or dotted keys nested deeper than a catalogue has any use for. The
// nesting is checked before the parser runs, because it would build (and later destroy) dotted keys without a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge {

inline constexpr std::size_t kTomlSizeLimit = 16'000'000;
inline constexpr int kTomlBracketLimit = 24;    ///< arrays and inline tables within each other
inline constexpr int kTomlDottedKeyLimit = 16;  ///< parts of one dotted key or table header

struct TomlMember;

struct TomlNode {
  enum class Kind : std::uint8_t { text, integer, number, flag, date, array, table };

  Kind kind = Kind::table;
  bool flag = false;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<TomlNode> items;      ///< of an array
  std::vector<TomlMember> members;  ///< of a table, sorted by key

  /// The member of a table, or nullptr; also nullptr if this is no table.
  [[nodiscard]] const TomlMember* find(std::string_view key) const;
};

struct TomlMember {
  std::string key;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  TomlNode value;
};

/// What a message calls a value of that kind: "a text", "a table".
[[nodiscard]] std::string_view name(TomlNode::Kind kind);

/// "file:line:column".
[[nodiscard]] std::string place_text(std::string_view file, std::uint32_t line, std::uint32_t column);

/// The whole file; `file` only serves messages.
Result<TomlNode> parse_toml(std::string_view text, std::string_view file);

}  // namespace ridge
