#include "catalogue/tables/device_names.hpp"

#include <algorithm>
#include <charconv>

#include "ridge/base/text.hpp"

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

/// 0 if it is none.
int whole_number(std::string_view text) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() ? value : 0;
}

/// Of the aliases under `key`, the one with the most conditions, all of which hold; an instance counts for more than a
/// provider.
template <class Aliases>
const PriceAlias* most_specific(const Aliases& aliases, const std::string& key, const std::string& provider,
                                const std::string& instance) {
  const auto at = aliases.find(key);
  if (at == aliases.end()) return nullptr;
  const PriceAlias* best = nullptr;
  int best_conditions = -1;
  for (const PriceAlias* alias : at->second) {
    const auto& providers = alias->providers;
    const auto& instances = alias->instances;
    const bool provider_fits = providers.empty() || std::any_of(providers.begin(), providers.end(),
                                                                [&](const auto& p) { return bare(p) == provider; });
    const bool instance_fits = instances.empty() || std::any_of(instances.begin(), instances.end(), [&](const auto& i) {
                                 return instance.find(bare(i)) != std::string::npos;
                               });
    const int conditions = (instances.empty() ? 0 : 2) + (providers.empty() ? 0 : 1);
    if (!provider_fits || !instance_fits || conditions <= best_conditions) continue;
    best = alias;
    best_conditions = conditions;
  }
  return best;
}

}  // namespace

DeviceNames::DeviceNames(std::span<const Device> devices, std::span<const PriceAlias> aliases) : devices_(devices) {
  for (const Device& device : devices) {
    plain_.emplace(bare(device.id), device.id);
    plain_.emplace(bare(device.name), device.id);
  }
  for (const PriceAlias& alias : aliases) {
    for (const std::string& name : alias.names) {
      (!name.empty() && name.back() == '*' ? numbered_ : exact_)[bare(name)].push_back(&alias);
    }
  }
}

std::optional<DeviceNames::Meant> DeviceNames::find(std::string_view name, std::string_view provider,
                                                    std::string_view instance) const {
  const std::string bare_provider = bare(provider);
  const std::string bare_instance = bare(instance);
  if (const PriceAlias* alias = most_specific(exact_, bare(name), bare_provider, bare_instance)) {
    return Meant{alias->device, 1};
  }
  const std::size_t dash = name.rfind('-');
  if (dash != std::string_view::npos) {
    const PriceAlias* alias = most_specific(numbered_, bare(name.substr(0, dash)), bare_provider, bare_instance);
    const int number = whole_number(name.substr(dash + 1));
    if (alias != nullptr && number > 0 && number % alias->number_per_device == 0) {
      return Meant{alias->device, number / alias->number_per_device};
    }
  }
  if (const auto at = plain_.find(bare(name)); at != plain_.end()) return Meant{at->second, 1};
  return std::nullopt;
}

std::string DeviceNames::nearest_ids(std::string_view name) const {
  std::vector<std::string_view> ids;
  for (const Device& device : devices_) ids.push_back(device.id);
  return nearest(name, ids.data(), ids.size());
}

}  // namespace ridge
