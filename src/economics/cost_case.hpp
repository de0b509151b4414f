// From names to numbers: which prices, whose hardware, where; with every default said and every price dated.
//
//   CostQuery q;
//   q.mode = CostMode::own; q.device = "h100-sxm"; q.profile = "hyperscaler"; q.region = "us-texas";
//   Result<CostCase> c = cost_case(q, catalogue, data);
//   if (!c) return c.error();                        // a name that does not exist
//   c->inputs.utilisation = 0.7;                     // what the caller knows better
//   if (Status s = check(c->inputs); !s) ...         // what is still unknown
//
// What nobody published stays kUnknown. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "economics/economics_data.hpp"
#include "ridge/catalogue/catalogue.hpp"
#include "ridge/economics/cost.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

/// Prices further apart than this are not of one market.
inline constexpr double kLongestPriceSpan = 1.0;  // years

/// A default that was taken, and the field that would replace it.
struct Assumption {
  std::string field;
  std::string text;
};

/// A price that went into the answer.
struct PriceUsed {
  std::string what;
  double usd = 0;
  std::string unit;
  std::string currency;
  std::string date;
  SourceId source;
};

struct CostQuery {
  CostMode mode = CostMode::rent;
  std::string device;  ///< id, or empty
  std::string system;  ///< id, or empty: one that holds the device
  std::string model;   ///< id, for offers of an API
  std::string profile = "hyperscaler";
  std::string region = "us";
  std::string provider;                                  ///< empty = all
  std::string offer;                                     ///< id of an API offer; empty = the cheapest of the model
  std::string contract;                                  ///< empty = none
  PriceKind rent_kind = PriceKind::on_demand;            ///< on_demand, spot or lease_month
  std::string as_of;                                     ///< later prices do not exist yet
  std::vector<std::pair<std::string, double>> exchange;  ///< currency → US dollars
  double device_power_w = kUnknown;                      ///< of one busy device; unknown = its TDP
  double power_cap_w = 0;                                ///< 0 = none
  double idle_share = 0.2;                               ///< of the TDP that an idle device draws
  std::vector<std::string> given;  ///< fields whose value the caller sets: no default is looked up

  [[nodiscard]] bool is_given(std::string_view field) const;
};

struct CostCase {
  CostInputs inputs;
  std::vector<Assumption> assumptions;
  std::vector<std::string> warnings;
  std::vector<PriceUsed> prices;
  GridImpact grid;
  double rent_low = kUnknown, rent_high = kUnknown;  ///< what a tenth of the offers are below and above
  std::optional<Interval> estimated_rent;            ///< where nobody quotes one: between its bounds
};

Result<CostCase> cost_case(const CostQuery& query, const Catalogue& catalogue, const EconomicsData& data);

/// What the rest of a server draws for each of its devices: what its rating leaves beside them, or in the proportion of
/// a DGX H100 where nobody published one. 0 if the device's own power is not known.
[[nodiscard]] double host_watts(const Catalogue& catalogue, const EconomicsData& data, const Device& device,
                                std::string_view as_of);

/// "prices are of 2022 to 2026-06, more than a year apart", or nothing.
[[nodiscard]] std::optional<std::string> price_span_warning(const std::vector<PriceUsed>& prices);

/// "h100-sxm/mig-3g.40gb" is one of two parts of an h100-sxm: a whole device is paid for, by what it is cut into.
struct DeviceShare {
  std::string device;
  int parts = 1;
};
[[nodiscard]] DeviceShare share_of_device(const Catalogue& catalogue, std::string_view device);

/// The market for renting a device or a share of one: dollars per GPU-hour of the newest year, one for each offer; with
/// `provider`, only of those whose provider or region has that in its name. Of one provider, quotes older than its
/// newest are left out.
///
/// Where nobody quotes an hour on demand or spot, and no provider is asked for, it is estimated: from a series of
/// figures of one origin that has the device (an analyst's rents or costs, a lessor's list), times how far quotes lie
/// above that series on the devices that have both. `usd` then holds the estimate between its bounds.
struct RentMarket {
  std::vector<const Price*> offers;  ///< by price
  std::vector<double> usd;           ///< of each
  std::vector<std::string> warnings;
  std::string estimate;  ///< how the rent was estimated, empty if it is quoted
  [[nodiscard]] int quotes() const { return estimate.empty() ? static_cast<int>(usd.size()) : 0; }
  [[nodiscard]] double quantile(double share) const;  ///< kUnknown if there is no offer
  [[nodiscard]] double median() const { return quantile(0.5); }
};
[[nodiscard]] RentMarket rent_market(const Catalogue& catalogue, std::string_view device, PriceKind kind,
                                     std::string_view provider, std::string_view as_of,
                                     const std::vector<std::pair<std::string, double>>& exchange);

/// What one device costs to buy, alone or as its share of a board or server: newest first, or nothing.
struct PurchasePrice {
  const Price* price = nullptr;
  double usd_per_gpu = kUnknown;
};
[[nodiscard]] PurchasePrice purchase_price(const Catalogue& catalogue, std::string_view device, std::string_view as_of,
                                           const std::vector<std::pair<std::string, double>>& exchange = {});

/// What the caller says of currencies, then what data/economics says of others: the newest that is not after `as_of`.
[[nodiscard]] std::vector<std::pair<std::string, double>> with_known_rates(
    std::vector<std::pair<std::string, double>> exchange, const EconomicsData& data, std::string_view as_of);

}  // namespace ridge
