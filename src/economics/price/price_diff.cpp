#include "economics/price/price_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "ridge/base/text.hpp"

namespace ridge {

namespace {

double hour(const Price& price) {
  return price.per_gpu_hour ? price.per_gpu_hour->value() * 3600 : 0;
}

/// A text between quotes in TOML.
std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out.push_back(c);
  }
  return out + "\"";
}

/// Under what names lists keep the providers whose names differ from the catalogue's by more than case and signs.
std::string provider_name(const Catalogue& catalogue, const std::string& file, const std::string& listed) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"gcp", "Google Cloud"},  {"oci", "Oracle"},       {"do", "DigitalOcean"}, {"scp", "Samsung SDS"},
      {"ibm", "IBM Cloud"},     {"datacrunch", "Verda"}, {"vastai", "Vast.ai"},  {"vast", "Vast.ai"},
      {"lambdalabs", "Lambda"}, {"ovh", "OVHcloud"}};
  const auto bare = [](std::string_view text) {
    std::string out = slug(text);
    std::erase_if(out, [](char c) { return c == '-' || c == '.'; });
    return out;
  };
  const std::string key = bare(listed);
  for (const auto& [name, provider] : kNames) {
    if (name == key) return std::string(provider);
  }
  for (const Price& price : catalogue.prices()) {
    if (price.place.file != file && bare(price.provider) == key) return price.provider;
  }
  return listed;
}

}  // namespace

double PriceChange::change() const {
  if (before == nullptr || after == nullptr || !(hour(*before) > 0)) return 0;
  return hour(*after) / hour(*before) - 1;
}

std::vector<PriceChange> price_changes(const Catalogue& catalogue, const std::string& file) {
  std::map<std::tuple<std::string, std::string, PriceKind>, std::pair<PriceChange, std::vector<double>>> all;
  std::vector<std::string> providers;
  std::map<std::string, std::string> names;
  for (const Price& price : catalogue.prices()) {
    if (price.place.file != file || price.device.empty() || !price.per_gpu_hour) continue;
    auto name = names.find(price.provider);
    if (name == names.end()) {
      name = names.emplace(price.provider, provider_name(catalogue, file, price.provider)).first;
      providers.push_back(name->second);
    }
    auto& [change, hours] = all[{name->second, price.device, price.kind}];
    change.provider = name->second;
    change.device = price.device;
    change.kind = price.kind;
    if (change.after == nullptr || hour(price) < hour(*change.after)) change.after = &price;
    hours.push_back(hour(price));
  }
  for (const Price& price : catalogue.prices()) {
    const bool by_the_hour = price.kind == PriceKind::on_demand || price.kind == PriceKind::spot;
    if (price.place.file == file || price.device.empty() || !price.per_gpu_hour || !by_the_hour) continue;
    if (std::find(providers.begin(), providers.end(), price.provider) == providers.end()) continue;
    PriceChange& change = all[{price.provider, price.device, price.kind}].first;
    change.provider = price.provider;
    change.device = price.device;
    change.kind = price.kind;
    if (change.before == nullptr || price.date > change.before->date) change.before = &price;
  }
  std::vector<PriceChange> out;
  for (auto& [key, entry] : all) {
    auto& [change, hours] = entry;
    std::sort(hours.begin(), hours.end());
    change.offers = static_cast<int>(hours.size());
    if (!hours.empty()) {
      change.median_usd =
          hours.size() % 2 == 1 ? hours[hours.size() / 2] : (hours[hours.size() / 2 - 1] + hours[hours.size() / 2]) / 2;
      change.highest_usd = hours.back();
    }
    out.push_back(std::move(change));
  }
  return out;
}

std::string overlay_of(const std::vector<PriceChange>& changes, const std::string& file, std::string_view origin,
                       std::string_view date) {
  const std::string source = fmt::format("{}-{}", origin, slug(date));
  std::string out = fmt::format(
      "# Taken from {0} by `ridge catalogue import {1}`; read it with ridge show --catalogue.\n\n[[source]]\nid = "
      "\"{2}\"\ntitle "
      "= "
      "\"Prices as {1} lists them\"\nwhere = {0}\ndate = \"{3}\"\nkind = \"price list\"\n",
      toml_text(file), origin, source, date);
  for (const PriceChange& change : changes) {
    if (change.after == nullptr) continue;
    const bool replaces = change.before != nullptr;
    const std::string id =
        replaces ? change.before->id
                 : fmt::format("{}-{}-{}-{}", origin, slug(change.provider), change.device, slug(name(change.kind)));
    out += fmt::format("\n[[price]]\nid = \"{}\"\n{}item = {}\nkind = \"{}\"\nprovider = {}\n", id,
                       replaces ? "replace = true\n" : "", toml_text(change.after->item), name(change.kind),
                       toml_text(change.provider));
    if (!change.after->region.empty()) out += fmt::format("region = {}\n", toml_text(change.after->region));
    out += fmt::format(
        "device = \"{}\"\nunit = \"GPU-hour\"\namount = \"{:.6g} USD\"\ndate = \"{}\"\nsource = \"{}\"\nnotes = "
        "\"Cheapest of {} offers; their median is {:.4g}, the dearest {:.4g}.\"\n",
        change.device, hour(*change.after), date, source, change.offers, change.median_usd, change.highest_usd);
  }
  return out;
}

}  // namespace ridge
