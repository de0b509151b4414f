#include "ridge/catalogue/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/names.hpp"

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
  const Result<const Device*> named = device_named(*this, device_id);
  if (!named && (device_id.empty() || device_id.find('.') == 0)) {  // a path, and no file that is there
    return Error{ErrorCode::not_found, "", "there is no device, and no file, " + ridge::quoted(id)};
  }
  if (!named) return named.error();
  const Device* whole = *named;
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
  const bool is_path = path.extension() == ".json" || std::filesystem::exists(path, absent);
  if (is_path) {
    const Result<std::string> text = read_file(path.string(), kModelFileLimit);
    if (!text) return text.error();
    return parse_hf_config(*text, path.string());
  }
  const Result<const Model*> named = model_named(*this, id_path_or_spec);
  if (!named) return named.error();
  return **named;
}

}  // namespace ridge
