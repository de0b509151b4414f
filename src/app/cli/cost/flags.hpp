// The flags of `ridge cost` that are no flags of `ridge estimate`: money, site, use.
//
//   CostFlags flags;
//   flags.declare(options);
//   if (Status s = flags.fill(query); !s) return s.error();
//   if (Status s = flags.apply(c.inputs); !s) return s.error();       // what the line says wins over any default
//
// Values stay text until they are applied. Money without "per" is taken as what the flag is about ("$3.39" for
// --price).
#pragma once

#include <string_view>

#include "app/cli/fields/flags.hpp"
#include "ask/money.hpp"
#include "economics/cost_case.hpp"
#include "ridge/economics/cost.hpp"

namespace ridge::cli {

class CostFlags : public Flags {
 public:
  CostFlags() : Flags({ask::cost_fields()}) {}
  void declare(Options& options) { Flags::declare(options, ask::kCost); }
  void turn(std::string_view flag, bool on) { set(flag, on ? "true" : ""); }

  /// Names and choices: mode, profile, region, provider, contract, exchange, spot.
  [[nodiscard]] Status fill(CostQuery& query) const;
  /// Numbers, over what the case found. Refuses (bad_input, `where` = the flag) what cannot be read.
  /// A rent in another currency than dollars needs its rate.
  [[nodiscard]] Status apply(CostInputs& in, const ask::ExchangeRates& rates = {}) const;
  /// The same over a case: assumptions that a flag replaces are dropped, a rate that was used is one.
  [[nodiscard]] Status apply(CostCase& cost_case, const ask::ExchangeRates& rates = {}) const;

 private:
  /// Turns what the flag gives into dollars.
  [[nodiscard]] Status exchange(std::string_view flag, const ask::ExchangeRates& rates);
};

}  // namespace ridge::cli
