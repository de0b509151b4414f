#include "ridge/catalogue/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "ridge/base/change.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

/// Overlays are called by their setting, as texts name it (ridge/base/change.hpp).
constexpr std::string_view kPrefix = "⟦set=";

std::string called(std::string_view setting) {
  return marked({{"set", std::string(setting)}});
}

/// What people call a figure, and where it stands.
struct ShortName {
  std::string_view kind;
  std::string_view name;
  std::string_view path;
};

constexpr ShortName kShortNames[] = {
    {"device", "hbm_bandwidth", "memory.bandwidth"},
    {"device", "memory_bandwidth", "memory.bandwidth"},
    {"device", "hbm_capacity", "memory.capacity"},
    {"device", "memory_capacity", "memory.capacity"},
    {"device", "l2", "memory.l2"},
    {"device", "tdp", "power.tdp"},
    {"device", "power", "power.tdp"},
    {"device", "cores", "cores.count"},
    {"device", "clock", "cores.boost_clock"},
    {"device", "bf16", "peak_dense.bf16"},
    {"device", "fp16", "peak_dense.fp16"},
    {"device", "fp8", "peak_dense.fp8"},
    {"device", "int8", "peak_dense.int8"},
    {"device", "fp4", "peak_dense.fp4"},
    {"device", "scale_up_bandwidth", "scale_up.per_direction"},
    {"device", "scale_up_domain", "scale_up.domain"},
    {"device", "scale_out_bandwidth", "host.nic_per_direction"},
    {"device", "node_size", "host.node_size"},
    {"model", "heads", "attention.heads"},
    {"model", "kv_heads", "attention.kv_heads"},
    {"model", "head_dim", "attention.head_dim"},
    {"model", "ffn", "ffn.width"},
    {"model", "experts", "moe.experts"},
    {"model", "top_k", "moe.top_k"},
    {"model", "window", "window.tokens"},
    {"system", "scale_up_domain", "scale_up.domain"},
    {"system", "nics_per_node", "scale_out.nics_per_node"},
};

/// Figures that stand in the entry itself, not in one of its tables.
constexpr ShortName kOwnKeys[] = {
    {"model", "layers", ""},     {"model", "hidden", ""},        {"model", "vocab", ""},
    {"model", "context", ""},    {"model", "mtp_layers", ""},    {"model", "tied_embeddings", ""},
    {"model", "pattern", ""},    {"model", "quantization", ""},  {"system", "nodes", ""},
    {"system", "scale_out", ""}, {"device", "architecture", ""}, {"system", "devices_per_node", ""},
};

constexpr std::string_view kKinds[] = {"device", "model", "system"};

/// As TOML: numbers and flags bare, everything else a text.
std::string toml_value(std::string_view value) {
  double number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = read.ec == std::errc() && read.ptr == value.data() + value.size();
  if (is_number || value == "true" || value == "false") return std::string(value);
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// A setting taken apart.
struct Changed {
  std::string_view kind;
  std::string path;  ///< in the entry: "memory.bandwidth"
  std::string value;
};

Error refused(std::string_view setting, std::string message) {
  return {ErrorCode::bad_input, called(setting), std::move(message)};
}

Result<Changed> parse_setting(std::string_view setting) {
  const std::size_t equals = setting.find('=');
  const std::string key(trimmed(setting.substr(0, equals)));
  if (equals == std::string_view::npos || key.empty()) {
    return refused(setting, "write what is to be changed and to what, for example ⟦set=device.hbm_bandwidth=8TB/s⟧");
  }
  Changed out;
  out.value = trimmed(setting.substr(equals + 1));
  if (out.value.empty()) return refused(setting, "the value is missing");
  const bool printable = std::all_of(out.value.begin(), out.value.end(),
                                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (!printable) return refused(setting, "the value has control characters in it");
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; };
  const std::size_t dot = key.find('.');
  const std::string_view kind = std::string_view(key).substr(0, dot);
  const auto* const known = std::find(std::begin(kKinds), std::end(kKinds), kind);
  const bool shaped = dot != std::string::npos && dot + 1 < key.size() && key.back() != '.' &&
                      key.find("..") == std::string::npos && std::all_of(key.begin(), key.end(), good);
  if (!shaped || known == std::end(kKinds)) {
    return refused(setting,
                   "a figure is named device.KEY, model.KEY or system.KEY, for example device.memory.bandwidth");
  }
  out.kind = *known;
  out.path = key.substr(dot + 1);
  if (out.path.find('.') != std::string::npos) return out;  // the loader knows the tables
  for (const ShortName& name : kShortNames) {
    if (name.kind == kind && name.name == out.path) {
      out.path = name.path;
      return out;
    }
  }
  for (const ShortName& name : kOwnKeys) {
    if (name.kind == kind && name.name == out.path) return out;
  }
  const std::vector<std::string> keys = what_if_keys();
  const std::vector<std::string_view> candidates(keys.begin(), keys.end());
  const std::string near = nearest(key, candidates.data(), candidates.size());
  return refused(setting, fmt::format("there is no figure {}{}", ridge::quoted(key),
                                      near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

/// The ids that a setting goes to, or why there are none.
Result<std::vector<std::string>> subjects_of(std::string_view text, const Changed& setting,
                                             const WhatIfSubjects& subjects) {
  const std::vector<std::string>& named = setting.kind == "device"  ? subjects.devices
                                          : setting.kind == "model" ? subjects.models
                                                                    : subjects.systems;
  if (named.empty()) {
    return refused(text, fmt::format("there is no {0} to change here: name one by --{0}", setting.kind));
  }
  std::vector<std::string> ids;
  for (const std::string& name : named) {
    if (setting.kind == "model" && name.find_first_of(":/") != std::string::npos) {
      return refused(
          text, fmt::format("{} is no model of the catalogue: change it where it is written", ridge::quoted(name)));
    }
    std::string id = name.substr(0, name.find('/'));  // a partition is a share of its device
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
  }
  return ids;
}

}  // namespace

Result<std::vector<OverlayText>> what_if(std::span<const std::string> settings, const WhatIfSubjects& subjects) {
  std::vector<OverlayText> overlays;
  for (const std::string& text : settings) {
    const Result<Changed> setting = parse_setting(text);
    if (!setting) return setting.error();
    const Result<std::vector<std::string>> ids = subjects_of(text, *setting, subjects);
    if (!ids) return ids.error();
    for (const std::string& id : *ids) {
      overlays.push_back(
          {called(text),
           fmt::format("[[{}]]\nid = {}\nbased_on = {}\nreplace = true\nsource = \"{}\"\n{} = {}\n", setting->kind,
                       toml_value(id), toml_value(id), kOutsideSource, setting->path, toml_value(setting->value))});
    }
  }
  return overlays;
}

Error what_if_error(Error error) {
  if (!error.where.starts_with(kPrefix)) return error;
  for (int i = 0; i < 2; ++i) {  // line and column
    const std::size_t colon = error.where.rfind(':');
    const bool digits = colon != std::string::npos && colon + 1 < error.where.size() &&
                        error.where.find_first_not_of("0123456789", colon + 1) == std::string::npos;
    if (digits) error.where.resize(colon);
  }
  return error;
}

std::vector<std::string> what_if_keys() {
  std::vector<std::string> keys;
  for (const ShortName& name : kShortNames) keys.push_back(fmt::format("{}.{}", name.kind, name.name));
  for (const ShortName& name : kOwnKeys) keys.push_back(fmt::format("{}.{}", name.kind, name.name));
  for (const ShortName& name : kShortNames) {
    std::string path = fmt::format("{}.{}", name.kind, name.path);
    if (std::find(keys.begin(), keys.end(), path) == keys.end()) keys.push_back(std::move(path));
  }
  return keys;
}

}  // namespace ridge
