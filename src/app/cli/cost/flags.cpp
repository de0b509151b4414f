#include "app/cli/cost/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/cli/session/wrong.hpp"

namespace ridge::cli {

namespace {

constexpr std::string_view kRents[] = {"--price", "--lease-month"};  // may be in another currency

const double* rate_of(const ask::ExchangeRates& rates, const std::string& code) {
  const auto at = std::find_if(rates.begin(), rates.end(), [&](const auto& rate) { return rate.first == code; });
  return at == rates.end() ? nullptr : &at->second;
}

}  // namespace

Status CostFlags::exchange(std::string_view flag, const ask::ExchangeRates& rates) {
  const std::optional<ask::ForeignMoney> other = ask::foreign_money(value(flag));
  if (!other) return {};
  const double* rate = rate_of(rates, other->code);
  if (rate == nullptr) {
    return wrong(flag, fmt::format("what one {0} is worth is not known: say --exchange {0}=0.14", other->code));
  }
  const ask::Field& field = *find(flag).field;
  const Result<double> amount = ask::read_value(field, other->as_dollars);
  if (!amount) return wrong(flag, amount.error().message);
  set(flag, ask::write_value(field, *amount * *rate));
  return {};
}

Status CostFlags::apply(CostInputs& in, const ask::ExchangeRates& rates) const {
  CostFlags dollars(*this);
  for (const std::string_view flag : kRents) {
    if (const Status s = dollars.exchange(flag, rates); !s) return s;
  }
  if (const Status s = dollars.read_into(in); !s) return s;
  if (!given("--lease-month")) return {};
  if (given("--price")) return wrong("--lease-month", "is another price than --price: leave one out");
  const Result<double> month = dollars.number("--lease-month", 0);
  if (!month) return month.error();
  if (!(*month > 0)) return wrong("--lease-month", "write a price above 0, for example $9200");
  in.rent_usd_per_gpu_hour = lease_per_gpu_hour(*month, in.gpus);
  return {};
}

Status CostFlags::apply(CostCase& c, const ask::ExchangeRates& rates) const {
  std::erase_if(c.assumptions, [said = given_keys()](const Assumption& a) {
    return std::find(said.begin(), said.end(), a.field) != said.end();
  });
  for (const std::string_view flag : kRents) {
    const std::optional<ask::ForeignMoney> other = ask::foreign_money(value(flag));
    const double* rate = other ? rate_of(rates, other->code) : nullptr;
    if (rate == nullptr) continue;
    c.assumptions.push_back(
        {"exchange", fmt::format("{} of {}, one {} at ${:g}", flag, value(flag), other->code, *rate)});
  }
  return apply(c.inputs, rates);
}

Status CostFlags::fill(CostQuery& query) const {
  query.given = given_keys();
  return read_into(query);
}

}  // namespace ridge::cli
