#include "catalogue/tables/price_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "ridge/base/text.hpp"

namespace ridge {

namespace {

struct NamedUnit {
  std::string_view name;
  PriceUnit unit;
};

using Devices = PriceUnit::Devices;

constexpr NamedUnit kUnits[] = {
    {"GPU", {Devices::one, 0}},
    {"GPU-hour", {Devices::one, 1}},
    {"GPU-month", {Devices::one, kHoursPerMonth}},
    {"GPU-year", {Devices::one, kHoursPerYear}},
    {"chip", {Devices::one, 0}},
    {"chip-hour", {Devices::one, 1}},
    {"chip-month", {Devices::one, kHoursPerMonth}},
    {"chip-year", {Devices::one, kHoursPerYear}},
    {"card", {Devices::one, 0}},
    {"card-hour", {Devices::one, 1}},
    {"card-month", {Devices::one, kHoursPerMonth}},
    {"card-year", {Devices::one, kHoursPerYear}},
    {"board", {Devices::several, 0}},
    {"server", {Devices::several, 0}},
    {"server-hour", {Devices::several, 1}},
    {"server-month", {Devices::several, kHoursPerMonth}},
    {"server-year", {Devices::several, kHoursPerYear}},
    {"instance-hour", {Devices::several, 1}},
    {"instance-month", {Devices::several, kHoursPerMonth}},
    {"instance-year", {Devices::several, kHoursPerYear}},
    {"rack", {Devices::several, 0}},
    {"rack-hour", {Devices::several, 1}},
    {"rack-month", {Devices::several, kHoursPerMonth}},
    {"rack-year", {Devices::several, kHoursPerYear}},
    {"1M tokens", {Devices::none, 0}},
    {"run", {Devices::none, 0}},
    {"kWh", {Devices::none, 0}},
    {"MWh", {Devices::none, 0}},
    {"kW-month", {Devices::none, 0}},
    {"kW-year", {Devices::none, 0}},
};

// Between the floor of an auction and forty times the dearest offer known in 2026.
constexpr double kLowestRent = 0.001;
constexpr double kHighestRent = 1000;

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_currency(std::string_view text) {
  return text.size() == 3 && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

Error bad(std::string message) {
  return {ErrorCode::bad_input, "", std::move(message)};
}

}  // namespace

std::string_view name(PriceKind kind) {
  return kPriceKinds[static_cast<std::size_t>(kind)];
}

std::optional<double> parse_decimal(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<Amount> parse_amount(std::string_view text) {
  Amount amount;
  std::string_view rest = trim(text);
  if (!rest.empty() && rest.front() == '$') {
    amount.currency = "USD";
    rest.remove_prefix(1);
  } else if (const std::size_t space = rest.rfind(' ');
             space != std::string_view::npos && is_currency(rest.substr(space + 1))) {
    amount.currency = rest.substr(space + 1);
    rest = trim(rest.substr(0, space));
  } else {
    return bad(fmt::format("'{}' names no currency: write \"9200 USD\" or \"27000 to 40000 CNY\"", text));
  }
  constexpr std::string_view kTo = " to ";
  const std::size_t to = rest.find(kTo);
  const std::optional<double> low = parse_decimal(rest.substr(0, to));
  const std::optional<double> high = to == std::string_view::npos ? low : parse_decimal(rest.substr(to + kTo.size()));
  if (!low || !high || !std::isfinite(*low) || !std::isfinite(*high)) {
    return bad(fmt::format("'{}' is no amount: write \"9200 USD\" or \"27000 to 40000 USD\"", text));
  }
  if (*low <= 0 || *high <= 0) return bad("nothing is sold for nothing: leave out what has no price");
  if (*low > *high) return bad(fmt::format("the range '{}' runs backwards", text));
  amount.low = *low;
  amount.high = *high;
  return amount;
}

Result<PriceUnit> parse_unit(std::string_view text) {
  const auto at =
      std::find_if(std::begin(kUnits), std::end(kUnits), [&](const NamedUnit& u) { return u.name == text; });
  if (at != std::end(kUnits)) return at->unit;
  std::vector<std::string_view> names;
  for (const NamedUnit& unit : kUnits) names.push_back(unit.name);
  const std::string near = nearest(text, names.data(), names.size());
  return bad(near.empty() ? fmt::format("'{}' is no unit; use {}", text, fmt::join(names, ", "))
                          : fmt::format("'{}' is no unit; did you mean {}?", text, near));
}

Result<int> devices_of_unit(const PriceUnit& unit, std::string_view unit_text, int stated) {
  switch (unit.devices) {
    case Devices::none:
      if (stated != 0) return bad(fmt::format("a {} has no number of devices: leave 'devices' out", unit_text));
      return 0;
    case Devices::one:
      if (stated > 1)
        return bad(fmt::format("a {} is one device: leave 'devices' out, or use server or rack", unit_text));
      return 1;
    case Devices::several:
      if (stated < 1) return bad(fmt::format("a {} of how many devices? Add devices = 8, for example", unit_text));
      return stated;
  }
  return 0;
}

void set_amount(Price& price, const Amount& amount) {
  price.low = amount.low;
  price.high = amount.high;
  price.amount = (amount.low + amount.high) / 2;
  price.currency = amount.currency;
}

Status set_rent(Price& price, const PriceUnit& unit) {
  if (unit.hours <= 0 || price.devices < 1 || price.currency != "USD") return {};
  const double dollars_per_hour = price.amount / (price.devices * unit.hours);
  if (dollars_per_hour < kLowestRent || dollars_per_hour > kHighestRent) {
    return bad(fmt::format("{} {} per {} of {} would be ${} for one device and hour: check unit and devices",
                           format_number(price.amount, 6), price.currency, price.unit, price.devices,
                           format_number(dollars_per_hour)));
  }
  price.per_gpu_hour = dollars(dollars_per_hour) / hours(1) / Gpus(1);
  return {};
}

}  // namespace ridge
