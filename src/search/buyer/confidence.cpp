#include "ridge/search/confidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "base/normal.hpp"
#include "ridge/base/random.hpp"

namespace ridge {

namespace {

constexpr double kFreedom = 3;
constexpr double kStudent90 = 1.6377443536962102;  ///< of Student's t with three degrees of freedom
constexpr double kScale = kNormal90 / kStudent90;

constexpr double kModelShare = 0.25;
constexpr double kStackShare = 0.10;
constexpr double kDeviceShare = 0.35;
constexpr double kRestShare = 0.30;

constexpr int kDraws = 4096;

/// Student's t with three degrees of freedom, closed form.
double student(double t) {
  const double u = t / std::sqrt(kFreedom);
  return 0.5 + (u / (1 + u * u) + std::atan(u)) / std::numbers::pi;
}

/// In standard deviations.
double standard_probability(double x) {
  return student(x / kScale);
}

/// Newton's steps from the tail's or the middle's own expansion; the distribution is concave above 0.
double standard_quantile(double p) {
  if (p < 0.5) return -standard_quantile(1 - p);
  if (p <= 0.5) return 0;
  if (p >= 1) return std::numeric_limits<double>::infinity();
  const double root = std::sqrt(kFreedom);
  // 1 - F(t) -> 2 / (pi sqrt 3) (sqrt 3 / t)^3 / ... far out: 6 sqrt(3) / (3 pi t^3).
  double t = p > 0.9 ? std::cbrt(2 * root / (std::numbers::pi * (1 - p))) : (p - 0.5) * std::numbers::pi * root / 2;
  for (int i = 0; i < 60; ++i) {
    const double u = 1 + t * t / kFreedom;
    const double density = 2 / (std::numbers::pi * root * u * u);
    const double step = (student(t) - p) / density;
    const double next = std::max(0.5 * t, t - step);
    if (std::fabs(next - t) <= 1e-15 * next) break;
    t = next;
  }
  return t * kScale;
}

/// The logarithm that this share of the errors stays below.
double error_quantile(const LogError& error, double p, double sigma) {
  if (p < error.faster) return error.below * sigma * standard_quantile(0.5 * p / error.faster);
  return error.above * sigma * standard_quantile(0.5 + 0.5 * (p - error.faster) / (1 - error.faster));
}

constexpr double kTenth = 0.1;  ///< beyond either end of an interval

/// Widths of the two halves, so that a tenth lies beyond each end: `down` and `up` are logarithms, both at least 0.
void set_widths(LogError& error, double down, double up, double sigma) {
  error.below = down / (-standard_quantile(0.5 * kTenth / error.faster) * sigma);
  error.above = up / (standard_quantile(1 - 0.5 * kTenth / (1 - error.faster)) * sigma);
}

/// What is predicted lies between the median (0) and the mode (1) of what is measured. Of 1,787 rates, 999 training
/// steps and 987 times per token whose publisher was left out of the fit, 51, 53 and 46 % were at least as fast as the
/// median at 0.4; as the mode 58, 63 and 51 %, as the median itself 40, 40 and 40 % (ridge validate --plans, November
/// 2026).
constexpr double kTowardsMode = 0.4;

/// The share below the mode with which the density does not jump there: below / (below + above).
double continuous_share(double down, double up) {
  constexpr double kLeast = 0.12;  // less would put the mode beyond the 10th percentile
  double low = kLeast;
  double high = 1 - kLeast;
  for (int i = 0; i < 60; ++i) {
    LogError tried;
    tried.faster = 0.5 * (low + high);
    set_widths(tried, down, up, 1);
    // More on the lower side makes that side wider, but by less than its share grows.
    (tried.below / (tried.below + tried.above) > tried.faster ? low : high) = tried.faster;
  }
  return 0.5 * (low + high);
}

/// One stream for each key, the same in every race.
std::uint64_t stream_of(std::string_view key) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

std::vector<double> normals(std::uint64_t stream) {
  std::vector<double> out(kDraws);
  Random random(20261116, stream);
  for (int i = 0; i < kDraws; i += 2) {
    const double z = random.normal();
    out[static_cast<std::size_t>(i)] = z;
    out[static_cast<std::size_t>(i) + 1] = -z;
  }
  return out;
}

/// The logarithm of what multiplies a runner's mid, draw by draw.
class Draws {
 public:
  Draws() : heavy_(kDraws) {
    Random random(20261116, 3);
    for (std::size_t i = 0; i < heavy_.size(); i += 2) {
      // Chi-squared with f degrees of freedom over f; both of a mirrored pair.
      heavy_[i] = heavy_[i + 1] = kScale / std::sqrt(random.gamma(kFreedom / 2) * 2 / kFreedom);
    }
  }

  void add(const LogError& error, std::vector<double>& logs) {
    const double sigma = error.sigma();
    if (!(sigma > 0)) return;
    std::vector<double> sum(kDraws, 0.0);
    for (const ErrorPart& effect : error.effects) {
      const std::vector<double>& z = of(effect.key);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += effect.sigma * z[i];
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
      logs[i] += error_quantile(error, standard_probability(sum[i] / sigma * heavy_[i]), sigma);
    }
  }

 private:
  const std::vector<double>& of(const std::string& key) {
    auto at = known_.find(key);
    if (at == known_.end()) at = known_.emplace(key, normals(stream_of(key))).first;
    return at->second;
  }

  std::vector<double> heavy_;
  std::map<std::string, std::vector<double>, std::less<>> known_;
};

}  // namespace

double LogError::sigma() const {
  double variance = 0;
  for (const ErrorPart& effect : effects) variance += effect.sigma * effect.sigma;
  return std::sqrt(variance);
}

double LogError::factor(double p) const {
  const double all = sigma();
  return all > 0 ? std::exp(error_quantile(*this, p, all)) : 1;
}

double LogError::probability(double factor) const {
  const double error = std::log(factor);
  const double all = sigma() * (error > 0 ? above : below);
  if (!(all > 0)) return error >= 0 ? 1 : 0;
  const double half = standard_probability(error / all);
  return error > 0 ? faster + (1 - faster) * (2 * half - 1) : 2 * faster * half;
}

LogError LogError::without(std::span<const std::string_view> kinds) const {
  LogError left = *this;
  std::erase_if(left.effects, [&](const ErrorPart& effect) {
    const std::string_view kind = std::string_view(effect.key).substr(0, effect.key.find(':'));
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  });
  return left;
}

Interval inverse(const Interval& rate) {
  return {1 / rate.high, 1 / rate.mid, 1 / rate.low};
}

LogError time_error(const Interval& time, const ErrorSubject& about) {
  LogError error;
  const double up = std::log(time.high / time.mid);
  const double down = std::log(time.mid / time.low);
  if (!(up >= 0) || !(down >= 0) || !std::isfinite(up + down) || up + down == 0) return error;
  const double sigma = 0.5 * (up + down) / kNormal90;
  error.faster = 0.5 + kTowardsMode * (continuous_share(down, up) - 0.5);
  set_widths(error, down, up, sigma);
  const auto add = [&](std::string key, double share) {
    error.effects.push_back({std::move(key), sigma * std::sqrt(share)});
  };
  const std::string rest = about.device + "/" + about.stack + "/" + about.model;
  if (const EffectRest* left = about.sure.rest(about.metric)) {
    const auto [device, stack, run, own] = about.sure.variance(*left);
    const double all = device + stack + run + own;
    if (all > 0) {
      add("device:" + about.device, device / all);
      add("stack:" + about.sure.software, stack / all);
      add("run:" + about.stack, run / all);
      add("design:" + about.sure.software + "/" + about.model, kSharedByDesign * own / all);
      add("work:" + about.model, kSharedByWork * own / all);
      add("rest:" + rest, (1 - kSharedByWork - kSharedByDesign) * own / all);
      return error;
    }
  }
  add("model:" + about.model, kModelShare);
  add("stack:" + about.stack + "@" + about.vendor, kStackShare);
  add("device:" + about.device, kDeviceShare);
  add("rest:" + rest, kRestShare);
  return error;
}

LogError beyond(const LogError& step, const Interval& time, const std::string& key) {
  LogError own;
  const auto rest = [](double all, double shared) { return std::sqrt(std::max(0.0, all * all - shared * shared)); };
  const double up = rest(std::log(time.high / time.mid), std::log(step.factor(1 - kTenth)));
  const double down = rest(std::log(time.mid / time.low), std::log(step.factor(kTenth)));
  const double sigma = 0.5 * (up + down) / kNormal90;
  if (!(sigma > 0) || !std::isfinite(sigma)) return own;
  set_widths(own, down, up, sigma);
  own.effects = {{key, sigma}};
  return own;
}

namespace {

std::vector<std::vector<double>> logs_of(const std::vector<Runner>& runners) {
  Draws draws;
  std::vector<std::vector<double>> logs;
  for (const Runner& runner : runners) {
    std::vector<double>& mine = logs.emplace_back(kDraws, std::log(runner.mid));
    draws.add(runner.time, mine);
    draws.add(runner.price, mine);
  }
  return logs;
}

/// Equal: neither is ahead.
double ahead_of(const std::vector<double>& first, const std::vector<double>& other) {
  double ahead = 0;
  for (std::size_t i = 0; i < first.size(); ++i) ahead += first[i] < other[i] ? 1 : first[i] == other[i] ? 0.5 : 0;
  return ahead / static_cast<double>(first.size());
}

}  // namespace

Race run_race(const std::vector<Runner>& runners) {
  Race race;
  race.best.assign(runners.size(), 0);
  if (runners.empty()) return race;
  const std::vector<std::vector<double>> logs = logs_of(runners);
  for (std::size_t i = 0; i < kDraws; ++i) {
    std::size_t winner = 0;
    for (std::size_t r = 1; r < logs.size(); ++r) {
      if (logs[r][i] < logs[winner][i]) winner = r;
    }
    race.best[winner] += 1.0 / kDraws;
    race.regret += logs[0][i] - logs[winner][i];
  }
  race.regret = std::expm1(race.regret / kDraws);
  for (const std::vector<double>& other : logs) race.ahead.push_back(ahead_of(logs.front(), other));
  return race;
}

std::vector<Rank> rank_race(const std::vector<Runner>& runners) {
  const std::vector<std::vector<double>> logs = logs_of(runners);
  std::vector<Rank> ranks;
  std::size_t first = 0;  // of the place
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const bool tie = i > first && ahead_of(logs[first], logs[i]) < kToldApart;
    if (!tie) first = i;
    ranks.push_back({i, static_cast<int>(first) + 1, tie});
  }
  return ranks;
}

Interval widened(const Interval& i, double sigma) {
  if (!(sigma > 0) || !(i.low > 0)) return i;
  const double own = kNormal90 * sigma;
  return {i.mid * std::exp(-std::hypot(std::log(i.mid / i.low), own)), i.mid,
          i.mid * std::exp(std::hypot(std::log(i.high / i.mid), own))};
}

}  // namespace ridge
