#include "ridge/facility/engine_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

constexpr std::size_t kLongestFlagFile = 4'000'000;

/// "0.27.1" before "0.5.18", "b10586" after "b9": numbers compare as numbers.
bool older(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const auto digits = [](std::string_view text) {
      std::size_t n = 0;
      while (n < text.size() && text[n] >= '0' && text[n] <= '9') ++n;
      return n;
    };
    const std::size_t x = digits(a), y = digits(b);
    if (x > 0 && y > 0) {
      long long left = 0, right = 0;
      std::from_chars(a.data(), a.data() + x, left);
      std::from_chars(b.data(), b.data() + y, right);
      if (left != right) return left < right;
      a.remove_prefix(x);
      b.remove_prefix(y);
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  // vLLM and SGLang read 8K and 1M.
  if (text.size() > 1 && std::string_view("kKmMgG").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' && value == value;
}

Error malformed(std::string_view file, const TomlNode& at, std::string message) {
  return {ErrorCode::bad_input, place_text(file, at.line, at.column), std::move(message)};
}

std::string text_of(const TomlNode& table, std::string_view key) {
  const TomlMember* member = table.find(key);
  return member != nullptr && member->value.kind == TomlNode::Kind::text ? member->value.text : std::string();
}

bool is_set(const TomlNode& table, std::string_view key) {
  const TomlMember* member = table.find(key);
  return member != nullptr && member->value.kind == TomlNode::Kind::flag && member->value.flag;
}

std::optional<FlagType> type_of(std::string_view text) {
  constexpr std::pair<std::string_view, FlagType> kTypes[] = {{"switch", FlagType::toggle}, {"int", FlagType::whole},
                                                              {"float", FlagType::number},  {"text", FlagType::text},
                                                              {"json", FlagType::json},     {"list", FlagType::list}};
  for (const auto& [word, type] : kTypes) {
    if (word == text) return type;
  }
  return std::nullopt;
}

}  // namespace

const EngineFlag* EngineRelease::find(std::string_view flag) const {
  if (const auto at = flags.find(flag); at != flags.end()) return &at->second;
  if (flag.starts_with("--no-")) {
    const auto at = flags.find("--" + std::string(flag.substr(5)));
    if (at != flags.end() && at->second.negated) return &at->second;
  }
  // --speculative-config.method of vLLM: a key of a value in JSON.
  if (const std::size_t dot = flag.find('.'); engine == "vllm" && dot != std::string_view::npos) {
    const auto at = flags.find(flag.substr(0, dot));
    if (at != flags.end() && at->second.type == FlagType::json) return &at->second;
  }
  if (engine == "vllm" && flag.find('_') != std::string_view::npos) {
    std::string dashes(flag);
    std::replace(dashes.begin(), dashes.end(), '_', '-');
    if (const auto at = flags.find(dashes); at != flags.end()) return &at->second;
  }
  return nullptr;
}

std::string EngineRelease::problem(std::string_view flag, const std::optional<std::string>& value) const {
  const EngineFlag* known = find(flag);
  if (known == nullptr) {
    std::vector<std::string_view> names;
    names.reserve(flags.size());
    for (const auto& [name, one] : flags) names.push_back(name);
    const std::string near = nearest(flag, names.data(), names.size());
    return fmt::format("{} {} has no {}{}", engine, version, flag, near.empty() ? "" : "; did you mean " + near + "?");
  }
  if (known->type == FlagType::toggle) {
    return value ? fmt::format("{} takes no value, but {} follows", flag, ridge::quoted(*value)) : std::string();
  }
  if (!value) return fmt::format("the value of {} is missing", flag);
  if (*value == "null" && !flag.starts_with("--")) return {};  // a key that is taken back
  if (!known->choices.empty()) {
    if (std::find(known->choices.begin(), known->choices.end(), *value) != known->choices.end()) return {};
    std::string all;
    for (std::size_t i = 0; i < known->choices.size() && i < 12; ++i) all += (i == 0 ? "" : ", ") + known->choices[i];
    if (known->choices.size() > 12) all += ", ...";
    return fmt::format("{} takes {}, not {}", flag, all, ridge::quoted(*value));
  }
  if (value->find('$') != std::string::npos) return {};  // known when the script runs
  if (known->type == FlagType::whole && !is_whole(*value) && !is_number(*value)) {
    return fmt::format("{} takes a whole number, not {}", flag, ridge::quoted(*value));
  }
  if (known->type == FlagType::number && !is_number(*value)) {
    return fmt::format("{} takes a number, not {}", flag, ridge::quoted(*value));
  }
  return {};
}

Result<EngineRelease> parse_engine_release(std::string_view text, std::string_view file) {
  const Result<TomlNode> root = parse_toml(text, file);
  if (!root) return root.error();
  EngineRelease out;
  const TomlMember* release = root->find("release");
  if (release == nullptr) return malformed(file, *root, "the table [release] is missing");
  out.engine = text_of(release->value, "engine");
  out.version = text_of(release->value, "version");
  out.source = text_of(release->value, "source");
  if (out.engine.empty() || out.version.empty() || out.source.empty()) {
    return malformed(file, release->value, "a release has an engine, a version and a source");
  }
  const TomlMember* from = root->find("from");
  if (from == nullptr || from->value.kind != TomlNode::Kind::array) {
    return malformed(file, *root, "the tables [[from]] are missing");
  }
  for (const TomlNode& part : from->value.items) {
    const TomlMember* flags = part.find("flags");
    if (flags == nullptr || flags->value.kind != TomlNode::Kind::array)
      return malformed(file, part, "flags is missing");
    for (const TomlNode& item : flags->value.items) {
      EngineFlag flag;
      const std::string name = text_of(item, "name");
      const std::optional<FlagType> type = type_of(text_of(item, "type"));
      if (name.empty() || !type) return malformed(file, item, "a flag has a name and a type");
      flag.type = *type;
      flag.usual = text_of(item, "default");
      flag.negated = is_set(item, "no");
      flag.deprecated = is_set(item, "deprecated");
      flag.file = text_of(part, "file");
      if (const TomlMember* choices = item.find("choices")) {
        for (const TomlNode& choice : choices->value.items) flag.choices.push_back(choice.text);
      }
      out.flags.emplace(name, std::move(flag));
    }
  }
  return out;
}

Result<EngineReleases> EngineReleases::open(const std::string& directory) {
  EngineReleases out;
  out.directory_ = directory;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failure)) {
    if (entry.path().extension() != ".toml") continue;
    const std::string stem = entry.path().stem().string();
    const std::size_t dash = stem.find('-');
    if (dash != std::string::npos) out.all_.emplace_back(stem.substr(0, dash), stem.substr(dash + 1));
  }
  if (failure) return Error{ErrorCode::bad_input, directory, "cannot be read: " + failure.message()};
  std::sort(out.all_.begin(), out.all_.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : older(b.second, a.second);
  });
  return out;
}

std::vector<std::string> EngineReleases::versions(std::string_view engine) const {
  std::vector<std::string> out;
  for (const auto& [name, version] : all_) {
    if (name == engine) out.push_back(version);
  }
  return out;
}

Result<EngineRelease> EngineReleases::load(std::string_view engine, std::string_view version) const {
  if (version.starts_with('v')) version.remove_prefix(1);
  const std::vector<std::string> known = versions(engine);
  if (known.empty()) return Error{ErrorCode::not_found, "", fmt::format("no release of {} is known", engine)};
  const auto at = std::find_if(known.begin(), known.end(), [&](const std::string& v) {
    return version.empty() || v == version || (v.starts_with(version) && v[version.size()] == '.');
  });
  if (at == known.end()) {
    // The oldest that is no older than what was asked for, else the newest there is.
    std::string near = known.front();
    for (const std::string& v : known) {
      if (!older(v, version)) near = v;
    }
    std::string all;
    for (const std::string& v : known) all += (all.empty() ? "" : ", ") + v;
    return Error{ErrorCode::not_found, "⟦engine_version⟧",
                 fmt::format("the flags of {} {} are not known; the nearest release is {} (there {}: {})", engine,
                             version, near, known.size() == 1 ? "is" : "are", all)};
  }
  const std::string path = fmt::format("{}/{}-{}.toml", directory_, engine, *at);
  const Result<std::string> text = read_file(path, kLongestFlagFile);
  if (!text) return text.error();
  return parse_engine_release(*text, path);
}

}  // namespace ridge
