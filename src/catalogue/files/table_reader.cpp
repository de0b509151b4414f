#include "catalogue/files/table_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// What was asked for is no unknown key, and is among what a misspelt one may have meant.
void note(std::vector<std::string_view>& known, std::string_view key) {
  if (std::find(known.begin(), known.end(), key) == known.end()) known.push_back(key);
}

/// "; did you mean ...?", or what there is to choose from.
std::string suggest(std::string_view word, std::span<const std::string_view> candidates) {
  if (candidates.empty()) return "";
  const std::string near = nearest(word, candidates.data(), candidates.size(), 1);
  if (!near.empty()) return fmt::format("; did you mean {}?", near);
  return fmt::format("; known here: {}", fmt::join(candidates, ", "));
}

/// Steps by which people miss a unit: prefixes, then bits for bytes.
constexpr std::array kUsualSlips = {1e3, 1e-3, 1e6, 1e-6, 1e9, 1e-9, 1e12, 1e-12, 8.0, 0.125};

/// Where in the file a position inside of a text value stands, from "column N".
std::uint32_t column_inside(const TomlNode& node, std::string_view where) {
  constexpr std::string_view kPrefix = "column ";
  std::uint32_t inside = 0;
  if (where.substr(0, kPrefix.size()) == kPrefix) {
    std::from_chars(where.data() + kPrefix.size(), where.data() + where.size(), inside);
  }
  return node.column + inside;  // the opening quote makes up for counting from one
}

}  // namespace

std::string written(double base_units, const int (&dimension)[9]) {
  std::string text = detail::format_measure(base_units, dimension, 4);
  const std::size_t end = text.find(' ');
  const std::size_t point = text.find('.');
  if (end == std::string::npos || point == std::string::npos || point > end) return text;
  std::size_t last = end;
  while (last > point + 1 && text[last - 1] == '0') --last;
  if (last == point + 1) --last;
  return text.erase(last, end - last);
}

bool is_valid_id(std::string_view text) {
  return !text.empty() && text.size() <= 100 && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower_or_digit(c) || c == '.' || c == '-'; });
}

bool is_valid_date(std::string_view text) {
  const auto digits = [&](std::size_t from, std::size_t count) {
    return std::all_of(text.begin() + from, text.begin() + from + count, is_digit);
  };
  const auto in_range = [&](std::size_t from, int low, int high) {
    if (text[from - 1] != '-' || !digits(from, 2)) return false;
    const int value = (text[from] - '0') * 10 + (text[from + 1] - '0');
    return value >= low && value <= high;
  };
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) return false;
  if (!digits(0, 4)) return false;
  if (text.size() >= 7 && !in_range(5, 1, 12)) return false;
  return text.size() < 10 || in_range(8, 1, 31);
}

std::optional<SourceId> SourceIndex::find(std::string_view id) const {
  const auto at = positions_.find(std::string(id));
  if (at == positions_.end()) return std::nullopt;
  return at->second;
}

std::string SourceIndex::suggestion(std::string_view id) const {
  std::vector<std::string_view> ids;
  for (const auto& entry : positions_) ids.push_back(entry.first);
  std::sort(ids.begin(), ids.end());
  const std::string near = nearest(id, ids.data(), ids.size(), 1);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

// ---- EntryReader

EntryReader::EntryReader(std::string_view kind, std::span<const EntryLayer> layers, const SourceIndex& sources)
    : sources_(sources) {
  assert(!layers.empty() && "an entry stands somewhere");
  TableReader::Table& table = tables_.emplace_back();
  table.name = kind;
  table.known = {"id", "replace", "based_on"};
  for (const EntryLayer& layer : layers) table.layers.push_back({layer.table, layer.file, std::nullopt});
  if (kind == "source") return;
  table.known.push_back("source");
  TableReader reader = root();
  for (TableReader::Layer& layer : table.layers) {
    if (const TomlMember* member = layer.table->find("source")) layer.source = reader.resolve(layer, member->value);
  }
}

void EntryReader::refuse(std::string where, std::string message) {
  if (!error_) error_ = Error{ErrorCode::bad_input, std::move(where), std::move(message)};
}

Status EntryReader::finish() {
  for (const TableReader::Table& table : tables_) {
    for (const TableReader::Layer& layer : table.layers) {
      for (const TomlMember& member : layer.table->members) {
        if (std::find(table.known.begin(), table.known.end(), member.key) != table.known.end()) continue;
        refuse(place_text(layer.file, member.line, member.column),
               fmt::format("unknown key {} in [{}]{}", ridge::quoted(member.key), table.name,
                           suggest(member.key, table.known)));
      }
    }
  }
  if (error_) return *error_;
  return {};
}

// ---- TableReader: finding and refusing

TableReader::Found TableReader::find(std::string_view key) {
  note(table_->known, key);
  for (const Layer& layer : table_->layers) {
    if (const TomlMember* member = layer.table->find(key)) return {member, &layer};
  }
  return {};
}

TableReader::Found TableReader::find(std::string_view key, TomlNode::Kind kind) {
  const Found found = find(key);
  if (found && found.member->value.kind != kind) {
    refuse_kind(found, ridge::name(kind));
    return {};
  }
  return found;
}

void TableReader::refuse_at(const Layer& layer, const TomlNode& node, std::string message) {
  entry_->refuse(place_text(layer.file, node.line, node.column), std::move(message));
}

void TableReader::refuse_kind(const Found& found, std::string_view wanted) {
  const TomlNode& node = found.member->value;
  std::string hint;
  if (wanted == ridge::name(TomlNode::Kind::text)) {
    if (node.kind == TomlNode::Kind::date) hint = "; put the date between quotes";
    if (node.kind == TomlNode::Kind::integer) hint = fmt::format("; write \"{}\"", node.integer);
  } else if (node.kind == TomlNode::Kind::text) {
    hint = "; leave the quotes out";
  }
  refuse_at(*found.layer, node,
            fmt::format("'{}' has to be {}, not {}{}", found.member->key, wanted, ridge::name(node.kind), hint));
}

void TableReader::refuse(std::string_view key, std::string message) {
  if (const Found found = find(key)) {
    refuse_at(*found.layer, found.member->value, std::move(message));
  } else {
    refuse_at(beginning(), *beginning().table, std::move(message));
  }
}

const TableReader::Layer& TableReader::beginning() const {
  const Table* table = table_;
  while (table->layers.empty()) table = table->around;
  return table->layers.front();
}

void TableReader::require(std::string_view key) {
  if (!find(key)) refuse(key, fmt::format("'{}' is missing in [{}]", key, table_->name));
}

bool TableReader::has(std::string_view key) const {
  note(table_->known, key);
  return std::any_of(table_->layers.begin(), table_->layers.end(),
                     [&](const Layer& layer) { return layer.table->find(key) != nullptr; });
}

bool TableReader::failed() const {
  return entry_->error_.has_value();
}

Place TableReader::place() const {
  return {std::string(beginning().file), beginning().table->line};
}

/// "memory bandwidth" for the key `bandwidth` of [device.memory].
std::string TableReader::spoken(std::string_view key) const {
  const std::size_t dot = table_->name.find('.');
  std::string words = dot == std::string::npos ? "" : table_->name.substr(dot + 1) + " ";
  words += key;
  std::replace_if(
      words.begin(), words.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
  return words;
}

// ---- TableReader: plain values

std::string TableReader::id() {
  require("id");
  const Found found = find("id", TomlNode::Kind::text);
  if (!found) return "";
  const TomlNode& node = found.member->value;
  if (!is_valid_id(node.text)) {
    refuse_at(*found.layer, node,
              fmt::format("{} is no id: lower case letters, digits, '.' and '-', at most 100 of them",
                          ridge::quoted(node.text)));
  }
  return node.text;
}

std::string TableReader::text(std::string_view key) {
  require(key);
  const Found found = find(key, TomlNode::Kind::text);
  if (!found) return "";
  if (found.member->value.text.empty()) refuse(key, fmt::format("'{}' is empty", key));
  return found.member->value.text;
}

std::string TableReader::optional_text(std::string_view key) {
  const Found found = find(key, TomlNode::Kind::text);
  return found ? found.member->value.text : "";
}

std::string TableReader::date(std::string_view key) {
  std::string value = text(key);
  if (!value.empty() && !is_valid_date(value)) {
    refuse(key, fmt::format("{} is no date: write \"2026-08-31\", \"2026-08\" or \"2026\"", ridge::quoted(value)));
  }
  return value;
}

std::string TableReader::reference(std::string_view key, std::string_view kind) {
  const Found found = find(key, TomlNode::Kind::text);
  if (!found) return "";
  const TomlNode& node = found.member->value;
  entry_->references_.push_back({kind, node.text, place_text(found.layer->file, node.line, node.column)});
  return node.text;
}

bool TableReader::flag(std::string_view key, bool otherwise) {
  const Found found = find(key, TomlNode::Kind::flag);
  return found ? found.member->value.flag : otherwise;
}

std::optional<int> TableReader::checked_integer(const Layer& layer, std::string_view key, const TomlNode& node, int low,
                                                int high) {
  if (node.kind != TomlNode::Kind::integer) {
    refuse_at(layer, node,
              fmt::format("'{}' has to be a whole number, not {}{}", key, ridge::name(node.kind),
                          node.kind == TomlNode::Kind::text ? "; leave the quotes out" : ""));
    return std::nullopt;
  }
  if (node.integer < low || node.integer > high) {
    refuse_at(layer, node, fmt::format("{} is implausible for {} ({} to {})", node.integer, spoken(key), low, high));
    return std::nullopt;
  }
  return static_cast<int>(node.integer);
}

int TableReader::integer(std::string_view key, int low, int high) {
  require(key);
  return optional_integer(key, low, low, high);
}

int TableReader::optional_integer(std::string_view key, int otherwise, int low, int high) {
  const Found found = find(key);
  if (!found) return otherwise;
  return checked_integer(*found.layer, key, found.member->value, low, high).value_or(otherwise);
}

double TableReader::number(std::string_view key, double low, double high) {
  require(key);
  return optional_number(key, low, high).value_or(low);
}

std::optional<double> TableReader::optional_number(std::string_view key, double low, double high) {
  const Found found = find(key);
  if (!found) return std::nullopt;
  const TomlNode& node = found.member->value;
  double value = node.number;
  if (node.kind == TomlNode::Kind::integer) {
    value = static_cast<double>(node.integer);
  } else if (node.kind != TomlNode::Kind::number) {
    refuse_kind(found, "a number");
    return std::nullopt;
  }
  if (!(value >= low && value <= high)) {  // so written, NaN is refused too
    refuse_at(*found.layer, node, fmt::format("{} is implausible for {} ({} to {})", value, spoken(key), low, high));
    return std::nullopt;
  }
  return value;
}

std::optional<double> TableReader::optional_count(std::string_view key, double low, double high) {
  const Found found = find(key);
  if (!found || found.member->value.kind != TomlNode::Kind::text) return optional_number(key, low, high);
  const TomlNode& node = found.member->value;
  const Result<double> value = parse_count(node.text);
  if (!value) {
    refuse_at(*found.layer, node, value.error().message);
    return std::nullopt;
  }
  if (!(*value >= low && *value <= high)) {
    refuse_at(*found.layer, node,
              fmt::format("{} is implausible for {} ({} to {})", node.text, spoken(key), low, high));
    return std::nullopt;
  }
  return *value;
}

std::vector<int> TableReader::integers(std::string_view key, int low, int high) {
  const Found found = find(key, TomlNode::Kind::array);
  std::vector<int> values;
  if (!found) return values;
  for (const TomlNode& item : found.member->value.items) {
    const std::optional<int> value = checked_integer(*found.layer, key, item, low, high);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

std::vector<std::string> TableReader::texts(std::string_view key) {
  const Found found = find(key, TomlNode::Kind::array);
  std::vector<std::string> values;
  if (!found) return values;
  for (const TomlNode& item : found.member->value.items) {
    if (item.kind != TomlNode::Kind::text) {
      refuse_at(*found.layer, item, fmt::format("'{}' has to hold texts, not {}", key, ridge::name(item.kind)));
      return {};
    }
    values.push_back(item.text);
  }
  return values;
}

std::optional<std::size_t> TableReader::choice_index(std::string_view key, std::span<const std::string_view> names) {
  const Found found = find(key, TomlNode::Kind::text);
  if (!found) return std::nullopt;
  const TomlNode& node = found.member->value;
  const auto at = std::find(names.begin(), names.end(), node.text);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  refuse_at(*found.layer, node,
            fmt::format("{} is no {}; use {}", ridge::quoted(node.text), spoken(key), fmt::join(names, ", ")));
  return std::nullopt;
}

// ---- TableReader: figures and their sources

std::optional<SourceId> TableReader::resolve(const Layer& layer, const TomlNode& node) {
  if (node.kind != TomlNode::Kind::text) {
    refuse_at(layer, node, fmt::format("a source is the id of a [[source]], not {}", ridge::name(node.kind)));
    return std::nullopt;
  }
  const std::optional<SourceId> source = entry_->sources_.find(node.text);
  if (!source) {
    refuse_at(
        layer, node,
        fmt::format("there is no [[source]] {}{}", ridge::quoted(node.text), entry_->sources_.suggestion(node.text)));
  }
  return source;
}

SourceId TableReader::source() {
  for (const Layer& layer : table_->layers) {
    if (layer.source) return *layer.source;
  }
  refuse("source", fmt::format("[{}] names no source: add source = \"...\" with the id of a [[source]]", table_->name));
  return {};
}

std::optional<std::pair<const TomlNode*, SourceId>> TableReader::sourced_value(const Found& found, std::string_view key,
                                                                               bool sourced) {
  const TomlNode* value = &found.member->value;
  std::optional<SourceId> source = found.layer->source;
  if (value->kind == TomlNode::Kind::table && sourced) {
    for (const TomlMember& member : value->members) {
      if (member.key != "value" && member.key != "source") {
        entry_->refuse(
            place_text(found.layer->file, member.line, member.column),
            fmt::format("unknown key {}: a figure is {{ value = ..., source = \"...\" }}", ridge::quoted(member.key)));
        return std::nullopt;
      }
    }
    const TomlMember* own_source = value->find("source");
    const TomlMember* own_value = value->find("value");
    if (own_source != nullptr && !(source = resolve(*found.layer, own_source->value))) return std::nullopt;
    if (own_value == nullptr) {
      refuse_at(*found.layer, *value, fmt::format("'{}' has no value: write {{ value = ..., source = \"...\" }}", key));
      return std::nullopt;
    }
    value = &own_value->value;
  }
  if (sourced && !source) {
    refuse_at(*found.layer, *value,
              fmt::format("{} has no source: add source = \"...\" to the entry or to its table, or write "
                          "{} = {{ value = ..., source = \"...\" }}",
                          spoken(key), key));
    return std::nullopt;
  }
  return std::pair{value, source.value_or(SourceId{})};
}

std::optional<Sourced<double>> TableReader::measure(std::string_view key, const int (&dimension)[9], double low,
                                                    double high, bool sourced) {
  const Found found = find(key);
  if (!found) return std::nullopt;
  const auto read = sourced_value(found, key, sourced);
  if (!read) return std::nullopt;
  const TomlNode& node = *read->first;

  if (node.kind == TomlNode::Kind::integer || node.kind == TomlNode::Kind::number) {
    const double bare = node.kind == TomlNode::Kind::integer ? static_cast<double>(node.integer) : node.number;
    double meant = bare;
    for (double step = 1; step <= 1e15 && !(meant >= low && meant <= high); step *= 1e3) meant = bare * step;
    if (!(meant >= low && meant <= high)) meant = low;
    refuse_at(*found.layer, node,
              fmt::format("a bare number where a quantity belongs: write its unit, for example {} = \"{}\"", key,
                          written(meant, dimension)));
    return std::nullopt;
  }
  if (node.kind != TomlNode::Kind::text) {
    refuse_at(*found.layer, node,
              fmt::format("'{}' has to be a quantity such as \"{}\", not {}", key, written(low, dimension),
                          ridge::name(node.kind)));
    return std::nullopt;
  }
  const Result<double> value = detail::parse_measure(node.text, dimension);
  if (!value) {
    entry_->refuse(place_text(found.layer->file, node.line, column_inside(node, value.error().where)),
                   fmt::format("{}: {}", spoken(key), value.error().message));
    return std::nullopt;
  }
  if (!(*value >= low && *value <= high)) {
    std::string hint;
    for (const double slip : kUsualSlips) {
      if (*value * slip >= low && *value * slip <= high) {
        hint = fmt::format("; did you mean {}?", written(*value * slip, dimension));
        break;
      }
    }
    refuse_at(*found.layer, node,
              fmt::format("{} is implausible for {} ({} to {}){}", node.text, spoken(key), written(low, dimension),
                          written(high, dimension), hint));
    return std::nullopt;
  }
  return Sourced<double>{*value, read->second};
}

Figure<int> TableReader::figure_integer(std::string_view key, int low, int high) {
  const Found found = find(key);
  if (!found) return std::nullopt;
  const auto read = sourced_value(found, key, true);
  if (!read) return std::nullopt;
  const std::optional<int> value = checked_integer(*found.layer, key, *read->first, low, high);
  if (!value) return std::nullopt;
  return Sourced<int>{*value, read->second};
}

// ---- TableReader: tables within

TableReader TableReader::table(std::string_view key) {
  find(key);
  Table child;
  child.name = fmt::format("{}.{}", table_->name, key);
  child.known = {"source"};
  child.around = table_;
  for (const Layer& layer : table_->layers) {
    const TomlMember* member = layer.table->find(key);
    if (member == nullptr) continue;
    if (member->value.kind != TomlNode::Kind::table) {
      refuse_kind({member, &layer}, "a table");
      break;
    }
    Layer inner{&member->value, layer.file, layer.source};
    if (const TomlMember* source = member->value.find("source")) inner.source = resolve(inner, source->value);
    child.layers.push_back(inner);
  }
  return {*entry_, entry_->tables_.emplace_back(std::move(child))};
}

std::vector<TableReader> TableReader::tables(std::string_view key) {
  std::vector<TableReader> readers;
  const Found found = find(key, TomlNode::Kind::array);
  if (!found) return readers;
  for (const TomlNode& item : found.member->value.items) {
    if (item.kind != TomlNode::Kind::table) {
      refuse_at(*found.layer, item, fmt::format("'{}' has to hold tables: write [[{}.{}]]", key, table_->name, key));
      return {};
    }
    Table child;
    child.name = fmt::format("{}.{}", table_->name, key);
    child.known = {"source"};
    child.around = table_;
    child.layers = {{&item, found.layer->file, found.layer->source}};
    if (const TomlMember* source = item.find("source")) {
      child.layers.front().source = resolve(child.layers.front(), source->value);
    }
    readers.push_back({*entry_, entry_->tables_.emplace_back(std::move(child))});
  }
  return readers;
}

}  // namespace ridge
