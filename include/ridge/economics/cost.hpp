// What an hour of a deployment costs, and what a token costs that comes out of it: one pure function over plain
// numbers.
//
//   CostInputs in;
//   in.mode = CostMode::rent; in.gpus = 8; in.rent_usd_per_gpu_hour = 3.39;
//   in.output_tokens_per_s = 32'000;                       // of the whole deployment at full load
//   if (Status s = check(in); !s) return s.error();        // names what is missing, negative or absurd
//   CostOutputs out = evaluate(in);                        // allocates nothing; some tens of nanoseconds
//   out.usd_per_million_tokens;                            // 0.235
//   out.per_gpu_hour[static_cast<std::size_t>(CostLine::rent)];  // where each cent goes
//
// For searches that know the tokens later, hourly_rate() alone is what an hour costs; usd_per_million() finishes it.
// A price that is not known is kUnknown (NaN): every result that needs it is kUnknown as well, never zero. Money is US
// dollars of one date; mixing is for the caller to notice (economics/cost_case.hpp). All functions but check() are
// noexcept and allocate nothing; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ridge/base/result.hpp"
#include "ridge/economics/energy.hpp"

namespace ridge {

enum class CostMode : std::uint8_t {
  own,      ///< bought, financed, housed and run
  rent,     ///< by the hour: on demand, spot, leased by the month or under contract
  managed,  ///< rented with a platform on top that somebody else runs
  api,      ///< by the token
};
[[nodiscard]] std::string_view name(CostMode mode);

/// Everything the cost depends on. Per accelerator unless the name says otherwise.
struct CostInputs {
  CostMode mode = CostMode::rent;
  double gpus = 1;  ///< of the whole deployment

  // own: paid once
  double server_usd = kUnknown;
  double network_usd = 0;
  double storage_usd = 0;
  double installation_usd = 0;
  double cost_of_capital = 0;  ///< per year
  double life_years = 4;
  double residual_share = 0;  ///< of all of the above, left at the end of its life

  // own: paid all the time
  double colocation_usd_per_kw_month = 0;  ///< per kW of provisioned IT power
  double electricity_usd_per_kwh = 0;
  double maintenance_share = 0;  ///< of the hardware's price, per year
  double staff_usd_per_year = 0;
  double software_usd_per_year = 0;
  SitePower power;

  // rent and managed
  double rent_usd_per_gpu_hour = kUnknown;  ///< as listed
  double rent_discount = 0;                 ///< share taken off for a commitment
  double platform_share = 0;                ///< managed: what the platform takes on top, over the rent
  double preemptions_per_hour = 0;          ///< spot: of the whole deployment
  double preemption_loss_hours = 0;         ///< that each one costs: work lost and time to be back
  bool idle_is_paid = true;                 ///< false: capacity is given back when there is no work

  // use
  double utilisation = 1;  ///< share of the time in which there is work
  double goodput = 1;      ///< share of the working time that counts: without failures, restarts and checkpoints

  // work, of the whole deployment at full load
  double output_tokens_per_s = kUnknown;  ///< generated, or trained
  double input_tokens_per_s = 0;
  double requests_per_s = 0;
  double prefill_share = 0;  ///< of the time: to share the cost out between input and output

  // api
  double api_input_usd_per_million = kUnknown;
  double api_output_usd_per_million = kUnknown;
};

/// Where a cent goes. Up to `platform` they add up to what a paid hour costs; the rest is paid without anything to show
/// for it.
enum class CostLine : std::uint8_t {
  server,
  network,
  storage,
  installation,
  residual,  ///< negative: what the hardware still fetches
  capital,   ///< interest
  colocation,
  electricity,
  maintenance,
  staff,
  software,
  rent,
  discount,  ///< negative
  platform,
  idle,        ///< paid hours without work
  preemption,  ///< spot capacity taken back
  failures,    ///< restarts, lost work, checkpoints
};
inline constexpr std::size_t kCostLines = 17;
/// Lines before this one make up the paid hour.
inline constexpr CostLine kFirstLoss = CostLine::idle;
[[nodiscard]] std::string_view name(CostLine line);

struct CostOutputs {
  std::array<double, kCostLines> per_gpu_hour{};  ///< add up to usd_per_useful_gpu_hour; zeros for an API
  double capex_usd_per_gpu = 0;                   ///< own
  double usd_per_gpu_hour = 0;                    ///< paid
  double usd_per_useful_gpu_hour = 0;
  double usd_per_month = 0;           ///< whole deployment: 730 hours, or those with work where idle time is not paid
  double usd_per_million_tokens = 0;  ///< all cost over output (or trained) tokens
  double usd_per_million_total_tokens = 0;   ///< over input and output
  double usd_per_million_input_tokens = 0;   ///< shared out by prefill_share; kUnknown without input
  double usd_per_million_output_tokens = 0;  ///< the other share
  double usd_per_request = 0;
  double tokens_per_month = 0;  ///< output tokens that really come out
  double utility_w_per_gpu = 0;
  double joules_per_token = 0;  ///< at the meter, idle time and failures included
};

/// Everything that is asked of `in` has been said and can be: refuses (bad_input) what is negative, infinite or absurd,
/// and (refused) what the mode needs and nobody has said, naming the flag.
[[nodiscard]] Status check(const CostInputs& in);

/// What a paid GPU-hour costs, by line; the losses are zero. The part of evaluate() that does not depend on tokens.
struct HourlyRate {
  std::array<double, kCostLines> lines{};
  double capex_usd = 0;
  double usd = 0;
  double utility_w = 0;
};
[[nodiscard]] HourlyRate hourly_rate(const CostInputs& in) noexcept;

[[nodiscard]] CostOutputs evaluate(const CostInputs& in) noexcept;

/// Dollars per million of what `gpus` devices make at `per_s` in all, at so much for each useful hour of one.
[[nodiscard]] constexpr double usd_per_million(double usd_per_gpu_hour, double gpus, double per_s) noexcept {
  return usd_per_gpu_hour * gpus / 3600.0 / per_s * 1e6;
}
/// Of the paid time, what is not lost when capacity is taken back so often, each time at the loss of so many hours.
[[nodiscard]] constexpr double kept_share(double preemptions_per_hour, double loss_hours) noexcept {
  return 1 / (1 + preemptions_per_hour * loss_hours);
}
/// What one GPU-hour of a lease costs: "$9,200 a month for 8 GPUs" is $1.575.
[[nodiscard]] constexpr double lease_per_gpu_hour(double usd_per_month, double gpus) noexcept {
  return usd_per_month / gpus / 730.0;
}
/// What an owner pays each hour for one dollar of hardware: annuity over its life by months, of what its sale at the
/// end does not bring back.
[[nodiscard]] double capital_per_hour(double cost_of_capital, double life_years, double residual_share) noexcept;

}  // namespace ridge
