// The linear program of a fleet, and the way back from its columns to an answer.
//
//   Program p(problem, Bands::hourly(problem));        // exact
//   Solution s = solve(p.linear(), {...});
//   Answer a = p.answer(s.x);
//
// Hours may be put together in bands. By their greatest demand the program is a restriction: what it finds holds in
// every hour. By their mean (and the least price of electricity) it is a relaxation: means of any hourly plan solve it
// at no higher cost, so that its optimum is a bound. Between the two lies the error of aggregation.
#pragma once

#include <optional>
#include <vector>

#include "fleet/program/improve.hpp"
#include "fleet/program/solver.hpp"
#include "ridge/fleet/fleet.hpp"

namespace ridge::fleet {

enum class BandDemand : std::uint8_t { greatest, mean };

struct Bands {
  std::vector<int> of_hour;  ///< band of each hour
  int count = 0;
  BandDemand demand = BandDemand::greatest;
  bool thin = false;  ///< for very large programs: without the rows that follow from sizes of replicas

  static Bands hourly(const Problem& problem);
  /// Hours whose demand is alike, by Ward's rule over all services and months; the busiest hour of each service is
  /// alone while there are bands enough.
  static Bands alike(const Problem& problem, int count, BandDemand demand);
  [[nodiscard]] bool exact() const { return count == static_cast<int>(of_hour.size()); }
};

class Program {
 public:
  Program(const Problem& problem, Bands bands);

  [[nodiscard]] const LinearProgram& linear() const { return linear_; }
  /// Solves it without whole numbers, and adds rows that hold for whole replicas of a service in a month and that the
  /// solution breaks, as long as the cost rises. Relaxed programs by bands only.
  [[nodiscard]] Solution tighten(const SolveOptions& options);
  /// Replicas and kinds of jobs fixed to whole numbers near those of a relaxed solution: of each service and month, the
  /// way that does most takes what the others, rounded down, leave.
  [[nodiscard]] LinearProgram rounded(const std::vector<double>& x) const;
  /// Without the ways to serve and the stocks that none of some solutions makes use of.
  [[nodiscard]] LinearProgram narrowed(const std::vector<const std::vector<double>*>& solutions) const;
  /// The whole numbers of a solution, in terms that programs of the same problem share.
  [[nodiscard]] WholePlan whole(const std::vector<double>& x) const;
  [[nodiscard]] std::vector<Place> places() const;
  /// A start for the solver: the columns that a plan says, and no number for the others.
  [[nodiscard]] std::vector<double> start_of(const WholePlan& plan) const;
  /// Of this program by the hour: whole columns fixed to those of a plan, and in each hour the cheapest rented replicas
  /// for what that leaves to be served. What is left is routing.
  [[nodiscard]] LinearProgram fixed_to(const WholePlan& plan) const;
  /// Devices and whole mixes of replicas (mixes.hpp) that are cheap together, near a relaxed solution and, if there is
  /// one, the best plan so far; jobs have the devices that they have. What is left is routing.
  [[nodiscard]] std::optional<WholePlan> of_mixes(const Solution& relaxed, const WholePlan* best,
                                                  const std::vector<JobUse>& jobs, const SolveOptions& options) const;
  [[nodiscard]] Answer answer(const std::vector<double>& x) const;
  [[nodiscard]] const Bands& bands() const { return bands_; }

  // What by_month.cpp takes apart.
  /// Columns by month, or by month and band; -1 where there is none.
  using Columns = std::vector<int>;
  /// Of each column: the month that it belongs to alone, or -1.
  [[nodiscard]] const std::vector<int>& month_of() const { return month_of_; }
  /// By stock: units that begin (or, of what is owned, that are kept), and units at hand in a month.
  [[nodiscard]] const std::vector<Columns>& begun() const { return begun_; }
  [[nodiscard]] const std::vector<Columns>& at_hand() const { return at_hand_; }
  /// What a replica of an option that is not among the problem's costs in a month on a pool, less what it is worth at
  /// the prices of a relaxed solution; none is worth taking in if this is not negative.
  [[nodiscard]] double reduced_cost(const Option& option, int pool, int month, const std::vector<double>& price) const;
  /// Devices that nothing takes have any price from nothing to what they cost to have, and a solver says nothing. How
  /// much more one of a pool may be worth in a month, and what the bound loses by that (devices that are owned).
  struct WorthMore {
    double usd = 0, loss = 0;
  };
  /// By pool and month, for prices of a relaxed solution. Any of them hold together.
  [[nodiscard]] std::vector<std::vector<WorthMore>> worth_more(const std::vector<double>& price) const;
  /// The same program with each job on the kind of device that does most of it in a relaxed solution.
  [[nodiscard]] LinearProgram with_kinds_of(const std::vector<double>& x) const;

 private:
  struct Held {
    int option, pool;
    Columns replicas, routed, used;
    Columns routed_rows;  ///< that hold requests to what replicas can do
  };
  struct Rented {
    int option, stock;
    Columns replicas, used;
  };
  struct Outside {
    int service, api;
    Columns routed;
  };
  struct Use {
    int job, pool, stock, rate;
    Columns gpus;
  };

  struct Hull;
  class Choice;
  struct HullRow {
    std::vector<Term> terms;
    double limit = 0;
  };
  [[nodiscard]] std::vector<Hull> hulls() const;
  [[nodiscard]] std::vector<double> rents_left(const Hull& hull, const std::vector<double>& worth, double largest,
                                               double cell, int below_zero) const;
  [[nodiscard]] std::optional<HullRow> broken_row(const Hull& hull, const Solution& relaxed) const;
  /// Requests/s of one replica.
  [[nodiscard]] double size_of(std::size_t held) const {
    return problem_.options[static_cast<std::size_t>(held_[held].option)].requests_per_s;
  }

  [[nodiscard]] std::size_t step(int month, int band) const {
    return static_cast<std::size_t>(month * bands_.count + band);
  }
  [[nodiscard]] double demand(const Service& service, int month, int band) const;
  [[nodiscard]] double kwh_price(const Site& site, int band) const;  ///< least of the band's hours if relaxed
  [[nodiscard]] double hours(int band) const { return days_ * size_[static_cast<std::size_t>(band)]; }
  int add(double cost, double high, bool whole, int month) {
    month_of_.push_back(month);
    return linear_.column(cost, 0, high, whole);
  }
  void pay(int column, int month, double usd) {
    if (usd != 0 && is_budgeted_) cash_[static_cast<std::size_t>(month)].push_back({column, usd});
  }
  [[nodiscard]] bool is_relaxed() const { return bands_.demand == BandDemand::mean; }
  void add_stocks();
  void add_services();
  void add_sizes(const Service& service, int month, const std::vector<Term>& placed, int largest,
                 const std::vector<std::vector<Term>>& elsewhere);
  void add_hours_of_band(const Service& service, int month, int band, const std::vector<Term>& placed,
                         std::size_t index, const std::vector<Term>& standing);
  void add_rent_steps(const Service& service, int index, int month, std::size_t first_rented,
                      std::size_t first_outside);
  void fix_rents(LinearProgram& out, int index, int month, double stands, double largest) const;
  void add_jobs();
  void add_limits();
  /// By job: the kind of device that does most of it, -1 if mixed.
  [[nodiscard]] std::vector<int> kinds_of(const std::vector<double>& x) const;
  void fix_kinds(LinearProgram& into, const std::vector<int>& kinds) const;
  void hold_terms(int pool, int month, double times, std::vector<Term>& terms) const;

  const Problem& problem_;
  Bands bands_;
  std::vector<double> size_;  ///< hours of each band
  double days_;
  bool is_budgeted_;
  LinearProgram linear_;
  std::vector<int> month_of_;
  // Rows, relaxed only: devices of pools by month, and by month and band; requests by service.
  std::vector<Columns> pool_rows_, busy_rows_, able_rows_, served_rows_;
  std::vector<Columns> begun_;    ///< by stock: units that begin, or that are kept
  std::vector<Columns> at_hand_;  ///< by stock, relaxed only: units begun and not yet over
  std::vector<Held> held_;
  std::vector<Rented> rented_;
  std::vector<Outside> outside_;
  std::vector<Use> uses_;
  std::vector<Columns> largest_;  ///< by service
  std::vector<Columns> able_;     ///< by service, relaxed only: requests/s of held replicas
  /// By service and month, relaxed only: rents and others, with the requests/s that one of each serves in a band, and
  /// what whole replicas cost more than these.
  struct Paid {
    int column;
    double usd;
    int band;  ///< -1: of all
    double serves;
  };
  std::vector<std::vector<std::vector<Paid>>> paid_;
  std::vector<std::vector<int>> job_kinds_;  ///< by job and rate
  std::vector<std::vector<Term>> cash_;      ///< by month
};

}  // namespace ridge::fleet
