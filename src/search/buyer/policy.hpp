// Countries and vendors, as rules and buyers name them. A word that is not known is refused, with the nearest that is:
// a rule that a misspelt word switched off would let everything through.
//
//   Result<Policy> policy = load_policy("data/policy");
//   Result<Destination> to = policy->destination("China");            // {"CN", "China", true}
//   policy->destination("CHM");                                       // refused: did you mean 'CHN' or 'CHE'?
//
// Values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge::search {

struct Destination {
  std::string code;             ///< "CN"
  std::string name;             ///< "China"
  bool export_licence = false;  ///< whether devices of ECCN 3A090 need one there
};

class Policy {
 public:
  /// By ISO code of two or three letters or by name, in any case. Refuses (not_found) others.
  [[nodiscard]] Result<Destination> destination(std::string_view word) const;
  /// Vendors that are at home in these countries, each known by its code of two letters, in any case. Refuses
  /// (not_found) a country that no vendor is from.
  [[nodiscard]] Result<std::vector<std::string>> vendors_from(const std::vector<std::string>& countries) const;

  /// Vendors at home where devices of ECCN 3A090 need a licence: theirs are none that would have to be exported there.
  [[nodiscard]] std::vector<std::string> licence_free_vendors() const;
  /// "hyperscaler", "marketplace", "analyst"; "cloud" of those that providers.toml does not name.
  [[nodiscard]] std::string_view provider_kind(std::string_view provider) const;
  /// Areas of the dies whose export class goes by density (ExportRules::dies).
  [[nodiscard]] const std::vector<std::pair<std::string, double>>& dies() const { return dies_; }
  /// Vendors that rent their devices out themselves and sell none, in regions of which none is in the country.
  [[nodiscard]] std::vector<std::string> rented_elsewhere(const Destination& country) const;

 private:
  friend Result<Policy> load_policy(const std::string& folder);
  struct Country {
    Destination destination;
    std::vector<std::string> words;  ///< all that it goes by
  };
  struct Vendor {
    std::string name, country;
    std::vector<std::string> rented_in;  ///< countries; empty = its devices are sold
  };
  struct Provider {
    std::string name, kind;
  };
  std::vector<Provider> providers_;
  std::vector<Country> countries_;
  std::vector<Vendor> vendors_;
  std::vector<std::pair<std::string, double>> dies_;
};

/// Reads countries.toml, vendors.toml, providers.toml and chips.toml. Refuses what cannot be read, and entries that
/// lack a key.
Result<Policy> load_policy(const std::string& folder);

/// Refuses (not_found, where = `flag`) a vendor that makes no device of the catalogue, naming the nearest.
Status check_vendors(std::string_view flag, const std::vector<std::string>& vendors,
                     const std::vector<std::string_view>& known);

}  // namespace ridge::search
