#include "fleet/tidy.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::fleet {

namespace {

constexpr double kTidySlack = 1e-7;

}  // namespace

Solution solve_tidied(const LinearProgram& p, const SolveOptions& options) {
  const auto columns = static_cast<std::size_t>(p.columns());
  const auto rows = static_cast<std::size_t>(p.rows());
  std::vector<double> low = p.low;
  std::vector<double> high = p.high;
  std::vector<char> gone(rows, 0);
  Solution none;
  none.infeasible = true;
  const auto fixed = [&](int column) {
    const auto c = static_cast<std::size_t>(column);
    return high[c] - low[c] <= 1e-12;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t r = 0; r < rows; ++r) {
      if (gone[r] != 0) continue;
      double sum = 0;
      double size = 1;
      std::size_t free = 0;
      const Term* last = nullptr;
      bool forces = true;  // every free term counts upwards from zero
      for (std::size_t t = p.starts[r]; t < p.starts[r + 1]; ++t) {
        const Term& term = p.terms[t];
        const auto c = static_cast<std::size_t>(term.column);
        if (fixed(term.column)) {
          sum += term.times * low[c];
          size = std::max(size, std::abs(term.times * low[c]));
          continue;
        }
        ++free;
        last = &term;
        forces = forces && term.times > 0 && low[c] == 0;
      }
      const double least = p.row_low[r] - sum;
      const double most = p.row_high[r] - sum;
      if (free == 0) {
        if (least > kTidySlack * size || most < -kTidySlack * size) return none;
        gone[r] = 1;
      } else if (free == 1) {
        const auto c = static_cast<std::size_t>(last->column);
        const double a = least / last->times;
        const double b = most / last->times;
        low[c] = std::max(low[c], std::min(a, b));
        high[c] = std::min(high[c], std::max(a, b));
        if (low[c] > high[c] + kTidySlack * std::max(1.0, std::abs(low[c]))) return none;
        high[c] = std::max(high[c], low[c]);
        gone[r] = 1;
        changed = true;
      } else if (forces && most <= 1e-12 && most >= -kTidySlack * size) {
        for (std::size_t t = p.starts[r]; t < p.starts[r + 1]; ++t) {
          if (!fixed(p.terms[t].column)) high[static_cast<std::size_t>(p.terms[t].column)] = 0;
        }
        gone[r] = 1;
        changed = true;
      }
    }
  }
  LinearProgram left;
  std::vector<int> place(columns, -1);
  double constant = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    if (fixed(static_cast<int>(c))) {
      constant += p.cost[c] * low[c];
    } else {
      place[c] = left.column(p.cost[c], low[c], high[c], false);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (gone[r] != 0) continue;
    double sum = 0;
    std::vector<Term> terms;
    for (std::size_t t = p.starts[r]; t < p.starts[r + 1]; ++t) {
      const auto c = static_cast<std::size_t>(p.terms[t].column);
      if (place[c] < 0) {
        sum += p.terms[t].times * low[c];
      } else {
        terms.push_back({place[c], p.terms[t].times});
      }
    }
    left.row(p.row_low[r] - sum, p.row_high[r] - sum, terms);
  }
  SolveOptions relaxed = options;
  relaxed.relaxed = true;
  Solution s = solve(left, relaxed);
  if (!s.found) return s;
  std::vector<double> x(columns);
  for (std::size_t c = 0; c < columns; ++c) x[c] = place[c] < 0 ? low[c] : s.x[static_cast<std::size_t>(place[c])];
  s.x = std::move(x);
  s.price.clear();
  s.cost += constant;
  s.bound = s.cost;
  return s;
}

}  // namespace ridge::fleet
