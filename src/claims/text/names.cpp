#include "claims/text/names.hpp"

#include <algorithm>
#include <array>

#include "catalogue/files/toml_document.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string bare(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (is_alphanumeric(c)) result += lower(c);
  }
  return result;
}

struct Key {
  std::string_view key;
  NameKind kind;
};
constexpr std::array kKeys = {Key{"device", NameKind::device}, Key{"system", NameKind::system},
                              Key{"model", NameKind::model}, Key{"fabric", NameKind::fabric},
                              Key{"format", NameKind::format}};

bool exists(const Catalogue& catalogue, NameKind kind, std::string_view id) {
  switch (kind) {
    case NameKind::device:
      return catalogue.device(id) != nullptr;
    case NameKind::system:
      return catalogue.system(id) != nullptr;
    case NameKind::model:
      return catalogue.model(id) != nullptr;
    case NameKind::fabric:
      return catalogue.fabric(id) != nullptr;
    case NameKind::format:
      return true;
  }
  return false;
}

Status texts(const TomlMember* member, std::string_view file, std::vector<std::string>& into) {
  if (member == nullptr) return {};
  const bool fine = member->value.kind == TomlNode::Kind::array &&
                    std::all_of(member->value.items.begin(), member->value.items.end(),
                                [](const TomlNode& n) { return n.kind == TomlNode::Kind::text; });
  if (!fine) {
    return Error{ErrorCode::bad_input, place_text(file, member->line, member->column),
                 "'" + member->key + "' is a list of texts"};
  }
  for (const TomlNode& item : member->value.items) into.push_back(item.text);
  return {};
}

}  // namespace

void Names::add(const std::string& spelling, std::size_t index) {
  const std::string key = bare(spelling);
  if (key.size() < 2) return;
  longest_ = std::max(longest_, key.size());
  spellings_[key] = index;
}

Result<Names> Names::load(const Catalogue& catalogue, std::string_view toml, std::string_view file) {
  Names result;
  const auto own = [&](NameKind kind, const std::string& id, const std::string& title) {
    result.names_.push_back({kind, id, {}, {}});
    result.ids_.emplace(id, result.names_.size() - 1);
    result.add(id, result.names_.size() - 1);
    if (!title.empty()) result.add(title, result.names_.size() - 1);
  };
  for (const Device& d : catalogue.devices()) own(NameKind::device, d.id, d.name);
  for (const Model& m : catalogue.models()) own(NameKind::model, m.id, m.name);
  for (const Fabric& f : catalogue.fabrics()) own(NameKind::fabric, f.id, f.name);
  for (const System& s : catalogue.systems()) own(NameKind::system, s.id, s.name);

  const auto root = parse_toml(toml, file);
  if (!root) return root.error();
  const TomlMember* list = root->find("name");
  if (list == nullptr || list->value.kind != TomlNode::Kind::array) {
    return Error{ErrorCode::bad_input, std::string(file), "there is no [[name]]"};
  }
  for (const TomlNode& entry : list->value.items) {
    const auto wrong = [&](std::string message) {
      return Error{ErrorCode::bad_input, place_text(file, entry.line, entry.column), std::move(message)};
    };
    Name name;
    for (const TomlMember& member : entry.members) {
      const auto* key = std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& k) { return k.key == member.key; });
      if (key != kKeys.end()) {
        if (!name.id.empty()) return wrong("one [[name]] means one thing");
        name.kind = key->kind;
        name.id = member.value.text;
        if (!exists(catalogue, name.kind, name.id)) {
          return wrong("there is no " + member.key + " " + quoted(name.id) + " in the catalogue");
        }
      } else if (member.key == "previous") {
        name.previous = member.value.text;
        if (catalogue.device(name.previous) == nullptr) return wrong("there is no device " + quoted(name.previous));
      } else if (member.key != "names" && member.key != "also") {
        return wrong("'" + member.key +
                     "' is no key of a name: use names, also, previous and one of device, system, "
                     "model, fabric, format");
      }
    }
    if (name.id.empty()) return wrong("say what it means: device, system, model, fabric or format");
    std::vector<std::string> spellings;
    if (const Status s = texts(entry.find("names"), file, spellings); !s) return s.error();
    if (const Status s = texts(entry.find("also"), file, name.also); !s) return s.error();
    if (spellings.empty()) return wrong("names is missing");
    const auto at = result.ids_.find(name.id);
    std::size_t index = result.names_.size();
    if (at == result.ids_.end()) {
      result.names_.push_back(name);
      result.ids_.emplace(name.id, index);
    } else if (Name& there = result.names_[at->second]; there.also.empty() && there.previous.empty()) {
      index = at->second;
      there.also = name.also;
      there.previous = name.previous;
    } else {
      result.names_.push_back(name);
    }
    for (const std::string& spelling : spellings) result.add(spelling, index);
  }
  return result;
}

std::optional<Names::Hit> Names::match(std::string_view text, std::size_t at) const {
  std::string key;
  std::optional<Hit> best;
  std::size_t i = at;
  while (i < text.size() && key.size() <= longest_) {
    while (i < text.size() && is_alphanumeric(text[i])) key += lower(text[i++]);
    const auto found = [&](const std::string& k, std::size_t end) {
      const auto hit = spellings_.find(k);
      if (hit != spellings_.end()) best = Hit{&names_[hit->second], end};
      return hit != spellings_.end();
    };
    if (!found(key, i) && key.size() > 2 && key.back() == 's' && lower(text[i - 1]) == 's') {
      found(key.substr(0, key.size() - 1), i);
    }
    // One separator between the words of a name; a decimal point only between digits ("Llama 3.1").
    if (i + 1 >= text.size()) break;
    const bool point = text[i] == '.' && i > at && text[i - 1] >= '0' && text[i - 1] <= '9';
    if (text[i] != ' ' && text[i] != '-' && text[i] != '_' && !point) break;
    if (key == "a" && text[i] == ' ') break;  // "a 100 Gb/s link" is no A100
    if (!is_alphanumeric(text[i + 1])) break;
    ++i;
  }
  return best;
}

const Name* Names::find(std::string_view text) const {
  const auto at = spellings_.find(bare(text));
  return at == spellings_.end() ? nullptr : &names_[at->second];
}

const Name* Names::of_id(std::string_view id) const {
  const auto at = ids_.find(std::string(id));
  return at == ids_.end() ? nullptr : &names_[at->second];
}

}  // namespace ridge::claims
