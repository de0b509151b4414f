// What a GPU-hour costs, from the price lists of the catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "economics/cost_case.hpp"
#include "ridge/base/text.hpp"
#include "ridge/economics/cost.hpp"
#include "ridge/search/plan.hpp"

namespace ridge {

namespace {

/// Half of the devices with four on-demand quotes and more have quotes that spread by more (quartiles over 1.349, of
/// the logarithm; catalogue of 2026-08): what one quote says of the price that another provider asks.
constexpr double kOneQuote = 0.43;
/// What a year does to a rent: assumed.
constexpr double kOldQuote = 0.25;
constexpr double kQuartiles = 1.349;  ///< standard deviations between the quartiles of a normal distribution

/// Months since year 0 of "2026-08" and longer; 0 of anything else.
int months_of(std::string_view date) {
  if (date.size() < 7) return 0;
  const auto digits = [&](std::size_t from, std::size_t count) {
    int value = 0;
    for (const char c : date.substr(from, count)) {
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) return 0;
      value = 10 * value + (c - '0');
    }
    return value;
  };
  return 12 * digits(0, 4) + digits(5, 2);
}

/// The month that prices are looked at in: asked for, or of the newest of all.
int month_of(const Catalogue& catalogue, const std::string& asked) {
  if (months_of(asked) > 0) return months_of(asked);
  int newest = 0;
  for (const Price& price : catalogue.prices()) newest = std::max(newest, months_of(price.date));
  return newest;
}

std::vector<PriceKind> kinds_of(Purchase purchase) {
  switch (purchase) {
    case Purchase::on_demand:
      return {PriceKind::on_demand};
    case Purchase::spot:
      return {PriceKind::spot};
    case Purchase::reserved:
      return {PriceKind::reserved, PriceKind::lease_month};
    case Purchase::own:
    case Purchase::any:
      return {};
  }
  return {};
}

std::optional<PriceQuote> price_to_own(const Catalogue& catalogue, const std::string& device, const Buyer& buyer,
                                       const EconomicsData* economics, const DeviceUse& use) {
  if (economics == nullptr) return {};
  CostQuery query;
  query.mode = CostMode::own;
  query.device = device;
  query.profile = buyer.owner;
  query.as_of = buyer.date;
  query.device_power_w = use.busy_w;
  query.idle_share = use.idle_share;
  if (!buyer.region.empty() && economics->region(buyer.region)) query.region = buyer.region;
  auto priced = cost_case(query, catalogue, *economics);
  if (!priced) return {};
  priced->inputs.utilisation = use.utilisation;
  if (!check(priced->inputs)) return {};
  const double hour = hourly_rate(priced->inputs).usd;
  if (!(hour > 0)) return {};
  PriceQuote quote;
  quote.low = quote.mid = quote.high = hour;
  quote.quotes = 1;
  quote.basis =
      fmt::format("bought, financed and housed by a {} over {:g} years", buyer.owner, priced->inputs.life_years);
  return quote;
}

}  // namespace

std::optional<PriceQuote> price_of(const Catalogue& catalogue, const std::string& device, const Buyer& buyer,
                                   const EconomicsData* economics, const DeviceUse& use) {
  if (buyer.purchase == Purchase::own) return price_to_own(catalogue, device, buyer, economics, use);
  if (buyer.purchase == Purchase::any) {
    std::optional<PriceQuote> best;
    for (const Purchase purchase : {Purchase::on_demand, Purchase::reserved, Purchase::own}) {
      Buyer one = buyer;
      one.purchase = purchase;
      auto offered = price_of(catalogue, device, one, economics, use);
      if (offered && (!best || offered->mid < best->mid)) best = std::move(offered);
    }
    return best;
  }
  RentMarket quotes;
  PriceQuote quote;
  std::string first = "9999";
  std::string last;
  for (const PriceKind kind : kinds_of(buyer.purchase)) {
    const RentMarket market = rent_market(catalogue, device, kind, buyer.region, buyer.date,
                                          economics != nullptr ? with_known_rates({}, *economics, buyer.date)
                                                               : std::vector<std::pair<std::string, double>>{});
    quotes.usd.insert(quotes.usd.end(), market.usd.begin(), market.usd.end());
    if (!market.estimate.empty()) quote.basis = market.estimate;
    for (const Price* price : market.offers) {
      if (price->date.empty()) continue;
      first = std::min(first, price->date.substr(0, 7));
      last = std::max(last, price->date.substr(0, 7));
    }
  }
  if (quotes.usd.empty()) return {};
  std::sort(quotes.usd.begin(), quotes.usd.end());
  quote.low = quotes.quantile(0.25);
  quote.mid = quotes.median();
  quote.high = quotes.quantile(0.75);
  if (!quote.basis.empty()) {  // estimated: between its own bounds
    quote.low = quotes.usd.front();
    quote.high = quotes.usd.back();
    return quote;
  }
  quote.quotes = static_cast<int>(quotes.usd.size());
  quote.newest = last;
  quote.old = months_of(last) > 0 && month_of(catalogue, buyer.date) - months_of(last) > 12;
  quote.lone = quote.quotes == 1 && buyer.region.empty();
  const double spread = quote.quotes > 1 ? std::log(quote.high / quote.low) / kQuartiles : kOneQuote;
  quote.sigma =
      std::hypot(quote.lone || (buyer.price_spread && quote.quotes > 1) ? spread : 0, quote.old ? kOldQuote : 0);
  const std::string kind(name(buyer.purchase));
  quote.basis = quote.quotes == 1 ? fmt::format("one {} quote of {}", kind, last)
                                  : fmt::format("median of {} {} quotes of {}", quote.quotes, kind,
                                                first == last ? last : first + " to " + last);
  return quote;
}

double kept_share(const Buyer& buyer, const EconomicsData* economics) {
  if (buyer.purchase != Purchase::spot || economics == nullptr) return 1;
  return kept_share(economics->spot.preemptions_per_hour, economics->spot.loss_hours);
}

std::string_view name(Objective objective) {
  static constexpr std::string_view kNames[] = {"cost", "time", "energy", "gpus"};
  return kNames[static_cast<std::size_t>(objective)];
}

std::string_view name(Purchase purchase) {
  static constexpr std::string_view kNames[] = {"on-demand", "spot", "reserved", "own", "any"};
  return kNames[static_cast<std::size_t>(purchase)];
}

namespace {

template <class Enum, std::size_t N>
Result<Enum> parse_word(std::string_view text, const std::string_view (&words)[N]) {
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == text) return static_cast<Enum>(i);
  }
  std::string all;
  for (const std::string_view word : words) all += (all.empty() ? "" : ", ") + std::string(word);
  return Error{ErrorCode::bad_input, "", quoted(text) + " is none of " + all};
}

}  // namespace

Result<Objective> parse_objective(std::string_view text) {
  static constexpr std::string_view kWords[] = {"cost", "time", "energy", "gpus"};
  if (text == "throughput") return Objective::time;
  return parse_word<Objective>(text, kWords);
}

Result<Purchase> parse_purchase(std::string_view text) {
  static constexpr std::string_view kWords[] = {"on-demand", "spot", "reserved", "own", "any"};
  return parse_word<Purchase>(text, kWords);
}

}  // namespace ridge
