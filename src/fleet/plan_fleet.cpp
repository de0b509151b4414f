// From a problem to an answer: how finely time is looked at, the solver, what one more of each limit is worth.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "fleet/bill.hpp"
#include "fleet/by_month.hpp"
#include "fleet/program/program.hpp"
#include "fleet/program/solver.hpp"
#include "fleet/promising.hpp"
#include "fleet/tidy.hpp"

namespace ridge::fleet {

namespace {

constexpr int kMostHourlyColumns = 6000;  ///< beyond it, hours are put together
constexpr int kMostBandedColumns = 9000;
constexpr std::size_t kMostOptionHours = 200'000;  ///< beyond it, ways to serve are taken in as they prove of use
constexpr int kFewBands = 4;
constexpr int kChoices = 2;
// Shares of the time that is left, so that a step that takes long leaves enough for the next: of three estates with 280
// to 600 devices, small changes ended by themselves after a tenth of it, and replicas were still being made better
// after half of it.
constexpr double kImprovingShare = 0.25;
constexpr double kRefiningShare = 0.5;
constexpr double kChoosingShare = 0.2;
constexpr double kNoGap = 1e-4;
constexpr double kQuick = 3;  ///< seconds: a problem solved in less is solved again for each limit

class Stopwatch {
 public:
  explicit Stopwatch(double seconds)
      : end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds)) {}
  [[nodiscard]] double left() const {
    return std::max(0.05, std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count());
  }

 private:
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
};

/// What a choice of whole numbers costs hour by hour; not found if it does not hold in every hour.
Answer hourly_answer(const Problem& problem, const Program& hourly, const WholePlan& plan, double seconds) {
  const Solution routed = solve_tidied(hourly.fixed_to(plan), {.seconds = seconds});
  if (!routed.found) return {};
  Answer answer = hourly.answer(routed.x);
  settle(problem, answer);
  return answer;
}

struct Solved {
  Answer answer;
  bool infeasible = false;
};

Solved solve_hourly(const Problem& problem, const Program& hourly, const PlanOptions& options) {
  const Solution s =
      solve(hourly.linear(), {.seconds = options.seconds, .gap = options.gap, .patience = options.patience});
  Solved out;
  out.infeasible = s.infeasible;
  out.answer.stopped = s.stopped;
  if (!s.found) return out;
  out.answer = hourly.answer(s.x);
  settle(problem, out.answer);
  out.answer.stopped = s.stopped;
  // The program's own cost and the bill are the same sum; the solver's tolerance lies between them.
  out.answer.bound = std::min(out.answer.usd, s.bound);
  return out;
}

/// A bound by bands, whole numbers near it, and what these cost by the hour. Each step is left out where the gap is
/// small enough without it: the answer before, mended; whole numbers by rounding; rows of whole replicas; month after
/// month on its devices; a bound by months; month after month with other devices; then the program in whole numbers, of
/// nothing but the ways to serve that came up so far.
Solved solve_banded(const Problem& problem, const Program& hourly, const PlanOptions& options, int bands) {
  const Stopwatch watch(options.seconds);
  Solved out;
  Program loose(problem, Bands::alike(problem, bands, BandDemand::mean));
  const Solution relaxed = solve(loose.linear(), {.seconds = watch.left(), .relaxed = true});
  out.infeasible = relaxed.infeasible;
  if (!relaxed.found) return out;
  double bound = std::max(relaxed.cost, options.before != nullptr ? options.before->bound : 0);
  Answer best;
  WholePlan best_plan;
  std::vector<const std::vector<double>*> seen = {&relaxed.x};
  // Each plan is made better by small changes before it is compared.
  const auto take = [&](const WholePlan& plan) {
    Answer answer = hourly_answer(problem, hourly, plan, watch.left());
    const bool better = answer.found && (!best.found || answer.usd < best.usd);
    if (better) {
      best = answer;
      best_plan = plan;
    }
    return answer;
  };
  const auto refine = [&](WholePlan plan, const std::vector<JobUse>& jobs) {
    const Answer answer = take(plan);
    if (best.found && best.usd - bound <= options.gap * best.usd) return;
    take(improved(problem, hourly.places(), std::move(plan), answer.found ? answer.jobs : jobs,
                  {.seconds = kImprovingShare * watch.left(), .patience = options.patience}));
  };
  const auto consider = [&](const Program& program, const std::vector<double>& x) {
    if (!x.empty()) refine(program.whole(x), program.answer(x).jobs);
  };
  const auto is_over = [&] {
    return options.patience.over() || (best.found && best.usd - bound <= options.gap * best.usd);
  };
  const auto within = [&](double share) {
    return SolveOptions{.seconds = share * watch.left(), .gap = options.gap / 4, .patience = options.patience};
  };
  if (options.before != nullptr) {
    refine(whole_plan_of(problem, hourly.places(), *options.before), options.before->jobs);
  }
  Solution near;
  if (!is_over()) near = solve(loose.rounded(relaxed.x), within(0.1));
  consider(loose, near.x);
  if (near.found) seen.push_back(&near.x);
  Solution tight;
  Solution again;
  if (!is_over()) {
    tight = loose.tighten(within(0.3));
    if (tight.infeasible && !best.found) {  // whole replicas show what the rest did not
      out.infeasible = true;
      return out;
    }
    if (tight.found) {
      bound = std::max(bound, tight.cost);
      seen.push_back(&tight.x);
      if (!is_over()) again = solve(loose.rounded(tight.x), within(0.1));
      consider(loose, again.x);
      if (again.found) seen.push_back(&again.x);
    }
  }
  // Whole mixes, each with what it costs hour by hour; again beside what small changes made of them. First where
  // rounding found nothing; where it did, the devices found are worth more than mixes are, and they come later.
  const auto choose_mixes = [&] {
    for (int round = 0; round < kChoices && tight.found && !is_over(); ++round) {
      const std::vector<JobUse> jobs = best.found ? best.jobs : loose.answer(tight.x).jobs;
      std::optional<WholePlan> plan =
          loose.of_mixes(tight, best.found ? &best_plan : nullptr, jobs, within(kChoosingShare));
      if (plan) refine(std::move(*plan), jobs);
    }
  };
  const bool was_rounded = best.found;
  if (!was_rounded) choose_mixes();
  std::vector<double> forward;
  if (!is_over() && !tight.infeasible) {
    const Months months(problem, loose, tight.found ? tight : relaxed);
    // Devices come from small changes, replicas on them from the solver.
    if (best.found) consider(loose, months.forward(within(kRefiningShare), &best_plan));
    if (!is_over()) bound = std::max(bound, months.bound(within(kRefiningShare)));
    if (!is_over()) forward = months.forward(within(kRefiningShare));
    consider(loose, forward);
    if (!forward.empty()) seen.push_back(&forward);
  }
  if (was_rounded) choose_mixes();
  if (!is_over()) consider(loose, solve(loose.narrowed(seen), within(0.9)).x);
  if (!best.found && !options.patience.over()) {
    // Means were too kind: what holds in the busiest hour of each band holds in all of them.
    const Program busiest(problem, Bands::alike(problem, bands, BandDemand::greatest));
    const Solution s = solve(busiest.linear(), {.seconds = watch.left(), .relaxed = true});
    if (s.found) consider(busiest, solve(busiest.rounded(s.x), within(1)).x);
  }
  out.answer = std::move(best);
  out.answer.stopped = !out.answer.found || out.answer.usd - bound > options.gap * out.answer.usd;
  out.answer.bound = std::min(out.answer.usd, bound);
  out.answer.bands = loose.bands().count;
  return out;
}

/// Whole numbers and hours of the ways to serve that are worth having, the bound of all of them.
Solved solve_very_large(const Problem& problem, const PlanOptions& options) {
  const Stopwatch watch(options.seconds);
  const Promising few = promising(problem, kFewBands, {.seconds = 0.6 * watch.left(), .patience = options.patience});
  if (!few.found) return {{}, few.infeasible};
  const Problem small = with_options(problem, few.kept);
  PlanOptions rest = options;
  rest.seconds = watch.left();
  rest.before = nullptr;  // of other options
  Solved out = solve_banded(small, Program(small, Bands::hourly(small)), rest, kFewBands);
  if (!out.answer.found) return out;
  for (Placement& placement : out.answer.placements) {
    placement.option = few.kept[static_cast<std::size_t>(placement.option)];
  }
  out.answer.bound = std::min(out.answer.usd, few.bound);
  out.answer.stopped = out.answer.usd - out.answer.bound > options.gap * out.answer.usd;
  return out;
}

Solved solve_problem(const Problem& problem, const PlanOptions& options) {
  Solved out;
  const bool very_large =
      problem.options.size() * static_cast<std::size_t>(problem.months * problem.hours) > kMostOptionHours;
  std::optional<Program> built;
  if (!very_large || options.bands != 0) built.emplace(problem, Bands::hourly(problem));
  if (!built) {
    out = solve_very_large(problem, options);
  } else if (const Program& hourly = *built; options.bands == problem.hours ||
                                             (options.bands == 0 && hourly.linear().columns() <= kMostHourlyColumns)) {
    out = solve_hourly(problem, hourly, options);
  } else {
    int bands = options.bands;
    if (bands == 0) {
      bands = 8;
      while (bands > 2 && static_cast<double>(hourly.linear().columns()) * bands / problem.hours > kMostBandedColumns) {
        --bands;
      }
    }
    out = solve_banded(problem, hourly, options, bands);
  }
  if (out.answer.found) {
    if (options.before != nullptr) {
      out.answer.bound = std::min(out.answer.usd, std::max(out.answer.bound, options.before->bound));
    }
    out.answer.gap = std::max(0.0, (out.answer.usd - out.answer.bound) / std::max(1e-9, out.answer.usd));
    if (out.answer.bands < problem.hours) out.answer.aggregation = out.answer.gap;
  }
  return out;
}

/// So much more of a limit as people would add at once; 0 = it makes no sense.
double one_more(const Problem& problem, const Rule& rule) {
  switch (rule.kind) {
    case RuleKind::power: {
      const double racks = problem.sites[static_cast<std::size_t>(rule.index)].racks;
      return racks > 0 ? rule.amount / racks : 0.1 * rule.amount;  // what one rack has
    }
    case RuleKind::racks:
      return 1;
    case RuleKind::count:
      return problem.stocks[static_cast<std::size_t>(rule.index)].unit;
    case RuleKind::budget:
      return 0.05 * rule.amount;
    case RuleKind::vendor_share:
      return rule.amount < 100 ? std::min(5.0, 100 - rule.amount) : 0;
    default:
      return 0;
  }
}

}  // namespace

void value_limits(const Problem& problem, Answer& answer, const PlanOptions& options) {
  const Stopwatch watch(options.seconds);
  const bool quick = answer.bands == problem.hours && answer.seconds < kQuick && answer.gap <= kNoGap;
  const auto relaxed_cost = [&](const Problem& of) {
    const int bands = answer.bands;
    const Program program(of, bands == of.hours ? Bands::hourly(of) : Bands::alike(of, bands, BandDemand::mean));
    return solve(program.linear(), {.seconds = watch.left(), .relaxed = true});
  };
  const Solution base = relaxed_cost(problem);
  if (!base.found) return;
  for (std::size_t r = 0; r < problem.rules.size(); ++r) {
    const double more = one_more(problem, problem.rules[r]);
    if (!(more > 0) || watch.left() < 0.1 || options.patience.over()) continue;
    const Problem eased = with_amount(problem, static_cast<int>(r), problem.rules[r].amount + more);
    Marginal marginal{static_cast<int>(r), more, 0, true};
    if (quick) {
      PlanOptions again = options;
      again.before = nullptr;  // of another problem
      again.seconds = watch.left();
      const Solved solved = solve_problem(eased, again);
      if (!solved.answer.found || solved.answer.stopped) continue;
      marginal.usd_month = (answer.usd - solved.answer.usd) / problem.months;
      marginal.relaxed = false;
    } else {
      const Solution s = relaxed_cost(eased);
      if (!s.found) continue;
      marginal.usd_month = (base.cost - s.cost) / problem.months;
    }
    if (marginal.usd_month > std::max(1.0, 2e-5 * answer.usd / problem.months)) answer.marginals.push_back(marginal);
  }
  std::stable_sort(answer.marginals.begin(), answer.marginals.end(),
                   [](const Marginal& a, const Marginal& b) { return a.usd_month > b.usd_month; });
}

namespace {

/// Each stock that the answer takes, and those of one way together where it takes several.
std::vector<std::vector<int>> choices_of(const Problem& problem, const Answer& answer) {
  std::set<int> taken;
  for (const Holding& h : answer.holdings) {
    if (std::any_of(h.held.begin(), h.held.end(), [](double held) { return held > 0.5; })) taken.insert(h.stock);
  }
  for (const Placement& p : answer.placements) {
    const bool rents = p.stock >= 0 && std::any_of(p.routed.begin(), p.routed.end(), [](double r) { return r > 1e-9; });
    if (rents) taken.insert(p.stock);
  }
  for (const JobUse& use : answer.jobs) {
    if (use.stock >= 0) taken.insert(use.stock);
  }
  std::vector<std::vector<int>> out;
  std::map<Way, int> ways;
  for (const int k : taken) {
    out.push_back({k});
    ++ways[problem.stocks[static_cast<std::size_t>(k)].way];
  }
  for (const auto& [way, count] : ways) {
    if (count < 2) continue;
    std::vector<int> all;
    for (std::size_t k = 0; k < problem.stocks.size(); ++k) {
      if (problem.stocks[k].way == way) all.push_back(static_cast<int>(k));
    }
    out.push_back(std::move(all));
  }
  return out;
}

}  // namespace

void value_choices(const Problem& problem, Answer& answer, const PlanOptions& options) {
  const Stopwatch watch(options.seconds);
  const auto relaxed_cost = [&](const Problem& of) {
    const Program program(
        of, answer.bands == of.hours ? Bands::hourly(of) : Bands::alike(of, answer.bands, BandDemand::mean));
    return solve(program.linear(), {.seconds = watch.left(), .relaxed = true});
  };
  const Solution base = relaxed_cost(problem);
  const bool in_full = answer.bands == problem.hours && !answer.stopped;
  std::vector<std::vector<int>> choices = choices_of(problem, answer);
  for (std::size_t i = 0; i < choices.size() && base.found && watch.left() > 0.1 && !options.patience.over(); ++i) {
    Problem rest = problem;
    for (const int k : choices[i]) rest.stocks[static_cast<std::size_t>(k)].most = 0;
    Without one{std::move(choices[i]), kNoLimit, false};
    const Solution loose = relaxed_cost(rest);
    if (!loose.found && !loose.infeasible) continue;
    if (loose.found) {
      one.relaxed = true;
      one.usd = answer.usd + std::max(0.0, loose.cost - base.cost);
    }
    if (in_full && loose.found) {
      PlanOptions again = options;
      again.before = nullptr;  // of another problem
      again.seconds = watch.left() / static_cast<double>(choices.size() - i);
      const Solved solved = solve_problem(rest, again);
      const bool is_known = solved.infeasible || (solved.answer.found && !solved.answer.stopped);
      if (is_known) one.usd = solved.infeasible ? kNoLimit : std::max(answer.usd, solved.answer.usd);
      one.relaxed = !is_known;
    }
    answer.without.push_back(std::move(one));
  }
  std::stable_sort(answer.without.begin(), answer.without.end(),
                   [](const Without& x, const Without& y) { return x.usd < y.usd; });
}

Answer plan_fleet(const Problem& problem, const PlanOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Solved solved = solve_problem(problem, options);
  solved.answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (solved.answer.found) {
    if (options.marginals) value_limits(problem, solved.answer, options);
  } else if (solved.infeasible) {
    solved.answer.clash = find_clash(problem, options);
  }
  return solved.answer;
}

}  // namespace ridge::fleet
