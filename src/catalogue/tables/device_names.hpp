// Finds the device a price list means.
//
//   DeviceNames names(devices, aliases);
//   const auto meant = names.find("A100-80GB", "azure", "Standard_NC24ads_A100_v4");
//   meant->device                            // "a100-pcie-80"
//
// A name fits if it is an alias, or the id or name of a device; case and punctuation do not matter. Built once and read
// by any number of threads; the devices and aliases must outlive it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "catalogue/tables/tables.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

class DeviceNames {
 public:
  DeviceNames(std::span<const Device> devices, std::span<const PriceAlias> aliases);

  struct Meant {
    std::string_view device;
    int devices = 1;  ///< that one counted accelerator stands for
  };
  /// Nothing if the name is unknown; `instance` may be empty.
  [[nodiscard]] std::optional<Meant> find(std::string_view name, std::string_view provider,
                                          std::string_view instance) const;
  /// Ids of devices near to `name`, for messages; may be empty.
  [[nodiscard]] std::string nearest_ids(std::string_view name) const;

 private:
  std::span<const Device> devices_;
  std::unordered_map<std::string, std::string_view> plain_;  // ids and names
  using Aliases = std::unordered_map<std::string, std::vector<const PriceAlias*>>;

  Aliases exact_;
  Aliases numbered_;  // "tpu-v4-*" under "tpuv4"
};

}  // namespace ridge
