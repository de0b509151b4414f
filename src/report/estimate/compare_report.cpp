#include "report/estimate/compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/chart/roofline.hpp"
#include "report/estimate/inference_report.hpp"
#include "report/page/html.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/ranking.hpp"

namespace ridge::report {

namespace {

/// What plans are ranked by: output per device, or input per device where nothing is decoded.
Interval merit(const InferenceAnswer& a) {
  if (a.refusal) return {};
  if (a.query.load.mode != LoadMode::prefill) return per_gpu(a);
  const Interval& all = a.outcome.estimate.total_tokens_per_s;
  const double gpus = a.facts.gpus;
  return {all.low / gpus, all.mid / gpus, all.high / gpus};
}

/// Ranks of the plans that run; those that cannot are left out.
std::vector<Rank> ranks_of(std::span<const InferenceAnswer> answers) {
  std::vector<Interval> values;
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].refusal) continue;
    values.push_back(merit(answers[i]));
    from.push_back(i);
  }
  std::vector<Rank> ranks = rank_with_ties(values);
  for (Rank& rank : ranks) rank.index = from[rank.index];
  return ranks;
}

std::string facts_layout(const DeploymentFacts& f) {
  std::string out = fmt::format("TP{}", f.tp);
  if (f.pp > 1) out += fmt::format(" PP{}", f.pp);
  if (f.ep > 1) out += fmt::format(" EP{}", f.ep);
  if (f.dp > 1) out += fmt::format(" DP{}", f.dp);
  const int replicas = std::max(1, f.gpus / (f.tp * f.pp * f.dp));
  return replicas > 1 ? fmt::format("{} × {}", replicas, out) : out;
}

std::string precision_text(const DeploymentFacts& f) {
  std::string out(name(f.weights));
  if (f.kv != Format::bf16 && f.kv != f.weights) out += fmt::format(", {} KV", name(f.kv));
  return out;
}

template <class Read>
bool varies(std::span<const InferenceAnswer> answers, Read read) {
  return std::any_of(answers.begin(), answers.end(),
                     [&](const InferenceAnswer& a) { return read(a) != read(answers.front()); });
}

Cell plain_interval(const Interval& i) {
  const std::string mid = format_number(i.mid);
  return Cell::interval<TokensPerSecond>(i).shown_as(
      i.low == i.high ? mid : fmt::format("{} ({}–{})", mid, format_number(i.low), format_number(i.high)));
}

/// Columns that depend on what differs between the plans.
struct Columns {
  bool model, engine, decodes;
};

std::vector<Cell> row_of(const InferenceAnswer& a, const Columns& shown, const std::string& rank, double best) {
  const InferenceEstimate& e = a.outcome.estimate;
  const auto time = [&](const Interval& i) { return i.mid > 0 ? Cell(Seconds(i.mid)) : Cell(); };
  std::vector<Cell> row = {Cell(rank)};
  if (shown.model) row.emplace_back(a.query.model);
  row.emplace_back(a.facts.device);
  row.emplace_back(a.facts.gpus);
  row.emplace_back(facts_layout(a.facts));
  row.emplace_back(precision_text(a.facts));
  if (shown.engine) row.emplace_back(a.facts.era.empty() ? a.facts.engine : a.facts.era);
  if (a.refusal) {
    row.resize(row.size() + (shown.decodes ? 5 : 4));
    row.push_back(Cell(name(a.refusal->reason)).with(Emphasis::bad));
    return row;
  }
  const double share = merit(a).mid / best;
  row.push_back(plain_interval(merit(a)));
  row.push_back(Cell(share).shown_as(fmt::format("{:.0f} %", 100 * share)));
  if (shown.decodes) row.push_back(time(e.tpot_s));
  row.push_back(time(shown.decodes ? e.ttft_s : e.prefill_s));
  const bool energy = shown.decodes ? e.joules_per_output_token.mid > 0 : e.power_w.mid > 0;
  const double joules = shown.decodes ? e.joules_per_output_token.mid : e.power_w.mid / e.total_tokens_per_s.mid;
  row.push_back(energy ? Cell(JoulesPerToken(joules)).shown_as(format_number(joules)) : Cell());
  row.emplace_back(fmt::format("{}, {}", name(e.bound), phase(e)));
  return row;
}

Columns columns_of(std::span<const InferenceAnswer> answers) {
  return {varies(answers, [](const InferenceAnswer& a) { return a.query.model; }),
          varies(answers, [](const InferenceAnswer& a) { return a.facts.engine + a.facts.era; }),
          answers.empty() || answers.front().query.load.mode != LoadMode::prefill};
}

}  // namespace

Table compare_table(std::span<const InferenceAnswer> answers) {
  const Columns shown = columns_of(answers);
  Table table;
  table.columns = {{.key = "rank", .heading = "rank"}};
  if (shown.model) table.columns.push_back({.key = "model", .heading = "model"});
  table.columns.push_back({.key = "device", .heading = "device"});
  table.columns.push_back({.key = "gpus", .heading = "GPUs", .kind = ColumnKind::number});
  table.columns.push_back({.key = "layout", .heading = "layout"});
  table.columns.push_back({.key = "precision", .heading = "precision"});
  if (shown.engine) table.columns.push_back({.key = "engine", .heading = "engine"});
  table.columns.push_back({.key = shown.decodes ? "tokens_per_s_per_gpu" : "input_tokens_per_s_per_gpu",
                           .heading = shown.decodes ? "tok/s/GPU (80 %)" : "input tok/s/GPU (80 %)",
                           .kind = ColumnKind::interval});
  table.columns.push_back({.key = "share_of_best", .heading = "of best", .kind = ColumnKind::number});
  if (shown.decodes) {
    table.columns.push_back({.key = "tpot", .unit = "s", .heading = "TPOT", .kind = ColumnKind::number});
  }
  table.columns.push_back({.key = shown.decodes ? "ttft" : "prefill",
                           .unit = "s",
                           .heading = shown.decodes ? "TTFT" : "prefill",
                           .kind = ColumnKind::number});
  table.columns.push_back({.key = shown.decodes ? "joules_per_output_token" : "joules_per_input_token",
                           .heading = "J/token",
                           .kind = ColumnKind::number});
  table.columns.push_back({.key = "bound", .heading = "bound by"});
  const std::vector<Rank> ranks = ranks_of(answers);
  const double best = ranks.empty() ? 1 : merit(answers[ranks.front().index]).mid;
  for (const Rank& rank : ranks) table.rows.push_back(row_of(answers[rank.index], shown, rank.text(), best));
  for (const InferenceAnswer& a : answers) {
    if (a.refusal) table.rows.push_back(row_of(a, shown, "not", best));
  }
  return table;
}

Document compare_page(std::span<const InferenceAnswer> answers) {
  Document page;
  const InferenceAnswer& first = answers.front();
  const Columns shown = columns_of(answers);
  page.title = fmt::format(
      "{}{} · {}", shown.model ? "several models" : first.query.model,
      shown.engine ? "" : fmt::format(" · {}", first.facts.era.empty() ? first.facts.engine : first.facts.era),
      load_text(first.query.load));
  page.blocks.emplace_back(compare_table(answers));
  Table refused;
  refused.title = "Cannot run";
  refused.headings = false;
  refused.columns = {{.key = "plan", .heading = "plan"}, {.key = "why", .heading = "why", .overflow = Overflow::wrap}};
  for (const InferenceAnswer& a : answers) {
    if (!a.refusal) continue;
    const std::string plan = fmt::format("{}, {}, {}", a.facts.device, facts_layout(a.facts), precision_text(a.facts));
    std::string why = a.refusal->why;
    if (!a.refusal->nearest.empty()) why += "; what works: " + marked(a.refusal->nearest[0].changes);
    refused.rows.push_back({Cell(plan), Cell(why)});
  }
  if (!refused.rows.empty()) page.blocks.emplace_back(std::move(refused));
  const std::vector<Rank> ranks = ranks_of(answers);
  if (std::any_of(ranks.begin(), ranks.end(), [](const Rank& r) { return r.tie; })) {
    page.blocks.emplace_back(
        Paragraph{"= is a tie: the 80 % interval reaches into that of the first of its rank.", Emphasis::faint});
  }
  // What all have in common; what one alone assumes, its own page says.
  std::string assumed;
  for (const std::string& line : first.assumptions) {
    const bool common = std::all_of(answers.begin(), answers.end(), [&](const InferenceAnswer& a) {
      return std::find(a.assumptions.begin(), a.assumptions.end(), line) != a.assumptions.end();
    });
    if (common) assumed += (assumed.empty() ? "Assumed: " : "; ") + line;
  }
  if (!assumed.empty()) page.blocks.emplace_back(Paragraph{assumed + ".", Emphasis::faint});
  return page;
}

Json compare_json(std::span<const InferenceAnswer> answers) {
  Json plans = Json::array();
  const auto add = [&](const InferenceAnswer& a, Json place, bool tie) {
    Json plan = Json::object();
    plan.set("rank", std::move(place)).set("tie", tie).set("answer", inference_json(a, {}));
    plans.push(std::move(plan));
  };
  for (const Rank& rank : ranks_of(answers)) add(answers[rank.index], rank.place, rank.tie);
  for (const InferenceAnswer& a : answers) {
    if (a.refusal) add(a, {}, false);
  }
  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "compare");
  json.set("ranked_by", answers.front().query.load.mode == LoadMode::prefill ? "total_tokens_per_s per device"
                                                                             : "tokens_per_s_per_gpu");
  json.set("plans", std::move(plans));
  return json;
}

std::string compare_html(std::span<const InferenceAnswer> answers) {
  const Document page = compare_page(answers);
  HtmlPage html(page.title);
  html.add(std::get<Table>(page.blocks.front()));
  Roofline figure;
  figure.title = "Where the operators stand";
  figure.subtitle = page.title;
  for (const Rank& rank : ranks_of(answers)) {
    const InferenceAnswer& a = answers[rank.index];
    if (!a.explanation) continue;
    const std::size_t roof = figure.roofs.size();
    figure.roofs.push_back({fmt::format("{}, {}, {}", a.facts.device, facts_layout(a.facts), precision_text(a.facts)),
                            a.facts.memory_bandwidth, a.facts.peak, a.facts.peak_wide});
    const auto add = [&](const std::vector<OperatorLine>& lines, bool prefill) {
      double total = 0;
      for (const OperatorLine& line : lines) total += line.seconds;
      for (const OperatorLine& line : lines) {
        if (line.flops <= 0 || line.bytes <= 0) continue;
        figure.points.push_back(
            {roof, line.what, line.flops / line.bytes, line.flops / line.seconds, line.seconds / total, prefill});
      }
    };
    add(a.explanation->decode, false);
    add(a.explanation->prefill, true);
  }
  if (!figure.roofs.empty()) html.add_figure(roofline_svg(figure));
  for (std::size_t i = 1; i < page.blocks.size(); ++i) {
    std::visit([&](const auto& block) { html.add(block); }, page.blocks[i]);
  }
  return html.finish();
}

}  // namespace ridge::report
