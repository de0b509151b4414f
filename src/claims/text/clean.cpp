// Making text uniform: signs in ASCII, UTF-8 read as another code page repaired.
#include <algorithm>
#include <array>

#include "base/utf8.hpp"
#include "claims/text/chinese.hpp"
#include "claims/text/passage.hpp"

namespace ridge::claims {

namespace {

std::uint32_t decode(std::string_view c) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(c[i])); };
  switch (c.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
}

// Windows-1252, bytes 0x80 to 0x9F.
constexpr std::array<std::uint32_t, 32> kWindows1252 = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                        0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                                        0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                        0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

/// The byte that a wrong code page (Windows-1252 or the Thai Windows-874) showed as this character, or 0.
unsigned byte_shown_as(std::uint32_t c) {
  if (c >= 0x0E01 && c <= 0x0E5B) return c - 0x0E01 + 0xA1;
  if (c >= 0x80 && c <= 0xFF) return c;
  for (std::size_t i = 0; i < kWindows1252.size(); ++i) {
    if (kWindows1252[i] == c) return static_cast<unsigned>(0x80 + i);
  }
  return 0;
}

struct Plain {
  std::uint32_t character;
  std::string_view text;
};
// What each sign becomes. A sign that is in no other way understood is left out.
constexpr Plain kPlain[] = {
    {0x00A0, " "},    {0x2002, " "},    {0x2003, " "},  {0x2007, " "},  {0x2009, " "},  {0x200A, " "},   {0x202F, " "},
    {0x3000, " "},    {0x2010, "-"},    {0x2011, "-"},  {0x2012, "-"},  {0x2013, "-"},  {0x2014, " - "}, {0x2212, "-"},
    {0x00D7, "x"},    {0x2715, "x"},    {0x2248, "~"},  {0x223C, "~"},  {0x2264, "<="}, {0x2265, ">="},  {0x00F7, "/"},
    {0x2192, " -> "}, {0x2018, "'"},    {0x2019, "'"},  {0x201C, "\""}, {0x201D, "\""}, {0x00B5, "u"},   {0x03BC, "u"},
    {0x2022, "\x02"}, {0x00B7, "\x02"}, {0xFF0C, ", "}, {0x3002, ". "}, {0xFF08, " ("}, {0xFF09, ") "},  {0xFF1A, ": "},
    {0xFF05, "%"},    {0x20AC, "EUR "},
};

bool worth_repairing(std::uint32_t c) {
  return (c >= 0x2010 && c <= 0x2BFF) || c == 0xD7 || c == 0xF7 || c == 0xB5 || c == 0xB2 || c == 0xB0 || c == 0xA0 ||
         c >= 0x1F300;
}

class Cleaner {
 public:
  explicit Cleaner(std::string_view bytes) : bytes_(bytes) {}

  Text run() {
    out_.text.reserve(bytes_.size());
    out_.origin.reserve(bytes_.size());
    out_.lines.push_back(0);
    while (at_ < bytes_.size()) step();
    return std::move(out_);
  }

 private:
  struct Character {
    std::uint32_t code = 0;
    std::size_t length = 0;  // 0 if malformed
  };
  [[nodiscard]] Character read(std::size_t at) const {
    if (at >= bytes_.size()) return {};
    const std::size_t length = utf8_length(bytes_.substr(at));
    return length == 0 ? Character{} : Character{decode(bytes_.substr(at, length)), length};
  }

  void emit(std::string_view text) {
    for (const char c : text) {
      out_.text += c;
      out_.origin.push_back(static_cast<std::uint32_t>(at_));
    }
  }

  void drop_spaces() {
    while (!out_.text.empty() && out_.text.back() == ' ') {
      out_.text.pop_back();
      out_.origin.pop_back();
    }
  }

  /// A character that was taken for several: "â€”" for a dash.
  [[nodiscard]] Character repaired(const Character& first) const {
    const unsigned lead = byte_shown_as(first.code);
    const std::size_t needed = lead >= 0xF0 && lead <= 0xF4 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    if (lead < 0xC2 || lead > 0xF4) return {};
    std::string utf8(1, static_cast<char>(lead));
    std::size_t at = at_ + first.length;
    while (utf8.size() < needed) {
      const Character next = read(at);
      const unsigned byte = next.length == 0 ? 0 : byte_shown_as(next.code);
      if (byte < 0x80 || byte > 0xBF) return {};
      utf8 += static_cast<char>(byte);
      at += next.length;
    }
    if (utf8_length(utf8) != needed) return {};
    const std::uint32_t code = decode(utf8);
    return worth_repairing(code) ? Character{code, at - at_} : Character{};
  }

  /// Past a fenced block of code (Markdown), which claims nothing unless it is plain text; false if none starts here.
  bool skip_code() {
    constexpr std::string_view kFence = "```";
    if (!bytes_.substr(at_).starts_with(kFence)) return false;
    const std::string_view rest = bytes_.substr(at_ + kFence.size());
    if (in_text_ || rest.starts_with("text")) {
      at_ += kFence.size() + (in_text_ ? 0 : 4);
      in_text_ = !in_text_;
      return true;
    }
    const std::size_t end = rest.find(kFence);
    if (end == std::string_view::npos) return false;
    const std::size_t stop = at_ + 2 * kFence.size() + end;
    for (; at_ < stop; ++at_) {
      if (bytes_[at_] != '\n') continue;
      emit("\n");
      out_.lines.push_back(static_cast<std::uint32_t>(at_ + 1));
    }
    return true;
  }

  void step() {
    const char c = bytes_[at_];
    if (c == '`' && skip_code()) return;
    if (c == '\n') {
      emit("\n");
      out_.lines.push_back(static_cast<std::uint32_t>(++at_));
      return;
    }
    if (static_cast<unsigned char>(c) < 0x80) {
      if (bytes_.substr(at_).starts_with("**") || bytes_.substr(at_).starts_with("__")) {
        at_ += 2;
        return;
      }
      if (c == '\t') emit(" ");
      if (c >= ' ' && c != '`' && c != '\\' && c != 0x7F) emit(std::string_view(&c, 1));
      ++at_;
      return;
    }
    Character character = read(at_);
    if (character.length == 0) {  // malformed: a gap
      emit(" ");
      ++at_;
      return;
    }
    if (const Character better = repaired(character); better.length != 0) character = better;
    if (const Translated word = translate_word(bytes_.substr(at_)); word.length > 0) {
      if (word.english.front() != ' ') drop_spaces();  // "2.4 倍" is one figure
      const bool twice = word.english.front() == ' ' && out_.text.ends_with(' ');
      emit(word.english.substr(twice ? 1 : 0));  // "HGX 节点" stays one name
      at_ += word.length;
      return;
    }
    const auto* plain = std::find_if(std::begin(kPlain), std::end(kPlain),
                                     [&](const Plain& p) { return p.character == character.code; });
    emit(plain != std::end(kPlain) ? plain->text : " ");
    at_ += character.length;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool in_text_ = false;  // inside a fence of plain text
  Text out_;
};

}  // namespace

Text clean(std::string_view bytes) {
  return Cleaner(bytes).run();
}

Text::Place Text::place(std::size_t offset) const {
  const std::uint32_t original = offset < origin.size() ? origin[offset] : origin.empty() ? 0 : origin.back();
  const auto after = std::upper_bound(lines.begin(), lines.end(), original);
  const auto line = static_cast<std::uint32_t>(after - lines.begin());
  return {line, original - lines[line - 1] + 1};
}

}  // namespace ridge::claims
