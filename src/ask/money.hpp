// Money in another currency than dollars, as people write it.
//
//   foreign_money("60000 CNY");        // {"CNY", "$60000"}: read as dollars, multiply by what one CNY is worth
//   foreign_money("€2.10/GPU-hour");   // {"EUR", "$2.10/GPU-hour"}
//   foreign_money("$3.39");            // nothing
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridge::ask {

/// What one of a currency is worth in dollars.
using ExchangeRates = std::vector<std::pair<std::string, double>>;

struct ForeignMoney {
  std::string code;
  std::string as_dollars;  ///< "$60000": to be read as dollars and multiplied by the rate
};

/// Nothing for dollars and for what is no amount.
[[nodiscard]] std::optional<ForeignMoney> foreign_money(std::string_view text);

}  // namespace ridge::ask
