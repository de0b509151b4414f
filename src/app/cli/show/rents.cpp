// What an hour of each device on sale is asked for: by kind of seller, with the number of quotes.
#include <algorithm>
#include <map>

#include "app/cli/show/sheet.hpp"
#include "economics/cost_case.hpp"

namespace ridge::cli {

namespace {

struct Quote {
  double usd = 0;
  const Price* price = nullptr;
};

/// One line: the quotes, cheapest first.
void add_quotes(Table& table, const std::string& device, PriceKind kind, std::string_view sellers,
                const std::vector<Quote>& quotes) {
  const std::size_t n = quotes.size();
  const double median = n % 2 == 1 ? quotes[n / 2].usd : 0.5 * (quotes[n / 2 - 1].usd + quotes[n / 2].usd);
  std::string newest;
  for (const Quote& quote : quotes) newest = std::max(newest, quote.price->date);
  table.rows.push_back({Cell(device), Cell(std::string(name(kind))), Cell(std::string(sellers)),
                        Cell(static_cast<int>(n)), Cell(quotes.front().usd), Cell(quotes.front().price->provider),
                        Cell(median), Cell(quotes.back().usd), Cell(quotes.back().price->provider), Cell(newest)});
}

}  // namespace

Table rents_table(const Catalogue& catalogue, const search::Policy& policy, const EconomicsData& economics,
                  std::string_view as_of, std::string_view only) {
  const auto exchange = with_known_rates({}, economics, as_of);
  Table table;
  table.title = "Rents of devices on sale, dollars of a GPU-hour";
  table.columns = {{.key = "device", .heading = "device"},
                   {.key = "kind", .heading = "kind"},
                   {.key = "sellers", .heading = "sellers"},
                   {.key = "quotes", .heading = "quotes", .kind = ColumnKind::number},
                   {.key = "cheapest_usd", .heading = "cheapest", .kind = ColumnKind::number},
                   {.key = "cheapest_at", .heading = "at"},
                   {.key = "median_usd", .heading = "median", .kind = ColumnKind::number},
                   {.key = "dearest_usd", .heading = "dearest", .kind = ColumnKind::number},
                   {.key = "dearest_at", .heading = "at"},
                   {.key = "newest", .heading = "newest"}};
  for (const Device& device : catalogue.devices()) {
    if (only.empty() ? device.status != Sale::shipping : device.id != only) continue;
    for (const PriceKind kind : {PriceKind::on_demand, PriceKind::spot, PriceKind::reserved}) {
      const RentMarket market = rent_market(catalogue, device.id, kind, "", as_of, exchange);
      if (!market.estimate.empty()) {
        table.rows.push_back({Cell(device.id), Cell(std::string(name(kind))), Cell("estimated"), Cell(0),
                              Cell(market.usd.front()), Cell(""), Cell(market.median()), Cell(market.usd.back()),
                              Cell(""), Cell("")});
      }
      std::map<std::string_view, std::vector<Quote>> sellers;
      for (std::size_t i = 0; i < market.offers.size() && market.estimate.empty(); ++i) {
        sellers[policy.provider_kind(market.offers[i]->provider)].push_back({market.usd[i], market.offers[i]});
      }
      for (const auto& [who, quotes] : sellers) add_quotes(table, device.id, kind, who, quotes);
    }
  }
  return table;
}

}  // namespace ridge::cli
