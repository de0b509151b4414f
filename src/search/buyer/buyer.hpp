// Which devices a buyer can have, and at what price.
#pragma once

#include "ridge/search/plan.hpp"

namespace ridge::search {

/// Why the buyer cannot or will not take this device, or nothing.
[[nodiscard]] std::optional<Loser> refused(const Device& device, const Buyer& buyer, const Knowledge& knowledge);

/// Total processing performance as export rules count it: dense operations per second times the bits of one operand,
/// in units of 10^12, the largest over all formats (15 CFR part 774, supplement 1, ECCN 3A090, note 2: 2 x MacTOPS x
/// bits).
[[nodiscard]] double total_processing_performance(const Device& device);
/// Vendors that are at home in a country under licence (Policy::licence_free_vendors), and areas of dies by chip
/// (Policy::dies).
struct ExportRules {
  const std::vector<std::string>& licence_free;
  const std::vector<std::pair<std::string, double>>& dies;
};
/// Which class of ECCN 3A090 a device is of, whose export needs a licence for some countries
/// (Destination::export_licence); empty = none. Cards that are not for data centres are of none below 4800 (note 2 to
/// 3A090), nor is a chip between 1600 and 4800 whose area nobody has published.
[[nodiscard]] std::string export_class(const Device& device, const ExportRules& rules);
/// Whether letters to its maker ask for a licence although it is of no class: they name the memory bandwidth of an H20.
[[nodiscard]] bool licensed_by_letter(const Device& device, const ExportRules& rules);
/// "h20-96 needs a licence by letter ..."
[[nodiscard]] std::string letter_text(const std::vector<std::string>& devices);

/// Every device of the catalogue or of `buyer.devices`, split into those to search and those left out. From then on the
/// fleet goes under ids of the catalogue. Refuses (not_found) a device or vendor that does not exist.
struct Candidates {
  std::vector<Device> devices;
  std::vector<Loser> excluded;
  std::vector<std::string> by_letter;  ///< of `devices`: licensed_by_letter() for the destination
};
Result<Candidates> candidates(Buyer& buyer, Objective objective, const Knowledge& knowledge);

/// The smallest system of the catalogue made of this device (whose power is known, if asked), or nullptr.
[[nodiscard]] const System* smallest_system(const Catalogue& catalogue, const std::string& device,
                                            bool with_power = false);

/// Watts of a device to try, each once: `asked`, and none and shares of its limit if `search`. 0 = its own limit, which
/// caps above it are too.
[[nodiscard]] std::vector<double> power_caps(const std::vector<double>& asked, bool search, const Device& device);

/// Devices in one rack: of the rack that is sold, else four servers.
[[nodiscard]] int rack_gpus(const Device& device, const Catalogue& catalogue);

}  // namespace ridge::search
