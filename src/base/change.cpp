#include "ridge/base/change.hpp"

#include <algorithm>

#include "base/shell.hpp"
#include "ridge/base/letters.hpp"

namespace ridge {

namespace {

constexpr std::string_view kOpen = "⟦";
constexpr std::string_view kClose = "⟧";

bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_key(std::string_view text) {
  return !text.empty() && is_small(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_small(c) || is_digit(c) || c == '_'; });
}

std::string flag_of_key(std::string_view key) {
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin() + 2, flag.end(), '_', '-');
  return flag;
}

/// As a program writes it: 8, true, "500W".
std::string literal(std::string_view value, Voice voice) {
  if (value == "true") return voice == Voice::python ? "True" : "true";
  return is_json_number(value) ? std::string(value) : '"' + std::string(value) + '"';
}

struct Mark {
  std::string_view key;
  std::string_view value;
  bool proposes = false;
  std::size_t size = 0;  ///< of the mark in the text
};

/// The mark that `text` begins with, or one without size.
Mark mark_at(std::string_view text) {
  if (!text.starts_with(kOpen)) return {};
  const std::size_t end = text.find(kClose);
  if (end == std::string_view::npos) return {};
  const std::string_view inside = text.substr(kOpen.size(), end - kOpen.size());
  const std::size_t equals = inside.find('=');
  const Mark mark{inside.substr(0, equals), equals == std::string_view::npos ? "" : inside.substr(equals + 1),
                  equals != std::string_view::npos, end + kClose.size()};
  return is_key(mark.key) ? mark : Mark{};
}

std::string say(const Mark& mark, Voice voice) {
  const bool json = voice == Voice::json;
  if (voice == Voice::flags) {
    const bool bare = !mark.proposes || mark.value == "true";
    return flag_of_key(mark.key) + (bare ? "" : " " + shell_word(mark.value));
  }
  std::string key = json ? '"' + std::string(mark.key) + '"' : std::string(mark.key);
  return mark.proposes ? key + (json ? ": " : "=") + literal(mark.value, voice) : key;
}

template <class Put>
std::string with_marks_said(std::string_view text, Voice voice, const Put& put) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find(kOpen, at), text.size());
    out += text.substr(at, open - at);
    at = open;
    if (at == text.size()) break;
    const Mark mark = mark_at(text.substr(at));
    if (mark.size == 0) {
      out += kOpen;
      at += kOpen.size();
      continue;
    }
    out += put(say(mark, voice));
    at += mark.size;
    // Proposals that follow each other are members of one object, or arguments of one call.
    const bool more = mark.proposes && text.substr(at).starts_with(" ") && mark_at(text.substr(at + 1)).proposes;
    if (voice != Voice::flags && more) out += ',';
  }
  return out;
}

}  // namespace

std::string named(std::string_view field) {
  return std::string(kOpen).append(field).append(kClose);
}

std::string marked(const Changes& changes) {
  std::string out;
  for (const Change& c : changes) {
    if (!out.empty()) out += ' ';
    out.append(kOpen).append(c.field).append("=").append(c.value).append(kClose);
  }
  return out;
}

std::string phrased(std::string_view text, Voice voice) {
  return with_marks_said(text, voice, [](std::string said) { return said; });
}

std::string phrased_in_json(std::string_view document, Voice voice) {
  return with_marks_said(document, voice, [](const std::string& said) {
    std::string escaped;
    for (const char c : said) {
      if (c == '"') escaped += '\\';
      escaped += c;
    }
    return escaped;
  });
}

Error phrased(const Error& error, Voice voice) {
  Error out{error.code, phrased(error.where, voice), phrased(error.message, voice)};
  if (voice == Voice::flags) return out;
  const Mark mark = mark_at(error.where);
  if (mark.size == error.where.size()) out.where = mark.key;
  if (out.where.starts_with("--")) {
    out.where.erase(0, 2);
    std::replace(out.where.begin(), out.where.end(), '-', '_');
  }
  return out;
}

bool is_json_number(std::string_view value) {
  const auto digits = [&] {
    const std::size_t many = std::min(value.find_first_not_of("0123456789"), value.size());
    value.remove_prefix(many);
    return many > 0;
  };
  if (value.starts_with('-')) value.remove_prefix(1);
  const bool zero = value.starts_with('0');
  const std::size_t before = value.size();
  if (!digits() || (zero && before - value.size() > 1)) return false;
  if (value.starts_with('.')) {
    value.remove_prefix(1);
    if (!digits()) return false;
  }
  if (value.starts_with('e') || value.starts_with('E')) {
    value.remove_prefix(1);
    if (value.starts_with('-') || value.starts_with('+')) value.remove_prefix(1);
    if (!digits()) return false;
  }
  return value.empty();
}

}  // namespace ridge
