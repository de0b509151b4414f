// What a GPU-hour costs, from the price lists of the catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "economics/cost_case.hpp"
#include "ridge/cost.hpp"
#include "ridge/plan.hpp"
#include "ridge/text.hpp"

namespace ridge {

namespace {

bool has(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

namespace {

std::vector<PriceKind> kinds_of(Purchase purchase) {
  switch (purchase) {
    case Purchase::on_demand:
      return {PriceKind::on_demand};
    case Purchase::spot:
      return {PriceKind::spot};
    case Purchase::reserved:
      return {PriceKind::reserved, PriceKind::lease_month};
    case Purchase::own:
      return {};
  }
  return {};
}

std::optional<PriceQuote> price_to_own(const Catalogue& catalogue, const std::string& device, const Buyer& buyer,
                                       const EconomicsData* economics) {
  if (economics == nullptr) return {};
  CostQuery query;
  query.mode = CostMode::own;
  query.device = device;
  query.profile = buyer.owner;
  query.as_of = buyer.date;
  if (!buyer.region.empty() && economics->region(buyer.region)) query.region = buyer.region;
  const auto priced = cost_case(query, catalogue, *economics);
  if (!priced || !check(priced->inputs)) return {};
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
                                   const EconomicsData* economics) {
  const std::string id = device.substr(0, device.find('/'));
  if (buyer.purchase == Purchase::own) return price_to_own(catalogue, id, buyer, economics);
  std::vector<double> quotes;
  std::string first = "9999";
  std::string last;
  for (const PriceKind kind : kinds_of(buyer.purchase)) {
    const RentMarket market = rent_market(catalogue, id, kind, "", buyer.date, {});
    for (std::size_t i = 0; i < market.usd.size(); ++i) {
      const Price& price = *market.offers[i];
      if (!buyer.region.empty() && !has(price.region, buyer.region) && !has(price.provider, buyer.region)) continue;
      quotes.push_back(market.usd[i]);
      if (price.date.empty()) continue;
      first = std::min(first, price.date.substr(0, 7));
      last = std::max(last, price.date.substr(0, 7));
    }
  }
  if (quotes.empty()) return {};
  std::sort(quotes.begin(), quotes.end());
  PriceQuote quote;
  quote.low = quantile(quotes, 0.25);
  quote.mid = quantile(quotes, 0.5);
  quote.high = quantile(quotes, 0.75);
  quote.quotes = static_cast<int>(quotes.size());
  const std::string kind(name(buyer.purchase));
  quote.basis = quotes.size() == 1 ? fmt::format("one {} quote of {}", kind, last)
                                   : fmt::format("median of {} {} quotes of {}", quotes.size(), kind,
                                                 first == last ? last : first + " to " + last);
  return quote;
}

std::string_view name(Objective objective) {
  static constexpr std::string_view kNames[] = {"cost", "time", "energy", "gpus"};
  return kNames[static_cast<std::size_t>(objective)];
}

std::string_view name(Purchase purchase) {
  static constexpr std::string_view kNames[] = {"on-demand", "spot", "reserved", "own"};
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
  static constexpr std::string_view kWords[] = {"on-demand", "spot", "reserved", "own"};
  return parse_word<Purchase>(text, kWords);
}

}  // namespace ridge
