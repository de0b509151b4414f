#include "evidence/fit/fit.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace ridge::evidence {
namespace {

// A parameter in fit coordinates: z = (log v - log prior)/spread, or (v - prior)/spread; the prior is then z^2/2.
struct Coordinate {
  std::size_t index;
  const Parameter* parameter;

  [[nodiscard]] double value_at(double z) const {
    const Parameter& p = *parameter;
    const double v = p.logarithmic ? p.prior * std::exp(z * p.spread) : p.prior + z * p.spread;
    return std::clamp(v, p.low, p.high);
  }
  [[nodiscard]] double at(double value) const {
    const Parameter& p = *parameter;
    return p.logarithmic ? std::log(value / p.prior) / p.spread : (value - p.prior) / p.spread;
  }
  [[nodiscard]] double clamp(double z) const { return at(value_at(z)); }
};

class Problem {
 public:
  Problem(const Calibration& start, std::string_view group, std::size_t rows, const LogErrors& errors,
          const FitOptions& options)
      : start_(start), rows_(rows), errors_(errors), options_(options) {
    const auto parameters = start.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      values_.push_back(parameters[i].value);
      if (parameters[i].fitted && parameters[i].group == group) coordinates_.push_back({i, &parameters[i]});
    }
  }

  [[nodiscard]] std::size_t size() const { return coordinates_.size(); }
  [[nodiscard]] std::vector<std::size_t> parameters() const {
    std::vector<std::size_t> out;
    for (const Coordinate& c : coordinates_) out.push_back(c.index);
    return out;
  }
  [[nodiscard]] std::vector<double> start() const {
    std::vector<double> z;
    for (const Coordinate& c : coordinates_) z.push_back(c.clamp(c.at(c.parameter->value)));
    return z;
  }
  [[nodiscard]] Calibration calibration(const std::vector<double>& z) const {
    std::vector<double> values = values_;
    for (std::size_t j = 0; j < z.size(); ++j) values[coordinates_[j].index] = coordinates_[j].value_at(z[j]);
    return start_.with_values(values);
  }
  [[nodiscard]] std::vector<double> residuals(const std::vector<double>& z) const {
    std::vector<double> r(rows_);
    errors_(calibration(z), r);
    return r;
  }
  // Student-t: (dof+1)/2 log(1 + (e/noise)^2/dof), summed with weights, plus the prior.
  [[nodiscard]] double objective(const std::vector<double>& z, const std::vector<double>& r) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      // A refusal costs as much as a bad miss: else the fit would refuse what it cannot predict.
      const double s = (std::isfinite(r[i]) ? r[i] : kRefused) / options_.noise;
      sum += weight(i) * 0.5 * (options_.degrees_of_freedom + 1) * std::log1p(s * s / options_.degrees_of_freedom);
    }
    for (const double v : z) sum += 0.5 * v * v;
    return sum;
  }
  [[nodiscard]] double weight(std::size_t i) const { return options_.weights.empty() ? 1 : options_.weights[i]; }
  // Weight of the row in the quadratic model of the loss.
  [[nodiscard]] double curvature(std::size_t i, double r) const {
    const double s = r / options_.noise;
    const double dof = options_.degrees_of_freedom;
    return weight(i) * (dof + 1) / (dof + s * s) / (options_.noise * options_.noise);
  }
  [[nodiscard]] double clamp(std::size_t j, double z) const { return coordinates_[j].clamp(z); }

  using Columns = std::vector<std::vector<double>>;

  // Central differences. Parameters that touch no row in common (`batches`) are moved at the same time; each batch is
  // one unit of work for the threads.
  [[nodiscard]] Columns jacobian(const std::vector<double>& z, const std::vector<std::vector<std::size_t>>& batches,
                                 const Columns* touched) const {
    Columns columns(size(), std::vector<double>(rows_, 0.0));
    const auto work = [&](std::size_t first, std::size_t step) {
      for (std::size_t b = first; b < batches.size(); b += step) {
        auto up = z;
        auto down = z;
        for (const std::size_t j : batches[b]) {
          up[j] = clamp(j, z[j] + kStep);
          down[j] = clamp(j, z[j] - kStep);
        }
        const auto ru = residuals(up);
        const auto rd = residuals(down);
        for (const std::size_t j : batches[b]) {
          const double width = up[j] - down[j];
          if (width <= 0) continue;
          for (std::size_t i = 0; i < rows_; ++i) {
            if (touched != nullptr && (*touched)[j][i] == 0) continue;
            const double slope = (ru[i] - rd[i]) / width;
            columns[j][i] = std::isfinite(slope) ? slope : 0.0;
          }
        }
      }
    };
    const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> pool;
    for (std::size_t t = 1; t < threads; ++t) pool.emplace_back(work, t, threads);
    work(0, threads);
    for (auto& thread : pool) thread.join();
    return columns;
  }

 private:
  static constexpr double kStep = 1e-3;
  static constexpr double kRefused = 2;  // in the logarithm: a factor of seven
  const Calibration& start_;
  std::size_t rows_;
  const LogErrors& errors_;
  const FitOptions& options_;
  std::vector<double> values_;
  std::vector<Coordinate> coordinates_;
};

// Solves the symmetric positive definite system in place by Cholesky; false if it is not positive definite.
bool solve(std::vector<double>& a, std::vector<double>& b, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double d = a[j * n + j];
    for (std::size_t k = 0; k < j; ++k) d -= a[j * n + k] * a[j * n + k];
    if (!(d > 0)) return false;
    const double root = std::sqrt(d);
    a[j * n + j] = root;
    for (std::size_t i = j + 1; i < n; ++i) {
      double v = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) v -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = v / root;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return true;
}

constexpr double kBorrowedTolerance = 1e-3;

using Batches = std::vector<std::vector<std::size_t>>;

Batches one_by_one(std::size_t n) {
  Batches batches(n);
  for (std::size_t j = 0; j < n; ++j) batches[j] = {j};
  return batches;
}

// Greedy colouring: a parameter joins the first batch with which it shares no row. Most parameters belong to one
// architecture or engine, so that few batches remain. What a row reads may change on the way (another bound); then a
// slope is a little off, which costs iterations but not correctness, because steps are judged by the objective itself.
Batches disjoint(const std::vector<std::vector<double>>& columns, std::size_t rows) {
  Batches batches;
  std::vector<std::vector<bool>> taken;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::size_t b = 0;
    for (; b < batches.size(); ++b) {
      bool free = true;
      for (std::size_t i = 0; i < rows && free; ++i) free = columns[j][i] == 0 || !taken[b][i];
      if (free) break;
    }
    if (b == batches.size()) {
      batches.emplace_back();
      taken.emplace_back(rows, false);
    }
    batches[b].push_back(j);
    for (std::size_t i = 0; i < rows; ++i) {
      if (columns[j][i] != 0) taken[b][i] = true;
    }
  }
  return batches;
}

}  // namespace

FitResult fit(const Calibration& start, std::string_view group, std::size_t rows, const LogErrors& log_errors,
              const FitOptions& options) {
  const Problem problem(start, group, rows, log_errors, options);
  const std::size_t n = problem.size();
  std::vector<double> z = problem.start();
  std::vector<double> r = problem.residuals(z);
  double objective = problem.objective(z, r);
  double damping = 1e-2;
  Problem::Columns columns;
  Problem::Columns touched;
  Batches batches = one_by_one(n);
  int own_slopes = 0;  // how many iterations are left, 0 = no limit
  bool borrowed = options.near != nullptr && options.near->columns.size() == n;
  if (borrowed) {
    columns = touched = options.near->columns;
    batches = disjoint(touched, rows);
    damping = 1e-6;  // slopes of a point nearby: try the whole step first
  }
  const auto slopes = [&] {
    if (!touched.empty()) return problem.jacobian(z, batches, &touched);
    auto first = problem.jacobian(z, batches, nullptr);
    touched = first;
    batches = disjoint(touched, rows);
    return first;
  };
  int iteration = 0;
  for (; iteration < options.iterations && n > 0; ++iteration) {
    if (!borrowed) columns = slopes();
    std::vector<double> hessian(n * n, 0.0);
    std::vector<double> gradient(n, 0.0);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t i = 0; i < rows; ++i) {
        if (!std::isfinite(r[i])) continue;
        const double w = problem.curvature(i, r[i]) * columns[a][i];
        if (w == 0) continue;
        gradient[a] += w * r[i];
        for (std::size_t b = 0; b <= a; ++b) hessian[a * n + b] += w * columns[b][i];
      }
      hessian[a * n + a] += 1;  // the prior
      gradient[a] += z[a];
    }
    bool improved = false;
    double decrease = 0;
    for (int attempt = 0; attempt < 8 && !improved; ++attempt) {
      std::vector<double> system = hessian;
      std::vector<double> step = gradient;
      for (std::size_t a = 0; a < n; ++a) system[a * n + a] *= 1 + damping;
      if (solve(system, step, n)) {
        std::vector<double> trial = z;
        for (std::size_t a = 0; a < n; ++a) trial[a] = problem.clamp(a, z[a] - step[a]);
        const auto trial_r = problem.residuals(trial);
        const double value = problem.objective(trial, trial_r);
        if (value < objective) {
          decrease = objective - value;
          z = trial;
          r = trial_r;
          objective = value;
          improved = true;
          damping = std::max(damping / 5, 1e-7);
          break;
        }
      }
      damping *= 4;
    }
    if (!borrowed && own_slopes > 0 && --own_slopes == 0) break;
    const double enough = borrowed ? kBorrowedTolerance : options.tolerance;
    if (improved && decrease >= enough * objective) continue;
    // Slopes from elsewhere lead near the optimum but not onto it: the last steps need those of the place.
    if (!borrowed || options.refresh == 0) break;
    borrowed = false;
    damping = 1e-4;
    own_slopes = options.refresh;
  }
  FitResult result{problem.calibration(z), objective, iteration, std::move(r), {}};
  if (options.keep_jacobian) result.jacobian = {problem.parameters(), slopes()};
  return result;
}

}  // namespace ridge::evidence
