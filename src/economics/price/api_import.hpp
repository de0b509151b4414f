// API prices as LiteLLM and OpenRouter publish them, as offers of data/economics.
//
//   Result<ApiList> list = read_api_list(ApiForm::litellm, text, "model_prices.json", catalogue);
//   if (!list) return list.error();                     // "model_prices.json#/gpt-5/input_cost_per_token: ..."
//   std::vector<ApiChange> changes = api_changes(list->offers, data.offers);
//   std::string toml = offers_toml(list->offers, "litellm", "2026-11-15");
//
// Nothing is taken in part: a file with one price that makes no sense is refused as a whole, unless its provider was
// set aside by name. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "economics/economics_data.hpp"
#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

enum class ApiForm { litellm, openrouter };

struct ApiList {
  std::vector<ApiOffer> offers;  ///< one per provider and model of the catalogue: the cheapest; ids are unique
  int listed = 0;                ///< entries of the file
  int untied = 0;                ///< for sale, but of no model of the catalogue: left out
  int free_of_charge = 0;        ///< left out
  int set_aside = 0;             ///< of providers that were not wanted
};

/// Refuses, with the place in the file: what is no such JSON, a price that is negative, not finite or above $10,000 for
/// a million tokens. Entries of the providers in `without` are not looked at: LiteLLM's own list has had some whose
/// unit is wrong. Refuses a provider there that has no entry.
Result<ApiList> read_api_list(ApiForm form, std::string_view text, std::string_view file, const Catalogue& catalogue,
                              const std::vector<std::string>& without = {});

/// An offer before and after; one of them may be missing.
struct ApiChange {
  const ApiOffer* before = nullptr;
  const ApiOffer* after = nullptr;
  [[nodiscard]] bool moved() const;
};
/// By provider and model: what is new, what moved, what is gone from providers that the list has.
[[nodiscard]] std::vector<ApiChange> api_changes(const std::vector<ApiOffer>& list, const std::vector<ApiOffer>& known);

/// A file for data/economics: a source and the offers.
[[nodiscard]] std::string offers_toml(const std::vector<ApiOffer>& offers, std::string_view origin,
                                      std::string_view date);

}  // namespace ridge
