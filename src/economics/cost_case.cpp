#include "economics/cost_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/base/text.hpp"
#include "ridge/catalogue/engine.hpp"

namespace ridge {

namespace {

/// What a DGX H100 draws beside its GPUs, over what they draw: for servers whose power nobody published.
constexpr double kUsualHostShare = (10200.0 - 5600.0) / 5600.0;
constexpr double kUsualBeyondServer = 60000.0 / 8;  // network, storage and the rest of an H100 cluster, per GPU

const ServerPrice* server_of(const EconomicsData& data, std::string_view device, std::string_view as_of) {
  const ServerPrice* found = nullptr;
  for (const ServerPrice& server : data.servers) {
    const bool later = !as_of.empty() && year_of(server.date) > year_of(as_of) + 1.0 / 24;
    if (server.device == device && !later) found = &server;
  }
  return found;
}

/// The one that is sold, or the smallest whose power is published.
const System* usual_system(const Catalogue& catalogue, const EconomicsData& data, std::string_view device,
                           std::string_view as_of) {
  const ServerPrice* server = server_of(data, device, as_of);
  const System* found = server != nullptr ? catalogue.system(server->system) : nullptr;
  if (found != nullptr) return found;
  for (const System& s : catalogue.systems()) {
    if (s.device != device || !s.power_max) continue;
    if (found == nullptr || s.devices() < found->devices()) found = &s;
  }
  return found;
}

double host_power(const System* system, const Device& device) {
  const double tdp = device.tdp->value.value();
  if (system == nullptr || !system->power_max || system->device != device.id) return kUsualHostShare * tdp;
  return std::max(0.0, system->power_max->value.value() / system->devices() - tdp);
}

class CaseBuilder {
 public:
  CaseBuilder(const CostQuery& query, const Catalogue& catalogue, const EconomicsData& data)
      : q_(query), catalogue_(catalogue), data_(data) {}

  Result<CostCase> run() {
    out_.inputs.mode = q_.mode;
    for (const auto step :
         {&CaseBuilder::names, &CaseBuilder::site, &CaseBuilder::purchase, &CaseBuilder::rental, &CaseBuilder::api}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    if (const auto warning = price_span_warning(out_.prices)) out_.warnings.push_back(*warning);
    return std::move(out_);
  }

 private:
  template <class... Args>
  void assume(std::string field, fmt::format_string<Args...> text, Args&&... args) {
    out_.assumptions.push_back({std::move(field), fmt::format(text, std::forward<Args>(args)...)});
  }
  void used(std::string what, double usd, std::string unit, const std::string& date, SourceId source) {
    out_.prices.push_back({std::move(what), usd, std::move(unit), "USD", date, source});
  }
  const std::string& dated(SourceId source) const { return catalogue_.source(source).date; }

  Status names() {
    if (!q_.device.empty()) {
      Result<Device> device = catalogue_.find_device(q_.device);
      if (!device) return device.error();
      device_ = *std::move(device);
    }
    if (!q_.system.empty()) {
      system_ = catalogue_.system(q_.system);
      if (system_ == nullptr) {
        return Error{ErrorCode::not_found, "⟦system⟧", fmt::format("there is no system {}", ridge::quoted(q_.system))};
      }
      if (!device_) device_ = *catalogue_.find_device(system_->device);
    }
    if (device_) {
      server_ = server_of(data_, device_->id, q_.as_of);
      if (system_ == nullptr) system_ = usual_system(catalogue_, data_, device_->id, q_.as_of);
    }
    Result<const OwnerProfile*> profile = data_.profile(q_.profile);
    if (!profile) return Error{ErrorCode::not_found, "⟦profile⟧", profile.error().message};
    profile_ = *profile;
    Result<const EnergyRegion*> region = data_.region(q_.region);
    if (!region) return Error{ErrorCode::not_found, "⟦region⟧", region.error().message};
    region_ = *region;
    return {};
  }

  /// Power and electricity; for rented hardware too, so that energy is known.
  Status site() {
    CostInputs& in = out_.inputs;
    out_.grid = {region_->co2_kg_per_kwh.value_or(kUnknown), region_->site_water_l_per_kwh.value_or(kUnknown),
                 region_->power_water_l_per_kwh.value_or(kUnknown)};
    const bool owned = q_.mode == CostMode::own;
    if (owned && !q_.is_given("region") && !q_.is_given("electricity")) {
      assume("region", "electricity of {}", region_->name);
    }
    if (!q_.is_given("electricity")) {
      in.electricity_usd_per_kwh = region_->electricity_usd_per_kwh.value_or(kUnknown);
      if (owned && region_->electricity_usd_per_kwh) {
        used("electricity, " + region_->name, in.electricity_usd_per_kwh, "kWh", dated(region_->source),
             region_->source);
      }
    }
    if (!device_ || !device_->tdp || q_.mode == CostMode::api) return {};
    const double tdp = device_->tdp->value.value();
    SitePower& power = in.power;
    const double limit = q_.power_cap_w > 0 ? std::min(q_.power_cap_w, tdp) : tdp;
    power.device_limit_w = limit;
    power.device_idle_w = q_.idle_share * tdp;
    if (!std::isnan(q_.device_power_w)) {
      power.device_busy_w = q_.device_power_w;
    } else {
      power.device_busy_w = limit;
      if (!q_.is_given("device_power")) assume("device_power", "busy GPUs draw their limit, {:.0f} W", limit);
    }
    power.host_w = host_power(system_, *device_);
    if (system_ != nullptr && system_->power_max && system_->device == device_->id) {
      assume("host_power", "{:.0f} W a GPU for the rest of the server: {} at {}", power.host_w, system_->name,
             format(system_->power_max->value));
    } else {
      assume("host_power", "{:.0f} W a GPU for the rest of the server, in the proportion of a DGX H100", power.host_w);
    }
    const bool liquid = system_ != nullptr && system_->cooling == Cooling::liquid;
    power.pue = liquid ? profile_->pue_liquid : profile_->pue_air;
    power.network_storage_share = profile_->network_power_share;
    assume("pue", "PUE {:.2f} ({})", power.pue, liquid ? "liquid cooling" : "air cooling");
    assume("network_power", "{:.0f} % more IT power for network and storage", 100 * power.network_storage_share);
    return {};
  }

  Status purchase() {
    if (q_.mode != CostMode::own) return {};
    CostInputs& in = out_.inputs;
    const OwnerProfile& p = *profile_;
    if (!q_.is_given("profile")) assume("profile", "owner: {}", p.id);
    in.cost_of_capital = p.cost_of_capital;
    in.life_years = p.life_years;
    in.residual_share = p.residual_share;
    in.colocation_usd_per_kw_month = p.colocation_usd_per_kw_month;
    in.maintenance_share = p.maintenance_share;
    in.staff_usd_per_year = p.staff_usd_per_year;
    assume("cost_of_capital", "cost of capital {:.1f} % a year", 100 * p.cost_of_capital);
    assume("life", "hardware lasts {:g} years", p.life_years);
    assume("residual", "residual value {:.0f} %", 100 * p.residual_share);
    assume("colocation", "colocation at ${:g} per kW and month", p.colocation_usd_per_kw_month);
    assume("maintenance", "maintenance {:.1f} % of the hardware a year", 100 * p.maintenance_share);
    assume("staff", "staff at ${:g} per GPU and year", p.staff_usd_per_year);
    if (q_.is_given("server_price")) {
      if (!q_.is_given("network_price") && !q_.is_given("storage_price") && !q_.is_given("installation_price")) {
        beyond_server(kUsualBeyondServer, "as for an H100 in 2025-08");
      }
      return {};
    }
    if (!device_) return {};
    if (server_ != nullptr) {
      in.server_usd = server_->server_usd / server_->gpus * p.server_price;
      assume("server_price", "server at {} a GPU: {} of {}, {:g} times a hyperscaler's", format(Dollars(in.server_usd)),
             server_->id, server_->date, p.server_price);
      used("server, " + server_->id, server_->server_usd / server_->gpus, "GPU", server_->date, server_->source);
      beyond_server((server_->all_in_usd - server_->server_usd) / server_->gpus, "of the same source");
      return {};
    }
    const PurchasePrice bought =
        purchase_price(catalogue_, device_->id, q_.as_of, with_known_rates(q_.exchange, data_, q_.as_of));
    if (bought.price == nullptr) return {};
    in.server_usd = bought.usd_per_gpu * p.server_price;
    assume("server_price", "server at {} a GPU: {} of {}, {:g} times the listed price", format(Dollars(in.server_usd)),
           bought.price->id, bought.price->date, p.server_price);
    used("purchase, " + bought.price->id, bought.usd_per_gpu, "GPU", bought.price->date, bought.price->source);
    beyond_server(kUsualBeyondServer, "as for an H100 in 2025-08");
    return {};
  }

  void beyond_server(double usd, std::string_view where) {
    CostInputs& in = out_.inputs;
    in.network_usd = usd * profile_->split_network;
    in.storage_usd = usd * profile_->split_storage;
    in.installation_usd = usd * profile_->split_installation;
    assume("network_price", "network, storage and installation {} a GPU, {}; split {:.0f}/{:.0f}/{:.0f} %",
           format(Dollars(usd)), where, 100 * profile_->split_network, 100 * profile_->split_storage,
           100 * profile_->split_installation);
  }

  Status rental() {
    if (q_.mode != CostMode::rent && q_.mode != CostMode::managed) return {};
    CostInputs& in = out_.inputs;
    if (q_.mode == CostMode::managed) {
      in.platform_share = data_.platform_share;
      assume("platform", "the platform takes {:.0f} % on top", 100 * data_.platform_share);
    }
    if (q_.rent_kind == PriceKind::spot) {
      in.preemptions_per_hour = data_.spot.preemptions_per_hour;
      in.preemption_loss_hours = data_.spot.loss_hours;
      assume("preemptions", "spot capacity is preempted {:g} times an hour", in.preemptions_per_hour);
      assume("preemption_loss", "each preemption costs {:g} hours", in.preemption_loss_hours);
    }
    if (!q_.contract.empty()) {
      const Result<const Contract*> contract = data_.contract(q_.contract);
      if (!contract) return Error{ErrorCode::not_found, "⟦contract⟧", contract.error().message};
      in.rent_discount = (*contract)->discount;
      assume("discount", "{:.0f} % off for a contract of {} year{}", 100 * in.rent_discount, (*contract)->years,
             (*contract)->years == 1 ? "" : "s");
    }
    if (q_.is_given("price") || q_.is_given("lease_month") || !device_) return {};
    const RentMarket market = rent_market(catalogue_, device_->id, q_.rent_kind, q_.provider, q_.as_of,
                                          with_known_rates(q_.exchange, data_, q_.as_of));
    out_.warnings.insert(out_.warnings.end(), market.warnings.begin(), market.warnings.end());
    if (market.usd.empty()) return {};
    in.rent_usd_per_gpu_hour = market.median();
    out_.rent_low = market.quantile(0.1);
    out_.rent_high = market.quantile(0.9);
    const std::string_view kind = q_.rent_kind == PriceKind::on_demand ? "on-demand" : name(q_.rent_kind);
    if (!market.estimate.empty()) {
      out_.estimated_rent = Interval{market.usd.front(), market.median(), market.usd.back()};
      assume("price", "rent of ${:.2f}, estimated: {}", market.median(), market.estimate);
    } else if (market.quotes() == 1) {
      assume("price", "rent of ${:.2f}: one {} quote alone, of {}", market.median(), kind, market.offers.front()->date);
    } else {
      assume("price", "rent of ${:.2f}: the median of {} {} offers from ${:.2f} to ${:.2f}", market.median(),
             market.usd.size(), kind, market.usd.front(), market.usd.back());
    }
    if (const DeviceShare share = share_of_device(catalogue_, device_->id); share.parts > 1) {
      assume("price", "{} such parts of one {} share its rent", share.parts, share.device);
    }
    const Price* newest = market.offers.front();
    const Price* oldest = newest;
    for (const Price* offer : market.offers) {
      if (year_of(offer->date) > year_of(newest->date)) newest = offer;
      if (year_of(offer->date) < year_of(oldest->date)) oldest = offer;
    }
    used(market.estimate.empty() ? "rent, newest offer" : "rent, estimated", market.median(), "GPU-hour", newest->date,
         newest->source);
    if (oldest->date != newest->date) {
      used("rent, oldest offer", market.median(), "GPU-hour", oldest->date, oldest->source);
    }
    return {};
  }

  Status api() {
    if (q_.mode != CostMode::api || (q_.is_given("api_input") && q_.is_given("api_output"))) return {};
    const ApiOffer* offer = nullptr;
    if (!q_.offer.empty()) {
      const Result<const ApiOffer*> found = data_.offer(q_.offer);
      if (!found) return Error{ErrorCode::not_found, "⟦offer⟧", found.error().message};
      offer = *found;
    } else if (!q_.model.empty()) {
      for (const ApiOffer& o : data_.offers) {
        if (o.model != q_.model) continue;
        const double both = o.input_usd_per_million + o.output_usd_per_million;
        if (offer == nullptr || both < offer->input_usd_per_million + offer->output_usd_per_million) offer = &o;
      }
    }
    if (offer == nullptr) return {};
    out_.inputs.api_input_usd_per_million = offer->input_usd_per_million;
    out_.inputs.api_output_usd_per_million = offer->output_usd_per_million;
    if (q_.offer.empty()) assume("offer", "the cheapest offer of the model: {}", offer->id);
    used("API input, " + offer->id, offer->input_usd_per_million, "1M tokens", offer->date, offer->source);
    used("API output, " + offer->id, offer->output_usd_per_million, "1M tokens", offer->date, offer->source);
    return {};
  }

  const CostQuery& q_;
  const Catalogue& catalogue_;
  const EconomicsData& data_;
  std::optional<Device> device_;
  const System* system_ = nullptr;
  const ServerPrice* server_ = nullptr;
  const OwnerProfile* profile_ = nullptr;
  const EnergyRegion* region_ = nullptr;
  CostCase out_;
};

}  // namespace

bool CostQuery::is_given(std::string_view field) const {
  return std::find(given.begin(), given.end(), field) != given.end();
}

double host_watts(const Catalogue& catalogue, const EconomicsData& data, const Device& device, std::string_view as_of) {
  if (!device.tdp) return 0;
  return host_power(usual_system(catalogue, data, device.id, as_of), device);
}

Result<CostCase> cost_case(const CostQuery& query, const Catalogue& catalogue, const EconomicsData& data) {
  return CaseBuilder(query, catalogue, data).run();
}

}  // namespace ridge
