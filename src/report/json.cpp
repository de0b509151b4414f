#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

#include "report/unicode.hpp"
#include "ridge/report.hpp"

namespace ridge {

namespace {

constexpr std::size_t kLine = 100;

std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
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

std::string Json::one_line() const {
  std::string out;
  if (const auto* flag = std::get_if<bool>(&value_)) {
    out = *flag ? "true" : "false";
  } else if (const auto* number = std::get_if<double>(&value_)) {
    out = std::isfinite(*number) ? exact_number(*number) : "null";
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    out = quoted(*text);
  } else if (const auto* array = std::get_if<Array>(&value_)) {
    for (const Json& element : *array) out += (out.empty() ? "" : ", ") + element.one_line();
    out = "[" + out + "]";
  } else if (const auto* object = std::get_if<Object>(&value_)) {
    for (const auto& [key, element] : *object) {
      out += (out.empty() ? "" : ", ") + quoted(key) + ": " + element.one_line();
    }
    out = "{" + out + "}";
  } else {
    out = "null";
  }
  return out;
}

void Json::print(std::string& out, std::size_t indent, std::size_t used) const {
  const auto* array = std::get_if<Array>(&value_);
  const auto* object = std::get_if<Object>(&value_);
  std::string line = one_line();
  if ((!array && !object) || empty() || used + line.size() <= kLine) {
    out += line;
    return;
  }
  const std::string margin(indent + 2, ' ');
  out += array ? "[" : "{";
  bool first = true;
  const auto element = [&](std::string label, const Json& value) {
    out += (first ? "\n" : ",\n") + margin + label;
    value.print(out, indent + 2, indent + 3 + label.size());
    first = false;
  };
  if (array) {
    for (const Json& value : *array) element("", value);
  } else {
    for (const auto& [key, value] : *object) element(quoted(key) + ": ", value);
  }
  out += "\n" + std::string(indent, ' ') + (array ? "]" : "}");
}

std::string Json::text() const {
  std::string out;
  print(out, 0, 0);
  return out + "\n";
}

}  // namespace ridge
