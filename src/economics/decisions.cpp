#include "economics/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

namespace {

double useful_hour(CostInputs in, double utilisation) noexcept {
  in.utilisation = utilisation;
  return evaluate(in).usd_per_useful_gpu_hour;
}

/// What running owned hardware costs each hour, without what it cost to buy.
double running_rate(const CostInputs& own) noexcept {
  const HourlyRate rate = hourly_rate(own);
  double usd = 0;
  for (const CostLine line :
       {CostLine::colocation, CostLine::electricity, CostLine::maintenance, CostLine::staff, CostLine::software}) {
    usd += rate.lines[static_cast<std::size_t>(line)];
  }
  return usd;
}

}  // namespace

std::optional<double> break_even_utilisation(const CostInputs& reserved, const CostInputs& used) noexcept {
  CostInputs by_use = used;
  by_use.idle_is_paid = false;
  const auto dearer = [&](double u) { return useful_hour(reserved, u) > useful_hour(by_use, u); };
  if (dearer(1)) return std::nullopt;
  double low = 1e-4, high = 1;
  if (!dearer(low)) return 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (dearer(middle) ? low : high) = middle;
  }
  return high;
}

BreakEvenVolume break_even_volume(const CostInputs& reserved, const CostInputs& api) noexcept {
  const double per_million = evaluate(api).usd_per_million_tokens;
  CostInputs full = reserved;
  full.utilisation = 1;
  const CostOutputs busy = evaluate(full);
  BreakEvenVolume result;
  // What idles draws less power: the month is that of the utilisation which the volume makes.
  double tokens = busy.usd_per_month / per_million * 1e6;
  for (int i = 0; i < 30; ++i) {
    CostInputs in = reserved;
    in.utilisation = std::clamp(tokens / busy.tokens_per_month, 1e-3, 1.0);
    tokens = evaluate(in).usd_per_month / per_million * 1e6;
  }
  result.tokens_per_month = tokens;
  result.fits = tokens <= busy.tokens_per_month;
  return result;
}

double reserved_usd_per_month(const CostInputs& reserved, double tokens_per_month, double most_utilisation) noexcept {
  CostInputs full = reserved;
  full.utilisation = 1;
  const double capacity = evaluate(full).tokens_per_month;
  const double deployments = std::max(1.0, std::ceil(tokens_per_month / (capacity * most_utilisation) - 1e-9));
  CostInputs in = reserved;
  in.utilisation = std::clamp(tokens_per_month / capacity / deployments, 1e-3, 1.0);
  return evaluate(in).usd_per_month * deployments;
}

std::optional<double> payback_years(const CostInputs& own, const CostInputs& rent) noexcept {
  CostInputs rented = rent;
  rented.utilisation = own.utilisation;
  const double saved_per_hour = evaluate(rented).usd_per_month / rented.gpus / kHoursPerMonth - running_rate(own);
  const double capex = hourly_rate(own).capex_usd;
  if (!(saved_per_hour > 0)) return std::nullopt;
  return capex / saved_per_hour / 8760;
}

double required_speedup(const CostInputs& a, const CostInputs& b) noexcept {
  return evaluate(a).usd_per_useful_gpu_hour / evaluate(b).usd_per_useful_gpu_hour;
}

namespace {

std::vector<Acquisition> ways_at(const AcquisitionQuery& q, double decline) {
  const int months = std::max(1, static_cast<int>(std::lround(q.horizon_years * 12)));
  const double monthly = q.own.cost_of_capital / 12;
  const auto worth = [&](int month) { return std::pow(1 + monthly, -month); };  // today's value of a dollar then
  const auto price = [&](double month) { return std::pow(1 - decline, month / 12); };
  const auto kept = [&](int age) {  // of a new one's price, by hardware so many months old
    return 1 - (1 - q.own.residual_share) * std::min(1.0, age / (12 * q.own.life_years));
  };
  const double rent = hourly_rate(q.rent).usd * kHoursPerMonth;
  const double running = running_rate(q.own) * kHoursPerMonth;
  const double capex = hourly_rate(q.own).capex_usd;
  std::vector<Acquisition> all;
  const auto add = [&](std::string name, double usd, double today) {
    all.push_back({std::move(name), usd, usd, usd, usd / (months * kHoursPerMonth), today});
  };
  const auto rented = [&](int from, int to) {
    double usd = 0;
    for (int m = from; m < to; ++m) usd += rent * price(m) * worth(m);
    return usd;
  };
  const auto bought = [&](int from) {
    double usd = capex * price(from) * worth(from) - capex * price(months) * kept(months - from) * worth(months);
    for (int m = from; m < months; ++m) usd += running * worth(m);
    return usd;
  };
  add("buy now", bought(0), capex);
  add("rent on demand", rented(0, months), rent);
  for (const auto& [years, discount] : q.contracts) {
    if (years <= 0) continue;
    double usd = 0;
    double agreed = rent;
    for (int m = 0; m < months; ++m) {
      if (m % (years * 12) == 0) agreed = rent * price(m) * (1 - discount);
      usd += agreed * worth(m);
    }
    add(fmt::format("contract, {} year{}", years, years == 1 ? "" : "s"), usd, rent * (1 - discount));
  }
  for (const double wait : q.waits_months) {
    const int month = static_cast<int>(std::lround(wait));
    if (month <= 0 || month >= months) continue;
    add(fmt::format("rent {} months, then buy", month), rented(0, month) + bought(month), rent);
  }
  return all;
}

}  // namespace

std::vector<Acquisition> acquisitions(const AcquisitionQuery& q) {
  std::vector<Acquisition> all = ways_at(q, q.decline);
  for (const double bound : {q.decline_low, q.decline_high}) {
    const std::vector<Acquisition> there = ways_at(q, bound);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].usd_low = std::min(all[i].usd_low, there[i].usd);
      all[i].usd_high = std::max(all[i].usd_high, there[i].usd);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Acquisition& a, const Acquisition& b) { return a.usd < b.usd; });
  return all;
}

}  // namespace ridge
