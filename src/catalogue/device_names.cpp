#include "catalogue/device_names.hpp"

#include <algorithm>

#include "ridge/text.hpp"

namespace ridge {

namespace {

/// Lower case letters and digits only: "RTX-PRO-6000" and "RTXPro6000" are the same.
std::string bare(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) result.push_back(c);
    if (c >= 'A' && c <= 'Z') result.push_back(static_cast<char>(c - 'A' + 'a'));
  }
  return result;
}

}  // namespace

DeviceNames::DeviceNames(std::span<const Device> devices, std::span<const PriceAlias> aliases) : devices_(devices) {
  for (const Device& device : devices) {
    plain_.emplace(bare(device.id), device.id);
    plain_.emplace(bare(device.name), device.id);
  }
  for (const PriceAlias& alias : aliases) {
    for (const std::string& name : alias.names) aliases_[bare(name)].push_back(&alias);
  }
}

std::optional<DeviceNames::Meant> DeviceNames::find(std::string_view name, std::string_view provider,
                                                    std::string_view instance) const {
  const std::string wanted = bare(name);
  const std::string bare_provider = bare(provider);
  const std::string bare_instance = bare(instance);
  const PriceAlias* best = nullptr;
  int best_conditions = -1;
  if (const auto at = aliases_.find(wanted); at != aliases_.end()) {
    for (const PriceAlias* alias : at->second) {
      const bool provider_fits =
          alias->providers.empty() || std::any_of(alias->providers.begin(), alias->providers.end(),
                                                  [&](const std::string& p) { return bare(p) == bare_provider; });
      const bool instance_fits =
          alias->instances.empty() ||
          std::any_of(alias->instances.begin(), alias->instances.end(),
                      [&](const std::string& i) { return bare_instance.find(bare(i)) != std::string::npos; });
      if (!provider_fits || !instance_fits) continue;
      const int conditions = (alias->instances.empty() ? 0 : 2) + (alias->providers.empty() ? 0 : 1);
      if (conditions > best_conditions) {
        best = alias;
        best_conditions = conditions;
      }
    }
  }
  if (best != nullptr) return Meant{best->device, best->devices};
  if (const auto at = plain_.find(wanted); at != plain_.end()) return Meant{at->second, 1};
  return std::nullopt;
}

std::string DeviceNames::nearest_ids(std::string_view name) const {
  std::vector<std::string_view> ids;
  for (const Device& device : devices_) ids.push_back(device.id);
  return nearest(name, ids.data(), ids.size());
}

}  // namespace ridge
