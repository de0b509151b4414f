// What the page, the JSON and the tables of an inference answer share.
#include "report/estimate/inference_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ask/field.hpp"
#include "base/shell.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

std::string number(double value) {
  return format_number(value, 7);
}

}  // namespace

double as_record(const InferenceAnswer& a) {
  return a.outcome.estimate.output_tokens_per_s.mid / a.facts.sure.as_tuned();
}

bool tells_of_records(const InferenceAnswer& a) {
  return std::fabs(a.facts.sure.as_tuned() - 1) > 0.1;
}

Interval per_gpu(const InferenceAnswer& answer) {
  const Interval& all = answer.outcome.estimate.output_tokens_per_s;
  const double gpus = answer.facts.gpus;
  return {all.low / gpus, all.mid / gpus, all.high / gpus};
}

Interval per_user(const InferenceAnswer& answer) {
  const Interval& gap = answer.outcome.estimate.tpot_s;
  if (gap.mid <= 0) return {};
  return {1 / gap.high, 1 / gap.mid, 1 / gap.low};
}

Interval texts_per_s(const InferenceAnswer& answer, const InferenceReportOptions& options) {
  const InferenceEstimate& e = answer.outcome.estimate;
  const InferenceLoad& load = answer.query.load;
  if (load.mode == LoadMode::prefill && e.prefill_s.low > 0) {
    return {load.batch / e.prefill_s.high, load.batch / e.prefill_s.mid, load.batch / e.prefill_s.low};
  }
  return options.embeds ? e.output_tokens_per_s : Interval{};  // the vector counts as one token
}

Interval sound_per_s(const InferenceAnswer& answer, const InferenceReportOptions& options) {
  const Interval& all = answer.outcome.estimate.output_tokens_per_s;
  const double each = options.sound_s / std::max(1.0, answer.query.load.osl);
  return {all.low * each, all.mid * each, all.high * each};
}

std::string_view phase(const InferenceEstimate& estimate) {
  return estimate.prefill_share > 0.5 ? "prefill" : "decode";
}

std::string load_text(const InferenceLoad& load) {
  std::string out = fmt::format("{} token{} in", number(load.isl), load.isl == 1 ? "" : "s");
  if (load.mode != LoadMode::prefill) out += fmt::format(", {} out", number(load.osl));
  switch (load.mode) {
    case LoadMode::fixed_batch:
    case LoadMode::prefill:
    case LoadMode::decode:
      out += fmt::format(", batch {}", number(load.batch));
      break;
    case LoadMode::closed_loop:
      out += fmt::format(", {} client{}", number(load.concurrency), load.concurrency == 1 ? "" : "s");
      break;
    case LoadMode::offline:
      out += ", offline";
      break;
    case LoadMode::open_loop:
      out += fmt::format(", {} request{} a second", number(load.rate), load.rate == 1 ? "" : "s");
      break;
  }
  return out;
}

std::string memory_title(double sold_bytes, double usable_bytes) {
  const std::string usable = format(Bytes(usable_bytes));
  constexpr double kAlike = 0.005;
  if (sold_bytes <= 0 || std::abs(sold_bytes - usable_bytes) < kAlike * sold_bytes) {
    return "Memory of one device: " + usable;
  }
  // Stacks of 80 GiB are sold as 80 GB.
  const std::string_view counted = usable_bytes > sold_bytes ? " (counted in GiB)" : "";
  return fmt::format("Memory of one device: sold as {:g} GB{}, {} usable", sold_bytes / 1e9, counted, usable);
}

std::string deployment_text(const InferenceAnswer& answer) {
  const DeploymentFacts& f = answer.facts;
  std::string out = fmt::format("{} × {}", f.gpus, f.device);
  const auto add = [&](std::string_view what, int degree) {
    if (degree > 1) out += fmt::format(", {} {}", what, degree);
  };
  add("TP", f.tp);
  // Who says how data or experts are spread may not expect that tensor parallelism fills up the devices.
  const bool spread = f.dp > 1 || f.ep > 1 || f.pp > 1;
  const auto filled_up = [&](const std::string& a) { return a.starts_with(fmt::format("tensor parallel {}", f.tp)); };
  if (spread && f.tp > 1 && std::any_of(answer.assumptions.begin(), answer.assumptions.end(), filled_up)) {
    out += " (added: ⟦tp⟧ was not given)";
  }
  add("PP", f.pp);
  add("EP", f.ep);
  add("DP", f.dp);
  if (f.redundant_experts > 0) out += fmt::format(", +{} experts", f.redundant_experts);
  const int replicas = std::max(1, f.gpus / (f.tp * f.pp * f.dp));
  if (replicas > 1) out += fmt::format(", {} replicas", replicas);
  out += fmt::format(", {} weights, {} KV, {}", name(f.weights), name(f.kv), f.era.empty() ? f.engine : f.era);
  return out;
}

std::string command_flags(const InferenceQuery& query) {
  std::string out;
  for (const ask::Setting& setting : ask::settings_of(query)) {
    if (setting.field->takes == ask::Takes::device && !query.system.empty()) continue;  // the system names it
    if (!out.empty()) out += ' ';
    out += ask::flag_of(*setting.field);
    if (setting.field->takes != ask::Takes::on) out += ' ' + shell_word(setting.value);
  }
  return out;
}

Table inference_table(const InferenceAnswer& answer) {
  Table table = quantities_table();
  const InferenceEstimate& e = answer.outcome.estimate;
  const auto add = [&](const char* what, const char* unit, const Interval& i) {
    if (i.mid > 0) add_quantity(table, what, unit, i);
  };
  add("output_tokens_per_s", "tokens/s", e.output_tokens_per_s);
  add("tokens_per_s_per_gpu", "tokens/s", per_gpu(answer));
  add("tokens_per_s_per_user", "tokens/s", per_user(answer));
  add("total_tokens_per_s", "tokens/s", e.total_tokens_per_s);
  add("ttft", "s", e.ttft_s);
  add("tpot", "s", e.tpot_s);
  add("e2e", "s", e.e2e_s);
  add("prefill", "s", e.prefill_s);
  add("decode_step", "s", e.decode_step_s);
  add("power", "W", e.power_w);
  add("joules_per_output_token", "J", e.joules_per_output_token);
  return table;
}

Table operator_table(const InferenceAnswer& answer) {
  Table table;
  table.columns = {{.key = "phase", .heading = "phase"},
                   {.key = "operator", .heading = "operator", .overflow = Overflow::truncate},
                   {.key = "layers", .heading = "layers", .kind = ColumnKind::number},
                   {.key = "time", .unit = "s", .heading = "time", .kind = ColumnKind::number},
                   {.key = "share", .heading = "share", .kind = ColumnKind::number},
                   {.key = "flops", .unit = "flop", .heading = "FLOPs", .kind = ColumnKind::number},
                   {.key = "bytes", .unit = "bytes", .heading = "bytes", .kind = ColumnKind::number},
                   {.key = "bound", .heading = "bound by"},
                   {.key = "roofline_share", .heading = "of roofline", .kind = ColumnKind::number}};
  if (!answer.explanation) return table;
  const auto add = [&](const char* where, const std::vector<OperatorLine>& lines) {
    double total = 0;
    for (const OperatorLine& line : lines) total += line.seconds;
    for (const OperatorLine& line : lines) {
      const double share = total > 0 ? line.seconds / total : 0;
      const bool computes = line.flops > 0;
      const bool network = line.bound == Bound::scale_up || line.bound == Bound::scale_out;
      table.rows.push_back(
          {Cell(where), Cell(line.what), Cell(line.layers), Cell(Seconds(line.seconds)),
           Cell(share).shown_as(fmt::format("{:.1f} %", 100 * share)), computes ? Cell(Flops(line.flops)) : Cell(),
           line.bytes > 0 ? Cell(Bytes(line.bytes)) : Cell(), Cell(name(line.bound)),
           network ? Cell() : Cell(line.roofline_share).shown_as(fmt::format("{:.0f} %", 100 * line.roofline_share))});
    }
  };
  add("decode", answer.explanation->decode);
  add("prefill", answer.explanation->prefill);
  return table;
}

}  // namespace ridge::report
