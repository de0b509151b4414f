// Prices of the catalogue: the market of a device, and what it costs to buy.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "economics/cost_case.hpp"
#include "ridge/engine.hpp"
#include "ridge/letters.hpp"

namespace ridge {

namespace {

bool has(std::string_view text, std::string_view part) {
  return lower(text).find(lower(part)) != std::string::npos;
}

bool exists(const Price& price, std::string_view as_of) {
  return as_of.empty() || price.date.empty() || year_of(price.date) <= year_of(as_of) + 1.0 / 24;
}

/// What one unit of the price's currency is in dollars, or nothing.
std::optional<double> in_dollars(const std::string& currency,
                                 const std::vector<std::pair<std::string, double>>& exchange) {
  if (currency == "USD") return 1.0;
  for (const auto& [code, usd] : exchange) {
    if (code == currency) return usd;
  }
  return std::nullopt;
}

double per_gpu_hour(const Price& price, double usd_per_unit) {
  if (price.per_gpu_hour) return price.per_gpu_hour->value() * 3600;
  const double devices = std::max(price.devices, 1);
  const double hours = price.kind == PriceKind::lease_month ? kHoursPerMonth : 1;
  return price.amount * usd_per_unit / devices / hours;
}

}  // namespace

DeviceShare share_of_device(const Catalogue& catalogue, std::string_view device) {
  const std::size_t slash = device.find('/');
  DeviceShare share{std::string(device.substr(0, slash)), 1};
  const Device* whole = slash == std::string_view::npos ? nullptr : catalogue.device(share.device);
  if (whole == nullptr) return share;
  constexpr double kRounding = 0.01;  // sevenths are written with four digits
  for (const Partition& part : whole->partitions) {
    if (part.name != device.substr(slash + 1)) continue;
    share.parts = std::max(1, static_cast<int>(1 / std::max(part.compute_share, part.bandwidth_share) + kRounding));
  }
  return share;
}

double RentMarket::quantile(double share) const {
  if (usd.empty()) return kUnknown;
  const double place = share * static_cast<double>(usd.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, usd.size() - 1);
  return usd[below] + (usd[above] - usd[below]) * (place - static_cast<double>(below));
}

RentMarket rent_market(const Catalogue& catalogue, std::string_view device, PriceKind kind, std::string_view provider,
                       std::string_view as_of, const std::vector<std::pair<std::string, double>>& exchange) {
  RentMarket market;
  const DeviceShare share = share_of_device(catalogue, device);
  std::vector<std::pair<double, const Price*>> found;
  double newest = 0;
  for (const Price& price : catalogue.prices()) {
    if (price.device != share.device || price.kind != kind || !exists(price, as_of)) continue;
    if (!has(price.provider, provider) && !has(price.region, provider)) continue;
    const std::optional<double> rate = in_dollars(price.currency, exchange);
    if (!rate) {
      market.warnings.push_back(fmt::format("{} is in {} and left out: say what one is worth with --exchange {}=0.14",
                                            price.id, price.currency, price.currency));
      continue;
    }
    if (price.currency != "USD") {
      market.warnings.push_back(
          fmt::format("{} is in {}, converted at ${:g}: currencies are mixed", price.id, price.currency, *rate));
    }
    found.emplace_back(per_gpu_hour(price, *rate) / share.parts, &price);
    newest = std::max(newest, year_of(price.date));
  }
  std::erase_if(found, [&](const auto& f) {
    return !f.second->date.empty() && year_of(f.second->date) < newest - kLongestPriceSpan;
  });
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [usd, price] : found) {
    market.usd.push_back(usd);
    market.offers.push_back(price);
  }
  return market;
}

PurchasePrice purchase_price(const Catalogue& catalogue, std::string_view device, std::string_view as_of) {
  PurchasePrice best;
  for (const Price& price : catalogue.prices()) {
    if (price.device != device || price.kind != PriceKind::capex || price.currency != "USD" || !exists(price, as_of))
      continue;
    // Prices of whole servers, with what belongs around them, are in data/economics.
    if (price.unit == "server" || price.unit == "rack") continue;
    const double usd = price.amount / std::max(price.devices, 1);
    // Within a quarter, the price of a whole board says more than that of a card.
    const double older = best.price == nullptr ? 1 : year_of(price.date) - year_of(best.price->date);
    const bool newer = older > 0.25;
    const bool wider = older > -0.25 && best.price != nullptr && price.devices > best.price->devices;
    if (newer || wider) best = {&price, usd};
  }
  return best;
}

std::optional<std::string> price_span_warning(const std::vector<PriceUsed>& prices) {
  const PriceUsed* first = nullptr;
  const PriceUsed* last = nullptr;
  for (const PriceUsed& price : prices) {
    if (year_of(price.date) == 0) continue;
    if (first == nullptr || year_of(price.date) < year_of(first->date)) first = &price;
    if (last == nullptr || year_of(price.date) > year_of(last->date)) last = &price;
  }
  if (first == nullptr || year_of(last->date) - year_of(first->date) <= kLongestPriceSpan) return std::nullopt;
  return fmt::format("prices are of {} ({}) to {} ({}), more than a year apart", first->date, first->what, last->date,
                     last->what);
}

}  // namespace ridge
