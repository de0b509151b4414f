#include "ridge/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "ridge/file.hpp"
#include "ridge/text.hpp"

namespace ridge {

namespace {

constexpr std::size_t kModelFileLimit = 16'000'000;

/// Entries are sorted by id.
template <class T>
const T* by_id(const std::vector<T>& entries, std::string_view id) {
  const auto at = std::lower_bound(entries.begin(), entries.end(), id,
                                   [](const T& entry, std::string_view wanted) { return entry.id < wanted; });
  return at != entries.end() && at->id == id ? &*at : nullptr;
}

template <class T>
std::string did_you_mean(std::string_view word, const std::vector<T>& entries) {
  std::vector<std::string_view> names;
  for (const T& entry : entries) names.push_back(entry.id);
  const std::string near = nearest(word, names.data(), names.size());
  return near.empty() ? "" : fmt::format(" (did you mean {}?)", near);
}

/// The name of a repository as ids are written: "Llama-3.3-70B-Instruct" → "llama3.3-70b".
std::string short_name(std::string name) {
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const std::string_view ending : {"-instruct", "-chat", "-it", "-hf", "-base", "-fp8"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  if (name.starts_with("meta-")) name.erase(0, 5);
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {  // of "llama-3.3", not of "3.3-70b"
    const bool between =
        name[i] == '-' && name[i - 1] >= 'a' && name[i - 1] <= 'z' && name[i + 1] >= '0' && name[i + 1] <= '9';
    if (between) name.erase(i, 1);
  }
  return name;
}

template <class Q>
void scale(Figure<Q>& figure, double share) {
  if (figure) figure->value *= share;
}

/// What one partition sees of its device. Instances of a partitioned device reach each other only through the host.
Device share_of(const Device& whole, const Partition& partition) {
  Device part = whole;
  part.id = fmt::format("{}/{}", whole.id, partition.name);
  part.name = fmt::format("{}, partition {}", whole.name, partition.name);
  part.partitions.clear();
  for (Figure<FlopsPerSecond>& peak : part.peak_dense) scale(peak, partition.compute_share);
  if (part.cores) {
    part.cores->value = std::max(1, static_cast<int>(std::lround(part.cores->value * partition.compute_share)));
  }
  scale(part.tdp, partition.compute_share);
  scale(part.memory_bandwidth, partition.bandwidth_share);
  scale(part.l2, partition.bandwidth_share);
  part.memory_capacity = Sourced<Bytes>{partition.memory, partition.source};
  part.memory_usable.reset();
  part.scale_up_name.clear();
  part.scale_up_topology = ScaleUpTopology::none;
  part.scale_up_per_direction.reset();
  part.scale_up_peer_per_direction.reset();
  part.scale_up_domain.reset();
  return part;
}

}  // namespace

std::string_view name(PeakFormat format) {
  constexpr std::string_view kNames[kPeakFormats] = {"fp64", "fp64_tensor", "fp32", "tf32", "bf16",
                                                     "fp16", "fp8",         "int8", "fp4"};
  return kNames[static_cast<std::size_t>(format)];
}

const Architecture* Catalogue::architecture(std::string_view id) const {
  return by_id(architectures_, id);
}
const Device* Catalogue::device(std::string_view id) const {
  return by_id(devices_, id);
}
const Fabric* Catalogue::fabric(std::string_view id) const {
  return by_id(fabrics_, id);
}
const System* Catalogue::system(std::string_view id) const {
  return by_id(systems_, id);
}
const Model* Catalogue::model(std::string_view id) const {
  return by_id(models_, id);
}

Result<Device> Catalogue::find_device(std::string_view id) const {
  const std::size_t slash = id.find('/');
  const std::string_view device_id = id.substr(0, slash);
  const Device* whole = device(device_id);
  if (whole == nullptr) {
    return Error{ErrorCode::not_found, "",
                 fmt::format("there is no device {}{}", ridge::quoted(device_id), did_you_mean(device_id, devices_))};
  }
  if (slash == std::string_view::npos) return *whole;

  const std::string_view wanted = id.substr(slash + 1);
  const auto partition = std::find_if(whole->partitions.begin(), whole->partitions.end(),
                                      [&](const Partition& p) { return p.name == wanted; });
  if (partition != whole->partitions.end()) return share_of(*whole, *partition);
  if (whole->partitions.empty()) {
    return Error{ErrorCode::not_found, "", fmt::format("'{}' has no partitions: write '{}'", device_id, device_id)};
  }
  std::vector<std::string_view> names;
  for (const Partition& known : whole->partitions) names.push_back(known.name);
  return Error{
      ErrorCode::not_found, "",
      fmt::format("'{}' has no partition {}; there are {}", device_id, ridge::quoted(wanted), fmt::join(names, ", "))};
}

Result<Model> Catalogue::find_model(std::string_view id_path_or_spec) const {
  if (const Model* known = model(id_path_or_spec)) return *known;
  const std::string_view kind = id_path_or_spec.substr(0, id_path_or_spec.find(':'));
  if (kind == "dense" || kind == "moe") return parse_model_spec(id_path_or_spec);

  std::filesystem::path path(id_path_or_spec);
  std::error_code absent;
  if (std::filesystem::is_directory(path, absent)) path /= "config.json";
  const bool looks_like_path =
      id_path_or_spec.find('/') != std::string_view::npos || path.extension() == std::filesystem::path(".json");
  if (looks_like_path || std::filesystem::is_regular_file(path, absent)) {
    if (path.extension() != ".json" && !std::filesystem::exists(path, absent)) {
      return Error{
          ErrorCode::not_found, "",
          fmt::format("there is no file {}, and nothing is fetched: use an id of the catalogue{}, or the path of "
                      "the model's config.json",
                      ridge::quoted(id_path_or_spec), did_you_mean(short_name(path.filename().string()), models_))};
    }
    const Result<std::string> text = read_file(path.string(), kModelFileLimit);
    if (!text) return text.error();
    return parse_hf_config(*text, path.string());
  }
  return Error{ErrorCode::not_found, "",
               fmt::format("there is no model {}{}; a path to a config.json or a spec \"dense:layers=...\" works too",
                           ridge::quoted(id_path_or_spec), did_you_mean(id_path_or_spec, models_))};
}

}  // namespace ridge
