// What nobody has written down yet: devices on sale, and the figures and prices that they lack.
#include <algorithm>

#include "app/cli/show/sheet.hpp"

namespace ridge::cli {

namespace {

bool priced(const Catalogue& catalogue, const std::string& device, PriceKind kind) {
  return std::any_of(catalogue.prices().begin(), catalogue.prices().end(),
                     [&](const Price& price) { return price.device == device && price.kind == kind; });
}

std::string listed(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

}  // namespace

Table missing_table(const Catalogue& catalogue) {
  Table table;
  table.title = "Devices on sale that lack something";
  table.columns = {{.key = "device", .heading = "device"},
                   {.key = "needed", .heading = "no prediction without", .overflow = Overflow::wrap},
                   {.key = "figures", .heading = "other figures", .overflow = Overflow::wrap},
                   {.key = "prices", .heading = "prices", .overflow = Overflow::wrap}};
  for (const Device& device : catalogue.devices()) {
    if (device.status != Sale::shipping) continue;
    std::vector<std::string_view> needed, figures, prices;
    const auto want = [](std::vector<std::string_view>& list, bool known, std::string_view what) {
      if (!known) list.push_back(what);
    };
    want(needed, device.memory_capacity.has_value(), "memory");
    want(needed, device.memory_bandwidth.has_value(), "bandwidth");
    want(needed, device.peak(PeakFormat::bf16) || device.peak(PeakFormat::fp16), "16-bit peak");
    want(figures, device.tdp.has_value(), "power");
    want(figures, device.cores.has_value(), "cores");
    want(figures, device.boost_clock.has_value(), "clock");
    want(figures, device.l2.has_value(), "L2");
    want(figures, device.scale_up_domain.has_value(), "scale-up");
    want(figures, device.node_size.has_value(), "devices of a host");
    want(prices, priced(catalogue, device.id, PriceKind::on_demand), "on demand");
    want(prices, priced(catalogue, device.id, PriceKind::spot), "spot");
    want(prices, priced(catalogue, device.id, PriceKind::capex), "to buy");
    if (needed.empty() && figures.empty() && prices.empty()) continue;
    table.rows.push_back({Cell(device.id), Cell(listed(needed)), Cell(listed(figures)), Cell(listed(prices))});
  }
  return table;
}

}  // namespace ridge::cli
