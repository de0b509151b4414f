// Letters and pieces of text, as every reader needs them: ASCII alone, no locale.
//
//   lower("H100-SXM")                    "h100-sxm"; bytes beyond ASCII stay as they are
//   contains("w4a16, kv fp8", "fp8")     true
//   trimmed("  a b\t")                   "a b"
//   split("tp,pp,", ',')                 {"tp", "pp", ""}: as many parts as separators, and one
//   split_words("a, b,,c ", ',')         {"a", "b", "c"}: trimmed, nothing empty
//
// All are pure and may be called from any thread. Views returned by trimmed() live as long as the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridge {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

constexpr bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Without the characters of `blanks` at either end.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

inline std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(by);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

inline std::vector<std::string> split_words(std::string_view text, char by) {
  std::vector<std::string> words;
  for (const std::string& part : split(text, by)) {
    const std::string_view word = trimmed(part);
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

}  // namespace ridge
