// What a price is per, how its amount is written, and what that makes for one device and hour.
//
//   parse_amount("27000 to 40000 USD")      low 27000, high 40000, currency "USD"
//   parse_unit("server-month")              730 hours of as many devices as the server has
//   complete(price)                         sets per_gpu_hour: $9200 / 8 / 730 h = $1.575
//
// Shared by the [[price]] table and by price lists in CSV. Pure functions; any thread may call them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

inline constexpr std::string_view kPriceKinds[] = {"capex", "on_demand",   "spot",       "lease_month", "reserved",
                                                   "api",   "electricity", "colocation", "other"};

struct Amount {
  double low = 0;
  double high = 0;
  std::string currency;
};

/// "9200 USD", "27000 to 40000 USD", or "$9200" for US dollars. Refuses an amount without a currency, zero, a negative
/// or endless one, and a range that runs backwards.
Result<Amount> parse_amount(std::string_view text);

/// A number as price lists have it, or nothing if it is none; NaN and infinities are numbers.
std::optional<double> parse_decimal(std::string_view text);

struct PriceUnit {
  enum class Devices { none, one, several };  ///< accelerators in it: makes no sense, always one, has to be said
  Devices devices = Devices::none;
  double hours = 0;  ///< 0 if it is not paid by time
};

/// Refuses a unit that is not in the list, naming the nearest.
Result<PriceUnit> parse_unit(std::string_view text);

/// How many devices a price is for, given what the entry says (0: nothing). Refuses a number that does not fit the
/// unit.
Result<int> devices_of_unit(const PriceUnit& unit, std::string_view unit_text, int stated);

/// Sets amount and currency.
void set_amount(Price& price, const Amount& amount);

/// Sets per_gpu_hour where it follows. Refuses one that nobody would ask for: the unit is probably another.
Status set_rent(Price& price, const PriceUnit& unit);

}  // namespace ridge
