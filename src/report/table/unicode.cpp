#include "report/table/unicode.hpp"

#include <algorithm>
#include <iterator>

#include "base/utf8.hpp"
#include "ridge/report/report.hpp"

namespace ridge {

namespace {

struct Range {
  char32_t first, last;
};

// Unicode 15: combining marks of the scripts that catalogue text may hold, joiners and variation selectors.
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},   {0x0900, 0x0902},
    {0x093c, 0x093c}, {0x0941, 0x0948}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e},   {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064}, {0x20d0, 0x20f0},   {0x302a, 0x302d},
    {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0x1f3fb, 0x1f3ff}, {0xe0100, 0xe01ef}};

// Unicode 15, EastAsianWidth W and F, neighbouring blocks joined.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x23f0, 0x23f0},
    {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},
    {0x2693, 0x2693},   {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},
    {0x26ce, 0x26ce},   {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
    {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27b0, 0x27b0},   {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},
    {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004},
    {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335},
    {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0},
    {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d},
    {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4},
    {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d7}, {0x1f6dc, 0x1f6df},
    {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945},
    {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd}};

template <std::size_t N>
bool contains(const Range (&ranges)[N], char32_t code) {
  const Range* after = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                        [](char32_t value, const Range& range) { return value < range.first; });
  return after != std::begin(ranges) && code <= std::prev(after)->last;
}

}  // namespace

Character first_character(std::string_view text) {
  const std::size_t size = utf8_length(text);
  if (size == 0) return {0xfffd, 1, false};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  char32_t code = size == 1 ? byte(0) : byte(0) & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) code = (code << 6) | (byte(i) & 0x3fU);
  return {code, size, true};
}

int display_width(char32_t code) {
  if (code < 0x300) return 1;
  if (contains(kZeroWidth, code)) return 0;
  return contains(kWide, code) ? 2 : 1;
}

int display_width(std::string_view utf8) {
  int width = 0;
  while (!utf8.empty()) {
    const Character character = first_character(utf8);
    width += display_width(character.code);
    utf8.remove_prefix(character.size);
  }
  return width;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    out += character.valid ? text.substr(0, character.size) : "\xef\xbf\xbd";
    text.remove_prefix(character.size);
  }
  return out;
}

std::string printable(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (; !text.empty(); text.remove_prefix(first_character(text).size)) {
    const Character character = first_character(text);
    if (!character.valid) {
      out += "\xef\xbf\xbd";
    } else if (character.code == '\n' || character.code == '\t') {
      out += ' ';
    } else if (character.code < 0x20 || (character.code >= 0x7f && character.code < 0xa0)) {
      out += {'\\', 'x', kHex[character.code >> 4], kHex[character.code & 15]};
    } else {
      out += text.substr(0, character.size);
    }
  }
  return out;
}

std::string truncated(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t end = 0;
  int used = 0;
  while (end < text.size()) {
    const Character character = first_character(text.substr(end));
    used += display_width(character.code);
    if (used > width - 1) break;
    end += character.size;
  }
  while (end > 0 && text[end - 1] == ' ') --end;
  return std::string(text.substr(0, end)) + "…";
}

std::vector<std::string> wrap_text(std::string_view utf8, int width) {
  std::vector<std::string> lines(1);
  int used = 0;
  while (!utf8.empty()) {
    const std::size_t blank = utf8.find(' ');
    std::string_view word = utf8.substr(0, blank);
    utf8.remove_prefix(blank == std::string_view::npos ? utf8.size() : blank + 1);
    if (word.empty()) continue;
    const int need = display_width(word);
    if (used > 0 && used + 1 + need > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) {
      lines.back() += ' ';
      ++used;
    }
    while (!word.empty()) {
      const Character character = first_character(word);
      const int columns = display_width(character.code);
      if (used > 0 && used + columns > width) {
        lines.emplace_back();
        used = 0;
      }
      lines.back() += word.substr(0, character.size);
      used += columns;
      word.remove_prefix(character.size);
    }
  }
  return lines;
}

}  // namespace ridge
