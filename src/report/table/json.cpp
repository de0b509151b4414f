#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

#include "report/table/unicode.hpp"
#include "ridge/report/report.hpp"

namespace ridge {

namespace {

constexpr std::size_t kLine = 100;

/// What stands in JSON as it is: most keys and texts.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

std::string json_text(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  if (is_plain(text)) return out.append(text) + '"';
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

std::string exact_number(double value) {
  char buffer[64];
  // Whole numbers below 2^53 are written out: 141e9 bytes should read 141000000000, not 1.41e+11.
  const bool whole = value == std::trunc(value) && std::abs(value) < 9007199254740992.0;
  const auto end = whole ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::int64_t>(value))
                         : std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

Json& Json::at(std::string_view key) {
  auto* object = std::get_if<Object>(&value_);
  assert(object && "at() is for objects");
  const auto found =
      std::find_if(object->begin(), object->end(), [&](const auto& entry) { return entry.first == key; });
  if (found != object->end()) return found->second;
  return object->emplace_back(std::string(key), Json()).second;
}

Json& Json::set(std::string_view key, Json value) {
  at(key) = std::move(value);
  return *this;
}

Json& Json::push(Json value) {
  auto* array = std::get_if<Array>(&value_);
  assert(array && "push() is for arrays");
  array->push_back(std::move(value));
  return *this;
}

bool Json::empty() const {
  if (const auto* array = std::get_if<Array>(&value_)) return array->empty();
  if (const auto* object = std::get_if<Object>(&value_)) return object->empty();
  return std::holds_alternative<std::monostate>(value_);
}

bool Json::one_line(std::string& out, std::size_t limit) const {
  const auto list = [&](const auto& elements, char open, char close, auto&& print_element) {
    out += open;
    bool first = true;
    for (const auto& element : elements) {
      if (!first) out += ", ";
      first = false;
      if (!print_element(element)) return false;
    }
    out += close;
    return true;
  };
  if (const auto* flag = std::get_if<bool>(&value_)) {
    out += *flag ? "true" : "false";
  } else if (const auto* number = std::get_if<double>(&value_)) {
    out += std::isfinite(*number) ? exact_number(*number) : "null";
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    out += json_text(*text);
  } else if (const auto* array = std::get_if<Array>(&value_)) {
    if (!list(*array, '[', ']', [&](const Json& element) { return element.one_line(out, limit); })) return false;
  } else if (const auto* object = std::get_if<Object>(&value_)) {
    const auto entry = [&](const auto& pair) {
      out += json_text(pair.first) + ": ";
      return pair.second.one_line(out, limit);
    };
    if (!list(*object, '{', '}', entry)) return false;
  } else {
    out += "null";
  }
  return out.size() <= limit;
}

void Json::print(std::string& out, std::size_t indent, std::size_t line_start) const {
  const auto* array = std::get_if<Array>(&value_);
  const auto* object = std::get_if<Object>(&value_);
  const bool splits = (array != nullptr || object != nullptr) && !empty();
  const std::size_t before = out.size();
  const std::size_t limit = splits ? line_start + kLine - 1 : std::string::npos;  // a comma may follow
  if (one_line(out, limit)) return;
  out.resize(before);
  out += array ? '[' : '{';
  bool first = true;
  const auto element = [&](const std::string& label, const Json& value) {
    out += first ? "\n" : ",\n";
    first = false;
    const std::size_t start = out.size();
    out.append(indent + 2, ' ') += label;
    value.print(out, indent + 2, start);
  };
  if (array) {
    for (const Json& value : *array) element("", value);
  } else {
    for (const auto& [key, value] : *object) element(json_text(key) + ": ", value);
  }
  out += '\n';
  out.append(indent, ' ') += array ? ']' : '}';
}

std::string Json::text() const {
  std::string out;
  print(out, 0, 0);
  return out + "\n";
}

}  // namespace ridge
