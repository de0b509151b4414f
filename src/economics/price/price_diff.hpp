// A price list that somebody publishes beside what the catalogue holds: what would change if it were taken.
//
//   std::vector<PriceChange> changes = price_changes(catalogue, "vms.csv");   // loaded with price_lists = {"vms.csv"}
//   std::string toml = overlay_of(changes, catalogue, "skypilot", "2026-11-15");   // for --catalogue
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

/// The cheapest hour of a device at a provider, before and after.
struct PriceChange {
  std::string provider, device;
  PriceKind kind = PriceKind::on_demand;
  const Price* before = nullptr;  ///< the newest of the catalogue's, or none
  const Price* after = nullptr;   ///< the cheapest of the list, or none: the list has the provider, but not this
  int offers = 0;                 ///< of the list
  double median_usd = 0;          ///< of them, per GPU-hour
  double highest_usd = 0;
  /// After over before, less one; 0 where one is missing.
  [[nodiscard]] double change() const;
};

/// Of the prices whose place is `file`, by provider, device and kind. A provider goes by the name the catalogue has for
/// it ("gcp" is Google Cloud). Prices that are tied to no device are left out.
[[nodiscard]] std::vector<PriceChange> price_changes(const Catalogue& catalogue, const std::string& file);

/// TOML with a source and one [[price]] for each change that has an `after`: those that the catalogue has are replaced.
/// `origin` ("skypilot") and `date` make the source's id.
[[nodiscard]] std::string overlay_of(const std::vector<PriceChange>& changes, const std::string& file,
                                     std::string_view origin, std::string_view date);

}  // namespace ridge
