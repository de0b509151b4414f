#include "fleet/program/month_costs.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::fleet {

namespace {

constexpr int kCostCells = 4000;
constexpr double kDearer = 20;  ///< than the dearest device on offer: what nothing serves, however little it is

}  // namespace

MonthCosts::MonthCosts(const Problem& problem) : p_(problem), tables_(problem.services.size() * at(problem.months)) {
  double dearest = 1;  // dollars of a device and hour
  for (const Stock& stock : p_.stocks) {
    const double month = stock.usd_month + stock.charge_month;
    dearest = std::max({dearest, stock.usd_hour, month / p_.hours_of_month()});
  }
  for (std::size_t s = 0; s < p_.services.size(); ++s) {
    double largest = 0;
    double devices = 0;  // for 1 request/s
    for (const Option& o : p_.options) {
      if (o.service != static_cast<int>(s)) continue;
      largest = std::max(largest, o.requests_per_s);
      devices = std::max(devices, o.gpus / o.requests_per_s);
    }
    largest_.push_back(largest);
    never_.push_back(kDearer * dearest * std::max(devices, 1e-6));
  }
}

double MonthCosts::of(int s, int month, const Mix& mix) {
  const Service& service = p_.services[at(s)];
  Tables& t = tables_[at(s) * at(p_.months) + at(month)];
  if (t.stairs.empty()) fill(t, s, month);
  double usd = 0;
  if (mix.able > 0) {
    const auto cell = std::min(at(kCostCells), static_cast<std::size_t>(mix.able / t.energy_cell));
    for (std::size_t site = 0; site < mix.kw.size(); ++site) {
      if (mix.kw[site] > 0) usd += mix.kw[site] / mix.able * t.energy[site][cell];
    }
  }
  // Without any rent, nothing of its size can fail.
  if (t.peak + service.spare * mix.largest <= mix.able + 1e-9) return usd * p_.days;
  usd += t.never;
  double least = rents(t, t.stairs.size() - 1, service, mix, month);
  if (service.spare > 0) {
    // Those no larger than what is there anyway.
    for (std::size_t i = t.stairs.size() - 1; i-- > 0;) {
      if (i > 0 && t.stairs[i].size > mix.largest) continue;
      least = std::min(least, rents(t, i, service, mix, month));
      break;
    }
  }
  return (usd + least) * p_.days;
}

double MonthCosts::rents(Tables& t, std::size_t which, const Service& service, const Mix& mix, int month) const {
  Stairs& stairs = t.stairs[which];
  if (stairs.usd.empty()) {
    for (int i = 0; i <= kCostCells; ++i) {
      const double x = t.lowest + i * t.rent_cell;
      double usd = 0;
      for (int h = 0; h < p_.hours; ++h) usd += stairs.steps->enough(service.demand[p_.at(month, h)] - x);
      stairs.usd.push_back(usd);
    }
  }
  const double x = mix.able - service.spare * std::max(mix.largest, stairs.size);
  const double cell = std::floor((x - t.lowest) / t.rent_cell + 1e-9);
  return stairs.usd[static_cast<std::size_t>(std::clamp(cell, 0.0, static_cast<double>(kCostCells)))];
}

void MonthCosts::fill(Tables& t, int s, int month) {
  const Service& service = p_.services[at(s)];
  for (int h = 0; h < p_.hours; ++h) t.peak = std::max(t.peak, service.demand[p_.at(month, h)]);
  t.peak = std::max(t.peak, 1e-9);
  t.energy_cell = t.peak / kCostCells;
  for (const Site& site : p_.sites) {
    std::vector<double>& usd = t.energy.emplace_back(at(kCostCells + 1), 0.0);
    for (int i = 0; i <= kCostCells && site.energy_paid; ++i) {
      for (int h = 0; h < p_.hours; ++h)
        usd[at(i)] += site.pue * site.usd_per_kwh[at(h)] * std::min(i * t.energy_cell, service.demand[p_.at(month, h)]);
    }
  }
  const double fails = service.spare * largest_[at(s)];
  t.lowest = -fails;
  t.rent_cell = (t.peak + fails) / kCostCells;
  std::vector<RentSteps::Kind> kinds = rent_kinds(p_, s, month);
  std::sort(kinds.begin(), kinds.end(),
            [](const auto& a, const auto& b) { return a.able < b.able || (a.able == b.able && a.usd < b.usd); });
  const double most = *std::max_element(service.demand.begin(), service.demand.end());
  double elsewhere = usd_elsewhere(p_, s, true);
  if (kinds.empty() && !std::isfinite(elsewhere)) {
    elsewhere = never_[at(s)];
    t.never = elsewhere * largest_[at(s)] * p_.hours;
  }
  for (std::size_t n = service.spare > 0 ? 1 : std::max<std::size_t>(1, kinds.size());
       n <= std::max<std::size_t>(1, kinds.size()); ++n) {
    std::vector<RentSteps::Kind> some(kinds.begin(),
                                      kinds.begin() + static_cast<std::ptrdiff_t>(std::min(n, kinds.size())));
    std::vector<double> key = {static_cast<double>(s)};
    for (const RentSteps::Kind& kind : some) {
      key.push_back(kind.able);
      key.push_back(kind.usd);
    }
    std::shared_ptr<const RentSteps>& known = known_[key];
    const double size = some.empty() ? 0 : some.back().able;
    if (!known) known = std::make_shared<RentSteps>(some, elsewhere, most + fails);
    t.stairs.push_back({size, known, {}});
  }
}

}  // namespace ridge::fleet
