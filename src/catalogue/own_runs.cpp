#include "ridge/catalogue/own_runs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ridge {
namespace {

constexpr double kShared = 0.2;   ///< spread of what all runs of a stack share: EffectPriors::stack
constexpr double kByLoad = 0.15;  ///< spread of what only like loads share
constexpr double kNoise = 0.08;   ///< of one run
constexpr double kReach = 1.5;    ///< in stretched logarithms: a factor of 4.5 in the number of clients
constexpr double kUnlike = 1;     ///< squared distance of another format, mode, device or model

double log_of(double value) {
  return std::log(std::max(value, 1.0));
}

double covariance(const OwnPoint& a, const OwnPoint& b) {
  double square = 0;
  for (std::size_t i = 0; i < OwnPoint::kCoordinates; ++i) square += (a.at[i] - b.at[i]) * (a.at[i] - b.at[i]);
  const int unlike = (a.format != b.format) + (a.mode != b.mode) + (a.device != b.device) + (a.model != b.model);
  square += kUnlike * unlike;
  return kShared * kShared + kByLoad * kByLoad * std::exp(-square / (2 * kReach * kReach));
}

}  // namespace

std::array<double, OwnPoint::kCoordinates> OwnPoint::serving(double clients, double isl, double osl, double tp) {
  return {log_of(clients), std::sqrt(0.5) * log_of(isl), 0.5 * log_of(osl), log_of(tp), 0};
}

std::array<double, OwnPoint::kCoordinates> OwnPoint::training(double gpus, double micro_batch, double sequence,
                                                              double tp, double pp) {
  return {0.5 * log_of(gpus), log_of(micro_batch), log_of(sequence), log_of(tp), log_of(pp)};
}

double OwnRuns::by_load() {
  return kByLoad;
}

OwnRuns::OwnRuns(std::vector<OwnRun> runs) : runs_(std::move(runs)) {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const auto same = [&](const Stack& s) { return runs_[s.members[0]].point.stack == runs_[i].point.stack; };
    auto at = std::find_if(stacks_.begin(), stacks_.end(), same);
    if (at == stacks_.end()) at = stacks_.insert(at, Stack{});
    if (at->members.size() < kMost) at->members.push_back(i);
  }
  for (Stack& s : stacks_) {
    const std::size_t n = s.members.size();
    s.factor.assign(n * n, 0);
    s.weights.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = covariance(runs_[s.members[i]].point, runs_[s.members[j]].point) + (i == j ? kNoise * kNoise : 0);
        for (std::size_t k = 0; k < j; ++k) sum -= s.factor[i * n + k] * s.factor[j * n + k];
        s.factor[i * n + j] = i == j ? std::sqrt(sum) : sum / s.factor[j * n + j];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      double sum = runs_[s.members[i]].slower;
      for (std::size_t k = 0; k < i; ++k) sum -= s.factor[i * n + k] * s.weights[k];
      s.weights[i] = sum / s.factor[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
      double sum = s.weights[i];
      for (std::size_t k = i + 1; k < n; ++k) sum -= s.factor[k * n + i] * s.weights[k];
      s.weights[i] = sum / s.factor[i * n + i];
    }
  }
}

OwnRuns::Says OwnRuns::of(const OwnPoint& question) const {
  Says says;
  for (const Stack& s : stacks_) {
    if (runs_[s.members[0]].point.stack != question.stack) continue;
    const std::size_t n = s.members.size();
    const double all = covariance(question, question);
    std::vector<double> near(n);  // the factor's inverse times the covariances with the question
    double known = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double with = covariance(question, runs_[s.members[i]].point);
      says.slower += s.weights[i] * with;
      double sum = with;
      for (std::size_t k = 0; k < i; ++k) sum -= s.factor[i * n + k] * near[k];
      near[i] = sum / s.factor[i * n + i];
      known += near[i] * near[i];
    }
    says.left = std::clamp(1 - known / all, 0.0, 1.0);
    says.rows = static_cast<int>(n);
  }
  return says;
}

}  // namespace ridge
