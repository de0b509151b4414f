// Rows that follow from whole numbers and from hours, and that a program without them does not know.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fleet/program/program.hpp"
#include "fleet/program/stocks.hpp"

namespace ridge::fleet {

/// How large the largest replica is, without whole numbers. Of the busiest hours K, with D the sum of their demand:
/// replicas smaller than r that leave a share u(r) of D to larger ones, to rents and to others,
///   |K| smaller + elsewhere + D u(r) >= D,
/// mean that `largest` is at least the sum over the sizes of u(r) times the step from the next smaller one. With whole
/// numbers u has to be more than 0 only where a larger one is in use, so that nothing is cut off.
void Program::add_sizes(const Service& service, int month, const std::vector<Term>& placed, int largest,
                        const std::vector<std::vector<Term>>& elsewhere) {
  std::vector<double> sizes;
  for (const Term& term : placed) sizes.push_back(term.times);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.empty()) return;
  std::vector<int> order(static_cast<std::size_t>(problem_.hours));
  std::iota(order.begin(), order.end(), 0);
  const auto now = [&](int h) { return service.demand[problem_.at(month, h)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return now(a) > now(b); });
  const bool steady =
      std::all_of(elsewhere.begin(), elsewhere.end(), [](const std::vector<Term>& terms) { return terms.empty(); });
  std::vector<int> shares;
  std::vector<Term> steps = {{largest, 1}};
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    shares.push_back(add(0, 1, false, month));
    steps.push_back({shares.back(), -service.spare * (sizes[t] - (t > 0 ? sizes[t - 1] : 0))});
  }
  linear_.row(0, kNoLimit, steps);
  // Where only held replicas serve, the busiest hour and its spare say all.
  const std::vector<int> counts =
      steady ? std::vector<int>{1} : std::vector<int>{1, problem_.hours / 3, problem_.hours};
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const int count = counts[c];
    if (count < 1 || (c > 0 && count == counts[c - 1])) continue;
    double sum = steady ? service.spare * sizes.front() : 0;
    std::vector<double> of_band(elsewhere.size(), 0.0);
    for (int k = 0; k < count; ++k) {
      const int hour = order[static_cast<std::size_t>(k)];
      sum += now(hour);
      const auto band = static_cast<std::size_t>(bands_.of_hour[static_cast<std::size_t>(hour)]);
      // The mean of a band times its hours is no less than the sum over some of them.
      of_band[band] = is_relaxed() ? size_[band] : of_band[band] + 1;
    }
    std::vector<Term> others;
    for (std::size_t b = 0; b < elsewhere.size(); ++b) {
      for (const Term& term : elsewhere[b]) {
        if (of_band[b] > 0) others.push_back({term.column, term.times * of_band[b]});
      }
    }
    for (std::size_t t = 0; t < sizes.size(); ++t) {
      std::vector<Term> smaller = others;
      smaller.push_back({shares[t], sum});
      for (const Term& term : placed) {
        if (term.times < sizes[t]) smaller.push_back({term.column, term.times * count});
      }
      linear_.row(sum, kNoLimit, smaller);
    }
  }
}

/// What the mean of a band forgets: in each hour, held replicas serve no more than they can. Of the k busiest hours of
/// a band, with R the mean of what is rented or served elsewhere, C what held replicas can do and L what may fail,
///   n R >= sum over k hours of (demand - C + L).
void Program::add_hours_of_band(const Service& service, int month, int band, const std::vector<Term>& placed,
                                std::size_t index, const std::vector<Term>& standing) {
  std::vector<double> demands;
  for (int h = 0; h < problem_.hours; ++h) {
    if (bands_.of_hour[static_cast<std::size_t>(h)] == band) demands.push_back(service.demand[problem_.at(month, h)]);
  }
  std::sort(demands.begin(), demands.end(), std::greater<>());
  const auto hours_of_band = static_cast<double>(demands.size());
  int& able = able_[index][static_cast<std::size_t>(month)];
  if (able < 0) {
    able = add(0, kNoLimit, false, month);
    std::vector<Term> sum = placed;
    sum.push_back({able, -1});
    able_rows_[index][static_cast<std::size_t>(month)] = linear_.row(0, 0, sum);
  }
  std::vector<Term> terms;
  for (std::size_t i = placed.size(); i < standing.size(); ++i) {
    terms.push_back({standing[i].column, standing[i].times * hours_of_band});
  }
  const std::size_t fixed_terms = terms.size();
  double sum = 0;
  for (std::size_t k = 0; k < demands.size(); ++k) {
    sum += demands[k];
    if (k + 1 < demands.size() && demands[k + 1] == demands[k]) continue;
    terms.resize(fixed_terms);
    const auto count = static_cast<double>(k + 1);
    terms.push_back({able, count});
    if (service.spare > 0) terms.push_back({largest_[index][static_cast<std::size_t>(month)], -count});
    linear_.row(sum, kNoLimit, terms);
  }
}

double Program::reduced_cost(const Option& option, int pool, int month, const std::vector<double>& price) const {
  const auto of = [&](int row) { return row >= 0 ? price[static_cast<std::size_t>(row)] : 0.0; };
  const auto s = static_cast<std::size_t>(option.service);
  const auto p = static_cast<std::size_t>(pool);
  const auto m = static_cast<std::size_t>(month);
  const Pool& devices = problem_.pools[p];
  const Site& site = problem_.sites[static_cast<std::size_t>(devices.site)];
  // It takes devices, and counts for what the service can do.
  double cost = -of(pool_rows_[p][m]) * option.gpus - of(able_rows_[s][m]) * option.requests_per_s;
  const double extra = std::max(0.0, option.watts - option.gpus * devices.idle_watts) / 1000 * site.pue;  // kW
  for (int b = 0; b < bands_.count; ++b) {
    const double energy = extra * kwh_price(site, b) * hours(b);
    const double devices_busy = -of(busy_rows_[p][step(month, b)]) * option.gpus;
    const double worth = of(served_rows_[s][step(month, b)]) * option.requests_per_s;
    cost -= std::max(0.0, worth - energy - devices_busy);  // or it stands idle
  }
  return cost;
}

std::vector<std::vector<Program::WorthMore>> Program::worth_more(const std::vector<double>& price) const {
  std::vector<double> reduced = linear_.cost;
  for (std::size_t r = 0; r < price.size(); ++r) {
    if (price[r] == 0) continue;
    for (std::size_t t = linear_.starts[r]; t < linear_.starts[r + 1]; ++t)
      reduced[static_cast<std::size_t>(linear_.terms[t].column)] -= price[r] * linear_.terms[t].times;
  }
  const auto over = [&](int column) {
    return column < 0 ? 0.0 : std::max(0.0, reduced[static_cast<std::size_t>(column)]);
  };
  const auto months = static_cast<std::size_t>(problem_.months);
  std::vector<std::vector<WorthMore>> out(problem_.pools.size(), std::vector<WorthMore>(months, {kNoLimit, 0}));
  for (std::size_t k = 0; k < problem_.stocks.size(); ++k) {
    const Stock& stock = problem_.stocks[k];
    if (!is_held(stock.way) || is_kept(stock.way)) continue;
    // What a unit costs beyond what its devices are worth is shared out evenly to the months that it is held in.
    std::vector<double> least(months, kNoLimit);
    for (int b = stock.first; b <= std::min(stock.last, problem_.months - 1); ++b) {
      const int end = held_until(problem_, stock, b);
      const double share = over(begun_[k][static_cast<std::size_t>(b)]) / (end - b);
      for (int m = b; m < end; ++m)
        least[static_cast<std::size_t>(m)] = std::min(least[static_cast<std::size_t>(m)], share);
    }
    for (std::size_t m = 0; m < months; ++m) {
      double& usd = out[static_cast<std::size_t>(stock.pool)][m].usd;
      if (least[m] < kNoLimit) usd = std::min(usd, (over(at_hand_[k][m]) + least[m]) / stock.unit);
    }
  }
  for (std::vector<WorthMore>& pool : out) {
    for (WorthMore& month : pool) month.usd = month.usd < kNoLimit ? month.usd : 0;
  }
  for (std::size_t k = 0; k < problem_.stocks.size(); ++k) {
    const Stock& stock = problem_.stocks[k];
    for (std::size_t m = 0; m < months && is_kept(stock.way); ++m) {
      const int column = begun_[k][m];
      if (column < 0) continue;
      WorthMore& month = out[static_cast<std::size_t>(stock.pool)][m];
      month.loss +=
          linear_.high[static_cast<std::size_t>(column)] * std::max(0.0, month.usd * stock.unit - over(column));
    }
  }
  return out;
}

}  // namespace ridge::fleet
