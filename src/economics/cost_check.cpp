// What cost inputs may be. The bounds are far beyond any price ever paid, and near enough to catch a slipped unit.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ridge/base/change.hpp"
#include "ridge/base/text.hpp"
#include "ridge/economics/cost.hpp"

namespace ridge {

namespace {

constexpr unsigned kOwn = 1, kRent = 2, kManaged = 4, kApi = 8, kEvery = 15;

struct Range {
  double CostInputs::*input;
  std::string_view field;
  std::string_view what;
  double low, high;
  unsigned needed_by;  ///< modes that cannot do without it
};

constexpr std::array kRanges = {
    Range{&CostInputs::gpus, "gpus", "the number of GPUs", 1, 1e7, kOwn | kRent | kManaged},
    Range{&CostInputs::server_usd, "server_price", "the price of a server per GPU", 1, 1e7, kOwn},
    Range{&CostInputs::network_usd, "network_price", "the price of the network per GPU", 0, 1e7, kOwn},
    Range{&CostInputs::storage_usd, "storage_price", "the price of storage per GPU", 0, 1e7, kOwn},
    Range{&CostInputs::installation_usd, "installation_price", "installation per GPU", 0, 1e7, kOwn},
    Range{&CostInputs::cost_of_capital, "cost_of_capital", "the cost of capital per year", 0, 1, kOwn},
    Range{&CostInputs::life_years, "life", "the life of the hardware in years", 0.25, 30, kOwn},
    Range{&CostInputs::residual_share, "residual", "the residual value", 0, 0.95, kOwn},
    Range{&CostInputs::colocation_usd_per_kw_month, "colocation", "colocation per kW and month", 0, 5000, kOwn},
    Range{&CostInputs::electricity_usd_per_kwh, "electricity", "the price of a kWh", 0, 5, kOwn},
    Range{&CostInputs::maintenance_share, "maintenance", "maintenance per year", 0, 1, kOwn},
    Range{&CostInputs::staff_usd_per_year, "staff", "staff per GPU and year", 0, 1e6, kOwn},
    Range{&CostInputs::software_usd_per_year, "software", "software per GPU and year", 0, 1e6, kOwn},
    Range{&CostInputs::rent_usd_per_gpu_hour, "price", "the price of a GPU-hour", 1e-4, 1000, kRent | kManaged},
    Range{&CostInputs::rent_discount, "discount", "the discount", 0, 0.99, kRent | kManaged},
    Range{&CostInputs::platform_share, "platform", "what the platform takes on top", 0, 10, kManaged},
    Range{&CostInputs::preemptions_per_hour, "preemptions", "preemptions per hour", 0, 100, kRent | kManaged},
    Range{&CostInputs::preemption_loss_hours, "preemption_loss", "the hours a preemption costs", 0, 100,
          kRent | kManaged},
    Range{&CostInputs::utilisation, "utilization", "the utilisation", 0.001, 1, kEvery},
    Range{&CostInputs::goodput, "goodput", "the goodput", 0.001, 1, kOwn | kRent | kManaged},
    Range{&CostInputs::output_tokens_per_s, "throughput", "output tokens per second", 1e-6, 1e12, 0},
    Range{&CostInputs::input_tokens_per_s, "input_throughput", "input tokens per second", 0, 1e13, 0},
    Range{&CostInputs::requests_per_s, "requests", "requests per second", 0, 1e9, 0},
    Range{&CostInputs::prefill_share, "prefill_share", "the share of prefill", 0, 1, 0},
    Range{&CostInputs::api_input_usd_per_million, "api_input", "the API's price of a million input tokens", 0, 1e5, 0},
    Range{&CostInputs::api_output_usd_per_million, "api_output", "the API's price of a million output tokens", 0, 1e5,
          kApi},
};

struct PowerRange {
  double SitePower::*input;
  std::string_view field;
  std::string_view what;
  double low, high;
};
constexpr std::array kPowerRanges = {
    PowerRange{&SitePower::device_busy_w, "device_power", "the power of a busy GPU", 1, 20000},
    PowerRange{&SitePower::device_idle_w, "idle_power", "the power of an idle GPU", 0, 20000},
    PowerRange{&SitePower::device_limit_w, "device_limit", "the power limit of a GPU", 0, 20000},
    PowerRange{&SitePower::host_w, "host_power", "the host's power per GPU", 0, 20000},
    PowerRange{&SitePower::network_storage_share, "network_power", "network and storage power", 0, 5},
    PowerRange{&SitePower::pue, "pue", "the PUE", 1, 4},
};

unsigned bit(CostMode mode) {
  return 1U << static_cast<unsigned>(mode);
}

Status check_one(double value, double low, double high, std::string_view field, std::string_view what, bool needed) {
  if (std::isnan(value)) {
    if (!needed) return {};
    const bool of_device = field == "price" || field == "server_price";
    return Error{ErrorCode::refused, named(field),
                 fmt::format("{} is unknown: {}say it", what,
                             of_device ? "name a device whose price is published (⟦device⟧), or " : "")};
  }
  if (value >= low && value <= high) return {};
  return Error{ErrorCode::bad_input, named(field),
               fmt::format("{} cannot be {}: it is between {} and {}", what, format_number(value), format_number(low),
                           format_number(high))};
}

}  // namespace

Status check(const CostInputs& in) {
  for (const Range& b : kRanges) {
    if (Status s = check_one(in.*b.input, b.low, b.high, b.field, b.what, (b.needed_by & bit(in.mode)) != 0); !s)
      return s;
  }
  for (const PowerRange& b : kPowerRanges) {
    const bool needed = in.mode == CostMode::own;
    if (Status s = check_one(in.power.*b.input, b.low, b.high, b.field, b.what, needed); !s) return s;
  }
  if (in.mode == CostMode::api && in.input_tokens_per_s > 0 && std::isnan(in.api_input_usd_per_million)) {
    return Error{ErrorCode::refused, "⟦api_input⟧", "the API's price of a million input tokens is unknown: say it"};
  }
  return {};
}

}  // namespace ridge
