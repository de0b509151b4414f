#include "fleet/by_month.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "fleet/program/stocks.hpp"

namespace ridge::fleet {

namespace {

constexpr double kLeastPrice = 1e-3;  ///< of its cost, that something begun is priced at: prices are not exact

double seconds_until(std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
}
std::chrono::steady_clock::time_point after(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Months::Months(const Problem& problem, const Program& program, const Solution& relaxed)
    : problem_(problem), program_(program), relaxed_(relaxed) {
  const LinearProgram& all = program.linear();
  row_month_.assign(static_cast<std::size_t>(all.rows()), -1);
  price_.assign(static_cast<std::size_t>(all.rows()), 0.0);
  reduced_ = all.cost;
  of_column_.resize(static_cast<std::size_t>(all.columns()));
  for (std::size_t r = 0; r < row_month_.size(); ++r) {
    int month = all.starts[r] < all.starts[r + 1]
                    ? program.month_of()[static_cast<std::size_t>(all.terms[all.starts[r]].column)]
                    : -1;
    for (std::size_t t = all.starts[r]; t < all.starts[r + 1]; ++t) {
      if (program.month_of()[static_cast<std::size_t>(all.terms[t].column)] != month) month = -1;
    }
    row_month_[r] = month;
    if (month >= 0) continue;
    // A price that would make an absent limit count is an error of rounding.
    double price = relaxed.price[r];
    const double limit = price > 0 ? all.row_low[r] : all.row_high[r];
    if (!std::isfinite(limit)) price = 0;
    if (price == 0) continue;
    price_[r] = price;
    constant_ += price * limit;
    for (std::size_t t = all.starts[r]; t < all.starts[r + 1]; ++t) {
      const auto c = static_cast<std::size_t>(all.terms[t].column);
      reduced_[c] -= price * all.terms[t].times;
      of_column_[c].emplace_back(static_cast<int>(r), all.terms[t].times);
    }
  }
}

Months::Piece Months::piece(int month, const LinearProgram& of) const {
  Piece out;
  out.place.assign(static_cast<std::size_t>(of.columns()), -1);
  for (int c = 0; c < of.columns(); ++c) {
    const auto at = static_cast<std::size_t>(c);
    if (program_.month_of()[at] != month) continue;
    out.place[at] = out.program.column(reduced_[at], of.low[at], of.high[at], of.whole[at] != 0);
    out.columns.push_back(c);
  }
  std::vector<Term> terms;
  for (std::size_t r = 0; r < row_month_.size(); ++r) {
    if (row_month_[r] != month) continue;
    terms.clear();
    for (std::size_t t = of.starts[r]; t < of.starts[r + 1]; ++t) {
      terms.push_back({out.place[static_cast<std::size_t>(of.terms[t].column)], of.terms[t].times});
    }
    out.program.row(of.row_low[r], of.row_high[r], terms);
  }
  return out;
}

double Months::bound(const SolveOptions& options) const {
  const auto end = after(options.seconds);
  const LinearProgram& all = program_.linear();
  double sum = constant_;
  for (std::size_t c = 0; c < reduced_.size(); ++c) {
    if (program_.month_of()[c] < 0) sum += reduced_[c] * (reduced_[c] < 0 ? all.high[c] : all.low[c]);
  }
  for (int m = 0; m < problem_.months; ++m) {
    const Piece month = piece(m, all);
    SolveOptions each = options;
    each.seconds = std::max(0.05, seconds_until(end) / (problem_.months - m));
    const Solution s = solve(month.program, each);

    sum += s.bound;
  }
  return std::max(sum, relaxed_.cost);
}

double Months::priced(int column, int except_row) const {
  double cost = program_.linear().cost[static_cast<std::size_t>(column)];
  for (const auto& [row, times] : of_column_[static_cast<std::size_t>(column)]) {
    if (row != except_row) cost -= price_[static_cast<std::size_t>(row)] * times;
  }
  return cost;
}

/// The row that says what of a stock is at hand in a month.
int Months::link_of(int stock, int month) const {
  const int hand = program_.at_hand()[static_cast<std::size_t>(stock)][static_cast<std::size_t>(month)];
  for (const auto& [row, times] : of_column_[static_cast<std::size_t>(hand)]) return row;
  return -1;
}

std::vector<double> Months::forward(const SolveOptions& options, const WholePlan* plan) const {
  const auto end = after(options.seconds);
  const LinearProgram all = program_.with_kinds_of(relaxed_.x);
  std::vector<double> x(static_cast<std::size_t>(all.columns()), 0.0);
  const std::vector<double> known = plan != nullptr ? program_.start_of(*plan) : std::vector<double>();
  for (std::size_t c = 0; c < x.size(); ++c) {
    if (program_.month_of()[c] < 0 && all.low[c] == all.high[c]) x[c] = all.low[c];
  }
  for (int m = 0; m < problem_.months; ++m) {
    Piece month = piece(m, all);
    const auto at = static_cast<std::size_t>(m);
    std::vector<double> inherited(problem_.stocks.size(), 0.0);
    for (std::size_t k = 0; k < problem_.stocks.size(); ++k) {
      const Stock& stock = problem_.stocks[k];
      const Program::Columns& begun = program_.begun()[k];
      const int hand = program_.at_hand()[k][at];
      if (is_kept(stock.way)) {
        if (begun[at] < 0) continue;
        const auto here = static_cast<std::size_t>(month.place[static_cast<std::size_t>(begun[at])]);
        int before = m > 0 ? begun[at - 1] : -1;
        if (before < 0 && stock.follows >= 0 && m > 0)
          before = program_.begun()[static_cast<std::size_t>(stock.follows)][at - 1];
        if (before >= 0)
          month.program.high[here] = std::min(month.program.high[here], x[static_cast<std::size_t>(before)]);
        if (plan != nullptr) month.program.low[here] = month.program.high[here] = plan->units[k][at];
        // Keeping it now keeps it for later: those months' prices are in the rows between them.
        continue;
      }
      if (hand < 0) continue;
      double all_begun = 0;
      for (int b = stock.first; b < std::min(m, stock.last + 1); ++b) {
        const double units = x[static_cast<std::size_t>(begun[static_cast<std::size_t>(b)])];
        all_begun += units;
        if (stock.term == 0 || m < b + stock.term) inherited[k] += units;
      }
      const auto here = static_cast<std::size_t>(month.place[static_cast<std::size_t>(hand)]);
      month.program.low[here] = inherited[k];
      if (plan != nullptr) {
        month.program.low[here] = month.program.high[here] = inherited[k] + plan->units[k][at];
        continue;
      }
      if (begun[at] < 0) {
        month.program.high[here] = inherited[k];
        continue;
      }
      const auto column = static_cast<std::size_t>(begun[at]);
      month.program.high[here] = inherited[k] + std::max(0.0, all.high[column] - all_begun);
      month.program.cost[here] =
          std::max(kLeastPrice * all.cost[column], priced(begun[at], link_of(static_cast<int>(k), m)));
    }
    // Jobs advance as they do without whole numbers.
    for (std::size_t r = 0; r < row_month_.size(); ++r) {
      if (row_month_[r] >= 0 || all.row_low[r] != 1 || std::isfinite(all.row_high[r])) continue;
      std::vector<Term> work;
      double done = 0;
      double sum = 0;
      for (std::size_t t = all.starts[r]; t < all.starts[r + 1]; ++t) {
        const auto c = static_cast<std::size_t>(all.terms[t].column);
        const double share = relaxed_.x[c] * all.terms[t].times;
        sum += share;
        if (program_.month_of()[c] != m) continue;
        done += share;
        work.push_back({month.place[c], all.terms[t].times});
      }
      if (done > 1e-9) month.program.row(done / std::max(1.0, sum), kNoLimit, work);
    }
    SolveOptions each = options;
    each.seconds = std::max(0.05, seconds_until(end) / (problem_.months - m));
    std::vector<double> start;
    for (const int c : month.columns) {
      if (plan != nullptr) start.push_back(known[static_cast<std::size_t>(c)]);
    }
    if (plan != nullptr) each.start = &start;
    const Solution s = solve(month.program, each);
    if (!s.found) return {};
    for (std::size_t i = 0; i < month.columns.size(); ++i) x[static_cast<std::size_t>(month.columns[i])] = s.x[i];
    for (std::size_t k = 0; k < problem_.stocks.size(); ++k) {
      const int hand = program_.at_hand()[k][at];
      const int begun = program_.begun()[k][at];
      if (hand >= 0 && begun >= 0) {
        x[static_cast<std::size_t>(begun)] =
            std::max(0.0, std::round(x[static_cast<std::size_t>(hand)] - inherited[k]));
      }
    }
  }
  return x;
}

}  // namespace ridge::fleet
