// Amounts of money in any currency, as an estate's file writes them.
//
//   Exchange exchange(economics, "2026-11");
//   exchange.set("SGD", 0.74);                                    // what the file says goes first
//   Result<double> usd = exchange.amount<Dollars>("CNY 1.2M");    // also "€40k", "90000 RMB", "$2M"
//   Result<double> rent = exchange.amount<GpuRent>("12 CNY/GPU-hour");
//
// Base units of the quantity in US dollars. Refuses (bad_input) what is no amount, and a currency without a rate.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "economics/economics_data.hpp"
#include "ridge/base/quantity.hpp"
#include "ridge/base/text.hpp"

namespace ridge::fleet {

class Exchange {
 public:
  Exchange(const EconomicsData& economics, const std::string& as_of);
  /// Refuses (bad_input) what is no currency ("USD" is one dollar, "cny" is none), and one that is set already.
  Status set(const std::string& currency, double usd);

  template <class Q>
  Result<double> amount(std::string_view text) {
    double rate = 1;
    const Result<std::string> dollars = in_dollars(text, rate);
    if (!dollars) return dollars.error();
    const Result<Q> value = parse_quantity<Q>(*dollars);
    if (!value) return Error{ErrorCode::bad_input, "", quoted(text) + ": " + value.error().message};
    return value->value() * rate;
  }
  /// "CNY at $0.140 (2025-08-21)" for each that was used.
  [[nodiscard]] std::vector<std::string> used() const;
  /// One that was set, is known from nowhere else, and that no amount is in: a misspelt code; empty if there is none.
  [[nodiscard]] std::string unknown() const;

 private:
  struct Rate {
    double usd = 1;
    std::string date;
    bool used = false;
    bool is_set = false;
    bool is_known = true;  ///< from the data, too
  };
  /// The same text with $ in front; `rate` is what one unit is worth.
  Result<std::string> in_dollars(std::string_view text, double& rate);
  std::map<std::string, Rate, std::less<>> rates_;
};

}  // namespace ridge::fleet
