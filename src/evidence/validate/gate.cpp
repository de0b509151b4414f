#include "evidence/validate/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "evidence/cases/case_files.hpp"
#include "evidence/rows/nothing.hpp"
#include "evidence/validate/validation.hpp"

namespace ridge::evidence {
namespace {

// What is watched: the figures from which the others of a case follow.
std::span<const Metric> watched(const Case& c) {
  static constexpr Metric kInference[] = {Metric::output_tok_s, Metric::ttft_ms, Metric::tpot_ms, Metric::power_w};
  static constexpr Metric kPrefill[] = {Metric::ttft_ms, Metric::power_w};
  static constexpr Metric kOffline[] = {Metric::output_tok_s, Metric::power_w};
  static constexpr Metric kTraining[] = {Metric::step_time_s};
  static constexpr Metric kKernel[] = {Metric::seconds};
  static constexpr Metric kDiffusion[] = {Metric::batch_latency_s};
  static constexpr Metric kPower[] = {Metric::watts};
  switch (c.kind) {
    case CaseKind::inference:
      if (c.mode == "prefill") return kPrefill;
      if (c.mode == "offline") return kOffline;
      return kInference;
    case CaseKind::training:
      return kTraining;
    case CaseKind::kernel:
      return kKernel;
    case CaseKind::diffusion:
      return kDiffusion;
    case CaseKind::power:
      return kPower;
  }
  return {};
}

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

}  // namespace

Result<GateTable> read_gate(std::string csv, const std::string& name, const AssumedWorkloads& workloads) {
  auto table = CsvTable::parse(csv, name);
  if (!table) return table.error();
  auto cases = read_cases(std::move(csv), name, workloads);
  if (!cases) return cases.error();
  if (const auto refusal = table->required_column("refusal"); !refusal) return refusal.error();
  for (Case& c : *cases) {
    if (!c.refusal.empty()) return Error{ErrorCode::bad_input, {}, c.refusal};
    std::vector<Target> targets;
    for (const Metric metric : watched(c)) {
      if (const auto column = table->required_column(ridge::evidence::name(metric)); !column) return column.error();
      const auto at =
          std::find_if(c.targets.begin(), c.targets.end(), [&](const Target& t) { return t.metric == metric; });
      targets.push_back({metric, at == c.targets.end() ? kNothing : at->measured});
    }
    c.targets = std::move(targets);
  }
  return GateTable{std::move(*table), std::move(*cases)};
}

GateReport run_gate(const GateTable& table, const Knowledge& knowledge, int threads) {
  GateReport report;
  report.predictions = predict_all(table.cases, knowledge, Basis::calibrated, threads);
  for (std::size_t i = 0; i < table.cases.size(); ++i) {
    const Case& c = table.cases[i];
    for (std::size_t t = 0; t < c.targets.size(); ++t) {
      const Prediction& p = report.predictions[i][t];
      const GateChange change{i, c.targets[t].metric, c.targets[t].measured, p.value.mid, p.refusal};
      const bool was = std::isfinite(change.before);
      const bool is = std::isfinite(change.now);
      if (was && !is) report.refused_now.push_back(change);
      if (!was && is) report.predicted_now.push_back(change);
      if (!was || !is) continue;
      ++report.compared;
      if (std::abs(change.now / change.before - 1) > kGateTolerance) report.moved.push_back(change);
    }
  }
  return report;
}

std::string updated_gate(const GateTable& table, const GateReport& report) {
  const CsvTable& csv = table.csv;
  std::string out;
  CsvWriter writer(out);
  for (std::size_t column = 0; column < csv.columns(); ++column) writer.cell(csv.header(column));
  writer.end_row();
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    std::map<std::string_view, std::string> replaced;
    std::string refusal;
    for (std::size_t t = 0; t < table.cases[row].targets.size(); ++t) {
      const Prediction& p = report.predictions[row][t];
      replaced[name(table.cases[row].targets[t].metric)] =
          std::isfinite(p.value.mid) ? fmt::format("{:.5g}", p.value.mid) : std::string();
      if (refusal.empty()) refusal = p.refusal;
    }
    replaced["refusal"] = refusal;
    for (std::size_t column = 0; column < csv.columns(); ++column) {
      const auto at = replaced.find(csv.header(column));
      writer.cell(at == replaced.end() ? csv.cell(row, column) : std::string_view(at->second));
    }
    writer.end_row();
  }
  return out;
}

std::vector<std::string> gate_lines(const GateTable& table, const GateReport& report) {
  struct Pile {
    std::vector<double> changes;
    double worst = 0;
    std::string worst_id;
  };
  const auto label = [&](std::size_t i, Metric metric) {
    const Case& c = table.cases[i];
    return fmt::format("{} {}", name(c.kind), category(c, metric).label());
  };
  std::map<std::string, int> asked;
  for (std::size_t i = 0; i < table.cases.size(); ++i) {
    for (const Target& t : table.cases[i].targets) asked[label(i, t.metric)] += std::isfinite(t.measured) ? 1 : 0;
  }
  std::map<std::string, Pile> piles;
  for (const GateChange& m : report.moved) {
    Pile& pile = piles[label(m.case_index, m.metric)];
    const double change = m.now / m.before - 1;
    pile.changes.push_back(change);
    if (std::abs(change) <= std::abs(pile.worst)) continue;
    pile.worst = change;
    pile.worst_id = table.cases[m.case_index].id;
  }
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [key, pile] : piles) {
    sorted.emplace_back(
        -std::abs(pile.worst),
        fmt::format("{}: {} of {} moved, {} in the median, {} at most ({})", key, pile.changes.size(), asked[key],
                    signed_percent(quantile(pile.changes, 0.5)), signed_percent(pile.worst), pile.worst_id));
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> lines;
  for (auto& [size, text] : sorted) lines.push_back(std::move(text));
  for (const GateChange& c : report.refused_now) {
    lines.push_back(fmt::format("{} {} was {:.5g} and is refused now: {}", table.cases[c.case_index].id, name(c.metric),
                                c.before, c.refusal));
  }
  for (const GateChange& c : report.predicted_now) {
    lines.push_back(
        fmt::format("{} {} was refused and is {:.5g} now", table.cases[c.case_index].id, name(c.metric), c.now));
  }
  return lines;
}

}  // namespace ridge::evidence
