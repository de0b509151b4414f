#include "evidence/validate/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "evidence/rows/nothing.hpp"
#include "ridge/base/csv.hpp"

namespace ridge::evidence {
namespace {

constexpr std::array<std::pair<std::string_view, GroupBy>, 8> kGroupWords{{{"model", GroupBy::model},
                                                                           {"device", GroupBy::device},
                                                                           {"source", GroupBy::source},
                                                                           {"engine", GroupBy::engine},
                                                                           {"precision", GroupBy::precision},
                                                                           {"mode", GroupBy::mode},
                                                                           {"class", GroupBy::model_class},
                                                                           {"vendor", GroupBy::vendor}}};

// The order in which modes are read; what is not named comes after, by name.
constexpr std::array<std::string_view, 9> kModeOrder = {"",     "fixed-batch", "offline", "closed-loop", "prefill",
                                                        "gemm", "attention",   "moe",     "collective"};

std::string operator_class(const Case& c) {
  const auto* kernel = std::get_if<KernelCase>(&c.input);
  return kernel == nullptr ? c.mode : std::string(family(kernel->op));
}

std::string number_cell(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::string();
}

std::string group_value(const Case& c, GroupBy by, const Catalogue& catalogue) {
  switch (by) {
    case GroupBy::none:
      return {};
    case GroupBy::model:
      return c.model;
    case GroupBy::device:
      return c.device;
    case GroupBy::source:
      return c.source;
    case GroupBy::engine:
      return c.engine;
    case GroupBy::precision:
      return c.precision;
    case GroupBy::mode:
      return c.mode;
    case GroupBy::model_class:
      return model_class(c, catalogue);
    case GroupBy::vendor: {
      const auto device = catalogue.find_device(c.device);
      return device ? device->vendor : std::string();
    }
  }
  return {};
}

// Orders categories as people read them: what was fitted first, then by metric, then by mode.
struct CategoryKey {
  bool added;
  Metric metric;
  std::size_t mode_rank;
  std::string mode;
  std::string group;
  friend auto operator<=>(const CategoryKey&, const CategoryKey&) = default;
};

CategoryKey key_of(const Category& c, std::string group) {
  const auto* const at = std::find(kModeOrder.begin(), kModeOrder.end(), c.mode);
  return {!c.fitted, c.metric, static_cast<std::size_t>(at - kModeOrder.begin()), c.mode, std::move(group)};
}

struct Pile {
  Category category;
  std::vector<Comparison> calibrated;
  std::vector<Comparison> roofline;
  std::vector<Comparison> in_sample;
  std::map<std::string, int> refusals;
};

bool more_is_better(Metric metric) {
  return metric == Metric::output_tok_s || metric == Metric::total_tok_s || metric == Metric::images_per_s ||
         metric == Metric::tokens_per_sec_per_gpu;
}

bool bounded_by_roofline(Metric metric) {
  return more_is_better(metric) || metric == Metric::step_time_s || metric == Metric::tpot_ms ||
         metric == Metric::e2e_ms || metric == Metric::ttft_ms || metric == Metric::seconds ||
         metric == Metric::batch_latency_s;
}

}  // namespace

std::vector<ResultRow> validate(std::span<const Case> cases, const Knowledge& knowledge,
                                const ValidateOptions& options) {
  const auto calibrated = predict_all(cases, knowledge, options.simulated ? Basis::simulated : Basis::calibrated,
                                      options.threads, options.settings, options.patience);
  std::vector<std::vector<Prediction>> roofline;
  if (options.roofline)
    roofline = predict_all(cases, knowledge, Basis::roofline, options.threads, {}, options.patience);
  if (options.patience.over()) return {};
  std::vector<ResultRow> rows;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t t = 0; t < cases[i].targets.size(); ++t) {
      const Prediction& p = calibrated[i][t];
      rows.push_back({i, cases[i].targets[t].metric, cases[i].targets[t].measured, p.value, p.refusal,
                      // Where requests come by themselves, their rate is the bound.
                      options.roofline && cases[i].mode != "open-loop" ? roofline[i][t].value.mid : kNothing, kNothing,
                      p.response});
    }
  }
  return rows;
}

std::string rows_csv(std::span<const Case> cases, std::span<const ResultRow> rows) {
  std::string out;
  CsvWriter csv(out);
  for (const char* column : {"id", "metric", "measured", "predicted", "low", "high", "error", "refusal"})
    csv.cell(column);
  csv.end_row();
  for (const ResultRow& row : rows) {
    csv.cell(cases[row.case_index].id).cell(name(row.metric)).cell(number_cell(row.measured));
    csv.cell(number_cell(row.predicted.mid)).cell(number_cell(row.predicted.low)).cell(number_cell(row.predicted.high));
    csv.cell(number_cell(row.comparison().error())).cell(row.refusal);
    csv.end_row();
  }
  return out;
}

std::optional<GroupBy> parse_group(std::string_view text) {
  for (const auto& [word, group] : kGroupWords) {
    if (word == text) return group;
  }
  return std::nullopt;
}

std::string model_class(const Case& c, const Catalogue& catalogue) {
  if (c.model.empty()) return {};
  const auto model = catalogue.find_model(c.model);
  if (!model) return {};
  if (model->type != ModelType::language) return "diffusion";
  return model->is_moe() ? "moe" : "dense";
}

std::string Category::label() const {
  return fmt::format("{}{}{}{}", fitted ? "" : "added: ", name(metric), mode.empty() ? "" : " ", mode);
}

Category category(const Case& c, Metric metric) {
  switch (c.kind) {
    case CaseKind::training:
      return {metric, {}, c.fitted};
    case CaseKind::inference:
      return {metric, c.mode, c.fitted};
    case CaseKind::kernel:
      return {metric, operator_class(c), c.fitted};
    case CaseKind::power:
      return {metric, "power", c.fitted};
    case CaseKind::diffusion:
      return {metric, "diffusion", c.fitted};
  }
  return {};
}

std::vector<SummaryLine> summary(std::span<const Case> cases, std::span<const ResultRow> rows, GroupBy by,
                                 const Catalogue& catalogue) {
  std::map<CategoryKey, Pile> piles;
  for (const ResultRow& row : rows) {
    const Case& c = cases[row.case_index];
    const Category cat = category(c, row.metric);
    Pile& pile = piles[key_of(cat, group_value(c, by, catalogue))];
    pile.category = cat;
    pile.calibrated.push_back(row.comparison());
    pile.roofline.push_back(row.against(row.roofline));
    pile.in_sample.push_back(row.against(row.in_sample));
    if (!row.refusal.empty()) ++pile.refusals[row.refusal.substr(0, row.refusal.find(':'))];
  }
  std::vector<SummaryLine> lines;
  for (const auto& [key, pile] : piles) {
    SummaryLine line{
        pile.category, key.group, summarise(pile.calibrated), summarise(pile.roofline), summarise(pile.in_sample), {}};
    line.refusals.assign(pile.refusals.begin(), pile.refusals.end());
    std::stable_sort(line.refusals.begin(), line.refusals.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::size_t> faster_than_roofline(std::span<const ResultRow> rows) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ResultRow& row = rows[i];
    if (!bounded_by_roofline(row.metric) || !std::isfinite(row.predicted.mid) || !std::isfinite(row.roofline)) continue;
    const double ratio =
        more_is_better(row.metric) ? row.predicted.mid / row.roofline : row.roofline / row.predicted.mid;
    if (ratio > 1 + 1e-6) out.push_back(i);
  }
  return out;
}

}  // namespace ridge::evidence
