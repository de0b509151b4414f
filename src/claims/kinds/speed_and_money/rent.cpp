// What an hour of a device costs, against the quotes of the catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"
#include "economics/cost_case.hpp"

namespace ridge::claims {

namespace {

constexpr double kSamePrice = 0.02;
constexpr std::size_t kShortSentence = 24;  ///< tokens: longer ones speak of more than a price

PriceKind kind_of(std::string_view word) {
  return word == "spot" ? PriceKind::spot : word == "reserved" ? PriceKind::reserved : PriceKind::on_demand;
}

Result<Recomputed> recompute_rent(Inputs& inputs) {
  const auto device = inputs.device();
  if (!device) return device.error();
  const Measure& claimed = inputs.claim().claimed;
  if (!is_a<DollarsPerSecond>(claimed)) return cannot("it is no price of an hour");
  const std::string as = inputs.has("as") ? inputs.text("as") : "on demand";
  const RentMarket market = rent_market(inputs.context().catalogue, (*device)->id, kind_of(as), "", "", {});
  if (market.quotes() == 0) return cannot(fmt::format("nobody is known to quote {} {}", (*device)->id, as));
  const auto said = [&](std::size_t i) {
    return fmt::format("${:.2f} ({}, {})", market.usd[i], market.offers[i]->provider, market.offers[i]->date);
  };
  // Any of them holds; what nobody quotes may still be somebody's price.
  constexpr double kHour = 3600;
  std::size_t nearest = 0;
  const auto off = [&](std::size_t i) {
    return std::abs(std::clamp(market.usd[i], claimed.value * kHour, claimed.high * kHour) - market.usd[i]);
  };
  for (std::size_t i = 1; i < market.usd.size(); ++i) nearest = off(i) < off(nearest) ? i : nearest;
  if (off(nearest) > kSamePrice * market.usd[nearest]) {
    if (market.quotes() == 1) return cannot(fmt::format("the one quote {} is {}", as, said(0)));
    return cannot(fmt::format("nobody quotes that {}: {} quotes are {} to {}, median ${:.2f}", as, market.quotes(),
                              said(0), said(market.usd.size() - 1), market.median()));
  }
  Recomputed result;
  result.right = measure_of(GpuRent(market.usd[nearest] / kHour));
  result.compare = Compare::holds;
  result.holds = true;
  result.formula = fmt::format("one of {} quotes of {} {}: {}", market.quotes(), (*device)->id, as, said(nearest));
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
