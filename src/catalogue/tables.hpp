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

#include "catalogue/table_reader.hpp"
#include "ridge/catalogue.hpp"
#include "ridge/result.hpp"

namespace ridge {

Source read_source(TableReader t);
Architecture read_architecture(TableReader t);
/// `architectures` tell a dense peak from a sparse one.
Device read_device(TableReader t, std::span<const Architecture> architectures);
Fabric read_fabric(TableReader t);
System read_system(TableReader t);
/// Sets also Model::source, file and line.
Model read_model(TableReader t);
Price read_price(TableReader t);

/// Prices of a user's CSV file, in our columns or SkyPilot's; `file` serves messages, `devices` to recognise what is
/// priced, `source` is what every price in it refers to.
Result<std::vector<Price>> read_price_list(std::string_view csv, const std::string& file, SourceId source,
                                           std::span<const Device> devices);

}  // namespace ridge
