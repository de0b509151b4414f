#include "catalogue/toml_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

// Compiled in here and not taken from the shared library: errors come as values, and sanitizers and the fuzzer see it.
// toml++ 3.3 asserts, and with NDEBUG assumes, what malformed text violates ("[(" for one): its checks of the same
// thing further down give the error, so the assertions are turned into nothing in every build.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ASSERT(condition) static_cast<void>(0)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace ridge {

namespace {

struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

// Walks over strings and comments as a TOML reader would. Counts what can nest: brackets, and the dots of one key; and
// finds what only strings and comments may hold, on which toml++ 3.3 reaches what it calls unreachable ("µ = 1").
class TextGuard {
 public:
  explicit TextGuard(std::string_view text) : text_(text) {}

  struct Refusal {
    Position position;
    std::string message;
  };

  /// What is refused first, or nothing.
  std::optional<Refusal> first_refusal() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') advance();
        continue;
      }
      if (static_cast<unsigned char>(c) >= 0x80) {
        return Refusal{position_, "malformed TOML: letters beyond ASCII stand in quotes or comments alone"};
      }
      switch (c) {
        case '[':
        case '{':
          ++brackets_;
          dots_ = 0;
          break;
        case ']':
        case '}':
          brackets_ = std::max(0, brackets_ - 1);
          dots_ = 0;
          break;
        case '.':
          ++dots_;
          break;
        case ',':
        case '=':
        case '\n':
          dots_ = 0;
          break;
        default:
          break;
      }
      if (brackets_ > kTomlBracketLimit || dots_ >= kTomlDottedKeyLimit) {
        return Refusal{position_, fmt::format("nested too deeply: at most {} brackets and {} parts of a dotted key",
                                              kTomlBracketLimit, kTomlDottedKeyLimit)};
      }
      advance();
    }
    return std::nullopt;
  }

 private:
  void advance() {
    if (text_[at_++] == '\n') {
      ++position_.line;
      position_.column = 1;
    } else {
      ++position_.column;
    }
  }

  void skip_string(char quote) {
    const std::string_view triple = quote == '"' ? R"(""")" : "'''";
    const bool long_form = text_.substr(at_, 3) == triple;
    for (int i = 0; i < (long_form ? 3 : 1); ++i) advance();
    while (at_ < text_.size()) {
      if (text_[at_] == '\\' && quote == '"') {
        advance();
        if (at_ < text_.size()) advance();
      } else if (long_form && text_.substr(at_, 3) == triple) {
        for (int i = 0; i < 3; ++i) advance();
        // Up to two more quotes belong to the string's end.
        while (at_ < text_.size() && text_[at_] == quote) advance();
        return;
      } else if (!long_form && (text_[at_] == quote || text_[at_] == '\n')) {
        advance();
        return;
      } else {
        advance();
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Position position_;
  int brackets_ = 0;
  int dots_ = 0;
};

TomlNode convert(toml::node& node) {
  TomlNode result;
  result.line = node.source().begin.line;
  result.column = node.source().begin.column;
  switch (node.type()) {
    case toml::node_type::string:
      result.kind = TomlNode::Kind::text;
      result.text = std::move(node.as_string()->get());
      break;
    case toml::node_type::integer:
      result.kind = TomlNode::Kind::integer;
      result.integer = node.as_integer()->get();
      break;
    case toml::node_type::floating_point:
      result.kind = TomlNode::Kind::number;
      result.number = node.as_floating_point()->get();
      break;
    case toml::node_type::boolean:
      result.kind = TomlNode::Kind::flag;
      result.flag = node.as_boolean()->get();
      break;
    case toml::node_type::array: {
      result.kind = TomlNode::Kind::array;
      toml::array& array = *node.as_array();
      result.items.reserve(array.size());
      for (toml::node& item : array) result.items.push_back(convert(item));
      break;
    }
    case toml::node_type::table: {
      result.kind = TomlNode::Kind::table;
      toml::table& table = *node.as_table();
      result.members.reserve(table.size());
      for (auto&& [key, value] : table) {
        result.members.push_back(
            {std::string(key.str()), key.source().begin.line, key.source().begin.column, convert(value)});
      }
      break;
    }
    default:
      result.kind = TomlNode::Kind::date;
      break;
  }
  return result;
}

}  // namespace

const TomlMember* TomlNode::find(std::string_view key) const {
  const auto at = std::lower_bound(members.begin(), members.end(), key,
                                   [](const TomlMember& member, std::string_view k) { return member.key < k; });
  return at != members.end() && at->key == key ? &*at : nullptr;
}

std::string_view name(TomlNode::Kind kind) {
  switch (kind) {
    case TomlNode::Kind::text:
      return "a text";
    case TomlNode::Kind::integer:
      return "a whole number";
    case TomlNode::Kind::number:
      return "a decimal number";
    case TomlNode::Kind::flag:
      return "true or false";
    case TomlNode::Kind::date:
      return "a date or time";
    case TomlNode::Kind::array:
      return "an array";
    case TomlNode::Kind::table:
      return "a table";
  }
  return "a value";
}

std::string place_text(std::string_view file, std::uint32_t line, std::uint32_t column) {
  return fmt::format("{}:{}:{}", file, line, column);
}

Result<TomlNode> parse_toml(std::string_view text, std::string_view file) {
  if (text.size() > kTomlSizeLimit) {
    return Error{ErrorCode::bad_input, std::string(file),
                 fmt::format("the file has {} bytes, more than the {} a catalogue file may have; split it", text.size(),
                             kTomlSizeLimit)};
  }
  if (auto refused = TextGuard(text).first_refusal()) {
    return Error{ErrorCode::bad_input, place_text(file, refused->position.line, refused->position.column),
                 std::move(refused->message)};
  }
  try {
    toml::parse_result parsed = toml::parse(text);
    if (!parsed) {
      const toml::parse_error& error = parsed.error();
      return Error{ErrorCode::bad_input, place_text(file, error.source().begin.line, error.source().begin.column),
                   fmt::format("malformed TOML: {}", error.description())};
    }
    return convert(parsed.table());
  } catch (const std::exception& exception) {
    return Error{ErrorCode::bad_input, std::string(file), fmt::format("cannot be read: {}", exception.what())};
  }
}

}  // namespace ridge
