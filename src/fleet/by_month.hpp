// A program by bands taken apart into its months. What months share (devices begun, kept and let go, the work of jobs,
// budgets) is paid for at the prices of the program without whole numbers; what is left is a small program in whole
// numbers for each month.
//
//   Solution relaxed = solve(program.linear(), {.relaxed = true});
//   Months months(problem, program, relaxed);
//   double bound = months.bound({.seconds = 20, .gap = 0.002});        // no plan costs less; not below relaxed.cost
//   std::vector<double> x = months.forward({.seconds = 20});           // whole numbers, month after month; or empty
//
// `seconds` are for all months together. Not for several threads at once.
#pragma once

#include "fleet/program/program.hpp"

namespace ridge::fleet {

class Months {
 public:
  Months(const Problem& problem, const Program& program, const Solution& relaxed);

  /// Lagrange: shared rows are priced, each month is solved for itself, and the sum of the months' bounds bounds all.
  [[nodiscard]] double bound(const SolveOptions& options) const;
  /// From the first month to the last: what was begun is there, what is begun now costs what later months do not pay
  /// for. Whole columns of the program, to be routed by Program::fixed_to().
  /// With a plan, its devices: what is left is which replicas stand on them.
  [[nodiscard]] std::vector<double> forward(const SolveOptions& options, const WholePlan* plan = nullptr) const;

 private:
  struct Piece {
    LinearProgram program;
    std::vector<int> columns;  ///< of the whole program
    std::vector<int> place;    ///< of the whole program's columns here, or -1
  };
  [[nodiscard]] Piece piece(int month, const LinearProgram& of) const;
  [[nodiscard]] double priced(int column, int except_row) const;
  [[nodiscard]] int link_of(int stock, int month) const;

  const Problem& problem_;
  const Program& program_;
  const Solution& relaxed_;
  std::vector<int> row_month_;   ///< of each row: the month that all its columns belong to, or -1
  std::vector<double> price_;    ///< of each shared row
  std::vector<double> reduced_;  ///< of each column: its cost less what shared rows pay for it
  double constant_ = 0;          ///< of the shared rows
  std::vector<std::vector<std::pair<int, double>>> of_column_;  ///< shared rows of columns
};

}  // namespace ridge::fleet
