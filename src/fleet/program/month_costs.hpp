// What a service costs in a month beside the devices it holds: energy, replicas rented by the hour, others.
//
//   MonthCosts costs(problem);
//   costs.of(service, month, {.able = 12, .largest = 3, .kw = {0.9, 0}});   // dollars of that month
//
// Rents are whole in every hour. Energy is shared out by what replicas can do. Looked up in tables that are filled when
// they are first asked for, so that millions of mixes can be compared. Where nothing but held replicas serves, what
// they leave counts at a price that no way to serve has: a plan that pays it is none. One thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "fleet/program/rent_steps.hpp"
#include "ridge/fleet/fleet.hpp"

namespace ridge::fleet {

inline std::size_t at(int position) {
  return static_cast<std::size_t>(position);
}

/// Replicas of a service together.
struct Mix {
  double able = 0;  ///< requests/s
  double largest = 0;
  std::vector<double> kw;  ///< by site: what all of them take at full load more than idle
};

class MonthCosts {
 public:
  explicit MonthCosts(const Problem& problem);

  [[nodiscard]] double of(int service, int month, const Mix& mix);

 private:
  struct Stairs {
    double size = 0;  ///< of the largest kind that may be rented
    std::shared_ptr<const RentSteps> steps;
    std::vector<double> usd;  ///< of a day, by cells of what held replicas can do less what may fail
  };
  struct Tables {
    double peak = 0;
    double energy_cell = 1;
    std::vector<std::vector<double>> energy;  ///< by site and cell: a day's dollars for 1 kW, times requests/s
    double lowest = 0, rent_cell = 1;
    double never = 0;            ///< dollars of a day in which nothing serves the rest
    std::vector<Stairs> stairs;  ///< by the largest kind
  };
  double rents(Tables& t, std::size_t which, const Service& service, const Mix& mix, int month) const;
  void fill(Tables& t, int service, int month);

  const Problem& p_;
  std::vector<double> largest_;  ///< by service: requests/s of its largest replica
  std::vector<double> never_;    ///< by service: dollars of 1 request/s over an hour that nothing serves
  std::vector<Tables> tables_;   ///< by service and month
  std::map<std::vector<double>, std::shared_ptr<const RentSteps>> known_;
};

}  // namespace ridge::fleet
