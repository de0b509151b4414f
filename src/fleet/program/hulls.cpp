// Rows that follow from whole replicas of a service in a month, found where a solution without whole numbers breaks
// them.
#include <algorithm>
#include <cmath>

#include "fleet/program/program.hpp"
#include "fleet/program/rent_steps.hpp"

namespace ridge::fleet {

namespace {

constexpr int kHullCells = 12000;
constexpr int kHullRounds = 40;
constexpr double kBroken = 1e-5;        ///< of a row's limit, by which it has to be broken to be worth having
constexpr double kHullProgress = 2e-5;  ///< of the cost, that a round has to add

}  // namespace

/// A service in a month: replicas of the kinds that may be held, and what is rented for the rest.
struct Program::Hull {
  int service = 0, month = 0;
  std::vector<std::size_t> held;  ///< smallest replicas first
  std::vector<RentSteps::Kind> rents;
  double elsewhere = kNoLimit;  ///< dollars of 1 request/s over an hour
  double peak = 0;              ///< requests/s
};

std::vector<Program::Hull> Program::hulls() const {
  std::vector<Hull> out;
  for (std::size_t s = 0; s < problem_.services.size(); ++s) {
    std::vector<std::size_t> held;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (problem_.options[static_cast<std::size_t>(held_[i].option)].service == static_cast<int>(s)) held.push_back(i);
    }
    if (held.empty()) continue;
    std::stable_sort(held.begin(), held.end(), [&](std::size_t a, std::size_t b) { return size_of(a) < size_of(b); });
    for (int m = 0; m < problem_.months; ++m) {
      Hull hull{static_cast<int>(s),
                m,
                held,
                rent_kinds(problem_, static_cast<int>(s), m),
                usd_elsewhere(problem_, static_cast<int>(s), false),
                0};
      for (int h = 0; h < problem_.hours; ++h)
        hull.peak = std::max(hull.peak, problem_.services[s].demand[problem_.at(m, h)]);
      if (hull.peak > 0) out.push_back(std::move(hull));
    }
  }
  return out;
}

/// What a day's rents and others cost at least, by cells of what held replicas can do less what may fail, from
/// -`below_zero` cells; a request is worth so much in each band.
std::vector<double> Program::rents_left(const Hull& hull, const std::vector<double>& worth, double largest, double cell,
                                        int below_zero) const {
  const Service& service = problem_.services[static_cast<std::size_t>(hull.service)];
  std::vector<double> left(static_cast<std::size_t>(below_zero + kHullCells + 1), 0.0);
  for (int b = 0; b < bands_.count; ++b) {
    std::vector<RentSteps::Kind> rents;
    for (const RentSteps::Kind& kind : hull.rents) {
      if (kind.able <= largest) rents.push_back({kind.able, kind.usd - worth[static_cast<std::size_t>(b)] * kind.able});
    }
    const RentSteps steps(rents, hull.elsewhere - worth[static_cast<std::size_t>(b)], cell * (below_zero + kHullCells));
    for (int h = 0; h < problem_.hours; ++h) {
      if (bands_.of_hour[static_cast<std::size_t>(h)] != b) continue;
      const double demand = service.demand[problem_.at(hull.month, h)];
      for (std::size_t i = 0; i < left.size(); ++i) {
        const double rate = demand - (static_cast<int>(i) - below_zero) * cell;
        if (!(rate > kBroken * cell)) break;  // rounding makes no demand
        left[i] += steps.least(rate);
      }
    }
  }
  return left;
}

/// Whatever replicas cost each and a rented request is worth, no whole numbers cost less than the least of all whole
/// numbers does:
///   sum of price x replicas + sum of (usd - worth) x rents >= Z(prices, worth).
/// The prices asked are those that the rest of the program puts on them.
std::optional<Program::HullRow> Program::broken_row(const Hull& hull, const Solution& relaxed) const {
  const auto s = static_cast<std::size_t>(hull.service);
  const auto m = static_cast<std::size_t>(hull.month);
  const auto price_of = [&](int row) { return row >= 0 ? relaxed.price[static_cast<std::size_t>(row)] : 0.0; };
  HullRow row;
  double now = 0;
  const auto add_term = [&](int column, double times) {
    row.terms.push_back({column, times});
    now += times * relaxed.x[static_cast<std::size_t>(column)];
  };
  std::vector<double> prices;
  for (const std::size_t i : hull.held) {
    const Held& held = held_[i];
    double price = -price_of(pool_rows_[static_cast<std::size_t>(held.pool)][m]) *
                   problem_.options[static_cast<std::size_t>(held.option)].gpus;
    for (int b = 0; b < bands_.count; ++b) price += price_of(held.routed_rows[step(hull.month, b)]) * size_of(i);
    prices.push_back(std::max(0.0, price));
    add_term(held.replicas[m], prices.back());
  }
  // Of 1 request/s over an hour; never more than the cheapest rent, so that nobody rents for the sake of it.
  std::vector<double> worth;
  for (int b = 0; b < bands_.count; ++b) {
    worth.push_back(std::max(0.0, price_of(served_rows_[s][step(hull.month, b)]) / hours(b)));
    worth.back() = std::min(worth.back(), hull.elsewhere);
    for (const RentSteps::Kind& kind : hull.rents) worth.back() = std::min(worth.back(), kind.usd / kind.able);
  }
  for (const Paid& paid : paid_[s][m]) {
    const double saved = paid.band < 0 ? 0 : worth[static_cast<std::size_t>(paid.band)] * hours(paid.band);
    add_term(paid.column, paid.usd - saved * paid.serves);
  }
  // By the size of the largest that is held or rented: that is what may fail.
  const double spare = problem_.services[s].spare;
  std::vector<double> sizes;
  for (const std::size_t i : hull.held) sizes.push_back(size_of(i));
  for (const RentSteps::Kind& kind : hull.rents) sizes.push_back(kind.able);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const double most_fails = spare * sizes.back();
  if (spare == 0) sizes = {sizes.back()};
  const double cell = (hull.peak + most_fails) / kHullCells;
  const int below_zero = static_cast<int>(std::floor(most_fails / cell));
  CheapestSums sums(hull.peak + most_fails, kHullCells);
  row.limit = kNoLimit;
  std::size_t next = 0;
  for (const double largest : sizes) {
    for (; next < hull.held.size() && size_of(hull.held[next]) <= largest; ++next)
      sums.take(size_of(hull.held[next]), prices[next]);
    const std::vector<double> left = rents_left(hull, worth, largest, cell, below_zero);
    for (std::size_t i = 0; i <= sums.last(); ++i) {
      const double cells = std::ceil((sums.able(i) - spare * largest) / cell) + below_zero;
      const auto at = i == sums.last()
                          ? left.size() - 1
                          : static_cast<std::size_t>(std::clamp(cells, 0.0, static_cast<double>(left.size() - 1)));
      row.limit = std::min(row.limit, sums.usd(i) + left[at] * days_);
    }
  }
  // Nothing held or rented: all of it elsewhere.
  if (std::isfinite(hull.elsewhere)) {
    double usd = 0;
    for (int h = 0; h < problem_.hours; ++h) {
      const auto b = static_cast<std::size_t>(bands_.of_hour[static_cast<std::size_t>(h)]);
      usd += problem_.services[s].demand[problem_.at(hull.month, h)] * (hull.elsewhere - worth[b]);
    }
    row.limit = std::min(row.limit, usd * days_);
  }
  if (!std::isfinite(row.limit) || !(row.limit > 0) || now >= row.limit * (1 - kBroken)) return std::nullopt;
  return row;
}

Solution Program::tighten(const SolveOptions& options) {
  const std::vector<Hull> all = hulls();
  double before = -kNoLimit;
  int rounds = 0;
  return solve_with_rows(linear_, options, [&](const Solution& relaxed) {
    std::vector<Row> rows;
    if (++rounds > kHullRounds || relaxed.cost - before < kHullProgress * std::abs(relaxed.cost)) return rows;
    before = relaxed.cost;
    for (const Hull& hull : all) {
      if (std::optional<HullRow> row = broken_row(hull, relaxed)) {
        for (Term& term : row->terms) term.times /= row->limit;
        rows.push_back({1, kNoLimit, std::move(row->terms)});
      }
    }
    return rows;
  });
}

}  // namespace ridge::fleet
