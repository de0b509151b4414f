// How throughput follows bandwidth and compute, by least squares with one constant per round.
#include <algorithm>
#include <cmath>
#include <set>

#include "ridge/mlperf/mlperf_analysis.hpp"

namespace ridge::mlperf {

namespace {

constexpr int kLeastAccelerators = 6;
constexpr double kTooAlike = 0.95;

struct Point {
  std::string round;
  std::string accelerator;
  double y = 0, bandwidth = 0, compute = 0;  // logarithms
};

/// Subtracts the mean of each round: what is left is what a constant per round cannot explain.
void centre(std::vector<Point>& points) {
  std::map<std::string, std::pair<Point, int>> sums;
  for (const Point& p : points) {
    auto& [sum, n] = sums[p.round];
    sum.y += p.y;
    sum.bandwidth += p.bandwidth;
    sum.compute += p.compute;
    ++n;
  }
  for (Point& p : points) {
    const auto& [sum, n] = sums[p.round];
    p.y -= sum.y / n;
    p.bandwidth -= sum.bandwidth / n;
    p.compute -= sum.compute / n;
  }
}

std::optional<Elasticity> fit(std::vector<Point> points) {
  Elasticity e;
  std::set<std::string> accelerators;
  std::set<std::string> rounds;
  for (const Point& p : points) {
    accelerators.insert(p.accelerator);
    rounds.insert(p.round);
  }
  e.points = static_cast<int>(points.size());
  e.accelerators = static_cast<int>(accelerators.size());
  const int freedom = e.points - static_cast<int>(rounds.size()) - 2;
  if (e.accelerators < kLeastAccelerators || freedom < 3) return std::nullopt;
  centre(points);
  // Normal equations of y = a b + c k on centred data: [bb bk; bk kk] [a; c] = [by; ky].
  double bb = 0, bk = 0, kk = 0, by = 0, ky = 0, yy = 0;
  for (const Point& p : points) {
    bb += p.bandwidth * p.bandwidth;
    bk += p.bandwidth * p.compute;
    kk += p.compute * p.compute;
    by += p.bandwidth * p.y;
    ky += p.compute * p.y;
    yy += p.y * p.y;
  }
  if (!(bb > 0) || !(kk > 0) || !(yy > 0)) return std::nullopt;
  e.correlation = bk / std::sqrt(bb * kk);
  if (std::abs(e.correlation) > kTooAlike) return std::nullopt;
  const double determinant = bb * kk - bk * bk;
  e.bandwidth = (kk * by - bk * ky) / determinant;
  e.compute = (bb * ky - bk * by) / determinant;
  const double rest = std::max(0.0, yy - e.bandwidth * by - e.compute * ky);
  const double variance = rest / freedom;
  e.bandwidth_error = std::sqrt(variance * kk / determinant);
  e.compute_error = std::sqrt(variance * bb / determinant);
  e.bandwidth_alone = by / bb;
  e.compute_alone = ky / kk;
  e.r_squared = 1 - rest / yy;
  return e;
}

}  // namespace

std::vector<Elasticity> elasticities(const Results& results, const Names& names, const Catalogue& catalogue) {
  struct Mean {
    double sum = 0;
    int rows = 0;
    const Device* device = nullptr;
  };
  std::map<std::pair<std::string, std::string>, std::map<std::pair<std::string, std::string>, Mean>> means;
  for (const Row& row : results.rows) {
    if (row.suite != Suite::inference || row.published.division != "closed" || row.power_tuned ||
        row.accelerators == 0 || row.virtualised() || row.copied || row.unit == "ms" || row.unit == "s" ||
        row.published.category == "network") {
      continue;
    }
    const Device* const device = catalogue.device(row.device);
    if (device == nullptr || !device->memory_bandwidth || !device->peak(PeakFormat::bf16)) continue;
    if (names.benchmark(Suite::inference, row.benchmark) == nullptr) continue;
    Mean& mean = means[{row.benchmark, row.scenario}][{row.published.round, row.accelerator}];
    mean.sum += row.value / row.accelerators;
    mean.device = device;
    ++mean.rows;
  }
  std::vector<Elasticity> result;
  for (const auto& [key, cells] : means) {
    std::vector<Point> points;
    for (const auto& [where, mean] : cells) {
      points.push_back({where.first, where.second, std::log(mean.sum / mean.rows),
                        std::log(mean.device->memory_bandwidth->value.value()),
                        std::log(mean.device->peak(PeakFormat::bf16)->value.value())});
    }
    if (auto e = fit(std::move(points))) {
      e->benchmark = key.first;
      e->scenario = key.second;
      result.push_back(*std::move(e));
    }
  }
  return result;
}

}  // namespace ridge::mlperf
