// What a cost took for granted, what moves the result most first.
//
//   std::vector<Weighed> assumed = weighed(answer.cost_case);
//   page.blocks.emplace_back(assumptions_table(assumed));          // assumption, 10 % more of it, flag
//   shorten_assumptions(page, 5);                                  // people read five; the rest is counted
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "economics/cost_case.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

/// An assumption, and by which share the cost changes if its input is a tenth larger; nothing where it is no number.
struct Weighed {
  Assumption assumption;
  std::optional<double> change;
};
/// The assumptions of one way to pay, by what they move.
[[nodiscard]] std::vector<Weighed> weighed(const CostCase& cost_case);
/// Adds those of another way that are not there yet, and sorts again.
void join_weighed(std::vector<Weighed>& all, const std::vector<Weighed>& more);

[[nodiscard]] Table assumptions_table(const std::vector<Weighed>& assumed);
/// Leaves the first `rows` of the page's table of assumptions, and says how many more there are and how to list them.
void shorten_assumptions(Document& page, std::size_t rows);

}  // namespace ridge::report
