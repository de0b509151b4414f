#include "evidence/calibration/effects_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "evidence/calibration/intervals.hpp"
#include "evidence/validate/folds.hpp"

namespace ridge::evidence {
namespace {

constexpr double kFreedom = 4;  ///< degrees of the Student-t distribution of the rest
constexpr int kReweightings = 8;
constexpr int kFewestEffects = 20;  ///< residuals that make a quantile
constexpr double kEffectTail = 0.1;
constexpr double kNormalTail = 1.28;  ///< where 10 % of a normal distribution lie beyond
constexpr double kNormalPublishers = 4;

/// One unseen error, and what it is about.
struct Row {
  const ResultRow* from = nullptr;
  std::string key;      ///< of the interval: "tpot_ms/closed-loop"
  double y = 0;         ///< log(measured/predicted) in time, publisher left out
  double y_device = 0;  ///< the same with the device left out
  double weight = 0;    ///< 0: judged, but no effect is learnt from it
  double sign = 1;      ///< -1: a rate
  std::string group, device, architecture, engine, publisher;
  bool measured = false;    ///< the architecture: the physics was fitted to its kernels
  bool known_chip = false;  ///< the device itself: the physics was fitted to rows of it
  bool tuned = false;       ///< a vendor's record
};

struct Level {
  std::string key;
  double spread;
};

/// What a row is a sum of.
std::vector<Level> levels_of(const Row& r, const EffectPriors& p) {
  std::vector<Level> out;
  if (r.measured) {
    out.push_back({"architecture " + r.architecture, p.known_architecture});
    if (!r.known_chip) out.push_back({"device " + r.device, p.sister});
  } else {
    out.push_back({"architecture " + r.architecture, p.new_architecture});
    out.push_back({"device " + r.device, p.new_device});
  }
  if (r.tuned) {
    out.push_back({"tuned " + r.architecture, p.tuned});  // whatever the software is called, it is not what others run
  } else if (!r.engine.empty()) {
    out.push_back({"engine " + r.engine + "@" + r.architecture, p.engine});
  }
  out.push_back({"stack " + r.publisher + "|" + r.engine + "|" + r.device, p.stack});
  return out;
}

/// Symmetric positive definite; the inverse by Cholesky, in place.
void invert(std::vector<double>& a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double d = a[j * n + j];
    for (std::size_t k = 0; k < j; ++k) d -= a[j * n + k] * a[j * n + k];
    d = std::sqrt(std::max(d, 1e-12));
    a[j * n + j] = d;
    for (std::size_t i = j + 1; i < n; ++i) {
      double s = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) s -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = s / d;
    }
  }
  std::vector<double> inverse(n * n, 0);
  std::vector<double> x(n);
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      double s = i == c ? 1 : 0;
      for (std::size_t k = 0; k < i; ++k) s -= a[i * n + k] * x[k];
      x[i] = s / a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
      double s = x[i];
      for (std::size_t k = i + 1; k < n; ++k) s -= a[k * n + i] * x[k];
      x[i] = s / a[i * n + i];
    }
    for (std::size_t i = 0; i < n; ++i) inverse[i * n + c] = x[i];
  }
  a = std::move(inverse);
}

/// The solved regression.
struct Solution {
  std::map<std::string, std::size_t, std::less<>> place;
  std::vector<double> mean;
  std::vector<double> covariance;
  double rest = 0.12;

  [[nodiscard]] double covered(std::size_t i, std::size_t j) const { return covariance[i * mean.size() + j]; }
  /// Mean and variance of a sum of levels; a level nobody has seen brings its whole spread.
  [[nodiscard]] std::pair<double, double> sum(const std::vector<Level>& levels) const {
    double m = 0;
    double v = 0;
    std::vector<std::size_t> known;
    for (const Level& l : levels) {
      const auto at = place.find(l.key);
      if (at == place.end()) {
        v += l.spread * l.spread;
        continue;
      }
      m += mean[at->second];
      known.push_back(at->second);
    }
    for (const std::size_t i : known) v += covered(i, i);  // shared terms are left out: they are negative
    return {m, v};
  }
};

Solution solve(const std::vector<const Row*>& rows, const EffectPriors& priors, bool devices_out) {
  Solution s;
  std::vector<std::vector<std::size_t>> terms(rows.size());
  std::vector<double> precision;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const Level& l : levels_of(*rows[i], priors)) {
      const auto [at, is_new] = s.place.try_emplace(l.key, s.place.size());
      if (is_new) precision.push_back(1 / (l.spread * l.spread));
      terms[i].push_back(at->second);
    }
  }
  const std::size_t n = s.place.size();
  std::vector<double> weight(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) weight[i] = rows[i]->weight;
  for (int round = 0; round < kReweightings && n > 0; ++round) {
    const double noise = s.rest * s.rest;
    s.covariance.assign(n * n, 0);
    std::vector<double> right(n, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double y = devices_out ? rows[i]->y_device : rows[i]->y;
      for (const std::size_t a : terms[i]) {
        right[a] += weight[i] * y / noise;
        for (const std::size_t b : terms[i]) s.covariance[a * n + b] += weight[i] / noise;
      }
    }
    for (std::size_t a = 0; a < n; ++a) s.covariance[a * n + a] += precision[a];
    invert(s.covariance, n);
    s.mean.assign(n, 0);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) s.mean[a] += s.covered(a, b) * right[b];
    }
    double squares = 0;
    double counted = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double e = devices_out ? rows[i]->y_device : rows[i]->y;
      for (const std::size_t a : terms[i]) e -= s.mean[a];
      const double t = (kFreedom + 1) / (kFreedom + e * e / noise);
      weight[i] = rows[i]->weight * t;
      squares += weight[i] * e * e;
      counted += rows[i]->weight;
    }
    if (counted > 0) s.rest = std::clamp(std::sqrt(squares / counted), 0.05, 0.5);
  }
  return s;
}

class Fit {
 public:
  Fit(const UnseenRows& unseen, std::span<const Case> cases, const Catalogue& catalogue, const Engines& engines,
      const Calibration& calibration, const EffectPriors& priors)
      : cases_(cases), catalogue_(catalogue), engines_(engines), calibration_(calibration), priors_(priors) {
    read(unseen);
  }

  EffectFit run() {
    EffectFit out;
    std::vector<Effect> effects;
    std::vector<EffectRest> rests;
    static constexpr std::string_view kFoldNames[] = {"publisher", "publisher and devices", "publisher and engine"};
    for (const std::string_view name : kFoldNames) out.folds.push_back({std::string(name), {}});
    for (const std::string_view group : {"training", "serving"}) {
      std::vector<const Row*> rows;
      for (const Row& r : rows_) {
        if (r.group == group) rows.push_back(&r);
      }
      if (rows.empty()) continue;
      const Solution all = solve(rows, priors_, false);
      add_effects(group, rows, all, effects);
      const std::vector<Judged> judged = leave_out(rows);
      add_rests(group, judged, all.rest, rests);
      for (std::size_t f = 0; f < 3; ++f) add_rows(judged, f, all.rest, out.folds[f].rows);
    }
    out.effects = Effects(std::move(effects), std::move(rests));
    return out;
  }

 private:
  /// A row predicted without its fold.
  struct Judged {
    const Row* row;
    std::size_t fold;
    double y, mean, effects_variance;
  };

  void read(const UnseenRows& unseen) {
    std::map<std::pair<std::size_t, Metric>, const ResultRow*> by_device;
    for (const ResultRow& r : unseen.devices_out) by_device[{r.case_index, r.metric}] = &r;
    for (const Case& c : cases_) {
      if (!c.physics || !c.fitted) continue;
      if (const auto device = catalogue_.find_device(c.device)) known_.insert(device->id);
    }
    std::map<std::size_t, int> learnt;  // figures of one case that teach: together they count once
    for (const ResultRow& r : unseen.publishers_out) {
      const Case& c = cases_[r.case_index];
      if (c.kind != CaseKind::training && c.kind != CaseKind::inference) continue;
      Row row;
      row.from = &r;
      row.key = interval_key(c, r.metric);
      if (row.key.empty() || !c.fitted) continue;
      row.sign = r.metric == Metric::output_tok_s ? -1 : 1;
      row.y = row.sign * std::log(r.measured / r.predicted.mid);
      if (!std::isfinite(row.y)) continue;
      const auto other = by_device.find({r.case_index, r.metric});
      row.y_device = other == by_device.end() ? row.y : row.sign * std::log(r.measured / other->second->predicted.mid);
      if (!std::isfinite(row.y_device)) row.y_device = row.y;
      row.group = c.kind == CaseKind::training ? "training" : "serving";
      const auto device = catalogue_.find_device(c.device);
      if (!device) continue;
      row.device = device->id;
      row.architecture = device->architecture;
      row.measured = measured(device->architecture);
      row.known_chip = known_.contains(device->id);
      const auto work = c.kind == CaseKind::training ? EngineWork::training : EngineWork::inference;
      const EngineMatch match = engines_.find(c.engine, work);
      if (match.engine != nullptr && match.named) row.engine = match.engine->id;
      row.publisher = publisher(c.source);
      row.tuned = row.group == "serving" && row.publisher.starts_with("mlcommons/");
      // Where requests come by themselves, what comes out says how many came, and a slow step lets more of them in.
      const bool serves = c.mode != "prefill" && c.mode != "open-loop";
      const bool teaches = r.metric == Metric::step_time_s ||
                           (serves && (r.metric == Metric::output_tok_s || r.metric == Metric::tpot_ms));
      row.weight = teaches ? 1 : 0;
      if (teaches) ++learnt[r.case_index];
      rows_.push_back(std::move(row));
    }
    for (Row& r : rows_) {
      if (r.weight > 0) r.weight = 1.0 / learnt[r.from->case_index];
    }
  }

  /// Whether the physics has kernels of that design, or of one it inherits from.
  [[nodiscard]] bool measured(std::string_view architecture) const {
    const Architecture* a = catalogue_.architecture(architecture);
    for (int steps = 0; a != nullptr && steps < 8; ++steps) {
      if (calibration_.knows_kernels_of(a->id)) return true;
      a = a->inherits.empty() ? nullptr : catalogue_.architecture(a->inherits);
    }
    return false;
  }

  /// Entries whose spread never falls when rows do.
  static void add_sorted(std::vector<Effect> found, std::vector<Effect>& out) {
    std::stable_sort(found.begin(), found.end(), [](const Effect& a, const Effect& b) { return a.rows > b.rows; });
    double widest = 0;
    for (Effect& e : found) {
      e.spread = widest = std::max(widest, e.spread);
      e.mean = digits(e.mean);
      e.spread = digits(e.spread);
    }
    std::stable_sort(found.begin(), found.end(), [](const Effect& a, const Effect& b) { return a.key < b.key; });
    out.insert(out.end(), found.begin(), found.end());
  }

  void add_effects(std::string_view group, const std::vector<const Row*>& rows, const Solution& all,
                   std::vector<Effect>& out) const {
    std::map<std::string, int, std::less<>> of_device, of_engine, of_architecture, of_record;
    for (const Row* r : rows) {
      if (r->weight <= 0) continue;
      ++of_device[r->device];
      ++of_architecture[r->architecture];
      if (r->tuned) {
        ++of_record[r->architecture];
      } else if (!r->engine.empty()) {
        ++of_engine[r->engine + "@" + r->architecture];
      }
    }
    const auto count = [](const auto& map, const std::string& key) {
      const auto at = map.find(key);
      return at == map.end() ? 0 : at->second;
    };
    std::vector<Effect> known, sisters, unknown;  // spreads compare within each
    for (const Device& d : catalogue_.devices()) {
      Row r;
      r.device = d.id;
      r.architecture = d.architecture;
      r.measured = measured(d.architecture);
      r.known_chip = known_.contains(d.id);
      std::vector<Level> levels = levels_of(r, priors_);
      levels.pop_back();  // the stack is nobody's yet
      const auto [mean, variance] = all.sum(levels);
      (!r.measured    ? unknown
       : r.known_chip ? known
                      : sisters)
          .push_back({std::string(group), "device", d.id, mean, std::sqrt(variance), count(of_device, d.id)});
    }
    add_sorted(std::move(known), out);
    add_sorted(std::move(sisters), out);
    add_sorted(std::move(unknown), out);
    std::vector<Effect> designs;
    for (const auto& [architecture, n] : of_architecture) {
      if (measured(architecture)) continue;
      const auto [mean, variance] = all.sum(
          {{"architecture " + architecture, priors_.new_architecture}, {"device of no name", priors_.new_device}});
      designs.push_back({std::string(group), "architecture", architecture, mean, std::sqrt(variance), n});
    }
    add_sorted(std::move(designs), out);
    std::vector<Effect> engines;
    for (const auto& [key, n] : of_engine) {
      const auto [mean, variance] = all.sum({{"engine " + key, priors_.engine}});
      engines.push_back({std::string(group), "engine", key, mean, std::sqrt(variance), n});
    }
    engines.push_back({std::string(group), "new", "engine", 0, priors_.engine, 0});
    add_sorted(std::move(engines), out);
    out.push_back(
        {std::string(group), "new", "device", 0, digits(std::hypot(priors_.new_architecture, priors_.new_device)), 0});
    out.push_back({std::string(group), "new", "measured device", 0,
                   digits(std::hypot(priors_.known_architecture, priors_.sister)), 0});
    std::vector<Effect> records;
    for (const auto& [architecture, n] : of_record) {
      const auto [mean, variance] = all.sum({{"tuned " + architecture, priors_.tuned}});
      records.push_back({std::string(group), "tuned", architecture, mean, std::sqrt(variance), n});
    }
    add_sorted(std::move(records), out);
  }

  /// Every row predicted without its publisher, and without its devices or its engine too.
  std::vector<Judged> leave_out(const std::vector<const Row*>& rows) const {
    std::vector<Judged> out;
    std::set<std::string> publishers;
    for (const Row* r : rows) publishers.insert(r->publisher);
    for (std::size_t fold = 0; fold < 3; ++fold) {
      for (const std::string& p : publishers) {
        std::set<std::string> devices, engines;
        for (const Row* r : rows) {
          if (r->publisher != p) continue;
          devices.insert(r->device);
          engines.insert(r->engine);
        }
        std::vector<const Row*> kept;
        for (const Row* r : rows) {
          if (r->publisher == p || r->weight <= 0) continue;
          if (fold == 1 && devices.contains(r->device)) continue;
          if (fold == 2 && engines.contains(r->engine)) continue;
          kept.push_back(r);
        }
        const Solution s = solve(kept, priors_, fold == 1);
        for (const Row* r : rows) {
          if (r->publisher != p) continue;
          std::vector<Level> levels = levels_of(*r, priors_);
          levels.pop_back();
          const auto [mean, variance] = s.sum(levels);
          out.push_back({r, fold, fold == 1 ? r->y_device : r->y, mean, variance});
        }
      }
    }
    return out;
  }

  /// Errors of a metric beside the effects of time: how the runs of one stack scatter about their own middle. What
  /// stacks differ by is not in it.
  [[nodiscard]] double within(const std::vector<Judged>& judged, std::string_view key, bool measured,
                              double rest) const {
    std::map<std::string, std::vector<double>> stacks;
    for (const Judged& j : judged) {
      if (j.row->measured != measured || !matches(j.row->key, key)) continue;
      const double missed = beyond_mean(j);
      stacks[fmt::format("{}|{}|{}|{}", j.fold, j.row->publisher, j.row->engine, j.row->device)].push_back(
          missed / std::max(1.0, response(*j.row, missed)));
    }
    std::vector<std::pair<double, double>> weighted;
    for (auto& [stack, errors] : stacks) {
      const auto runs = static_cast<double>(errors.size());
      if (runs < 2) continue;
      const double middle = quantile(errors, 0.5);
      const double widened = std::sqrt(runs / (runs - 1));  // a middle of their own lies nearer than it should
      for (const double e : errors) weighted.emplace_back(std::fabs(e - middle) * widened, 1 / std::sqrt(runs));
    }
    if (weighted.size() < kFewestEffects) return rest;
    return std::max(rest, weighted_quantile(std::move(weighted), 0.5) / 0.6745);
  }

  /// Of values with weights.
  static double weighted_quantile(std::vector<std::pair<double, double>> weighted, double share) {
    std::sort(weighted.begin(), weighted.end());
    double whole = 0;
    for (const auto& [value, weight] : weighted) whole += weight;
    double sum = 0;
    for (const auto& [value, weight] : weighted) {
      if ((sum += weight) >= share * whole) return value;
    }
    return weighted.back().first;
  }

  /// Who ran it: of a figure of time, and of power, which a slow stack hardly moves.
  [[nodiscard]] double between(std::string_view key) const {
    return key.starts_with(name(Metric::power_w)) ? priors_.board : priors_.stack;
  }
  [[nodiscard]] double squared_between(std::string_view key) const { return between(key) * between(key); }

  static bool matches(std::string_view key, std::string_view wanted) {
    return key == wanted || (wanted.find('/') == std::string_view::npos && key.substr(0, key.find('/')) == wanted);
  }

  /// What the effects leave of an error in time: a figure may answer to them with more than itself, or with less.
  static double beyond_mean(const Judged& j) { return j.y - j.row->from->response.to(j.mean); }
  static double response(const Row& row, double error) {
    return error > 0 ? row.from->response.slower : row.from->response.faster;
  }
  [[nodiscard]] double deviation(const Judged& j, double within, double response) const {
    return ridge::deviation(j.effects_variance + squared_between(j.row->key), within * within, response);
  }
  [[nodiscard]] double standardised(const Judged& j, double within) const {
    const double missed = beyond_mean(j);
    return missed / deviation(j, within, response(*j.row, missed));
  }

  struct Quantiles {
    double low = -1.28, high = 1.28;
    int rows = 0;
  };
  [[nodiscard]] Quantiles quantiles(const std::vector<Judged>& judged, std::string_view key, bool measured,
                                    double within, std::string_view without = {}) const {
    std::map<std::string_view, std::vector<double>> by_publisher;
    std::size_t rows = 0;
    for (const Judged& j : judged) {
      if (j.row->measured != measured || !matches(j.row->key, key) || j.row->publisher == without) continue;
      by_publisher[j.row->publisher].push_back(standardised(j, within));
      ++rows;
    }
    Quantiles q;
    q.rows = static_cast<int>(rows / 3);
    if (q.rows < kFewestEffects / 2) {
      q.rows = 0;
      return q;
    }
    // The next publisher is one of many: each counts as the root of its rows, between once and once a row.
    std::vector<std::pair<double, double>> weighted;
    for (const auto& [name, errors] : by_publisher) {
      for (const double z : errors) weighted.emplace_back(z, 1 / std::sqrt(static_cast<double>(errors.size())));
    }
    const auto at = [&](double share) { return weighted_quantile(weighted, share); };
    // Few publishers say little about tails: what they say counts against a normal distribution's as so many more
    // would.
    const auto publishers = static_cast<double>(by_publisher.size());
    const double told = publishers / (publishers + kNormalPublishers);
    q.low = std::min(told * at(kEffectTail) - (1 - told) * kNormalTail, -0.3);
    q.high = std::max(told * at(1 - kEffectTail) + (1 - told) * kNormalTail, 0.3);
    return q;
  }

  void add_rests(std::string_view group, const std::vector<Judged>& judged, double rest,
                 std::vector<EffectRest>& out) const {
    std::set<std::string> keys;
    for (const Judged& j : judged) {
      keys.insert(j.row->key);
      keys.insert(j.row->key.substr(0, j.row->key.find('/')));
    }
    for (const std::string& key : keys) {
      std::array<EffectRest, 2> both;
      for (const bool measured : {true, false}) {
        EffectRest& r = both[measured ? 0 : 1];
        r.group = group;
        r.measured = measured;
        r.metric = key;
        r.between = digits(between(key));
        r.within = digits(within(judged, key, measured, rest));
        const Quantiles q = quantiles(judged, key, measured, r.within);
        r.low = digits(q.low);
        r.high = digits(q.high);
        r.rows = q.rows;
        std::vector<double> errors;
        for (const Judged& j : judged) {
          if (j.row->measured != measured || !matches(j.row->key, key)) continue;
          errors.push_back(std::fabs(std::exp(-j.row->sign * beyond_mean(j)) - 1));
        }
        if (!errors.empty()) {
          r.median_error = digits(quantile(errors, 0.5));
          r.p90_error = digits(quantile(std::move(errors), 0.9));
        }
      }
      // What nobody measured is taken from what was, and is never surer.
      EffectRest& known = both[0];
      EffectRest& unknown = both[1];
      if (known.rows == 0 && unknown.rows == 0) continue;
      const auto take = [](EffectRest& to, const EffectRest& from) {
        to.within = from.within;
        to.low = from.low;
        to.high = from.high;
        to.median_error = from.median_error;
        to.p90_error = from.p90_error;
      };
      if (known.rows == 0) take(known, unknown);
      if (unknown.rows == 0) take(unknown, known);
      unknown.within = std::max(unknown.within, known.within);
      unknown.low = std::min(unknown.low, known.low);
      unknown.high = std::max(unknown.high, known.high);
      out.insert(out.end(), both.begin(), both.end());
    }
  }

  /// The predictions of one kind of fold, with intervals made from the other publishers.
  void add_rows(const std::vector<Judged>& judged, std::size_t fold, double rest, std::vector<ResultRow>& out) const {
    std::map<std::string, Quantiles> known;
    for (const Judged& j : judged) {
      if (j.fold != fold) continue;
      const double own = within(judged, j.row->key, j.row->measured, rest);
      const std::string name = fmt::format("{}|{}|{}", j.row->key, j.row->measured, j.row->publisher);
      auto [at, is_new] = known.try_emplace(name);
      if (is_new) {
        at->second = quantiles(judged, j.row->key, j.row->measured, own, j.row->publisher);
        if (at->second.rows == 0) {
          at->second =
              quantiles(judged, j.row->key.substr(0, j.row->key.find('/')), j.row->measured, own, j.row->publisher);
        }
      }
      ResultRow row = *j.row->from;
      const double physics = row.measured / std::exp(j.row->sign * j.y);
      const double mid = physics * std::exp(j.row->sign * row.response.to(j.mean));
      const double a = mid * std::exp(j.row->sign * at->second.low * deviation(j, own, row.response.faster));
      const double b = mid * std::exp(j.row->sign * at->second.high * deviation(j, own, row.response.slower));
      row.predicted = {std::min(a, b), mid, std::max(a, b)};
      out.push_back(std::move(row));
    }
  }

  static double digits(double value) { return std::round(value * 1e4) / 1e4; }

  std::span<const Case> cases_;
  const Catalogue& catalogue_;
  const Engines& engines_;
  const Calibration& calibration_;
  EffectPriors priors_;
  std::set<std::string> known_;  ///< chips with rows behind the physics
  std::vector<Row> rows_;
};

}  // namespace

EffectFit fit_effects(const UnseenRows& unseen, std::span<const Case> cases, const Catalogue& catalogue,
                      const Engines& engines, const Calibration& calibration, const EffectPriors& priors) {
  return Fit(unseen, cases, catalogue, engines, calibration, priors).run();
}

std::vector<ResultRow> unseen_rows(std::span<const ResultRow> left_out, std::span<const ResultRow> plain,
                                   std::span<const Case> cases) {
  std::vector<ResultRow> out(left_out.begin(), left_out.end());
  for (const ResultRow& r : plain) {
    if (!cases[r.case_index].physics && cases[r.case_index].fitted) out.push_back(r);
  }
  return out;
}

}  // namespace ridge::evidence
