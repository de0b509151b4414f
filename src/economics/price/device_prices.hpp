// What a device costs for what it has: dollars per dense PFLOP/s, per GB-hour of memory, per million tokens.
//
//   DevicePrice p = device_price(catalogue, data, *catalogue.device("mi300x"), {});
//   p.usd_per_pflops;        // kUnknown if nobody published a price or a dense peak
//
// Pure; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "economics/cost_case.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

struct DevicePriceQuery {
  std::string provider;
  std::string as_of;
  std::vector<std::pair<std::string, double>> exchange;
};

struct DevicePrice {
  std::string device;
  double buy_usd = kUnknown;  ///< one device, or its share of a board
  std::string buy_date;
  double usd_per_pflops = kUnknown;          ///< over the dense bf16 peak (fp16 where there is no bf16)
  double rent_usd = kUnknown;                ///< median on demand
  double rent_low_usd = kUnknown;            ///< the cheapest
  double spot_usd = kUnknown;                ///< median
  int offers = 0;                            ///< 0: the rent is estimated (RentMarket)
  double usd_per_gb_hour = kUnknown;         ///< median rent over memory as the vendor names it
  double tokens_per_s = kUnknown;            ///< of one device; this and what follows is put in by the caller
  double usd_per_million_tokens = kUnknown;  ///< rented
  double spot_usd_per_million_tokens = kUnknown;
  double joules_per_token = kUnknown;  ///< of the device alone
  std::string note;                    ///< layout and formats, or why there are no tokens
};

/// To buy: the share of a board, of a whole server if no board is sold alone, or one device.
[[nodiscard]] DevicePrice device_price(const Catalogue& catalogue, const EconomicsData& data, const Device& device,
                                       const DevicePriceQuery& query);

/// The device that is best at something.
struct ScenarioWinner {
  std::string scenario;
  std::string device;
  double value = kUnknown;
  std::string unit;
  std::string how;  ///< of what depends on the work: its note
  std::string runner_up;
  double margin = kUnknown;  ///< the runner-up's value over the winner's
};
[[nodiscard]] std::vector<ScenarioWinner> winners(const std::vector<DevicePrice>& prices);

}  // namespace ridge
