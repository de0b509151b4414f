// A plan in whole numbers made cheaper by small changes: a replica here instead of there, a server later, one of
// another kind.
//
//   WholePlan plan = program.whole(x);
//   plan = improved(problem, program.places(), plan, answer.jobs, {.seconds = 10});
//
// Each change is priced by what it does to the months it touches: replicas are placed anew, and what they leave is
// rented in whole replicas hour by hour. Jobs stay where they are. What comes out is no dearer by that price, keeps
// power, racks, the vendors' share and what is on offer, and has still to be routed (Program::fixed_to()); budgets show
// there. The same plan gives the same unless time ends it. Any thread.
#pragma once

#include "fleet/program/solver.hpp"
#include "ridge/fleet/fleet.hpp"

namespace ridge::fleet {

/// An option on a pool of devices that are held.
struct Place {
  int option = 0, pool = 0;
};

/// What has to be whole, of all but rents.
struct WholePlan {
  std::vector<std::vector<double>> units;     ///< by stock and month: that begin; of what is owned, that are kept
  std::vector<std::vector<double>> replicas;  ///< by place and month
  std::vector<int> kinds;                     ///< by job: the position of its kind of device, -1 if mixed
};

/// The whole numbers of an answer by the hour.
[[nodiscard]] WholePlan whole_plan_of(const Problem& problem, const std::vector<Place>& places, const Answer& answer);

[[nodiscard]] WholePlan improved(const Problem& problem, const std::vector<Place>& places, WholePlan plan,
                                 const std::vector<JobUse>& jobs, const SolveOptions& options);

}  // namespace ridge::fleet
