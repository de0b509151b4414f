#include "catalogue/files/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ridge/base/text.hpp"

namespace ridge {

namespace {

using Json = nlohmann::json;

/// "file:line:column" of a byte, counted from 0.
std::string place(std::string_view where, std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n');
  const std::size_t column = start == std::string_view::npos ? before.size() + 1 : before.size() - start;
  return fmt::format("{}:{}:{}", where, line, column);
}

/// JSON without Python's numbers: NaN, Infinity and -Infinity become texts, two bytes longer each.
struct Normalised {
  std::string text;
  std::vector<std::size_t> quoted;  ///< where such a text begins in `text`

  [[nodiscard]] std::size_t original(std::size_t byte) const {
    const auto before = std::lower_bound(quoted.begin(), quoted.end(), byte) - quoted.begin();
    return byte - std::min<std::size_t>(byte, 2 * static_cast<std::size_t>(before));
  }
};

Normalised normalise(std::string_view text) {
  Normalised result;
  result.text.reserve(text.size() + 16);
  bool in_text = false;
  for (std::size_t i = 0; i < text.size();) {
    if (!in_text) {
      std::string_view word;
      for (const std::string_view candidate : {"NaN", "Infinity", "-Infinity"}) {
        if (text.substr(i, candidate.size()) == candidate) word = candidate;
      }
      if (!word.empty()) {
        result.quoted.push_back(result.text.size());
        result.text.append("\"").append(word).append("\"");
        i += word.size();
        continue;
      }
    }
    const char c = text[i];
    if (in_text && c == '\\' && i + 1 < text.size()) result.text.push_back(text[i++]);
    if (c == '"') in_text = !in_text;
    result.text.push_back(text[i++]);
  }
  return result;
}

/// Builds the tree from the parser's events, so that depth is bounded before anything deep exists.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  JsonNode root;
  std::size_t error_byte = 0;
  std::string message;
  /// A key that an object says twice: the object by its number in the text, the members by theirs in it.
  struct Doubled {
    bool found = false;
    std::size_t object = 0, first = 0, second = 0;
    std::string key;
  } doubled;

  bool null() override { return add({}); }
  bool boolean(bool value) override {
    JsonNode node;
    node.kind = JsonNode::Kind::flag;
    node.flag = value;
    return add(std::move(node));
  }
  bool number_integer(number_integer_t value) override { return add_integer(value, static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return add_number(static_cast<double>(value));
    }
    return add_integer(static_cast<std::int64_t>(value), static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add_number(value); }
  bool string(string_t& value) override {
    JsonNode node;
    node.kind = JsonNode::Kind::text;
    node.text = std::move(value);
    return add(std::move(node));
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(JsonNode::Kind::object); }
  bool start_array(std::size_t /*size*/) override { return open(JsonNode::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& error) override {
    error_byte = position > 0 ? position - 1 : 0;
    message = error.what();
    // The library's text begins with its own error number and place, both of no use to a reader of the file.
    const std::string_view end_of_place = message.find(": ") != std::string::npos ? ": " : "] ";
    const std::size_t detail = message.find(end_of_place);
    if (detail != std::string::npos) message.erase(0, detail + end_of_place.size());
    // It repeats bytes of the file, which may be anything.
    message = quoted(message, 500);
    message = message.substr(1, message.size() - 2);
    return false;
  }
  /// The limit that stopped the parser, or empty.
  [[nodiscard]] const std::string& limit() const { return limit_; }

 private:
  bool add_number(double value) {
    JsonNode node;
    node.kind = JsonNode::Kind::number;
    node.number = value;
    return add(std::move(node));
  }
  bool add_integer(std::int64_t value, double number) {
    JsonNode node;
    node.kind = JsonNode::Kind::integer;
    node.integer = value;
    node.number = number;
    return add(std::move(node));
  }
  JsonNode* place_for(JsonNode node) {
    if (path_.empty()) {
      root = std::move(node);
      return &root;
    }
    JsonNode& parent = *path_.back();
    if (parent.kind == JsonNode::Kind::array) return &parent.items.emplace_back(std::move(node));
    return &parent.members.emplace_back(JsonMember{std::move(key_), std::move(node)}).value;
  }
  bool add(JsonNode node) {
    if (!count()) return false;
    place_for(std::move(node));
    return true;
  }
  bool count() {
    if (++values_ <= kJsonValueLimit) return true;
    limit_ = fmt::format("there are more than {} values", kJsonValueLimit);
    return false;
  }
  bool open(JsonNode::Kind kind) {
    if (path_.size() >= static_cast<std::size_t>(kJsonDepthLimit)) {
      limit_ = fmt::format("lists and objects are nested deeper than {}", kJsonDepthLimit);
      return false;
    }
    if (!count()) return false;
    JsonNode node;
    node.kind = kind;
    opened_.resize(path_.size());
    opened_.push_back(brackets_++);
    // A parent's list may move while it grows, but never while one of its children is open.
    path_.push_back(place_for(std::move(node)));
    return true;
  }
  bool close() {
    const bool once = path_.back()->kind != JsonNode::Kind::object || says_all_once(path_.back()->members);
    doubled.object = opened_[path_.size() - 1];
    path_.pop_back();
    return once;
  }
  /// Whether no two members have one key; otherwise `doubled` says which.
  bool says_all_once(const std::vector<JsonMember>& members) {
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const int way = members[a].key.compare(members[b].key);
      return way != 0 ? way < 0 : a < b;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (members[order[i - 1]].key != members[order[i]].key) continue;
      doubled.first = order[i - 1];
      doubled.second = order[i];
      doubled.key = members[order[i]].key;
      doubled.found = true;
      return false;
    }
    return true;
  }

  std::vector<JsonNode*> path_;
  std::vector<std::size_t> opened_;  ///< of each, how many brackets were open or closed before it
  std::size_t brackets_ = 0;
  std::string key_;
  std::size_t values_ = 0;
  std::string limit_;
};

/// Where the members `first` and `second` of the object that is opened as number `object` begin: of a text that was
/// understood up to there.
std::pair<std::size_t, std::size_t> places_of(std::string_view text, const TreeBuilder::Doubled& doubled) {
  std::vector<std::size_t> open;    // numbers of the brackets we are in
  std::vector<std::size_t> commas;  // seen in each of them
  std::size_t brackets = 0;
  std::pair<std::size_t, std::size_t> places{0, 0};
  bool begins = false;  // a member may begin here
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') {
      open.push_back(brackets++);
      commas.push_back(0);
      begins = true;
    } else if (c == '}' || c == ']') {
      if (!open.empty() && open.back() == doubled.object) break;
      if (!open.empty()) open.pop_back();
      if (!commas.empty()) commas.pop_back();
    } else if (c == ',' && !commas.empty()) {
      ++commas.back();
      begins = true;
    } else if (c == '"') {
      if (begins && !open.empty() && open.back() == doubled.object) {
        if (commas.back() == doubled.first) places.first = i;
        if (commas.back() == doubled.second) places.second = i;
      }
      begins = false;
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
    } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      begins = false;
    }
  }
  return places;
}

std::string_view name(JsonNode::Kind kind) {
  switch (kind) {
    case JsonNode::Kind::null:
      return "null";
    case JsonNode::Kind::flag:
      return "a flag";
    case JsonNode::Kind::integer:
    case JsonNode::Kind::number:
      return "a number";
    case JsonNode::Kind::text:
      return "a text";
    case JsonNode::Kind::array:
      return "a list";
    case JsonNode::Kind::object:
      return "an object";
  }
  return "";
}

/// What was found instead, short enough for a message.
std::string spoken(const JsonNode& node) {
  if (node.kind == JsonNode::Kind::integer) return fmt::format("{}", node.integer);
  if (node.kind == JsonNode::Kind::number) return fmt::format("{}", node.number);
  if (node.kind == JsonNode::Kind::text) return fmt::format("the text '{}'", node.text.substr(0, 40));
  return std::string(name(node.kind));
}

const JsonNode& empty_object() {
  static const JsonNode kEmpty = [] {
    JsonNode node;
    node.kind = JsonNode::Kind::object;
    return node;
  }();
  return kEmpty;
}

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
  const auto found =
      std::find_if(members.rbegin(), members.rend(), [&](const auto& member) { return member.key == key; });
  if (found == members.rend() || found->value.kind == Kind::null) return nullptr;
  return &found->value;
}

Result<JsonNode> parse_json(std::string_view text, std::string_view where) {
  if (text.size() > kJsonSizeLimit) {
    return Error{ErrorCode::bad_input, std::string(where),
                 fmt::format("{} bytes are more than the {} a configuration may have", text.size(), kJsonSizeLimit)};
  }
  const Normalised normalised = normalise(text);
  TreeBuilder builder;
  if (Json::sax_parse(normalised.text, &builder)) return std::move(builder.root);
  if (builder.doubled.found) {
    const auto [first, second] = places_of(normalised.text, builder.doubled);
    return Error{ErrorCode::bad_input, place(where, text, normalised.original(second)),
                 fmt::format("{} was said already, at {}: say it once", ridge::quoted(builder.doubled.key),
                             place(where, text, normalised.original(first)))};
  }
  if (!builder.limit().empty()) return Error{ErrorCode::bad_input, std::string(where), builder.limit()};
  return Error{ErrorCode::bad_input, place(where, text, normalised.original(builder.error_byte)),
               fmt::format("this is not JSON: {}", builder.message)};
}

JsonReader::JsonReader(const JsonNode& root, std::string_view where)
    : node_(&root), state_(std::make_shared<State>(State{std::string(where), std::nullopt})) {}

bool JsonReader::has_any(Names names) const {
  return first(names).second != nullptr;
}

bool JsonReader::mentions(std::string_view key) const {
  return std::any_of(node_->members.begin(), node_->members.end(),
                     [&](const auto& member) { return member.key == key; });
}

std::pair<std::string_view, const JsonNode*> JsonReader::first(Names names) const {
  for (const std::string_view candidate : names) {
    if (const JsonNode* found = node_->find(candidate)) return {candidate, found};
  }
  return {*names.begin(), nullptr};
}

std::optional<int> JsonReader::checked(std::string_view key, const JsonNode& node, int low, int high) {
  const bool whole = node.kind == JsonNode::Kind::integer ||
                     (node.kind == JsonNode::Kind::number && node.number == std::floor(node.number));
  if (whole && node.number >= low && node.number <= high) return static_cast<int>(node.number);
  refuse(key, fmt::format("expected a whole number from {} to {}, not {}", low, high, spoken(node)));
  return std::nullopt;
}

int JsonReader::integer(Names names, int low, int high) {
  const auto [key, node] = first(names);
  if (node != nullptr) return checked(key, *node, low, high).value_or(low);
  refuse(key, fmt::format("'{}' is missing", key));
  return low;
}

int JsonReader::optional_integer(Names names, int otherwise, int low, int high) {
  const auto [key, node] = first(names);
  return node == nullptr ? otherwise : checked(key, *node, low, high).value_or(otherwise);
}

int JsonReader::uniform_integer(Names names, int otherwise, int low, int high) {
  const auto [key, node] = first(names);
  if (node == nullptr) return otherwise;
  if (node->kind != JsonNode::Kind::array) return checked(key, *node, low, high).value_or(otherwise);
  if (node->items.empty()) {
    refuse(key, "expected a number or a list of equal numbers, not an empty list");
    return otherwise;
  }
  const int value = checked(fmt::format("{}/0", key), node->items.front(), low, high).value_or(otherwise);
  for (std::size_t i = 1; i < node->items.size(); ++i) {
    if (node->items[i].number != value) {
      refuse(fmt::format("{}/{}", key, i),
             fmt::format("layers that differ ({} and {}) are not supported here", value, spoken(node->items[i])));
    }
  }
  return value;
}

double JsonReader::number(Names names, double low, double high) {
  const auto [key, node] = first(names);
  if (node == nullptr) {
    refuse(key, fmt::format("'{}' is missing", key));
    return low;
  }
  const bool numeric = node->kind == JsonNode::Kind::integer || node->kind == JsonNode::Kind::number;
  if (numeric && node->number >= low && node->number <= high) return node->number;
  refuse(key, fmt::format("expected a number from {} to {}, not {}", low, high, spoken(*node)));
  return low;
}

bool JsonReader::flag(Names names, bool otherwise) {
  const auto [key, node] = first(names);
  if (node == nullptr) return otherwise;
  if (node->kind != JsonNode::Kind::flag) refuse(key, fmt::format("expected true or false, not {}", spoken(*node)));
  return node->flag;
}

std::string JsonReader::optional_text(std::string_view key) {
  const JsonNode* node = node_->find(key);
  if (node == nullptr) return {};
  if (node->kind != JsonNode::Kind::text) refuse(key, fmt::format("expected a text, not {}", spoken(*node)));
  return node->text;
}

const JsonNode* JsonReader::list(std::string_view key, std::size_t limit) {
  const JsonNode* node = node_->find(key);
  if (node == nullptr) return nullptr;
  if (node->kind != JsonNode::Kind::array) {
    refuse(key, fmt::format("expected a list, not {}", spoken(*node)));
    return nullptr;
  }
  if (node->items.size() > limit) {
    refuse(key, fmt::format("expected a list of at most {} items, not {}", limit, node->items.size()));
    return nullptr;
  }
  return node;
}

std::vector<std::string> JsonReader::texts(std::string_view key, std::size_t limit) {
  std::vector<std::string> result;
  const JsonNode* node = list(key, limit);
  if (node == nullptr) return result;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const JsonNode& item = node->items[i];
    if (item.kind != JsonNode::Kind::text) {
      refuse(fmt::format("{}/{}", key, i), fmt::format("expected a text, not {}", spoken(item)));
    }
    result.push_back(item.text);
  }
  return result;
}

std::vector<int> JsonReader::integers(std::string_view key, int low, int high, std::size_t limit) {
  std::vector<int> result;
  const JsonNode* node = list(key, limit);
  if (node == nullptr) return result;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    result.push_back(checked(fmt::format("{}/{}", key, i), node->items[i], low, high).value_or(low));
  }
  return result;
}

std::vector<JsonReader> JsonReader::objects(std::string_view key, std::size_t limit) {
  std::vector<JsonReader> result;
  const JsonNode* node = list(key, limit);
  if (node == nullptr) return result;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const std::string item_key = fmt::format("{}/{}", key, i);
    if (node->items[i].kind != JsonNode::Kind::object) {
      refuse(item_key, fmt::format("expected an object, not {}", spoken(node->items[i])));
    }
    result.push_back(JsonReader(node->items[i], fmt::format("{}/{}", pointer_, item_key), state_));
  }
  return result;
}

std::vector<JsonReader> JsonReader::children(std::string_view key, std::size_t limit) {
  std::vector<JsonReader> result;
  const JsonReader parent = object(key);
  for (const auto& [name, node] : parent.node_->members) {
    if (node.kind != JsonNode::Kind::object) continue;
    if (result.size() == limit) break;
    result.push_back(JsonReader(node, fmt::format("{}/{}", parent.pointer_, name), state_));
  }
  return result;
}

JsonReader JsonReader::object(std::string_view key) {
  const JsonNode* node = node_->find(key);
  if (node != nullptr && node->kind != JsonNode::Kind::object) {
    refuse(key, fmt::format("expected an object, not {}", spoken(*node)));
  }
  return {node != nullptr ? *node : empty_object(), fmt::format("{}/{}", pointer_, key), state_};
}

bool JsonReader::is_list(std::string_view key) const {
  const JsonNode* node = node_->find(key);
  return node != nullptr && node->kind == JsonNode::Kind::array;
}

bool JsonReader::is_text(std::string_view key) const {
  const JsonNode* node = node_->find(key);
  return node != nullptr && node->kind == JsonNode::Kind::text;
}

void JsonReader::refuse(std::string_view key, std::string message) {
  if (state_->error) return;
  std::string where = fmt::format("{}#{}", state_->where, pointer_);
  if (!key.empty()) where.append("/").append(key);
  state_->error = Error{ErrorCode::bad_input, std::move(where), std::move(message)};
}

}  // namespace ridge
