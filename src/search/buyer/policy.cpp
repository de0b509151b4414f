#include "search/buyer/policy.hpp"

#include <algorithm>

#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge::search {

namespace {

constexpr std::size_t kFileLimit = 1'000'000;

std::string hint(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string near = nearest(word, known.data(), known.size());
  return near.empty() ? std::string() : "; did you mean " + near + "?";
}

/// The entries [[what]] of the file, each given to `take`, which says what it lacks.
template <class Take>
Status each(const std::string& path, std::string_view what, const Take& take) {
  const Result<std::string> text = read_file(path, kFileLimit);
  if (!text) return text.error();
  const Result<TomlNode> root = parse_toml(*text, path);
  if (!root) return root.error();
  const TomlMember* all = root->find(what);
  if (all == nullptr || all->value.items.empty()) {
    return Error{ErrorCode::bad_input, path, "there is no [[" + std::string(what) + "]] in it"};
  }
  for (const TomlNode& entry : all->value.items) {
    if (const char* lacks = take(entry); lacks != nullptr) {
      return Error{ErrorCode::bad_input, place_text(path, entry.line, entry.column),
                   "this entry lacks " + std::string(lacks)};
    }
  }
  return {};
}

std::string text_of(const TomlNode& entry, std::string_view key) {
  const TomlMember* member = entry.find(key);
  return member != nullptr ? member->value.text : std::string();
}

double number_of(const TomlNode& node) {
  return node.kind == TomlNode::Kind::integer ? static_cast<double>(node.integer) : node.number;
}

}  // namespace

Result<Policy> load_policy(const std::string& folder) {
  Policy policy;
  const Status vendors = each(folder + "/vendors.toml", "vendor", [&](const TomlNode& entry) -> const char* {
    Policy::Vendor vendor{text_of(entry, "name"), text_of(entry, "country"), {}};
    if (vendor.name.empty()) return "its name";
    if (vendor.country.empty()) return "its country";
    if (const TomlMember* rented = entry.find("rented_in"); rented != nullptr) {
      for (const TomlNode& country : rented->value.items) vendor.rented_in.push_back(country.text);
      if (text_of(entry, "rented_source").empty()) return "rented_source";
    }
    policy.vendors_.push_back(std::move(vendor));
    return nullptr;
  });
  if (!vendors) return vendors.error();
  const Status sellers = each(folder + "/providers.toml", "kind", [&](const TomlNode& entry) -> const char* {
    const TomlMember* providers = entry.find("providers");
    if (text_of(entry, "name").empty()) return "its name";
    if (providers == nullptr || providers->value.items.empty()) return "its providers";
    for (const TomlNode& one : providers->value.items) policy.providers_.push_back({one.text, text_of(entry, "name")});
    return nullptr;
  });
  if (!sellers) return sellers.error();
  const Status countries = each(folder + "/countries.toml", "country", [&](const TomlNode& entry) -> const char* {
    Policy::Country country;
    const std::string three = text_of(entry, "code3");
    const TomlMember* names = entry.find("names");
    const TomlMember* licence = entry.find("export_licence");
    country.destination.code = text_of(entry, "code");
    if (country.destination.code.empty() || three.empty()) return "its codes";
    if (names == nullptr || names->value.items.empty()) return "its names";
    if (licence == nullptr || licence->value.kind != TomlNode::Kind::flag) return "export_licence";
    if (text_of(entry, "source").empty()) return "its source";
    country.destination.name = names->value.items.front().text;
    country.destination.export_licence = licence->value.flag;
    country.words = {country.destination.code, three};
    for (const TomlNode& name : names->value.items) country.words.push_back(name.text);
    policy.countries_.push_back(std::move(country));
    return nullptr;
  });
  if (!countries) return countries.error();
  const Status chips = each(folder + "/chips.toml", "chip", [&](const TomlNode& entry) -> const char* {
    const TomlMember* area = entry.find("die_mm2");
    if (text_of(entry, "name").empty()) return "its name";
    if (area == nullptr || !(number_of(area->value) > 0)) return "die_mm2";
    if (text_of(entry, "source").empty()) return "its source";
    policy.dies_.emplace_back(text_of(entry, "name"), number_of(area->value));
    return nullptr;
  });
  if (!chips) return chips.error();
  return policy;
}

Result<Destination> Policy::destination(std::string_view word) const {
  std::vector<std::string_view> known;
  for (const Country& country : countries_) {
    for (const std::string& one : country.words) {
      if (lower(one) == lower(word)) return country.destination;
      known.push_back(one);
    }
  }
  return Error{ErrorCode::not_found, "⟦destination⟧",
               "what may be exported to " + quoted(word) + " is not known here" + hint(word, known)};
}

Result<std::vector<std::string>> Policy::vendors_from(const std::vector<std::string>& countries) const {
  std::vector<std::string> found;
  for (const std::string& country : countries) {
    const std::size_t before = found.size();
    for (const Vendor& vendor : vendors_) {
      if (lower(vendor.country) == lower(country)) found.push_back(vendor.name);
    }
    if (found.size() > before) continue;
    std::vector<std::string> known;
    for (const Vendor& vendor : vendors_) known.push_back(vendor.country);
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    std::string all;
    for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
    return Error{ErrorCode::not_found, "⟦origin⟧",
                 "no vendor of the catalogue is from " + quoted(country) + "; there are " + all};
  }
  return found;
}

std::vector<std::string> Policy::licence_free_vendors() const {
  std::vector<std::string> found;
  for (const Vendor& vendor : vendors_) {
    const bool free = std::any_of(countries_.begin(), countries_.end(), [&](const Country& c) {
      return c.destination.code == vendor.country && c.destination.export_licence;
    });
    if (free) found.push_back(vendor.name);
  }
  return found;
}

std::string_view Policy::provider_kind(std::string_view provider) const {
  const auto known =
      std::find_if(providers_.begin(), providers_.end(), [&](const Provider& one) { return one.name == provider; });
  return known != providers_.end() ? std::string_view(known->kind) : "cloud";
}

std::vector<std::string> Policy::rented_elsewhere(const Destination& country) const {
  std::vector<std::string> found;
  for (const Vendor& vendor : vendors_) {
    const bool here =
        std::find(vendor.rented_in.begin(), vendor.rented_in.end(), country.code) != vendor.rented_in.end();
    if (!vendor.rented_in.empty() && !here) found.push_back(vendor.name);
  }
  return found;
}

Status check_vendors(std::string_view flag, const std::vector<std::string>& vendors,
                     const std::vector<std::string_view>& known) {
  for (const std::string& vendor : vendors) {
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](auto one) { return lower(one) == lower(vendor); });
    if (is_known) continue;
    std::string near = hint(vendor, known);
    if (near.empty()) {
      for (const std::string_view one : known) near += (near.empty() ? "; there are " : ", ") + std::string(one);
    }
    return Error{ErrorCode::not_found, std::string(flag), "there is no vendor " + quoted(vendor) + near};
  }
  return {};
}

}  // namespace ridge::search
