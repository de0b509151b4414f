#include "evidence/validate/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ridge/search/confidence.hpp"

namespace ridge::evidence {
namespace {

constexpr double kOneTenth = 0.0953;  ///< of a logarithm: ten per cent

/// One measured device at a work.
struct Option {
  std::string device, vendor, architecture;
  double measured, predicted;  ///< logarithm of the rate per device: more is better
  double spread;               ///< of what is this device's alone
  double within;               ///< of one run
};

struct Pair {
  const Option* a;
  const Option* b;
  double gap;          ///< of the logarithms as measured
  bool right;          ///< same sign
  double probability;  ///< stated for the order that is predicted
};

/// What two rows have to share, or nothing where a row is no choice of a device.
std::string work_of(const Case& c, Metric metric) {
  if (const auto* q = std::get_if<InferenceQuery>(&c.input)) {
    if (metric != Metric::output_tok_s) return {};
    const InferenceLoad& l = q->load;
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", c.source, c.model, c.precision, c.mode, l.isl, l.osl, l.batch,
                       l.concurrency, l.rate, q->gpus);
  }
  if (const auto* q = std::get_if<TrainingQuery>(&c.input)) {
    if (metric != Metric::step_time_s) return {};
    return fmt::format("{}|{}|{}|{}|{}|{}", c.source, c.model, c.precision, c.mode, q->plan.sequence, q->plan.gpus);
  }
  return {};
}

/// Tokens a second and device, as a logarithm.
double rate_of(const Case& c, double figure) {
  if (const auto* q = std::get_if<TrainingQuery>(&c.input)) {
    return std::log(1.0 * q->plan.global_batch * q->plan.sequence / q->plan.gpus / figure);
  }
  return std::log(figure);
}

DecisionLine line_of(std::string what, const std::vector<Pair>& pairs) {
  DecisionLine line;
  line.what = std::move(what);
  line.pairs = static_cast<int>(pairs.size());
  for (const Pair& p : pairs) {
    line.right += p.right ? 1 : 0;
    line.stated += p.probability;
  }
  if (line.pairs > 0) {
    line.right /= line.pairs;
    line.stated /= line.pairs;
  }
  return line;
}

}  // namespace

DecisionFindings judge_decisions(std::span<const ResultRow> rows, std::span<const Case> cases,
                                 const Knowledge& knowledge) {
  std::map<std::string, std::vector<Option>> works;
  for (const ResultRow& r : rows) {
    const Case& c = cases[r.case_index];
    const std::string work = work_of(c, r.metric);
    if (work.empty() || !std::isfinite(r.predicted.mid)) continue;
    const auto device = knowledge.catalogue.find_device(c.device);
    if (!device) continue;
    const bool training = c.kind == CaseKind::training;
    const Sureness s = knowledge.calibration.effects().of(
        training ? "training" : "serving",
        {device->id, device->architecture, knowledge.calibration.knows_kernels_of(device->architecture)}, c.engine);
    const EffectRest* rest = s.rest(training ? "step_time_s" : "output_tok_s");
    works[work].push_back({device->id, device->vendor, device->architecture, rate_of(c, r.measured),
                           rate_of(c, r.predicted.mid), s.device_spread, rest != nullptr ? rest->within : 0.15});
  }
  std::vector<Pair> all;
  DecisionFindings out;
  for (auto& [work, options] : works) {
    // The best run of each device is what one would take.
    std::map<std::string, Option> best;
    for (const Option& o : options) {
      const auto [at, is_new] = best.try_emplace(o.device, o);
      if (!is_new && o.measured > at->second.measured) at->second = o;
    }
    options.clear();
    for (const auto& [device, option] : best) options.push_back(option);
    if (options.size() < 2) continue;
    const auto chosen = std::max_element(options.begin(), options.end(),
                                         [](const Option& x, const Option& y) { return x.predicted < y.predicted; });
    const auto fastest = std::max_element(options.begin(), options.end(),
                                          [](const Option& x, const Option& y) { return x.measured < y.measured; });
    ++out.choices;
    out.regret += 1 - std::exp(chosen->measured - fastest->measured);
    for (std::size_t i = 0; i < options.size(); ++i) {
      for (std::size_t j = i + 1; j < options.size(); ++j) {
        const Option& a = options[i];
        const Option& b = options[j];
        const double measured = a.measured - b.measured;
        const double predicted = a.predicted - b.predicted;
        LogError apart;  // what they do not share
        const double rest = a.architecture == b.architecture ? std::sqrt(1 - kSharedByWork - kSharedByDesign)
                                                             : std::sqrt(1 - kSharedByWork);
        for (const double own : {a.spread, b.spread, rest * a.within, rest * b.within}) {
          apart.effects.push_back({"", own});
        }
        const double p = apart.probability(std::exp(predicted));
        all.push_back({&a, &b, std::fabs(measured), measured * predicted > 0, std::max(p, 1 - p)});
      }
    }
  }
  if (out.choices > 0) out.regret /= out.choices;
  const auto kept = [&](const auto& keep) {
    std::vector<Pair> some;
    for (const Pair& p : all) {
      if (keep(p)) some.push_back(p);
    }
    return some;
  };
  const auto cross = [](const Pair& p) { return p.a->vendor != p.b->vendor; };
  out.lines.push_back(line_of("all pairs", all));
  out.lines.push_back(line_of("differ by less than 10 %", kept([](const Pair& p) { return p.gap < kOneTenth; })));
  out.lines.push_back(line_of("differ by 10 % and more", kept([](const Pair& p) { return p.gap >= kOneTenth; })));
  out.lines.push_back(
      line_of("of those, across vendors", kept([&](const Pair& p) { return p.gap >= kOneTenth && cross(p); })));
  std::map<std::string, std::vector<Pair>> vendors;
  for (const Pair& p : all) {
    if (!cross(p) || p.gap < kOneTenth) continue;
    vendors[fmt::format("{} against {}", std::min(p.a->vendor, p.b->vendor), std::max(p.a->vendor, p.b->vendor))]
        .push_back(p);
  }
  for (const auto& [who, pairs] : vendors) out.lines.push_back(line_of(who, pairs));
  for (const Pair& p : all) {
    auto& bin = out.calibration[std::min<std::size_t>(4, static_cast<std::size_t>((p.probability - 0.5) * 10))];
    ++bin.pairs;
    bin.stated += p.probability;
    bin.right += p.right ? 1 : 0;
  }
  for (auto& bin : out.calibration) {
    if (bin.pairs == 0) continue;
    bin.stated /= bin.pairs;
    bin.right /= bin.pairs;
  }
  return out;
}

}  // namespace ridge::evidence
