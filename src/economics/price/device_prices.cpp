#include "economics/price/device_prices.hpp"

#include <algorithm>
#include <cmath>

namespace ridge {

DevicePrice device_price(const Catalogue& catalogue, const EconomicsData& data, const Device& device,
                         const DevicePriceQuery& query) {
  DevicePrice out;
  out.device = device.id;
  const auto exchange = with_known_rates(query.exchange, data, query.as_of);
  const PurchasePrice bought = purchase_price(catalogue, device.id, query.as_of, exchange);
  if (bought.price != nullptr) {
    out.buy_usd = bought.usd_per_gpu;
    out.buy_date = bought.price->date;
  }
  if (bought.price == nullptr || bought.price->devices <= 1) {
    for (const ServerPrice& server : data.servers) {
      if (server.device != device.id || (!query.as_of.empty() && server.date > query.as_of)) continue;
      out.buy_usd = server.server_usd / server.gpus;
      out.buy_date = server.date;
    }
  }
  const Figure<FlopsPerSecond>& bf16 = device.peak(PeakFormat::bf16);
  const Figure<FlopsPerSecond>& peak = bf16 ? bf16 : device.peak(PeakFormat::fp16);
  if (peak) out.usd_per_pflops = out.buy_usd / (peak->value.value() / 1e15);
  const RentMarket rent =
      rent_market(catalogue, device.id, PriceKind::on_demand, query.provider, query.as_of, exchange);
  out.rent_usd = rent.median();
  out.offers = rent.quotes();
  if (!rent.usd.empty()) out.rent_low_usd = rent.usd.front();
  out.spot_usd = rent_market(catalogue, device.id, PriceKind::spot, query.provider, query.as_of, exchange).median();
  if (device.memory_capacity) out.usd_per_gb_hour = out.rent_usd / (device.memory_capacity->value.value() / 1e9);
  return out;
}

std::vector<ScenarioWinner> winners(const std::vector<DevicePrice>& prices) {
  std::vector<ScenarioWinner> all;
  const auto add = [&](const char* scenario, double DevicePrice::*field, const char* unit, bool by_work = false,
                       bool least = true) {
    ScenarioWinner w;
    w.scenario = scenario;
    w.unit = unit;
    double second = kUnknown;
    const auto better = [&](double a, double b) { return std::isnan(b) || (least ? a < b : a > b); };
    for (const DevicePrice& p : prices) {
      const double value = p.*field;
      if (!std::isfinite(value)) continue;
      if (better(value, w.value)) {
        second = w.value;
        w.runner_up = w.device;
        w.value = value;
        w.device = p.device;
        w.how = by_work ? p.note : "";
      } else if (better(value, second)) {
        second = value;
        w.runner_up = p.device;
      }
    }
    w.margin = second / w.value;
    if (!w.device.empty()) all.push_back(std::move(w));
  };
  add("most tokens from one device", &DevicePrice::tokens_per_s, "tok/s", true, false);
  add("cheapest tokens, on demand", &DevicePrice::usd_per_million_tokens, "$/1M tokens", true);
  add("cheapest tokens, spot", &DevicePrice::spot_usd_per_million_tokens, "$/1M tokens", true);
  add("fewest joules per token", &DevicePrice::joules_per_token, "J", true);
  add("compute to buy", &DevicePrice::usd_per_pflops, "$/dense PFLOP/s");
  add("memory to rent", &DevicePrice::usd_per_gb_hour, "$/GB-hour");
  add("cheapest hour, on demand", &DevicePrice::rent_low_usd, "$/GPU-hour");
  return all;
}

}  // namespace ridge
