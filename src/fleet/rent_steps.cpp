#include "fleet/rent_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "fleet/solver.hpp"
#include "fleet/stocks.hpp"

namespace ridge::fleet {

namespace {

constexpr std::size_t kRentCells = 8000;
constexpr double kRentSlack = 1e-9;  ///< of a cell: what rounding of sums makes

}  // namespace

RentSteps::RentSteps(std::vector<Kind> kinds, double usd_elsewhere, double most_rate)
    : kinds_(std::move(kinds)), elsewhere_(usd_elsewhere), cell_(std::max(most_rate, 1e-9) / kRentCells) {
  const std::size_t cells = kRentCells + 2;
  least_.assign(cells, std::numeric_limits<double>::infinity());
  enough_ = least_;
  choice_.assign(cells, kinds_.size());
  std::vector<std::size_t> up;
  std::vector<std::size_t> down;
  for (const Kind& kind : kinds_) {
    up.push_back(static_cast<std::size_t>(std::ceil(kind.able / cell_)));
    down.push_back(static_cast<std::size_t>(std::floor(kind.able / cell_)));
  }
  least_[0] = enough_[0] = 0;
  for (std::size_t i = 1; i < cells; ++i) {
    if (std::isfinite(elsewhere_)) least_[i] = enough_[i] = elsewhere_ * cell_ * static_cast<double>(i);
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      least_[i] = std::min(least_[i], kinds_[k].usd + least_[i > up[k] ? i - up[k] : 0]);
      if (down[k] == 0) continue;
      const double usd = kinds_[k].usd + enough_[i > down[k] ? i - down[k] : 0];
      if (usd < enough_[i]) {
        enough_[i] = usd;
        choice_[i] = k;
      }
    }
  }
}

double RentSteps::least(double rate) const {
  if (!(rate > 0)) return 0;
  const auto at = static_cast<std::size_t>(std::floor(rate / cell_ - kRentSlack));
  return least_[std::min(at, least_.size() - 1)];
}

double RentSteps::enough(double rate) const {
  if (!(rate > 0)) return 0;
  const auto at = static_cast<std::size_t>(std::ceil(rate / cell_ - kRentSlack));
  return at < enough_.size() ? enough_[at] : std::numeric_limits<double>::infinity();
}

std::vector<int> RentSteps::choose(double rate) const {
  std::vector<int> out(kinds_.size(), 0);
  double left = rate;
  while (left > kRentSlack * cell_) {
    const auto at = static_cast<std::size_t>(std::ceil(left / cell_ - kRentSlack));
    const std::size_t kind = choice_[std::min(at, choice_.size() - 1)];
    if (kind == kinds_.size()) break;
    ++out[kind];
    left -= kinds_[kind].able;
  }
  return out;
}

std::vector<RentSteps::Kind> rent_kinds(const Problem& problem, int service, int month) {
  const Service& of = problem.services[static_cast<std::size_t>(service)];
  std::vector<RentSteps::Kind> kinds;
  for (const Option& option : problem.options) {
    if (option.service != service) continue;
    for (const Stock& stock : problem.stocks) {
      const Pool& pool = problem.pools[static_cast<std::size_t>(stock.pool)];
      if (is_held(stock.way) || pool.device != option.device || pool.forbidden >= 0) continue;
      if (!of.allowed[static_cast<std::size_t>(pool.site)] || (stock.way == Way::spot && !of.spot)) continue;
      if (month < stock.first || month > stock.last) continue;
      kinds.push_back({option.requests_per_s, option.gpus * trended(stock.usd_hour, stock, month)});
    }
  }
  return kinds;
}

double usd_elsewhere(const Problem& problem, int service, bool unlimited_only) {
  const std::optional<double>& value = problem.services[static_cast<std::size_t>(service)].value;
  double least = value ? *value : kNoLimit;
  for (const Api& api : problem.apis) {
    if (api.service == service && api.allowed && (api.most == 0 || !unlimited_only))
      least = std::min(least, api.usd_per_request);
  }
  return least * 3600;
}

std::vector<LineBelow> lines_below(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<std::size_t> hull;
  for (std::size_t i = 0; i < x.size(); ++i) {
    while (hull.size() > 1) {
      const std::size_t a = hull[hull.size() - 2];
      const std::size_t b = hull.back();
      if ((y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a])) break;
      hull.pop_back();
    }
    hull.push_back(i);
  }
  std::vector<LineBelow> lines;
  for (std::size_t i = 0; i + 1 < hull.size(); ++i) {
    const double slope = (y[hull[i]] - y[hull[i + 1]]) / (x[hull[i + 1]] - x[hull[i]]);
    if (slope > 0) lines.push_back({y[hull[i]] + slope * x[hull[i]], slope});
  }
  return lines;
}

}  // namespace ridge::fleet
