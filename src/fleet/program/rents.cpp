// Replicas that are rented by the hour: whole ones, of several kinds, and what that costs at least.
#include <algorithm>
#include <cmath>

#include "fleet/program/program.hpp"
#include "fleet/program/rent_steps.hpp"
#include "fleet/program/stocks.hpp"

namespace ridge::fleet {

namespace {

constexpr int kStairPoints = 2000;

}  // namespace

/// What is rented is whole in every hour. With x for what held replicas can do less what may fail, each hour costs no
/// less than the staircase of its demand less x; the sum of these over a day falls with x, and lines below it are rows:
///   rents + elsewhere + loss >= height - slope x.
/// `loss` is a column of its own: the program may rent more cheaply than whole replicas can be had.
void Program::add_rent_steps(const Service& service, int index, int month, std::size_t first_rented,
                             std::size_t first_outside) {
  const auto s = static_cast<std::size_t>(index);
  const auto at = static_cast<std::size_t>(month);
  const std::vector<RentSteps::Kind> kinds = rent_kinds(problem_, index, month);
  double most_size = 0;
  for (const Option& option : problem_.options) {
    if (option.service == index) most_size = std::max(most_size, option.requests_per_s);
  }
  const double elsewhere = usd_elsewhere(problem_, index, false);
  if (kinds.empty() && elsewhere == kNoLimit) return;
  double peak = 0;
  for (int h = 0; h < problem_.hours; ++h) peak = std::max(peak, service.demand[problem_.at(month, h)]);
  const double least_x = -service.spare * most_size;
  const RentSteps steps(kinds, elsewhere, peak - least_x);
  std::vector<double> x;
  std::vector<double> y;
  const double width = (peak - least_x) / kStairPoints;
  for (int i = 0; i < kStairPoints; ++i) {
    // Falling: within a step, its right end is its least.
    x.push_back(least_x + i * width);
    double usd = 0;
    for (int h = 0; h < problem_.hours; ++h)
      usd += steps.least(service.demand[problem_.at(month, h)] - (x.back() + width));
    y.push_back(usd * days_);
  }
  if (!std::isfinite(y.front())) return;
  std::vector<Paid>& paid = paid_[s][at];
  paid.push_back({add(1, kNoLimit, false, month), 1, -1, 0});
  const auto pays = [&](int column, int band, double serves) {
    if (column >= 0) paid.push_back({column, linear_.cost[static_cast<std::size_t>(column)], band, serves});
  };
  for (int b = 0; b < bands_.count; ++b) {
    for (std::size_t i = first_rented; i < rented_.size(); ++i)
      pays(rented_[i].replicas[step(month, b)], b,
           problem_.options[static_cast<std::size_t>(rented_[i].option)].requests_per_s);
    for (std::size_t i = first_outside; i < outside_.size(); ++i) pays(outside_[i].routed[step(month, b)], b, 1);
  }
  for (const LineBelow& line : lines_below(x, y)) {
    std::vector<Term> terms;
    for (const Paid& each : paid) terms.push_back({each.column, each.usd});
    terms.push_back({able_[s][at], line.slope});
    if (service.spare > 0) terms.push_back({largest_[s][at], -line.slope});
    for (Term& term : terms) term.times /= y.front();
    linear_.row(line.height / y.front(), kNoLimit, terms);
  }
}

/// Whole replicas for what held ones leave in each hour of a month, as cheap as they can be had. A larger kind makes
/// more of the service fail at once: with spares, each size that the largest may have is tried.
void Program::fix_rents(LinearProgram& out, int index, int month, double stands, double largest) const {
  const auto s = static_cast<std::size_t>(index);
  const auto at = static_cast<std::size_t>(month);
  const Service& service = problem_.services[s];
  std::vector<std::size_t> offered;
  std::vector<double> sizes;
  for (std::size_t i = 0; i < rented_.size(); ++i) {
    if (problem_.options[static_cast<std::size_t>(rented_[i].option)].service != index) continue;
    for (int h = 0; h < problem_.hours; ++h) fix_column(out, rented_[i].replicas[step(month, h)], 0);
    if (service.spare > 0) fix_column(out, rented_[i].used[at], 0);
    const Stock& stock = problem_.stocks[static_cast<std::size_t>(rented_[i].stock)];
    if (month < stock.first || month > stock.last) continue;
    offered.push_back(i);
    sizes.push_back(problem_.options[static_cast<std::size_t>(rented_[i].option)].requests_per_s);
  }
  if (offered.empty()) return;
  double peak = 0;
  for (int h = 0; h < problem_.hours; ++h) peak = std::max(peak, service.demand[problem_.at(month, h)]);
  std::vector<double> tried = {*std::max_element(sizes.begin(), sizes.end())};
  if (service.spare > 0) {
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    tried = sizes;
  }
  const double elsewhere = usd_elsewhere(problem_, index, true);
  double least = kNoLimit;
  std::vector<std::vector<int>> best;
  std::vector<std::size_t> best_kinds;
  for (const double size : tried) {
    std::vector<RentSteps::Kind> kinds;
    std::vector<std::size_t> which;
    for (const std::size_t i : offered) {
      const Option& option = problem_.options[static_cast<std::size_t>(rented_[i].option)];
      const Stock& stock = problem_.stocks[static_cast<std::size_t>(rented_[i].stock)];
      if (option.requests_per_s > size) continue;
      kinds.push_back({option.requests_per_s, option.gpus * trended(stock.usd_hour, stock, month)});
      which.push_back(i);
    }
    const double fails = service.spare * std::max(largest, size);
    const double without_rent = service.spare * largest;
    const RentSteps steps(kinds, elsewhere, std::max(0.0, peak + fails - stands));
    double usd = 0;
    bool fits = true;
    std::vector<std::vector<int>> counts;
    for (int h = 0; h < problem_.hours; ++h) {
      const double demand = service.demand[problem_.at(month, h)];
      const bool any = demand + without_rent - stands > 1e-9;
      const double need = any || fails > without_rent ? demand + fails - stands : 0;
      counts.push_back(steps.choose(need));
      double left = need;
      std::vector<double> gpus(problem_.stocks.size(), 0.0);
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        const int replicas = counts.back()[k];
        usd += replicas * kinds[k].usd;
        left -= replicas * kinds[k].able;
        const auto stock = static_cast<std::size_t>(rented_[which[k]].stock);
        gpus[stock] += replicas * problem_.options[static_cast<std::size_t>(rented_[which[k]].option)].gpus;
        fits = fits && gpus[stock] <= problem_.stocks[stock].most;
      }
      if (left > 1e-9) usd += std::isfinite(elsewhere) ? left * elsewhere : 0;
    }
    if (!fits || usd >= least) continue;
    least = usd;
    best = counts;
    best_kinds = which;
  }
  for (std::size_t k = 0; k < best_kinds.size(); ++k) {
    const Rented& rented = rented_[best_kinds[k]];
    bool used = false;
    for (int h = 0; h < problem_.hours; ++h) {
      const int replicas = best[static_cast<std::size_t>(h)][k];
      fix_column(out, rented.replicas[step(month, h)], replicas);
      used = used || replicas > 0;
    }
    if (service.spare > 0) fix_column(out, rented.used[at], used ? 1 : 0);
  }
}

}  // namespace ridge::fleet
