#include "app/cli/show/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "economics/economics_data.hpp"

namespace ridge::cli {

namespace {

constexpr Kind kKinds[] = {
    {"devices", "device", [](const SheetContext& c) { return device_sheet(c.catalogue.devices(), c); }},
    {"systems", "system", [](const SheetContext& c) { return system_sheet(c.catalogue.systems(), c); }},
    {"fabrics", "fabric", [](const SheetContext& c) { return fabric_sheet(c.catalogue.fabrics(), c); }},
    {"models", "model", [](const SheetContext& c) { return model_sheet(c.catalogue.models(), c); }},
    {"prices", "price", [](const SheetContext& c) { return price_sheet(c.prices, c); }},
    {"architectures", "architecture", architecture_sheet},
    {"os", "os", os_sheet},
    {"sources", "source", source_sheet},
};

/// What an API charges is two or three prices: for what is read, for what is written, for what it still holds.
void add_offer(const ApiOffer& offer, std::vector<Price>& into) {
  const auto add = [&](std::string_view of, double usd) {
    Price price;
    price.id = fmt::format("{}-{}", offer.id, of);
    price.item = fmt::format("{}, {}", offer.serves, of);
    price.kind = PriceKind::api;
    price.provider = offer.provider;
    price.unit = "1M tokens";
    price.currency = "USD";
    price.date = offer.date;
    price.amount = price.low = price.high = usd;
    price.source = offer.source;
    price.place = offer.place;
    if (!offer.model.empty()) price.notes = "Model of the catalogue: " + offer.model + ".";
    into.push_back(std::move(price));
  };
  add("input", offer.input_usd_per_million);
  if (offer.cached_usd_per_million) add("cached-input", *offer.cached_usd_per_million);
  add("output", offer.output_usd_per_million);
}

/// The sheet of the kind that the words name.
std::optional<Sheet> sheet_of(const SheetContext& context, const std::vector<std::string>& words) {
  const Kind* kind = words.empty() ? nullptr : find_kind(words[0]);
  if (kind == nullptr) return {};
  return kind->sheet(context);
}

}  // namespace

std::span<const Kind> kinds() {
  return kKinds;
}

const Kind* find_kind(std::string_view word) {
  const auto at = std::find_if(std::begin(kKinds), std::end(kKinds),
                               [&](const Kind& kind) { return kind.plural == word || kind.singular == word; });
  return at == std::end(kKinds) ? nullptr : at;
}

Result<SheetContext> sheet_context(Session& session) {
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  std::string as_of = session.price_date();
  if (as_of.empty()) {
    for (const Price& price : (*catalogue)->prices()) as_of = std::max(as_of, price.date);
  }
  const Result<const FacilityData*> facility = session.facility();
  // A directory of the user's own may hold no sites; one that holds them has to be readable.
  if (!facility && facility.error().code != ErrorCode::not_found) return facility.error();
  SheetContext context{**catalogue, *session.data_directory(), as_of, facility ? *facility : nullptr, {}};
  context.prices.assign((*catalogue)->prices().begin(), (*catalogue)->prices().end());
  const Result<const EconomicsData*> economics = session.economics();
  if (!economics && economics.error().code != ErrorCode::not_found) return economics.error();
  if (economics) {
    for (const ApiOffer& offer : (*economics)->offers) add_offer(offer, context.prices);
  }
  return context;
}

std::vector<std::string> complete_entries(Session& session, const std::vector<std::string>& words) {
  std::vector<std::string> offers;
  if (words.empty()) {
    for (const Kind& kind : kKinds) offers.emplace_back(kind.plural);
  }
  const Result<SheetContext> context = sheet_context(session);
  if (!context) return offers;
  const bool any_kind = words.empty() || find_kind(words[0]) == nullptr;
  for (const Kind& kind : kKinds) {
    if (!any_kind && find_kind(words[0]) != &kind) continue;
    for (const Row& row : kind.sheet(*context).rows) offers.push_back(row.id);
  }
  return offers;
}

std::vector<std::string> complete_keys(Session& session, const std::vector<std::string>& words) {
  std::vector<std::string> offers;
  if (const Result<SheetContext> context = sheet_context(session)) {
    if (const auto sheet = sheet_of(*context, words)) {
      for (const Field& field : sheet->fields) offers.emplace_back(field.key);
    }
  }
  return offers;
}

Completer complete_values(std::string_view key) {
  return [key](Session& session, const std::vector<std::string>& words) {
    std::vector<std::string> offers;
    const Result<SheetContext> context = sheet_context(session);
    const auto sheet = context ? sheet_of(*context, words) : std::nullopt;
    const auto field = sheet ? sheet->find_field(key) : std::nullopt;
    if (!field) return offers;
    for (const Row& row : sheet->rows) {
      if (!row.values[*field].cell.empty()) offers.push_back(row.values[*field].cell.plain());
    }
    return offers;
  };
}

}  // namespace ridge::cli
