#include "report/record/mlperf_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

using namespace ridge::mlperf;  // NOLINT(google-build-using-namespace): the file speaks of nothing else

std::string figure(double value) {
  return format_number(value, value >= 1000 ? 4 : 3);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// Language models and images; not vision, speech or recommendation.
bool generates(std::string_view kind) {
  return kind == "dense" || kind == "moe" || kind == "diffusion";
}

template <class... Args>
std::string form(const char* text, const Args&... args) {
  return fmt::format(fmt::runtime(text), args...);
}

}  // namespace

const Device* MlperfFindings::device(std::string_view accelerator) const {
  const AcceleratorName* const is = evidence_.names.accelerator(accelerator);
  return is == nullptr ? nullptr : evidence_.knowledge.catalogue.device(is->device);
}

std::optional<Ratio> MlperfFindings::newest(std::string_view first, std::string_view second, std::string_view benchmark,
                                            std::string_view scenario) const {
  Selection within;
  within.benchmarks = {std::string(benchmark)};
  within.scenarios = {std::string(scenario)};
  const auto ratios = compare(evidence_.results, evidence_.names, first, second, within);
  if (!ratios || ratios->empty()) return std::nullopt;
  return ratios->back();  // rounds come in order
}

std::string MlperfFindings::ratio(std::string_view first, std::string_view second, std::string_view benchmark,
                                  std::string_view scenario) const {
  const auto r = newest(first, second, benchmark, scenario);
  if (!r) return "";
  std::string text =
      form(say("{0} {1}, {2}: {3} is {4:.2f}× {5} per accelerator ({6} against {7} {8}; results: {9} and {10}).",
               "{0} {1}，{2}：{3} 的单加速器性能是 {5} 的 {4:.2f} 倍（{6} 对 {7} {8}；结果数 {9} 与 {10}）。"),
           r->benchmark, r->scenario, r->round, r->first, r->per_accelerator(), r->second, figure(r->first_per),
           figure(r->second_per), r->unit, r->first_rows, r->second_rows);
  const Device* const a = device(first);
  const Device* const b = device(second);
  if (a != nullptr && b != nullptr && a->memory_bandwidth && b->memory_bandwidth && a->peak(PeakFormat::bf16) &&
      b->peak(PeakFormat::bf16)) {
    text += form(say(" The datasheets: bandwidth {:.2f}×, dense 16-bit peak {:.2f}×.",
                     "规格之比：内存带宽 {:.2f} 倍，16 位稠密峰值 {:.2f} 倍。"),
                 a->memory_bandwidth->value / b->memory_bandwidth->value,
                 a->peak(PeakFormat::bf16)->value / b->peak(PeakFormat::bf16)->value);
  }
  return text;
}

std::string MlperfFindings::fastest(std::string_view benchmark, std::string_view scenario) const {
  Selection selection;
  selection.benchmarks = {std::string(benchmark)};
  selection.scenarios = {std::string(scenario)};
  const auto rows = select(evidence_.results, selection, evidence_.names);
  if (!rows || rows->empty()) return "";
  const auto groups = summarise(*rows, {.keys = {Key::round, Key::accelerator}});
  if (!groups || groups->groups.empty()) return "";
  const Group* best = nullptr;
  std::string round;
  for (const Group& g : groups->groups) round = std::max(round, g.keys[0]);
  for (const Group& g : groups->groups) {
    if (g.keys[0] == round && (best == nullptr || g.value > best->value)) best = &g;
  }
  return form(say("{} {}: the fastest of the newest round ({}) is {} with {} {} per accelerator (results: {}, systems "
                  "of {:.3g} accelerators).",
                  "{} {}：最新一轮（{}）中最快的是 {}，每加速器 {} {}（{} 项结果，系统平均 {:.3g} 个加速器）。"),
              best->benchmark, best->scenario, round, best->keys[1], figure(best->value),
              best->unit.substr(0, best->unit.find(' ')), best->rows.size(), best->mean_accelerators);
}

std::string MlperfFindings::share(std::string_view benchmark, std::string_view scenario) const {
  for (const ScenarioShare& s : scenario_shares(evidence_.results, evidence_.names)) {
    if (s.benchmark != benchmark || s.scenario != scenario || !s.accelerator.empty()) continue;
    return form(
        say("{}: {} reaches {:.0f} % of Offline in the median of {} systems measured in both (10th to 90th percentile "
            "{:.0f} to {:.0f} %).",
            "{}：{} 为 Offline 的 {:.0f} %（{} 套系统的中位数；第 10 至 90 百分位 {:.0f} 至 {:.0f} %）。"),
        s.benchmark, s.scenario, 100 * s.median, s.pairs, 100 * s.low, 100 * s.high);
  }
  return "";
}

std::string MlperfFindings::units() const {
  int converted = 0;
  for (const Repair& repair : evidence_.results.repairs) {
    if (mlperf::rules()[repair.rule].name == "gptj-samples-to-tokens") ++converted;
  }
  return form(say("GPT-J was published in samples/s up to v4.0 and in tokens/s from v4.1 on; {} rows are multiplied by "
                  "69 tokens "
                  "per sample, so that every figure here is in tokens/s.",
                  "GPT-J 在 v4.0 及之前以 samples/s 公布，自 v4.1 起以 tokens/s 公布；{} 行按每样本 69 个 token 换算，"
                  "此处数字一律为 tokens/s。"),
              converted);
}

std::vector<std::string> MlperfFindings::coupling() const {
  const std::vector<Ratio> ratios = mlperf::coupling(evidence_.results, evidence_.names);
  std::vector<std::string> found;
  for (const Ratio& r : ratios) {
    if (r.benchmark != "deepseek-r1" || r.round != "v5.1" || r.first != "gb200") continue;
    found.push_back(form(say("DeepSeek-R1 {} {}: the rack of {:.0f} delivers {:.1f}× the node of {:.0f}, with {:.0f}× "
                             "the accelerators: {:.2f}× per "
                             "accelerator ({} against {} tokens/s).",
                             "DeepSeek-R1 {} {}：{:.0f} 卡机柜的总吞吐是 {:.1f} 倍于 {:.0f} 卡节点，但加速器数也是 "
                             "{:.0f} 倍：单加速器仅 {:.2f} 倍"
                             "（{} 对 {} tokens/s）。"),
                         r.scenario, r.round, r.first_accelerators, r.per_system(), r.second_accelerators,
                         r.first_accelerators / r.second_accelerators, r.per_accelerator(), figure(r.first_per),
                         figure(r.second_per)));
  }
  for (const char* const scenario : {"Offline", "Server", "Interactive"}) {
    std::map<std::string, std::vector<double>> by_kind;
    for (const Ratio& r : ratios) {
      if (r.scenario == scenario) by_kind[r.kind].push_back(r.per_accelerator());
    }
    if (by_kind["moe"].empty() || by_kind["dense"].empty()) continue;
    const auto range = [](std::vector<double> v) {
      const auto [low, high] = std::minmax_element(v.begin(), v.end());
      return fmt::format("{:.2f}–{:.2f}", *low, *high);
    };
    found.push_back(form(say("{}: NVL72 over 8-accelerator nodes of the same generation, per accelerator, is {:.2f}× "
                             "in the median for mixtures of "
                             "experts ({}; {} comparisons) and {:.2f}× for dense models ({}; {}).",
                             "{}：同代 NVL72 对 8 卡节点的单加速器之比，混合专家模型中位数 {:.2f} 倍（{}；{} "
                             "组），稠密模型 {:.2f} 倍（{}；{} 组）。"),
                         scenario, median_of(by_kind["moe"]), range(by_kind["moe"]), by_kind["moe"].size(),
                         median_of(by_kind["dense"]), range(by_kind["dense"]), by_kind["dense"].size()));
  }
  if (std::string sentence = same_software(ratios); !sentence.empty()) found.push_back(std::move(sentence));
  return found;
}

std::string MlperfFindings::same_software(const std::vector<Ratio>& ratios) const {
  // The fastest submission of one side, as the model predicts it.
  const auto predicted = [&](const Ratio& r, const std::string& accelerator, double size) -> std::optional<double> {
    const Row* best = nullptr;
    for (const Row& row : evidence_.results.rows) {
      const bool fits = row.benchmark == r.benchmark && row.scenario == r.scenario && row.published.round == r.round &&
                        row.accelerator == accelerator && row.accelerators == static_cast<int>(size) &&
                        row.published.division == "closed";
      if (fits && (best == nullptr || row.value > best->value)) best = &row;
    }
    if (best == nullptr) return std::nullopt;
    const auto e = explain(*best, evidence_.names, evidence_.knowledge);
    if (!e || !e->measured) return std::nullopt;
    return e->predicted.mid / e->accelerators;
  };
  std::string list;
  for (const Ratio& r : ratios) {
    if (r.scenario != "Interactive") continue;
    const auto first = predicted(r, r.first, r.first_accelerators);
    const auto second = predicted(r, r.second, r.second_accelerators);
    if (!first || !second) continue;
    list += form(say("{}{} {} {} over {}: measured {:.2f}×, predicted {:.2f}×",
                     "{}{} {} {} 对 {}：实测 {:.2f} 倍，预测 {:.2f} 倍"),
                 list.empty() ? "" : say("; ", "；"), r.benchmark, r.round, r.first, r.second, r.per_accelerator(),
                 *first / *second);
  }
  if (list.empty()) return "";
  return form(
      say("How much of the Interactive gap is the rack? The performance model gives both sides the same software: {}. "
          "What is "
          "measured beyond that is software and single submissions, as far as the model is right; "
          "it knows no disaggregated prefill, which racks make easy.",
          "Interactive "
          "的差距有多少来自机柜？性能模型为双方设定相同的软件：{}"
          "。在模型正确的范围内，超出部分来自软件与个别提交；模型不含机柜便于采用的预填充分离。"),
      list);
}

std::vector<std::string> MlperfFindings::generations() const {
  std::vector<std::string> found;
  std::map<std::pair<std::string, std::string>, std::vector<const Generation*>> pairs;
  const auto all = mlperf::generations(evidence_.results, evidence_.names, evidence_.knowledge.catalogue);
  for (const Generation& g : all) {
    const bool language = g.ratio.kind == "dense" || g.ratio.kind == "moe";
    // The other variant of a benchmark is mostly the same runs again.
    const bool variant = g.ratio.benchmark == "llama2-70b-99" || g.ratio.benchmark == "gptj-99.9";
    if (language && !variant && g.ratio.scenario == "Offline") pairs[{g.ratio.first, g.ratio.second}].push_back(&g);
  }
  for (const auto& [pair, list] : pairs) {
    std::vector<double> values;
    std::string each;
    for (const Generation* g : list) {
      values.push_back(g->ratio.per_accelerator());
      each += fmt::format("{}{} {:.2f}", each.empty() ? "" : ", ", g->ratio.benchmark, g->ratio.per_accelerator());
    }
    const Generation& one = *list.front();
    const auto shown = [&](const std::optional<double>& v) {
      return v ? fmt::format("{:.2f}×", *v) : std::string(say("unknown", "未知"));
    };
    found.push_back(
        form(say("{} over {}, language models Offline: {:.2f}× in the median ({}); bandwidth {}, dense 16-bit peak {}, "
                 "narrowest format {}.",
                 "{} 对 {}（语言模型 Offline）：中位数 {:.2f} 倍（{}）；带宽 {}，16 位稠密峰值 {}，最窄格式峰值 {}。"),
             pair.first, pair.second, median_of(values), each, shown(one.bandwidth), shown(one.compute),
             shown(one.narrowest)));
  }
  return found;
}

std::vector<std::string> MlperfFindings::elasticity() const {
  std::vector<std::string> found;
  for (const Elasticity& e : elasticities(evidence_.results, evidence_.names, evidence_.knowledge.catalogue)) {
    const Benchmark* const b = evidence_.names.benchmark(Suite::inference, e.benchmark);
    if (b == nullptr || !generates(b->kind) || e.scenario != "Offline" || e.benchmark == "llama2-70b-99" ||
        e.benchmark == "gptj-99.9") {
      continue;
    }
    found.push_back(form(say("{} {}: 1 % more bandwidth goes with {:+.2f} % (± {:.2f}), 1 % more dense 16-bit compute "
                             "with {:+.2f} % (± {:.2f}); {} "
                             "accelerators, {} points, R² {:.2f}, correlation of the two {:.2f}.",
                             "{} {}：带宽增 1 % 对应 {:+.2f} %（± {:.2f}），16 位稠密算力增 1 % 对应 {:+.2f} %（± "
                             "{:.2f}）；{} 种加速器、{} 个点，"
                             "R² {:.2f}，二者相关系数 {:.2f}。"),
                         e.benchmark, e.scenario, e.bandwidth, e.bandwidth_error, e.compute, e.compute_error,
                         e.accelerators, e.points, e.r_squared, e.correlation));
  }
  return found;
}

std::vector<std::string> MlperfFindings::virtualised() const {
  std::map<std::string, std::vector<double>> by_accelerator;
  for (const Ratio& r : mlperf::virtualised(evidence_.results, evidence_.names)) {
    by_accelerator[r.first + "|" + r.second].push_back(r.per_accelerator());
  }
  std::vector<std::string> found;
  for (const auto& [pair, values] : by_accelerator) {
    const std::size_t bar = pair.find('|');
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    found.push_back(form(say("{} over {}: {:.0f} % in the median of {} benchmarks and scenarios ({:.0f} to {:.0f} %).",
                             "{} 对 {}：{:.0f} %（{} 组基准与场景的中位数；{:.0f} 至 {:.0f} %）。"),
                         pair.substr(0, bar), pair.substr(bar + 1), 100 * median_of(values), values.size(), 100 * *low,
                         100 * *high));
  }
  return found;
}

std::vector<std::string> MlperfFindings::power() const {
  std::vector<std::string> found;
  for (const char* const benchmark : {"llama2-70b-99.9", "gptj-99", "stable-diffusion-xl"}) {
    Selection selection;
    selection.benchmarks = {benchmark};
    selection.scenarios = {"Offline"};
    selection.power_tuned = selection.measured_power = true;
    const auto rows = select(evidence_.results, selection, evidence_.names);
    if (!rows || rows->empty()) continue;
    const auto groups = summarise(*rows, {.per = Per::watt, .statistic = Statistic::best});
    if (!groups || groups->groups.empty()) continue;
    const Group& best = groups->groups.front();
    found.push_back(
        form(say("{}: the best measured efficiency is {} with {} {} of the whole system (results with power: {}).",
                 "{}：实测能效最高的是 {}，整机 {} {}（{} 项带功耗的结果）。"),
             benchmark, best.keys[0], format_number(best.value), best.unit, rows->size()));
  }
  return found;
}

}  // namespace ridge::report
