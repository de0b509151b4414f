// A linear program most of whose columns are fixed, solved without them.
#pragma once

#include "fleet/program/solver.hpp"

namespace ridge::fleet {

/// The same solution as solve(program, options with relaxed); fixed columns, rows of one column and rows that force
/// columns to zero are taken out first. No prices.
[[nodiscard]] Solution solve_tidied(const LinearProgram& program, const SolveOptions& options);

}  // namespace ridge::fleet
