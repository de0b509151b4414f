// A linear program, some of whose columns are whole numbers, and whatever solves it (CBC; solver_cbc.cpp is the only
// file that knows).
//
//   LinearProgram p;
//   const int x = p.column(3, 0, 10, true);                  // costs 3 each, at most 10, whole
//   const int y = p.column(2, 0, kNoLimit, false);
//   p.row(4, kNoLimit, {{x, 1}, {y, 2}});                    // x + 2 y >= 4
//   Solution s = solve(p, {.seconds = 10, .gap = 0.01});
//   s.found; s.x[x]; s.cost; s.bound;                        // no solution costs less than `bound`
//
// solve() minimises. The same program gives the same solution unless time or patience ends it first (`stopped`). Any
// thread may call; solves wait for each other. Nothing is refused: a program without a solution is an answer.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ridge/base/patience.hpp"

namespace ridge::fleet {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct Term {
  int column = 0;
  double times = 0;
};

struct Row {
  double least = 0, most = 0;
  std::vector<Term> terms;
};

class LinearProgram {
 public:
  /// Its position.
  int column(double column_cost, double column_low, double column_high, bool is_whole);
  int row(double least, double most, std::span<const Term> of);
  int row(double least, double most, std::initializer_list<Term> of) {
    return row(least, most, std::span<const Term>(of.begin(), of.size()));
  }

  [[nodiscard]] int columns() const { return static_cast<int>(cost.size()); }
  [[nodiscard]] int rows() const { return static_cast<int>(row_low.size()); }

  // Columns by position; rows as starts into `terms`.
  std::vector<double> cost, low, high;
  std::vector<char> whole;
  std::vector<double> row_low, row_high;
  std::vector<std::size_t> starts = {0};
  std::vector<Term> terms;
};

/// Fixes a column, if there is one.
inline void fix_column(LinearProgram& program, int column, double value) {
  if (column < 0) return;
  const auto c = static_cast<std::size_t>(column);
  program.low[c] = program.high[c] = value;
}

struct SolveOptions {
  double seconds = 60;   ///< of the clock
  double gap = 0;        ///< of the cost, at which a solution is good enough
  bool relaxed = false;  ///< no column has to be whole
  Patience patience = {};
  const std::vector<double>* start = nullptr;  ///< a solution to begin with; what is no number is filled in
};

struct Solution {
  bool found = false;
  bool infeasible = false;  ///< proved: there is none
  bool stopped = false;     ///< by time or patience
  double cost = 0;
  double bound = -std::numeric_limits<double>::infinity();
  std::vector<double> x;
  std::vector<double> price;  ///< relaxed only: what one more of each row's limit changes the cost by
};

[[nodiscard]] Solution solve(const LinearProgram& program, const SolveOptions& options);
/// Without whole numbers, and again with the rows that `more` finds missing, until it finds none or time is over. The
/// program has them afterwards.
[[nodiscard]] Solution solve_with_rows(LinearProgram& program, const SolveOptions& options,
                                       const std::function<std::vector<Row>(const Solution&)>& more);

/// The name and version of what solves, for the answer.
[[nodiscard]] std::string solver_name();

}  // namespace ridge::fleet
