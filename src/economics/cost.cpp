#include "ridge/economics/cost.hpp"

#include <cmath>

#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

namespace {

constexpr double kHoursOfYear = 8760;

constexpr std::size_t at(CostLine line) {
  return static_cast<std::size_t>(line);
}

HourlyRate own_rate(const CostInputs& in) noexcept {
  HourlyRate rate;
  auto& lines = rate.lines;
  rate.capex_usd = in.server_usd + in.network_usd + in.storage_usd + in.installation_usd;
  const double life_hours = in.life_years * kHoursOfYear;
  lines[at(CostLine::server)] = in.server_usd / life_hours;
  lines[at(CostLine::network)] = in.network_usd / life_hours;
  lines[at(CostLine::storage)] = in.storage_usd / life_hours;
  lines[at(CostLine::installation)] = in.installation_usd / life_hours;
  lines[at(CostLine::residual)] = -rate.capex_usd * in.residual_share / life_hours;
  const double straight_line = (1 - in.residual_share) / life_hours;
  lines[at(CostLine::capital)] =
      rate.capex_usd * (capital_per_hour(in.cost_of_capital, in.life_years, in.residual_share) - straight_line);
  rate.utility_w = utility_power(in.power, in.utilisation);
  lines[at(CostLine::colocation)] =
      provisioned_power(in.power) / 1000 * in.colocation_usd_per_kw_month / kHoursPerMonth;
  lines[at(CostLine::electricity)] = rate.utility_w / 1000 * in.electricity_usd_per_kwh;
  // Installation is labour and building work: nothing of it is under a maintenance contract.
  lines[at(CostLine::maintenance)] = (rate.capex_usd - in.installation_usd) * in.maintenance_share / kHoursOfYear;
  lines[at(CostLine::staff)] = in.staff_usd_per_year / kHoursOfYear;
  lines[at(CostLine::software)] = in.software_usd_per_year / kHoursOfYear;
  return rate;
}

HourlyRate rented_rate(const CostInputs& in) noexcept {
  HourlyRate rate;
  auto& lines = rate.lines;
  const double paid = in.rent_usd_per_gpu_hour * (1 - in.rent_discount);
  lines[at(CostLine::rent)] = in.rent_usd_per_gpu_hour;
  lines[at(CostLine::discount)] = -in.rent_usd_per_gpu_hour * in.rent_discount;
  lines[at(CostLine::platform)] = in.mode == CostMode::managed ? paid * in.platform_share : 0;
  lines[at(CostLine::software)] = in.software_usd_per_year / kHoursOfYear;
  lines[at(CostLine::staff)] = in.staff_usd_per_year / kHoursOfYear;
  rate.utility_w = utility_power(in.power, in.utilisation);
  return rate;
}

/// By the token: nothing is reserved, so that nothing idles and nothing fails at the user's expense.
CostOutputs api_cost(const CostInputs& in) noexcept {
  CostOutputs out;
  out.usd_per_gpu_hour = out.usd_per_useful_gpu_hour = kUnknown;
  out.utility_w_per_gpu = out.joules_per_token = kUnknown;
  const double input = in.input_tokens_per_s;
  const double output = in.output_tokens_per_s;
  const double usd_per_s =
      ((input > 0 ? input * in.api_input_usd_per_million : 0) + output * in.api_output_usd_per_million) / 1e6;
  const double working_s = kHoursPerMonth * 3600 * in.utilisation;
  out.usd_per_month = usd_per_s * working_s;
  out.tokens_per_month = output * working_s;
  out.usd_per_million_tokens = usd_per_s / output * 1e6;
  out.usd_per_million_total_tokens = usd_per_s / (input + output) * 1e6;
  out.usd_per_million_input_tokens = in.api_input_usd_per_million;
  out.usd_per_million_output_tokens = in.api_output_usd_per_million;
  out.usd_per_request = in.requests_per_s > 0 ? usd_per_s / in.requests_per_s : kUnknown;
  return out;
}

}  // namespace

double capital_per_hour(double cost_of_capital, double life_years, double residual_share) noexcept {
  const double months = life_years * 12;
  const double monthly = cost_of_capital / 12;
  // Below this the annuity loses its digits, and the straight line is what it tends to.
  if (!(monthly > 1e-9)) return (1 - residual_share) / (life_years * kHoursOfYear);
  const double discount = std::exp(-months * std::log1p(monthly));
  return (1 - residual_share * discount) * monthly / (1 - discount) / kHoursPerMonth;
}

HourlyRate hourly_rate(const CostInputs& in) noexcept {
  HourlyRate rate = in.mode == CostMode::own ? own_rate(in) : rented_rate(in);
  for (const double line : rate.lines) rate.usd += line;
  return rate;
}

CostOutputs evaluate(const CostInputs& in) noexcept {
  if (in.mode == CostMode::api) return api_cost(in);
  const HourlyRate rate = hourly_rate(in);
  CostOutputs out;
  out.per_gpu_hour = rate.lines;
  out.capex_usd_per_gpu = rate.capex_usd;
  out.usd_per_gpu_hour = rate.usd;
  out.utility_w_per_gpu = rate.utility_w;

  // A useful hour is paid, has work, is not taken back, and survives: each step divides by its share.
  const double with_work = in.idle_is_paid ? in.utilisation : 1;
  const double kept = kept_share(in.preemptions_per_hour, in.preemption_loss_hours);
  double so_far = rate.usd;
  const auto lose = [&](CostLine line, double share) {
    out.per_gpu_hour[at(line)] = so_far / share - so_far;
    so_far /= share;
  };
  lose(CostLine::idle, with_work);
  lose(CostLine::preemption, kept);
  lose(CostLine::failures, in.goodput);
  out.usd_per_useful_gpu_hour = so_far;

  const double paid_hours = kHoursPerMonth * (in.idle_is_paid ? 1 : in.utilisation);
  out.usd_per_month = rate.usd * in.gpus * paid_hours;
  const double useful_share = in.utilisation * kept * in.goodput;
  const double output = in.output_tokens_per_s;
  out.tokens_per_month = output * useful_share * kHoursPerMonth * 3600;
  out.usd_per_million_tokens = usd_per_million(so_far, in.gpus, output);
  out.usd_per_million_total_tokens = usd_per_million(so_far, in.gpus, output + in.input_tokens_per_s);
  out.usd_per_million_output_tokens = out.usd_per_million_tokens * (1 - in.prefill_share);
  out.usd_per_million_input_tokens =
      in.input_tokens_per_s > 0 ? usd_per_million(so_far, in.gpus, in.input_tokens_per_s) * in.prefill_share : kUnknown;
  out.usd_per_request = in.requests_per_s > 0 ? so_far * in.gpus / 3600 / in.requests_per_s : kUnknown;
  out.joules_per_token = rate.utility_w * in.gpus / (output * useful_share);
  return out;
}

std::string_view name(CostMode mode) {
  static constexpr std::string_view kNames[] = {"own", "rent", "managed", "api"};
  return kNames[static_cast<std::size_t>(mode)];
}

std::string_view name(CostLine line) {
  static constexpr std::string_view kNames[kCostLines] = {
      "server",     "network",     "storage",     "installation", "residual value", "cost of capital",
      "colocation", "electricity", "maintenance", "staff",        "software",       "rent",
      "discount",   "platform",    "idle hours",  "preemptions",  "failures"};
  return kNames[at(line)];
}

}  // namespace ridge
