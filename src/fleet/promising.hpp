// A very large problem cut down to the ways to serve that are worth having.
//
//   Promising few = promising(problem, 2, {.seconds = 300});
//   Problem small = with_options(problem, few.kept);            // a plan of it is one of `problem`
//   few.bound;                                                  // no plan costs less, with any of the options
#pragma once

#include "fleet/program/program.hpp"

namespace ridge::fleet {

struct Promising {
  bool found = false;  ///< false: not solved in time, or without a solution
  bool infeasible = false;
  std::vector<int> kept;  ///< options that the program without whole numbers makes use of
  double bound = 0;
};

/// Column generation: each service starts with the options that cost least by themselves; those that the prices of the
/// program without whole numbers ask for are taken in, and it is solved again, until none is or half of the time is
/// over. What is left out then counts against the bound by as much as it could save, with devices that nothing takes as
/// dear as they may be. Options that could be rented for the least are never left out.
[[nodiscard]] Promising promising(const Problem& problem, int bands, const SolveOptions& options);

/// The same problem with these options alone.
[[nodiscard]] Problem with_options(const Problem& problem, const std::vector<int>& kept);

}  // namespace ridge::fleet
