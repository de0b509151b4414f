#include <CbcEventHandler.hpp>
#include <CbcModel.hpp>
#include <CbcSolver.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <mutex>
#include <thread>

#include "fleet/program/solver.hpp"

namespace ridge::fleet {

int LinearProgram::column(double column_cost, double column_low, double column_high, bool is_whole) {
  cost.push_back(column_cost);
  low.push_back(column_low);
  high.push_back(column_high);
  whole.push_back(is_whole ? 1 : 0);
  return columns() - 1;
}

int LinearProgram::row(double least, double most, std::span<const Term> of) {
  row_low.push_back(least);
  row_high.push_back(most);
  terms.insert(terms.end(), of.begin(), of.end());
  starts.push_back(terms.size());
  return rows() - 1;
}

namespace {

/// CBC keeps state of its own in statics, and takes over SIGINT while it runs: one solves at a time. Who waits longer
/// than its time and patience has no turn.
class Turn {
 public:
  explicit Turn(const SolveOptions& options)
      : end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds)) {
    while (!(mine_ = lock().try_lock()) && left() > 0 && !options.patience.over()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  ~Turn() {
    if (mine_) lock().unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  [[nodiscard]] bool came() const { return mine_; }
  /// Seconds, of those there were.
  [[nodiscard]] double left() const {
    return std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
  }
  [[nodiscard]] static Solution none() {
    Solution s;
    s.stopped = true;
    return s;
  }

 private:
  static std::mutex& lock() {
    static std::mutex lock;
    return lock;
  }

  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
  bool mine_ = false;
};

class KeepInterrupts {
 public:
  KeepInterrupts() { sigaction(SIGINT, nullptr, &before_); }
  ~KeepInterrupts() { sigaction(SIGINT, &before_, nullptr); }
  KeepInterrupts(const KeepInterrupts&) = delete;
  KeepInterrupts& operator=(const KeepInterrupts&) = delete;

 private:
  struct sigaction before_ {};
};

class StopWhenOver : public CbcEventHandler {
 public:
  explicit StopWhenOver(const Patience& patience) : patience_(patience) {}
  CbcAction event(CbcEvent /*which*/) override { return patience_.over() ? stop : noAction; }
  [[nodiscard]] CbcEventHandler* clone() const override { return new StopWhenOver(*this); }

 private:
  Patience patience_;
};

/// What CLP calculates with: beyond 1e25 it ends the program. Nobody takes what costs as much, whatever it costs.
double bearable(double value) {
  constexpr double kMost = 1e20;
  return std::isnan(value) ? kMost : std::clamp(value, -kMost, kMost);
}

void load(const LinearProgram& p, OsiClpSolverInterface& osi) {
  const double infinity = osi.getInfinity();
  std::vector<int> row_of;
  std::vector<int> column_of;
  std::vector<double> value;
  for (int r = 0; r < p.rows(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    for (std::size_t t = p.starts[at]; t < p.starts[at + 1]; ++t) {
      row_of.push_back(r);
      column_of.push_back(p.terms[t].column);
      value.push_back(bearable(p.terms[t].times));
    }
  }
  CoinPackedMatrix matrix(true, row_of.data(), column_of.data(), value.data(), static_cast<CoinBigIndex>(value.size()));
  matrix.setDimensions(p.rows(), p.columns());
  const auto bounded = [&](std::vector<double> values) {
    for (double& v : values) v = std::clamp(v, -infinity, infinity);
    return values;
  };
  const std::vector<double> low = bounded(p.low);
  const std::vector<double> high = bounded(p.high);
  const std::vector<double> row_low = bounded(p.row_low);
  const std::vector<double> row_high = bounded(p.row_high);
  std::vector<double> cost = p.cost;
  std::transform(cost.begin(), cost.end(), cost.begin(), bearable);
  osi.loadProblem(matrix, low.data(), high.data(), cost.data(), row_low.data(), row_high.data());
}

void be_quiet(OsiClpSolverInterface& osi) {
  osi.setHintParam(OsiDoReducePrint, true, OsiHintTry);
  osi.messageHandler()->setLogLevel(0);
  osi.getModelPtr()->setLogLevel(0);
}

Solution relaxed_solution(const OsiClpSolverInterface& osi) {
  Solution s;
  s.infeasible = osi.isProvenPrimalInfeasible();
  s.found = osi.isProvenOptimal();
  s.stopped = !s.found && !s.infeasible;
  if (!s.found) return s;
  s.cost = s.bound = osi.getObjValue();
  s.x.assign(osi.getColSolution(), osi.getColSolution() + osi.getNumCols());
  s.price.assign(osi.getRowPrice(), osi.getRowPrice() + osi.getNumRows());
  return s;
}

Solution solve_relaxed(OsiClpSolverInterface& osi, double seconds) {
  osi.getModelPtr()->setMaximumSeconds(seconds);
  osi.setHintParam(OsiDoPresolveInInitial, true, OsiHintTry);
  osi.initialSolve();
  return relaxed_solution(osi);
}

int ignore(CbcModel* /*model*/, int /*where*/) {
  return 0;
}

}  // namespace

Solution solve(const LinearProgram& p, const SolveOptions& options) {
  const Turn turn(options);
  if (!turn.came()) return Turn::none();
  OsiClpSolverInterface osi;
  be_quiet(osi);
  load(p, osi);
  const bool any_whole = std::find(p.whole.begin(), p.whole.end(), 1) != p.whole.end();
  if (options.relaxed || !any_whole) return solve_relaxed(osi, std::max(0.05, turn.left()));
  for (int c = 0; c < p.columns(); ++c) {
    if (p.whole[static_cast<std::size_t>(c)] != 0) osi.setInteger(c);
  }
  const KeepInterrupts keep;
  CbcModel model(osi);
  model.setLogLevel(0);
  CbcSolverUsefulData data;
  data.noPrinting_ = true;
  data.useSignalHandler_ = false;
  CbcMain0(model, data);
  model.setLogLevel(0);
  StopWhenOver handler(options.patience);
  model.passInEventHandler(&handler);
  const std::string seconds = std::to_string(std::max(0.05, turn.left()));
  const std::string gap = std::to_string(options.gap);
  if (options.start != nullptr) {
    std::vector<std::pair<std::string, double>> named;
    for (int c = 0; c < p.columns(); ++c) {
      const double value = (*options.start)[static_cast<std::size_t>(c)];
      if (!std::isnan(value)) named.emplace_back(model.solver()->getColName(c), value);
    }
    model.setMIPStart(named);
  }
  std::vector<const char*> words = {"ridge",         "-log",      "0",         "-timeMode", "elapsed", "-sec",
                                    seconds.c_str(), "-ratioGap", gap.c_str(), "-solve",    "-quit"};
  CbcMain1(static_cast<int>(words.size()), words.data(), model, ignore, data);
  Solution s;
  s.infeasible = model.isProvenInfeasible() || (model.status() == 0 && model.bestSolution() == nullptr);
  s.found = model.bestSolution() != nullptr;
  s.stopped = model.isSecondsLimitReached() || options.patience.over() || (!s.found && !s.infeasible);
  s.bound = model.getBestPossibleObjValue();
  if (s.stopped && !s.found) s.infeasible = false;
  if (!s.found) return s;
  s.cost = model.getObjValue();
  s.bound = std::min(s.bound, s.cost);
  s.x.assign(model.bestSolution(), model.bestSolution() + p.columns());
  for (int c = 0; c < p.columns(); ++c) {
    double& v = s.x[static_cast<std::size_t>(c)];
    if (p.whole[static_cast<std::size_t>(c)] != 0) v = std::round(v);
  }
  return s;
}

Solution solve_with_rows(LinearProgram& program, const SolveOptions& options,
                         const std::function<std::vector<Row>(const Solution&)>& more) {
  const Turn turn(options);
  if (!turn.came()) return Turn::none();
  OsiClpSolverInterface osi;
  be_quiet(osi);
  load(program, osi);
  Solution s = solve_relaxed(osi, std::max(0.05, turn.left()));
  while (s.found && turn.left() > 0 && !options.patience.over()) {
    const std::vector<Row> rows = more(s);
    if (rows.empty()) break;
    for (const Row& row : rows) {
      program.row(row.least, row.most, row.terms);
      std::vector<int> columns;
      std::vector<double> times;
      for (const Term& term : row.terms) {
        columns.push_back(term.column);
        times.push_back(bearable(term.times));
      }
      osi.addRow(static_cast<int>(columns.size()), columns.data(), times.data(),
                 std::clamp(row.least, -osi.getInfinity(), osi.getInfinity()),
                 std::clamp(row.most, -osi.getInfinity(), osi.getInfinity()));
    }
    osi.getModelPtr()->setMaximumSeconds(std::max(0.05, turn.left()));
    osi.resolve();
    Solution next = relaxed_solution(osi);
    // What time ended is as good as before; the rows bind all the same.
    if (!next.found && !next.infeasible) {
      s.price.resize(static_cast<std::size_t>(program.rows()), 0.0);
      s.stopped = true;
      break;
    }
    s = std::move(next);
  }
  return s;
}

std::string solver_name() {
  return "CBC " CBC_VERSION;
}

}  // namespace ridge::fleet
