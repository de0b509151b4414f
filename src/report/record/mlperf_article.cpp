#include "report/record/mlperf_article.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "report/record/mlperf_chinese.hpp"
#include "report/record/mlperf_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

using namespace ridge::mlperf;  // NOLINT(google-build-using-namespace): the file speaks of nothing else

class Writer {
 public:
  Writer(const MlperfEvidence& evidence, Language language)
      : evidence_(evidence), language_(language), findings_(evidence, language) {
    article_.language = language;
  }

  Article run() {
    article_.title =
        say("AI accelerators in MLPerf: what the published record says", "MLPerf 中的 AI 加速器：已公布结果说明了什么");
    introduction();
    methodology();
    specifications();
    heading(say("4. Results by model", "4. 各模型的结果"));
    int number = 0;
    for (const Chapter& chapter : evidence_.names.chapters) write_chapter(chapter, ++number);
    questions();
    predictions();
    training();
    conclusion();
    return std::move(article_);
  }

 private:
  [[nodiscard]] const char* say(const char* en, const char* zh) const { return language_ == Language::en ? en : zh; }
  template <class... Args>
  [[nodiscard]] std::string form(const char* text, const Args&... args) const {
    return fmt::format(fmt::runtime(text), args...);
  }
  void heading(std::string text, int level = 2) { article_.blocks.emplace_back(Heading{std::move(text), level}); }
  void paragraph(std::string text) { article_.blocks.emplace_back(Paragraph{std::move(text)}); }
  void bullets(std::vector<std::string> items) {
    std::erase_if(items, [](const std::string& item) { return item.empty(); });
    if (!items.empty()) article_.blocks.emplace_back(Bullets{std::move(items)});
  }
  void table(Table t) {
    if (language_ == Language::zh) to_chinese(t);
    article_.blocks.emplace_back(std::move(t));
  }

  void introduction() {
    std::map<Suite, int> rows;
    std::set<std::string> submitters;
    std::set<std::string> accelerators;
    for (const Row& row : evidence_.results.rows) {
      ++rows[row.suite];
      submitters.insert(row.published.submitter);
      accelerators.insert(row.accelerator);
    }
    heading(say("1. What this is", "1. 说明"));
    paragraph(form(
        say("{} results of MLPerf Inference (datacenter) and {} of MLPerf Training, of {} submitters and {} kinds of "
            "accelerators, as published by MLCommons. Every sentence below that carries a figure is computed from "
            "these "
            "rows; comparisons are made within one round, since rounds differ in software.",
            "{} 项 MLPerf Inference（数据中心）结果与 {} 项 MLPerf Training 结果，来自 {} 家提交方、{} 种加速器，均由 "
            "MLCommons 公布。下文每个带数字的句子都由这些数据行计算得出；比较只在同一轮次内进行，因为各轮软件不同。"),
        rows[Suite::inference], rows[Suite::training], submitters.size(), accelerators.size()));
  }

  void methodology() {
    heading(say("2. Data and method", "2. 数据与方法"));
    bullets({say("Total accelerators = nodes × accelerators per node (an NVL72 rack is 18 × 4 = 72), or the count in "
                 "the name where "
                 "the name gives one.",
                 "加速器总数 = 节点数 × 每节点加速器数（NVL72 机柜为 18 × 4 = 72）；名称中写明数量的以名称为准。"),
             say("Result per accelerator = mean over results of (result ÷ total accelerators of that system). Nothing "
                 "is divided by the "
                 "accelerators of one node.",
                 "每加速器结果 = 各结果（结果 ÷ 该系统加速器总数）的均值；绝不除以单个节点的加速器数。"),
             say("Closed division only; systems tuned for efficiency (MaxQ) are left out of figures of speed; of a run "
                 "listed as 99 % "
                 "and as 99.9 %, one is counted.",
                 "仅取 closed 组；为能效调优的系统（MaxQ）不计入性能；同一次运行同时列为 99 % 与 99.9 % 的只计一次。"),
             say("Units are brought together or not averaged: GPT-J is in tokens/s throughout; samples/s and tokens/s "
                 "are never mixed.",
                 "单位统一后才求平均：GPT-J 全部换算为 tokens/s；samples/s 与 tokens/s 绝不混合。"),
             say("Peak rates are dense. Tables average over the rounds named in them; ratios are within one round.",
                 "峰值均为稠密值。表格对所列轮次求平均；比值在同一轮次内计算。")});
    Table rounds;
    rounds.columns = {{.key = "suite", .heading = "suite"},
                      {.key = "round", .heading = "round"},
                      {.key = "date", .heading = "date", .kind = ColumnKind::number},
                      {.key = "results", .heading = "results", .kind = ColumnKind::number},
                      {.key = "coverage", .heading = "coverage"},
                      {.key = "source", .heading = "source"}};
    for (const Round& round : evidence_.names.rounds) {
      const auto count =
          std::count_if(evidence_.results.rows.begin(), evidence_.results.rows.end(),
                        [&](const Row& row) { return row.suite == round.suite && row.published.round == round.id; });
      rounds.rows.push_back({Cell(name(round.suite)), Cell(round.id), Cell(round.date), Cell(static_cast<int>(count)),
                             Cell(round.coverage), Cell(round.source)});
    }
    table(std::move(rounds));
    paragraph(say("Repairs, each by a named rule (ridge mlperf rules NAME lists the rows):",
                  "对来源的修正，每项都是具名规则（ridge mlperf rules 规则名 列出所有行）："));
    Table rules = mlperf_rule_table(evidence_.results);
    std::erase_if(rules.rows, [](const std::vector<Cell>& row) { return row[1].mid() == 0; });
    table(std::move(rules));
    wrong_divisions();
  }

  /// What comes out if a result is divided by the accelerators of one node.
  void wrong_divisions() {
    Selection selection;
    selection.rounds = {"v3.1..v5.1"};
    selection.benchmarks = {"deepseek-r1", "llama3.1-405b", "llama2-70b-99.9"};
    selection.scenarios = {"Offline", "Server"};
    const auto rows = select(evidence_.results, selection, evidence_.names);
    if (!rows) return;
    const auto groups = summarise(*rows, {});
    if (!groups) return;
    Table wrong;
    wrong.columns = {{.key = "benchmark", .heading = "benchmark"},
                     {.key = "accelerator", .heading = "accelerator"},
                     {.key = "scenario", .heading = "scenario"},
                     {.key = "divided_by_node", .heading = "divided by one node", .kind = ColumnKind::number},
                     {.key = "right", .heading = "right", .kind = ColumnKind::number},
                     {.key = "factor", .heading = "too high by", .kind = ColumnKind::number}};
    for (const Group& g : groups->groups) {
      double by_node = 0;
      for (const Row* row : g.rows) by_node += row->value / std::max(1, row->published.accelerators_per_node);
      by_node /= static_cast<double>(g.rows.size());
      if (by_node / g.value < 1.02) continue;
      wrong.rows.push_back({Cell(g.benchmark), Cell(g.keys[0]), Cell(g.scenario), rate_cell(by_node),
                            rate_cell(g.value).with(Emphasis::strong),
                            Cell(by_node / g.value).shown_as(fmt::format("{:.2f}×", by_node / g.value))});
    }
    paragraph(
        say("Why the count matters: the same results (v3.1 to v5.1, tokens/s per accelerator) divided by the "
            "accelerators of "
            "one node, as is sometimes done, and divided right.",
            "为何计数至关重要：同样的结果（v3.1 至 v5.1，每加速器 tokens/s），误除以单节点加速器数与正确相除之对比。"));
    table(std::move(wrong));
  }

  void specifications() {
    heading(say("3. Specifications (dense)", "3. 规格（稠密峰值）"));
    Table t;
    t.columns = {{.key = "accelerator", .heading = "accelerator"},
                 {.key = "architecture", .heading = "architecture"},
                 {.key = "bf16", .heading = "16-bit", .kind = ColumnKind::number},
                 {.key = "fp8", .heading = "8-bit", .kind = ColumnKind::number},
                 {.key = "fp4", .heading = "4-bit", .kind = ColumnKind::number},
                 {.key = "memory", .heading = "memory"},
                 {.key = "capacity", .heading = "capacity", .kind = ColumnKind::number},
                 {.key = "bandwidth", .heading = "bandwidth", .kind = ColumnKind::number},
                 {.key = "tdp", .heading = "TDP", .kind = ColumnKind::number},
                 {.key = "domain", .heading = "scale-up domain", .kind = ColumnKind::number}};
    for (const Comparison& compared : evidence_.names.comparisons) {
      if (compared.use != CompareUse::specification) continue;
      const std::string& id = compared.first;
      const AcceleratorName* const is = evidence_.names.accelerator(id);
      const Device* const d = is == nullptr ? nullptr : evidence_.knowledge.catalogue.device(is->device);
      if (d == nullptr) continue;
      const auto peak = [&](PeakFormat f) { return d->peak(f) ? Cell(d->peak(f)->value) : Cell(); };
      const Cell eight = d->peak(PeakFormat::fp8) ? peak(PeakFormat::fp8) : peak(PeakFormat::int8);
      t.rows.push_back({Cell(id), Cell(d->architecture), peak(PeakFormat::bf16), eight, peak(PeakFormat::fp4),
                        Cell(d->memory_kind), d->memory_capacity ? Cell(d->memory_capacity->value) : Cell(),
                        d->memory_bandwidth ? Cell(d->memory_bandwidth->value) : Cell(),
                        d->tdp ? Cell(d->tdp->value) : Cell(),
                        d->scale_up_domain ? Cell(d->scale_up_domain->value) : Cell()});
    }
    paragraph(
        say("Per accelerator, not per pair of cards; 8-bit is FP8 where there is one, INT8 otherwise. Sparse figures, "
            "twice as "
            "high, are not used.",
            "均为单加速器数值（并非成对卡）；8 位为 FP8，没有 FP8 时为 INT8。不采用高一倍的稀疏数值。"));
    table(std::move(t));
  }

  void write_chapter(const Chapter& chapter, int number) {
    Selection selection;
    selection.benchmarks = {chapter.benchmark};
    selection.scenarios = {"Offline", "Server", "Interactive"};
    const auto rows = select(evidence_.results, selection, evidence_.names);
    if (!rows || rows->empty()) return;
    Summary summary;
    const auto groups = summarise(*rows, summary);
    if (!groups) return;
    heading(form("4.{} {}", number, language_ == Language::en ? chapter.en : chapter.zh), 3);
    Table t = mlperf_group_table(groups->groups, summary);
    std::set<std::string> units;
    for (const Group& g : groups->groups) units.insert(g.unit);
    t.columns.erase(t.columns.begin());
    for (auto& row : t.rows) row.erase(row.begin());
    if (units.size() == 1) {  // said once instead of in every row
      const auto unit = static_cast<std::ptrdiff_t>(
          std::find_if(t.columns.begin(), t.columns.end(), [](const Column& c) { return c.key == "unit"; }) -
          t.columns.begin());
      t.columns.erase(t.columns.begin() + unit);
      for (auto& row : t.rows) row.erase(row.begin() + unit);
    }
    std::string list;
    for (const std::string& unit : units) {
      list += (list.empty() ? "" : say(" or ", " 或 ")) + (language_ == Language::zh ? unit_in_chinese(unit) : unit);
    }
    paragraph(form(say("Mean, least and greatest in {}; the mean of a system is of all its accelerators together.",
                       "均值、最小与最大的单位为{}；整机均值为系统全部加速器之和。"),
                   list));
    table(std::move(t));
    for (Bars& bars : mlperf_bars(groups->groups, summary)) {
      std::set<std::string> rounds;
      for (const Row* row : *rows) rounds.insert(row->published.round);
      bars.subtitle = form(say("mean over results, {}–{}, n = number of results", "各结果均值，{}–{}，n = 结果数"),
                           *rounds.begin(), *rounds.rbegin());
      if (language_ == Language::zh) bars.axis = unit_in_chinese(bars.axis);
      article_.blocks.emplace_back(std::move(bars));
    }
    std::erase_if(selection.scenarios, [](const std::string& s) { return s != "Offline"; });
    summary.keys = {Key::accelerator, Key::round};
    if (const auto offline = select(evidence_.results, selection, evidence_.names)) {
      if (const auto by_round = summarise(*offline, summary); by_round && !by_round->groups.empty()) {
        for (Trend& trend : mlperf_trends(keep_trends(by_round->groups), summary)) {
          trend.subtitle = say("by round: software and systems change with it", "按轮次：软件与系统随之变化");
          if (language_ == Language::zh) trend.axis = unit_in_chinese(trend.axis);
          article_.blocks.emplace_back(std::move(trend));
        }
      }
    }
    std::vector<std::string> insights;
    if (chapter.benchmark == "gptj-99") insights.push_back(findings_.units());
    insights.push_back(findings_.fastest(chapter.benchmark, "Offline"));
    for (const Comparison& c : evidence_.names.comparisons) {
      if (c.use != CompareUse::chapter || c.benchmark != chapter.benchmark) continue;
      insights.push_back(findings_.ratio(c.first, c.second, c.benchmark, c.scenario));
    }
    insights.push_back(findings_.share(chapter.benchmark, "Server"));
    insights.push_back(findings_.share(chapter.benchmark, "Interactive"));
    bullets(std::move(insights));
  }

  /// Lines need two rounds.
  [[nodiscard]] static std::vector<Group> keep_trends(const std::vector<Group>& groups) {
    std::map<std::string, int> rounds;
    for (const Group& g : groups) ++rounds[g.keys[0]];
    std::vector<Group> kept;
    for (const Group& g : groups) {
      if (rounds[g.keys[0]] > 1) kept.push_back(g);
    }
    return kept;
  }

  void questions() {
    heading(say("5. Questions across models", "5. 跨模型的问题"));
    heading(say("5.1 Are model and rack architecture coupled?", "5.1 模型架构与机柜架构是否绑定？"), 3);
    paragraph(
        say("NVL72 racks against 8-accelerator nodes of the same generation and round. Whole systems differ ninefold "
            "because the "
            "rack has nine times the accelerators.",
            "同代、同轮次的 NVL72 机柜对 8 卡节点。整机相差九倍，是因为机柜的加速器本就是九倍。"));
    bullets(findings_.coupling());
    Table coupling = mlperf_ratio_table(mlperf::coupling(evidence_.results, evidence_.names));
    table(std::move(coupling));
    heading(say("5.2 Generation over generation", "5.2 代际提升"), 3);
    bullets(findings_.generations());
    heading(say("5.3 What latency limits cost", "5.3 时延限制的代价"), 3);
    std::vector<ScenarioShare> shares = scenario_shares(evidence_.results, evidence_.names);
    std::erase_if(shares, [&](const ScenarioShare& s) {
      const Benchmark* const b = evidence_.names.benchmark(Suite::inference, s.benchmark);
      return !s.accelerator.empty() || b == nullptr ||
             (b->kind != "dense" && b->kind != "moe" && b->kind != "diffusion");
    });
    table(mlperf_share_table(shares));
    heading(say("5.4 Bandwidth or compute?", "5.4 带宽还是算力？"), 3);
    paragraph(
        say("Least squares of logarithms over the means of each accelerator and round, one constant per round. "
            "Bandwidth and "
            "compute grow together from chip to chip, so the two coefficients are only as certain as their errors say.",
            "对各加速器、各轮次均值取对数做最小二乘，每轮一个常数。带宽与算力在芯片间同步增长，故两系数的可信度以其误差"
            "为准。"));
    bullets(findings_.elasticity());
    heading(say("5.5 Virtualised against bare metal", "5.5 虚拟化对裸机"), 3);
    bullets(findings_.virtualised());
    heading(say("5.6 Measured power", "5.6 实测功耗"), 3);
    bullets(findings_.power());
  }

  /// The fastest submission of each accelerator in the newest round it has, predicted.
  void predictions() {
    heading(say("6. What bound the submissions", "6. 提交结果受限于什么"));
    paragraph(say(
        "The fastest Offline submission of each accelerator in its newest round, beside what the performance model of "
        "this "
        "program predicts for the best of a few plans (tensor parallelism, number format). The model was not fitted to "
        "MLPerf; lengths of prompts are partly estimates.",
        "各加速器在其最新轮次中最快的 Offline "
        "提交，与本程序性能模型对若干方案（张量并行、数值格式）中最佳者的预测并列。"
        "模型未以 MLPerf 拟合；部分输入长度为估计值。"));
    std::vector<mlperf::Explanation> explanations;
    std::vector<double> errors;
    std::map<std::string, int> bounds;
    for (const std::string_view benchmark : {"llama2-70b-99.9", "llama3.1-405b", "deepseek-r1", "gpt-oss-120b"}) {
      std::map<std::string, const Row*> best;
      for (const Row& row : evidence_.results.rows) {
        if (row.benchmark != benchmark || row.scenario != "Offline" || row.published.division != "closed" ||
            row.device.empty() || row.virtualised() || row.accelerators == 0 || row.power_tuned) {
          continue;
        }
        const Row*& place = best[row.accelerator];
        if (place == nullptr || place->published.round < row.published.round ||
            (place->published.round == row.published.round &&
             place->value / place->accelerators < row.value / row.accelerators)) {
          place = &row;
        }
      }
      for (const auto& [accelerator, row] : best) {
        auto e = mlperf::explain(*row, evidence_.names, evidence_.knowledge);
        if (!e || !e->measured) continue;
        errors.push_back(std::abs(e->predicted.mid / *e->measured - 1));
        ++bounds[e->bound];
        explanations.push_back(*std::move(e));
      }
    }
    if (errors.empty()) return;
    std::sort(errors.begin(), errors.end());
    std::string list;
    for (const auto& [bound, count] : bounds) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", bound, count);
    paragraph(form(say("{} submissions; |predicted ÷ measured − 1| is {:.0f} % in the median. Bound by: {}.",
                       "{} 项提交；|预测 ÷ 实测 − 1| 的中位数为 {:.0f} %。受限资源：{}。"),
                   errors.size(), 100 * errors[errors.size() / 2], list));
    table(mlperf_prediction_table(explanations));
  }

  /// Runs of one benchmark need about the same number of tokens, so that predicted rate x measured time should agree.
  void training() {
    Table t;
    t.columns = {{.key = "benchmark", .heading = "benchmark"},
                 {.key = "runs", .heading = "results", .kind = ColumnKind::number},
                 {.key = "accelerators", .heading = "accelerators"},
                 {.key = "tokens", .heading = "tokens implied", .kind = ColumnKind::number},
                 {.key = "spread", .heading = "median distance from it", .kind = ColumnKind::number}};
    for (const std::string_view benchmark : {"llama31_405b", "gpt3", "llama2_70b_lora", "llama31_8b"}) {
      std::vector<double> tokens;
      int least = std::numeric_limits<int>::max();
      int most = 0;
      for (const Row& row : evidence_.results.rows) {
        if (row.suite != Suite::training || row.benchmark != benchmark || row.published.division != "closed") continue;
        const auto e = mlperf::explain(row, evidence_.names, evidence_.knowledge);
        if (!e || !e->implied_tokens) continue;
        tokens.push_back(*e->implied_tokens);
        least = std::min(least, row.accelerators);
        most = std::max(most, row.accelerators);
      }
      if (tokens.size() < 3) continue;
      std::sort(tokens.begin(), tokens.end());
      const double median = tokens[tokens.size() / 2];
      std::vector<double> away;
      for (const double one : tokens) away.push_back(std::abs(one / median - 1));
      std::sort(away.begin(), away.end());
      const double spread = away[away.size() / 2];
      t.rows.push_back({Cell(benchmark), Cell(static_cast<int>(tokens.size())), Cell(fmt::format("{}–{}", least, most)),
                        Cell(median).shown_as(format_count(median)),
                        Cell(spread).shown_as(fmt::format("{:.0f} %", 100 * spread))});
    }
    if (t.rows.empty()) return;
    paragraph(
        say("Training: how many samples a run needed is not published in the table, but runs of one benchmark need "
            "about the "
            "same (more with larger batches). Measured time × predicted rate should therefore give the same number of "
            "tokens "
            "for all of them, on any accelerator and at any scale:",
            "训练：表中未公布一次运行所需的样本数，但同一基准的各次运行大致相同（批量越大越多）。因此，实测时间 × "
            "预测速率应在任何加速器、"
            "任何规模上得出同样的 token 数："));
    table(std::move(t));
  }

  void conclusion() {
    heading(say("7. Conclusion", "7. 结论"));
    std::vector<std::string> all;
    const std::vector<std::string> coupling = findings_.coupling();
    all.insert(all.end(), coupling.begin(), coupling.end());
    for (const Comparison& c : evidence_.names.comparisons) {
      if (c.use == CompareUse::conclusion) all.push_back(findings_.ratio(c.first, c.second, c.benchmark, c.scenario));
    }
    all.push_back(findings_.share("deepseek-r1", "Server"));
    for (const std::string& sentence : findings_.elasticity()) {
      if (sentence.starts_with("llama2-70b") || sentence.starts_with("stable-diffusion")) all.push_back(sentence);
    }
    for (const std::string& sentence : findings_.virtualised()) {
      if (sentence.find("h200") != std::string::npos) all.push_back(sentence);
    }
    bullets(std::move(all));
    paragraph(say(
        "In short: per accelerator, a rack is worth about its accelerators while nothing limits latency, for experts "
        "and "
        "dense models alike. Where tokens must come fast the published results favour the rack, most of all for "
        "experts; "
        "but these are few, and the software differs. Results bundle software, submitters and dates: a ratio here is "
        "what was published, not a law.",
        "概言之：在没有时延限制时，无论混合专家还是稠密模型，机柜的价值大致等于其加速器之和。要求快速出词时，已公布的结"
        "果有利于机柜，"
        "对混合专家尤甚；但这类结果很少，且软件不同。结果包含软件、提交方与日期的差异：这里的比值是已公布的事实，而非定"
        "律。"));
  }

  const MlperfEvidence evidence_;
  Language language_;
  MlperfFindings findings_;
  Article article_;
};

}  // namespace

Article mlperf_article(const MlperfEvidence& evidence, Language language) {
  return Writer(evidence, language).run();
}

}  // namespace ridge::report
