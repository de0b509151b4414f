// Claim files: TOML ([[claim]]) and CSV, the same records.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalogue/files/toml_document.hpp"
#include "claims/known/kind.hpp"
#include "claims/state.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

using claims::find_kind;
using claims::Kind;

namespace {

struct Field {
  std::string key;
  std::string value;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

bool declares(const Kind& kind, std::string_view input) {
  std::string_view rest = kind.inputs;
  while (!rest.empty()) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, space);
    if (word.ends_with('?')) word.remove_suffix(1);
    if (word == input) return true;
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return false;
}

std::string missing_input(const Kind& kind, const Claim& claim) {
  std::string_view rest = kind.inputs;
  while (!rest.empty()) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, space);
    if (!word.ends_with('?') && !claim.inputs.contains(std::string(word))) return std::string(word);
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return "";
}

Error wrong(std::string_view file, const Field& field, std::string message) {
  return {ErrorCode::bad_input, place_text(file, field.line, field.column), std::move(message)};
}

Result<Claim> make_claim(const std::vector<Field>& fields, std::string_view file, const Field& start) {
  Claim claim;
  claim.document = std::string(file);
  claim.line = start.line;
  claim.column = start.column;
  const auto kind_at = std::find_if(fields.begin(), fields.end(), [](const Field& f) { return f.key == "kind"; });
  if (kind_at == fields.end())
    return wrong(file, start, "the kind of claim is missing, such as kind = \"cost-per-token\"");
  const Kind* kind = find_kind(kind_at->value);
  if (kind == nullptr) {
    std::vector<std::string_view> names;
    for (const Kind* k : claims::kinds()) names.push_back(k->name);
    const std::string near = nearest(kind_at->value, names.data(), names.size());
    return wrong(file, *kind_at,
                 "there is no kind of claim " + quoted(kind_at->value) +
                     (near.empty() ? "; `ridge check --kinds` lists them" : "; did you mean " + near + "?"));
  }
  claim.kind = std::string(kind->name);
  for (const Field& field : fields) {
    if (field.key == "kind") continue;
    if (field.key == "id") {
      claim.id = field.value;
    } else if (field.key == "says") {
      claim.says = field.value;
    } else if (field.key == "document") {
      claim.document = field.value;
    } else if (field.key == "claimed") {
      if (field.value == "yes" || field.value == "no") {
        claim.claimed.text = field.value;
        claim.claimed.value = claim.claimed.high = field.value == "yes" ? 1 : 0;
        continue;
      }
      auto measure = claims::parse_claimed(field.value);
      if (!measure) return wrong(file, field, measure.error().message);
      claim.claimed = std::move(*measure);
    } else if (declares(*kind, field.key)) {
      claim.inputs[field.key] = {field.value, std::nullopt, field.line, field.column};
    } else {
      return wrong(file, field,
                   fmt::format("'{}' is no input of {}: it takes {}", field.key, kind->name, kind->inputs));
    }
  }
  if (kind->claimed && claim.claimed.text.empty())
    return wrong(file, start, "'claimed' is missing: the figure to check");
  if (const std::string missing = missing_input(*kind, claim); !missing.empty()) {
    return wrong(file, start, fmt::format("'{}' is missing: {} takes {}", missing, kind->name, kind->inputs));
  }
  return claim;
}

Status no_id_twice(const std::vector<Claim>& claims, std::string_view file) {
  std::set<std::string_view> seen;
  for (const Claim& claim : claims) {
    if (!claim.id.empty() && !seen.insert(claim.id).second) {
      return Error{ErrorCode::bad_input, place_text(file, claim.line, claim.column),
                   "the id " + quoted(claim.id) + " is given twice"};
    }
  }
  return {};
}

/// A value as the text it would have in CSV; lists are joined by " | ".
Result<std::string> text_of(const TomlNode& node, std::string_view file) {
  switch (node.kind) {
    case TomlNode::Kind::text:
      return node.text;
    case TomlNode::Kind::integer:
      return std::to_string(node.integer);
    case TomlNode::Kind::number:
      return format_number(node.number, 17);
    case TomlNode::Kind::flag:
      return std::string(node.flag ? "yes" : "no");
    case TomlNode::Kind::array: {
      std::string all;
      for (const TomlNode& item : node.items) {
        const auto one = text_of(item, file);
        if (!one) return one;
        all += (all.empty() ? "" : " | ") + *one;
      }
      return all;
    }
    default:
      break;
  }
  return Error{ErrorCode::bad_input, place_text(file, node.line, node.column),
               "a claim holds texts, numbers and lists, not " + std::string(name(node.kind))};
}

}  // namespace

Result<std::vector<Claim>> Checker::read_toml(std::string_view text, std::string_view name) const {
  const auto root = parse_toml(text, name);
  if (!root) return root.error();
  for (const TomlMember& member : root->members) {
    if (member.key != "claim" || member.value.kind != TomlNode::Kind::array) {
      return Error{ErrorCode::bad_input, place_text(name, member.line, member.column),
                   "a claim file holds [[claim]] only, not " + quoted(member.key)};
    }
  }
  std::vector<Claim> claims;
  const TomlMember* list = root->find("claim");
  if (list == nullptr) return Error{ErrorCode::bad_input, std::string(name), "there is no [[claim]]"};
  for (const TomlNode& entry : list->value.items) {
    std::vector<Field> fields;
    for (const TomlMember& member : entry.members) {
      auto value = text_of(member.value, name);
      if (!value) return value.error();
      fields.push_back({member.key, std::move(*value), member.line, member.column});
    }
    auto claim = make_claim(fields, name, {"", "", entry.line, entry.column});
    if (!claim) return claim.error();
    claims.push_back(std::move(*claim));
  }
  if (const Status unique = no_id_twice(claims, name); !unique) return unique.error();
  return claims;
}

Result<std::vector<Claim>> Checker::read_csv(std::string text, std::string_view name) const {
  const auto table = CsvTable::parse(std::move(text), name);
  if (!table) return table.error();
  if (const auto kind = table->required_column("kind"); !kind) return kind.error();
  std::vector<Claim> claims;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    std::vector<Field> fields;
    for (std::size_t column = 0; column < table->columns(); ++column) {
      if (table->cell(row, column).empty()) continue;
      fields.push_back({std::string(table->header(column)), std::string(table->cell(row, column)),
                        table->line(row, column), table->character(row, column)});
    }
    auto claim = make_claim(fields, name, {"", "", table->line(row, 0), 1});
    if (!claim) return claim.error();
    claims.push_back(std::move(*claim));
  }
  if (const Status unique = no_id_twice(claims, name); !unique) return unique.error();
  return claims;
}

}  // namespace ridge
