// One function per kind of table; each stands in its own file and says only which keys there are.
//
//   EntryReader entry("device", layers, sources);
//   Device device = read_device(entry.root(), architectures);
//   if (Status status = entry.finish(); !status) return status.error();
//
// Errors stay in the EntryReader (table_reader.hpp); a result read with errors is not used.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue/files/table_reader.hpp"
#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

constexpr BytesPerSecond gigabytes_per_second(double value) {
  return gigabytes(value) / seconds(1);
}

Source read_source(TableReader t);
Architecture read_architecture(TableReader t);
/// `architectures` tell a dense peak from a sparse one.
Device read_device(TableReader t, std::span<const Architecture> architectures);
Fabric read_fabric(TableReader t);
System read_system(TableReader t);
/// Sets also Model::source, file and line.
Model read_model(TableReader t);
Price read_price(TableReader t);

/// What price lists call a device. Of the aliases that fit a row, the one with the most conditions counts.
struct PriceAlias {
  std::string id;
  std::string device;
  /// As in AcceleratorName; case and punctuation do not matter. "tpu-v4-*" stands for any number in place of the star.
  std::vector<std::string> names;
  std::vector<std::string> providers;  ///< only in lists of these; empty: in all
  std::vector<std::string> instances;  ///< only where the instance type contains one of these; empty: in all
  int number_per_device = 1;           ///< what the number stands for: 2 if it counts cores, of which a chip has two
};
PriceAlias read_alias(TableReader t);

struct PriceList {
  std::vector<Price> prices;
  std::vector<std::string> remarks;  ///< rows left out and why
};

/// Prices of a user's CSV file, in our columns or SkyPilot's; `file` serves messages and to name SkyPilot's provider,
/// `source` is what every price in it refers to. Refuses, with file:line:column, what cannot be read; a row that is for
/// sale nowhere (SkyPilot: price empty, 0 or NaN) is left out and remarked upon.
Result<PriceList> read_price_list(std::string csv, const std::string& file, SourceId source,
                                  std::span<const Device> devices, std::span<const PriceAlias> aliases);

}  // namespace ridge
