// What an hour of a device costs, against the quotes of the catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

constexpr double kSamePrice = 0.02;
constexpr std::size_t kShortSentence = 24;  ///< tokens: longer ones speak of more than a price

PriceKind kind_of(std::string_view word) {
  return word == "spot" ? PriceKind::spot : word == "reserved" ? PriceKind::reserved : PriceKind::on_demand;
}

/// The newest quote of each provider, cheapest first.
std::vector<const Price*> quotes_of(const Catalogue& catalogue, std::string_view device, PriceKind kind) {
  std::map<std::string_view, const Price*> newest;
  for (const Price& price : catalogue.prices()) {
    if (price.device != device || price.kind != kind || !price.per_gpu_hour || price.provider.empty()) continue;
    const Price*& known = newest[price.provider];
    if (known == nullptr || known->date < price.date) known = &price;
  }
  std::vector<const Price*> quotes;
  for (const auto& [provider, price] : newest) quotes.push_back(price);
  std::stable_sort(quotes.begin(), quotes.end(),
                   [](const Price* a, const Price* b) { return *a->per_gpu_hour < *b->per_gpu_hour; });
  return quotes;
}

Result<Recomputed> recompute_rent(Inputs& inputs) {
  const auto device = inputs.device();
  if (!device) return device.error();
  const Measure& claimed = inputs.claim().claimed;
  if (!is_a<DollarsPerSecond>(claimed)) return cannot("it is no price of an hour");
  const std::string as = inputs.has("as") ? inputs.text("as") : "on demand";
  const std::vector<const Price*> quotes = quotes_of(inputs.context().catalogue, (*device)->id, kind_of(as));
  if (quotes.empty()) return cannot(fmt::format("no provider is known to quote {} {}", (*device)->id, as));
  const auto said = [](const Price& price) {
    return fmt::format("{} ({}, {})", shown(measure_of(*price.per_gpu_hour)), price.provider, price.date);
  };
  // Any of them holds; what nobody quotes may still be somebody's price.
  const auto same = std::find_if(quotes.begin(), quotes.end(), [&](const Price* price) {
    const double usd = measure_of(*price->per_gpu_hour).value;
    return usd >= claimed.value * (1 - kSamePrice) && usd <= claimed.high * (1 + kSamePrice);
  });
  if (same == quotes.end()) {
    if (quotes.size() == 1) return cannot(fmt::format("one provider quotes it {}: {}", as, said(*quotes.front())));
    return cannot(fmt::format("nobody in the catalogue quotes that {}: {} providers ask {} to {}, median {}", as,
                              quotes.size(), said(*quotes.front()), said(*quotes.back()),
                              shown(measure_of(*quotes[quotes.size() / 2]->per_gpu_hour))));
  }
  Recomputed result;
  result.right = measure_of(*(*same)->per_gpu_hour);
  result.compare = Compare::holds;
  result.holds = true;
  result.formula = fmt::format("{} of {} providers that quote {} {}", said(**same), quotes.size(), (*device)->id, as);
  return result;
}

/// "An H100 costs $2 an hour", "a B200 rents for $5/h on the spot market": one device, one price, nothing to compare.
void recognise_rent(const Passage& passage, Collector& out) {
  const Tokens& tokens = passage.tokens;
  if (passage.is_row() || tokens.size() > kShortSentence) return;
  const Token *device = nullptr, *price = nullptr;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.is_name(NameKind::model) || t.is_name(NameKind::system)) return;
    if (t.is_name(NameKind::device)) {
      if (device != nullptr || (i > 0 && tokens[i - 1].is_number())) return;  // of several: whose price is it?
      device = &t;
    } else if (t.is_number()) {
      const bool hourly = is_a<DollarsPerSecond>(t.measure) && t.text.find("month") == std::string::npos &&
                          t.text.find("year") == std::string::npos;
      if (!hourly || price != nullptr) return;
      price = &t;
    }
  }
  if (device == nullptr || price == nullptr || price < device || out.used(*price)) return;
  if (!any_word(tokens, {"cost", "costs", "rents", "rent", "is", "at", "for", "priced"})) return;
  if (any_word(tokens, {"than", "not", "if", "when", "owned", "own", "power", "electricity", "save", "saves"})) return;
  std::vector<Found> inputs = {{"device", device->name->id}};
  const bool spot = any_word(tokens, {"spot", "preemptible", "interruptible"});
  const bool reserved = any_word(tokens, {"reserved", "committed", "commitment", "contract"});
  if (spot || reserved) inputs.push_back({"as", spot ? "spot" : "reserved"});
  out.add(rent_kind(), *price, fmt::format("{} rents for {}", device->text, price->text), std::move(inputs));
}

}  // namespace

const Kind& rent_kind() {
  static const Kind kind{
      "rent",
      "what an hour of a device costs",
      "quotes of the catalogue, the newest of each provider",
      "device as?",
      true,
      recompute_rent,
      recognise_rent,
  };
  return kind;
}

}  // namespace ridge::claims
