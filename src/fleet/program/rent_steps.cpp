#include "fleet/program/rent_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "fleet/program/solver.hpp"
#include "fleet/program/stocks.hpp"

namespace ridge::fleet {

namespace {

constexpr std::size_t kRentCells = 8000;
constexpr double kBundleCells = 4;
constexpr double kRentSlack = 1e-9;  ///< of a cell: what rounding of sums makes

}  // namespace

CheapestSums::CheapestSums(double most, std::size_t cells)
    : width_(std::max(most, 1e-9) / static_cast<double>(cells)),
      usd_(cells + 1, std::numeric_limits<double>::infinity()),
      able_(cells + 1, 0.0) {
  usd_[0] = 0;
}

void CheapestSums::take(double able, double usd) {
  const double each = std::max(able, width_ * (1 + kRentSlack));  // so that every one of them is a step
  const double per_width = 1 / width_;
  const auto end = static_cast<double>(last());
  for (std::size_t from = 0; from < last(); ++from) {
    if (!(usd_[from] < std::numeric_limits<double>::infinity())) continue;
    const double sum = able_[from] + each;
    const auto to = static_cast<std::size_t>(std::min(end, sum * per_width));
    usd_[to] = std::min(usd_[to], usd_[from] + usd);
    able_[to] = std::max(able_[to], sum);
  }
}

RentSteps::RentSteps(std::vector<Kind> kinds, double usd_elsewhere, double most_rate)
    : kinds_(std::move(kinds)),
      elsewhere_(usd_elsewhere),
      cell_(std::max(most_rate, 1e-9) / kRentCells),
      sums_(most_rate, kRentCells) {
  constexpr double none = std::numeric_limits<double>::infinity();
  for (const Kind& kind : kinds_) sums_.take(kind.able, kind.usd);
  const std::size_t last = sums_.last();
  more_.assign(last + 1, none);
  less_.assign(last + 1, none);
  for (std::size_t i = last + 1; i-- > 0;) more_[i] = std::min(i < last ? more_[i + 1] : none, sums_.usd(i));
  for (std::size_t i = 1; i <= last && std::isfinite(elsewhere_); ++i)
    less_[i] = std::min(less_[i - 1], sums_.usd(i - 1) - elsewhere_ * sums_.able(i - 1));

  const std::size_t cells = kRentCells + 2;
  enough_.assign(cells, none);
  choice_.assign(cells, kinds_.size());
  std::vector<std::size_t> down;
  for (const Kind& kind : kinds_) {
    // Replicas that are small beside a cell come in bundles, or rounding down would leave little or nothing of them.
    bundle_.push_back(std::max(1.0, std::ceil(kBundleCells * cell_ / kind.able)));
    down.push_back(static_cast<std::size_t>(std::floor(bundle_.back() * kind.able / cell_)));
  }
  enough_[0] = 0;
  for (std::size_t i = 1; i < cells; ++i) {
    if (std::isfinite(elsewhere_)) enough_[i] = elsewhere_ * cell_ * static_cast<double>(i);
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const double usd = bundle_[k] * kinds_[k].usd + enough_[i > down[k] ? i - down[k] : 0];
      if (usd < enough_[i]) {
        enough_[i] = usd;
        choice_[i] = k;
      }
    }
  }
}

double RentSteps::least(double rate) const {
  if (!(rate > 0)) return 0;
  const std::size_t last = sums_.last();
  const auto at = std::min(last, static_cast<std::size_t>(rate / cell_));
  double usd = at < last ? more_[at + 1] : sums_.usd(last);
  if (at < last && sums_.able(at) * (1 + kRentSlack) >= rate) usd = std::min(usd, sums_.usd(at));
  if (std::isfinite(elsewhere_)) {
    const double here = sums_.usd(at) + elsewhere_ * std::max(0.0, rate - sums_.able(at));
    usd = std::min({usd, here, less_[at] + elsewhere_ * rate});
  }
  return usd;
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
    const double replicas = std::min(bundle_[kind], std::ceil(left / kinds_[kind].able - kRentSlack));
    out[kind] += static_cast<int>(replicas);
    left -= replicas * kinds_[kind].able;
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
