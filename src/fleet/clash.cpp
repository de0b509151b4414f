// Rules that cannot hold together. A deletion filter: each rule in turn is dropped, and stays dropped if the others
// still clash; what is left clashes and does so only as a whole. Then each of these alone is loosened until all holds.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "fleet/program/program.hpp"
#include "fleet/program/solver.hpp"

namespace ridge::fleet {

namespace {

constexpr double kLoosest = 64;  ///< times an amount: beyond it, nobody would call it the same limit
constexpr double kCloseAmount = 0.005;
constexpr double kFirstBudget = 1000;  ///< dollars, for one that is zero or less
constexpr double kLargestBudget = 1e13;

enum class Feasible : std::uint8_t { yes, no, unknown };

class Prober {
 public:
  Prober(const Problem& problem, const PlanOptions& options)
      : options_(options),
        deadline_(std::chrono::steady_clock::now() + std::chrono::duration<double>(std::max(5.0, options.seconds))) {
    relaxed_clash_ = ask(problem, true) == Feasible::no;
  }

  /// Whether anything solves it. If whole numbers were never the reason, they are not looked at.
  [[nodiscard]] Feasible feasible(const Problem& problem) const { return ask(problem, relaxed_clash_); }
  /// Costs do not matter, only whether there is a solution in whole numbers.
  [[nodiscard]] Feasible feasible_whole(const Problem& problem) const { return ask(problem, false); }
  [[nodiscard]] bool over() const { return left() <= 0 || options_.patience.over(); }

 private:
  [[nodiscard]] double left() const {
    return std::chrono::duration<double>(deadline_ - std::chrono::steady_clock::now()).count();
  }
  [[nodiscard]] Feasible ask(const Problem& problem, bool relaxed) const {
    if (over()) return Feasible::unknown;
    const bool small = problem.months * problem.hours * static_cast<int>(problem.options.size()) <= 3000;
    const Program program(problem, small ? Bands::hourly(problem) : Bands::alike(problem, 4, BandDemand::mean));
    LinearProgram linear = program.linear();
    std::fill(linear.cost.begin(), linear.cost.end(), 0.0);
    const Solution s = solve(linear, {.seconds = std::min(left(), relaxed ? 60.0 : 5.0),
                                      .gap = 1e9,
                                      .relaxed = relaxed,
                                      .patience = options_.patience});
    if (s.found) return Feasible::yes;
    return s.infeasible ? Feasible::no : Feasible::unknown;
  }

  PlanOptions options_;
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> deadline_;
  bool relaxed_clash_ = false;
};

bool grows(RuleKind kind) {
  return kind != RuleKind::demand && kind != RuleKind::deadline && kind != RuleKind::spare;
}

/// The least change of one rule's amount that makes the problem solvable, or nothing.
std::optional<Clash::Change> least_change(const Problem& problem, int position, const Prober& prober) {
  const Rule& rule = problem.rules[static_cast<std::size_t>(position)];
  if (rule.kind == RuleKind::residency || rule.kind == RuleKind::forbidden) {
    if (prober.feasible_whole(without(problem, position)) != Feasible::yes) return {};
    return Clash::Change{position, 0, 1};
  }
  const auto holds = [&](double amount) {
    return prober.feasible_whole(with_amount(problem, position, amount)) == Feasible::yes;
  };
  if (rule.kind == RuleKind::spare) {
    for (int spare = static_cast<int>(rule.amount) - 1; spare >= 0; --spare) {
      if (holds(spare)) return Clash::Change{position, static_cast<double>(spare), 1 - spare / rule.amount};
    }
    return {};
  }
  double bad = rule.amount;
  double good = 0;
  if (grows(rule.kind)) {
    const double most = rule.kind == RuleKind::vendor_share ? 100
                        : rule.kind == RuleKind::budget     ? kLargestBudget
                                                            : kLoosest * std::max(rule.amount, 1.0);
    double next = std::min(most, std::max(rule.kind == RuleKind::budget ? kFirstBudget : 1.0, 2 * rule.amount));
    while (!holds(next)) {
      if (next >= most || prober.over()) return {};
      bad = next;
      next = std::min(most, 4 * next);
    }
    good = next;
  } else if (!holds(0)) {
    return {};
  }
  const double unit = rule.kind == RuleKind::count   ? problem.stocks[static_cast<std::size_t>(rule.index)].unit
                      : rule.kind == RuleKind::racks ? 1
                                                     : 0;
  const double close = std::max(unit, kCloseAmount * std::max(std::abs(good), std::abs(bad)));
  while (std::abs(good - bad) > close && !prober.over()) {
    double middle = 0.5 * (good + bad);
    if (unit > 0) middle = unit * std::round(middle / unit);
    if (middle == good || middle == bad) break;
    (holds(middle) ? good : bad) = middle;
  }
  const double by = rule.amount != 0 ? std::abs(good - rule.amount) / std::abs(rule.amount) : kLoosest;
  return Clash::Change{position, good, by};
}

/// Rules that clash, and do so only as a whole.
std::vector<int> irreducible(const Problem& problem, const Prober& prober, bool& minimal) {
  std::vector<int> rules;
  Problem left = problem;
  for (std::size_t r = 0; r < problem.rules.size(); ++r) {
    const int rule = static_cast<int>(r);
    const Problem eased = without(left, rule);
    const Feasible answer = prober.feasible(eased);
    if (answer == Feasible::no) {
      left = eased;
      continue;
    }
    minimal = minimal && answer == Feasible::yes;
    rules.push_back(rule);
  }
  return rules;
}

bool is_work(RuleKind kind) {
  return kind == RuleKind::demand || kind == RuleKind::deadline;
}

/// Limits that have to go together before there is a plan; nothing if no number of them helps.
std::vector<int> give_up_together(const Problem& problem, std::vector<int> clash, const Prober& prober) {
  std::vector<int> gone;
  Problem eased = problem;
  while (!prober.over() && gone.size() < problem.rules.size()) {
    const auto limit = std::find_if(clash.begin(), clash.end(), [&](int rule) {
      return !is_work(problem.rules[static_cast<std::size_t>(rule)].kind);
    });
    if (limit == clash.end()) return {};
    gone.push_back(*limit);
    eased = without(eased, *limit);
    const Feasible now = prober.feasible_whole(eased);
    if (now == Feasible::yes) return gone;
    bool minimal = true;
    if (now == Feasible::no) clash = irreducible(eased, prober, minimal);
    if (now == Feasible::unknown) return {};
  }
  return {};
}

}  // namespace

Clash find_clash(const Problem& problem, const PlanOptions& options) {
  Clash clash;
  const Prober prober(problem, options);
  clash.rules = irreducible(problem, prober, clash.minimal);
  const auto leaves_nothing = [&](const Clash::Change& change) {
    return is_work(problem.rules[static_cast<std::size_t>(change.rule)].kind) && change.by > 0.99;
  };
  bool helps = false;
  for (const int rule : clash.rules) {
    // In the whole problem, so that what is advised really helps.
    const auto change = least_change(problem, rule, prober);
    if (!change) continue;
    helps = helps || !leaves_nothing(*change);
    clash.changes.push_back(*change);
  }
  if (!helps) clash.together = give_up_together(problem, clash.rules, prober);
  std::stable_sort(clash.changes.begin(), clash.changes.end(), [&](const Clash::Change& a, const Clash::Change& b) {
    return leaves_nothing(a) != leaves_nothing(b) ? leaves_nothing(b) : a.by < b.by;
  });
  return clash;
}

}  // namespace ridge::fleet
