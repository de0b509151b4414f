#include "catalogue/files/entry_set.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ridge/base/text.hpp"

namespace ridge {

namespace {

Error error_at(std::string_view file, std::uint32_t line, std::uint32_t column, std::string message) {
  return {ErrorCode::bad_input, place_text(file, line, column), std::move(message)};
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string near = nearest(word, candidates.data(), candidates.size());
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

}  // namespace

Status EntrySet::add(const TomlNode& root, std::string_view file) {
  for (const TomlMember& member : root.members) {
    const auto kind = std::find(std::begin(kEntryKinds), std::end(kEntryKinds), member.key);
    if (kind == std::end(kEntryKinds)) {
      const std::vector<std::string_view> known(std::begin(kEntryKinds), std::end(kEntryKinds));
      return error_at(file, member.line, member.column,
                      fmt::format("unknown table {}{}", ridge::quoted(member.key), did_you_mean(member.key, known)));
    }
    if (member.value.kind != TomlNode::Kind::array) {
      return error_at(file, member.line, member.column,
                      fmt::format("an entry is written [[{0}]], with two brackets, not [{0}]", member.key));
    }
    for (const TomlNode& table : member.value.items) {
      if (table.kind != TomlNode::Kind::table) {
        return error_at(file, table.line, table.column,
                        fmt::format("'{}' has to hold tables, written [[{}]]", member.key, member.key));
      }
      if (Status status = add_entry(kinds_[*kind], *kind, table, file); !status) return status;
    }
  }
  return {};
}

Status EntrySet::add_entry(Kind& kind, std::string_view kind_name, const TomlNode& table, std::string_view file) {
  const TomlMember* id = table.find("id");
  if (id == nullptr) {
    return error_at(file, table.line, table.column, fmt::format("'id' is missing in [{}]", kind_name));
  }
  if (id->value.kind != TomlNode::Kind::text || !is_valid_id(id->value.text)) {
    return error_at(file, id->value.line, id->value.column,
                    "an id is a text of lower case letters, digits, '.' and '-', at most 100 of them");
  }
  const TomlMember* replace = table.find("replace");
  if (replace != nullptr && replace->value.kind != TomlNode::Kind::flag) {
    return error_at(file, replace->value.line, replace->value.column, "'replace' has to be true or false");
  }
  const bool replaces = replace != nullptr && replace->value.flag;

  const auto earlier = kind.find(std::string_view(id->value.text));
  const Entry* other = earlier == kind.end() ? nullptr : earlier->second;
  if (other != nullptr && !replaces) {
    return error_at(file, id->value.line, id->value.column,
                    fmt::format("duplicate id: the {} '{}' is already in {}; use another id, or add replace = true",
                                kind_name, id->value.text, place_text(other->file, other->table->line, 1)));
  }
  if (other == nullptr && replaces) {
    return error_at(file, replace->value.line, replace->value.column,
                    fmt::format("there is no {} '{}' to replace{}", kind_name, id->value.text,
                                did_you_mean(id->value.text, ids(kind_name))));
  }
  kind[id->value.text] = &entries_.emplace_back(Entry{id->value.text, &table, file, other});
  return {};
}

std::vector<const Entry*> EntrySet::entries(std::string_view kind) const {
  std::vector<const Entry*> result;
  if (const auto found = kinds_.find(kind); found != kinds_.end()) {
    for (const auto& [id, entry] : found->second) result.push_back(entry);
  }
  return result;
}

bool EntrySet::contains(std::string_view kind, std::string_view id) const {
  const auto found = kinds_.find(kind);
  return found != kinds_.end() && found->second.contains(id);
}

std::vector<std::string_view> EntrySet::ids(std::string_view kind) const {
  std::vector<std::string_view> result;
  if (const auto found = kinds_.find(kind); found != kinds_.end()) {
    for (const auto& [id, entry] : found->second) result.push_back(id);
  }
  return result;
}

Result<std::vector<EntryLayer>> EntrySet::layers(std::string_view kind, const Entry& entry) const {
  std::vector<EntryLayer> result;
  for (const Entry* at = &entry; at != nullptr;) {
    result.push_back({at->table, at->file});
    const TomlMember* based_on = at->table->find("based_on");
    if (based_on == nullptr) break;
    const TomlNode& node = based_on->value;
    if (node.kind != TomlNode::Kind::text) {
      return error_at(at->file, node.line, node.column, fmt::format("'based_on' has to be the id of a {}", kind));
    }
    // An entry based on its own id starts from the one that it replaces.
    const Entry* base = nullptr;
    if (node.text == at->id) {
      base = at->replaced;
    } else if (const auto found = kinds_.find(kind); found != kinds_.end()) {
      const auto place = found->second.find(std::string_view(node.text));
      base = place == found->second.end() ? nullptr : place->second;
    }
    if (base == nullptr) {
      return error_at(at->file, node.line, node.column,
                      fmt::format("there is no {} {} to start from{}", kind, ridge::quoted(node.text),
                                  did_you_mean(node.text, ids(kind))));
    }
    const bool seen =
        std::any_of(result.begin(), result.end(), [&](const EntryLayer& layer) { return layer.table == base->table; });
    if (seen) {
      return error_at(at->file, node.line, node.column,
                      fmt::format("'{}' is based on itself, through this '{}'", node.text, at->id));
    }
    at = base;
  }
  return result;
}

}  // namespace ridge
