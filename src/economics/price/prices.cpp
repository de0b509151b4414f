// Prices of the catalogue: the market of a device, and what it costs to buy.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "economics/cost_case.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/catalogue/engine.hpp"

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

namespace {

using Exchange = std::vector<std::pair<std::string, double>>;

/// Of one provider only the newest: a list and a copy of it from last year are not two quotes.
void drop_outdated(std::vector<std::pair<double, const Price*>>& found) {
  // A year alone may be its January: it drops nothing that names a month of that year.
  const auto known_from = [](const Price& price) { return year_of(price.date) - (price.date.size() == 4 ? 0.5 : 0); };
  std::map<std::string_view, double> newest;
  for (const auto& [usd, price] : found) {
    double& date = newest[price->provider];
    date = std::max(date, known_from(*price));
  }
  std::erase_if(found, [&](const auto& f) {
    const Price& price = *f.second;
    return !price.provider.empty() && !price.date.empty() && known_from(price) < newest[price.provider];
  });
  // The same price of the same day for two sizes of one offer is one quote.
  std::set<std::tuple<std::string_view, std::string_view, double>> seen;
  std::erase_if(found, [&](const auto& f) {
    return !f.second->provider.empty() && !seen.emplace(f.second->provider, f.second->date, f.first).second;
  });
}

RentMarket quoted_market(const Catalogue& catalogue, std::string_view device, PriceKind kind, std::string_view provider,
                         std::string_view as_of, const Exchange& exchange) {
  RentMarket market;
  const DeviceShare share = share_of_device(catalogue, device);
  std::vector<std::pair<double, const Price*>> found;
  double newest = 0;
  for (const Price& price : catalogue.prices()) {
    if (price.device != share.device || price.kind != kind || !exists(price, as_of)) continue;
    if (!has(price.provider, provider) && !has(price.region, provider)) continue;
    const std::optional<double> rate = in_dollars(price.currency, exchange);
    if (!rate) {
      market.warnings.push_back(fmt::format("{} is in {} and left out: say what one is worth with ⟦exchange={}=0.14⟧",
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
  drop_outdated(found);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [usd, price] : found) {
    market.usd.push_back(usd);
    market.offers.push_back(price);
  }
  return market;
}

/// Figures of one origin for several devices: an analyst's three-year rents, a lessor's list by the month.
struct Series {
  const Price* of_device = nullptr;
  double usd = 0;
  std::vector<double> above;  ///< quotes over this series, of other devices
};

/// How many devices have to have both before one is inferred from the other, and how many quotes each.
constexpr std::size_t kLeastDevices = 3;
constexpr std::size_t kLeastQuotes = 3;

RentMarket estimated_market(const Catalogue& catalogue, std::string_view device, PriceKind kind, std::string_view as_of,
                            const Exchange& exchange) {
  std::map<std::pair<std::string_view, PriceKind>, Series> all;
  const auto in_series = [&](const Price& price) {
    const bool sustained =
        price.kind == PriceKind::reserved || price.kind == PriceKind::lease_month || price.kind == PriceKind::other;
    return sustained && !price.provider.empty() && !price.device.empty() && price.per_gpu_hour && exists(price, as_of);
  };
  for (const Price& price : catalogue.prices()) {
    if (price.device != device || !in_series(price)) continue;
    Series& series = all[{price.provider, price.kind}];
    if (series.of_device != nullptr && series.of_device->date > price.date) continue;
    series.of_device = &price;
    series.usd = price.per_gpu_hour->value() * 3600;
  }
  if (all.empty()) return {};
  for (const Price& price : catalogue.prices()) {
    if (price.device == device || !in_series(price)) continue;
    const auto series = all.find({price.provider, price.kind});
    if (series == all.end()) continue;
    const RentMarket quoted = quoted_market(catalogue, price.device, kind, "", as_of, exchange);
    if (quoted.usd.size() < kLeastQuotes) continue;
    series->second.above.push_back(quoted.median() / (price.per_gpu_hour->value() * 3600));
  }
  const auto best = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second.above.size() < b.second.above.size();
  });
  Series& series = best->second;
  if (series.above.size() < kLeastDevices) return {};
  std::sort(series.above.begin(), series.above.end());
  const RentMarket ratios{{}, series.above, {}, {}};
  RentMarket market;
  for (const double share : {0.1, 0.5, 0.9}) {
    market.usd.push_back(series.usd * ratios.quantile(share));
    market.offers.push_back(series.of_device);
  }
  market.estimate = fmt::format(
      "no {} quote: ${:.2f} an hour ({}, {}), times the {:.1f} ({:.1f} to {:.1f}) by which {} "
      "other devices are quoted above that list",
      kind == PriceKind::spot ? "spot" : "on-demand", series.usd, series.of_device->provider, series.of_device->date,
      ratios.median(), ratios.quantile(0.1), ratios.quantile(0.9), series.above.size());
  return market;
}

}  // namespace

RentMarket rent_market(const Catalogue& catalogue, std::string_view device, PriceKind kind, std::string_view provider,
                       std::string_view as_of, const Exchange& exchange) {
  RentMarket quoted = quoted_market(catalogue, device, kind, provider, as_of, exchange);
  const bool by_the_hour = kind == PriceKind::on_demand || kind == PriceKind::spot;
  if (!quoted.usd.empty() || !by_the_hour || !provider.empty()) return quoted;
  const DeviceShare share = share_of_device(catalogue, device);
  RentMarket estimated = estimated_market(catalogue, share.device, kind, as_of, exchange);
  for (double& usd : estimated.usd) usd /= share.parts;
  if (estimated.usd.empty()) return quoted;
  estimated.warnings = std::move(quoted.warnings);
  return estimated;
}

PurchasePrice purchase_price(const Catalogue& catalogue, std::string_view device, std::string_view as_of,
                             const std::vector<std::pair<std::string, double>>& exchange) {
  PurchasePrice best;
  for (const Price& price : catalogue.prices()) {
    if (price.device != device || price.kind != PriceKind::capex || !exists(price, as_of)) continue;
    const std::optional<double> rate = in_dollars(price.currency, exchange);
    if (!rate) continue;
    // Prices of whole servers, with what belongs around them, are in data/economics.
    if (price.unit == "server" || price.unit == "rack") continue;
    const double usd = price.amount * *rate / std::max(price.devices, 1);
    // Within a quarter, the price of a whole board says more than that of a card.
    const double older = best.price == nullptr ? 1 : year_of(price.date) - year_of(best.price->date);
    const bool newer = older > 0.25;
    const bool wider = older > -0.25 && best.price != nullptr && price.devices > best.price->devices;
    if (newer || wider) best = {&price, usd};
  }
  return best;
}

std::vector<std::pair<std::string, double>> with_known_rates(std::vector<std::pair<std::string, double>> exchange,
                                                             const EconomicsData& data, std::string_view as_of) {
  std::vector<const ExchangeRate*> known;
  for (const ExchangeRate& rate : data.exchange) {
    if (as_of.empty() || year_of(rate.date) <= year_of(as_of)) known.push_back(&rate);
  }
  std::stable_sort(known.begin(), known.end(),
                   [](const ExchangeRate* a, const ExchangeRate* b) { return year_of(a->date) > year_of(b->date); });
  for (const ExchangeRate* rate : known) {
    if (!in_dollars(rate->currency, exchange)) exchange.emplace_back(rate->currency, rate->usd);
  }
  return exchange;
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
