// The terminal page of an inference answer: what, how fast, what fills memory, what binds, what would help.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/estimate/inference_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

Cell rate_range(const Interval& i) {
  return Cell::interval<TokensPerSecond>(i).shown_as(in_unit(i, "tok/s"));
}

std::string range_text(const Interval& i, std::string_view unit = {}) {
  const std::string mid = format_number(i.mid) + std::string(unit);
  return i.low == i.high ? mid : fmt::format("{} ({}–{})", mid, format_number(i.low), format_number(i.high));
}

Interval shared(const Interval& i, double ways) {
  return {i.low / ways, i.mid / ways, i.high / ways};
}

std::string headline(const InferenceAnswer& a, const InferenceReportOptions& options) {
  const InferenceEstimate& e = a.outcome.estimate;
  const std::string limit = fmt::format("Bottleneck: {}, {}.", name(e.bound), phase(e));
  const double gpus = a.facts.gpus;
  if (a.query.load.mode == LoadMode::prefill) {
    const char* what = options.embeds ? "text" : "prompt";
    const std::string rate =
        options.embeds ? fmt::format(": {} texts a second, {} per GPU", format_number(texts_per_s(a, options).mid),
                                     format_number(texts_per_s(a, options).mid / gpus))
                       : std::string();
    return fmt::format(
        "{} for {} of {} tokens{}. {}", time_cell(e.prefill_s).text(),
        a.query.load.batch == 1 ? fmt::format("one {}", what) : fmt::format("{:.0f} {}s", a.query.load.batch, what),
        format_number(a.query.load.isl, 7), rate, limit);
  }
  if (options.embeds) {
    return fmt::format("Texts: {} a second, {} per GPU. A text is back after {}. {}",
                       range_text(texts_per_s(a, options)), format_number(texts_per_s(a, options).mid / gpus),
                       format(Seconds(e.ttft_s.mid)), limit);
  }
  if (options.sound_s > 0) {
    return fmt::format("Sound: {} times real time, {} per GPU. A clip of {} is text after {}. {}",
                       range_text(sound_per_s(a, options)), format_number(sound_per_s(a, options).mid / gpus),
                       format(Seconds(options.sound_s)), format(Seconds(e.e2e_s.mid)), limit);
  }
  return fmt::format("Output: {}, {} per GPU. Per user: TTFT {}, then {} tok/s. {}",
                     in_unit(e.output_tokens_per_s, "tok/s"), format_number(per_gpu(a).mid),
                     format(Seconds(e.ttft_s.mid)), format_number(per_user(a).mid), limit);
}

Table predictions(const InferenceAnswer& a, const InferenceReportOptions& options) {
  const InferenceEstimate& e = a.outcome.estimate;
  const bool certain = e.prefill_s.low == e.prefill_s.high;
  Table table = two_columns(certain ? "What the datasheet allows" : "Predicted, with 80 % intervals");
  const auto add = [&](const char* what, const Cell& cell) { table.rows.push_back({Cell(what), cell}); };
  const auto time = [&](const char* what, const Interval& i) {
    if (i.mid > 0) add(what, time_cell(i));
  };
  const auto rate = [&](const char* what, const Interval& i) {
    if (i.mid > 0) add(what, rate_range(i));
  };
  const bool decodes = a.query.load.mode != LoadMode::prefill && !options.embeds;
  const auto each_second = [&](const std::string& what, const Interval& i) {
    if (i.mid <= 0) return;
    add((what + ", deployment").c_str(), Cell(range_text(i, "/s")));
    const Interval one = shared(i, a.facts.gpus);
    add((what + ", per GPU").c_str(), Cell(range_text(one, "/s")));
  };
  if (options.sound_s > 0) {
    const Interval sound = sound_per_s(a, options);
    each_second("clips", shared(sound, options.sound_s));
    add("sound, times real time", Cell(range_text(sound)));
  }
  if (options.embeds) each_second("texts", texts_per_s(a, options));
  if (decodes) {
    rate("output, deployment", e.output_tokens_per_s);
    rate("output, per GPU", per_gpu(a));
    rate("output, per user", per_user(a));
    if (tells_of_records(a)) {
      add("output, if tuned like a record", Cell(fmt::format("{} tok/s", format_number(as_record(a)))));
    }
    rate("input and output", e.total_tokens_per_s);
    time("time to first token", e.ttft_s);
    time("time per output token", e.tpot_s);
    time("request, end to end", e.e2e_s);
    time("prefill, no queue", e.prefill_s);
    time("decode step", e.decode_step_s);
  } else {
    if (a.query.load.mode != LoadMode::prefill) time("a text, from question to answer", e.ttft_s);
    const bool together = a.query.load.mode == LoadMode::prefill;
    time(!options.embeds ? "prefill" : together ? "all of them" : "a text alone", e.prefill_s);
    rate("input", e.total_tokens_per_s);
  }
  if (e.power_w.mid > 0) {
    add("power, all devices", Cell::interval<Watts>(e.power_w).shown_as(in_unit(e.power_w, "W")));
    if (decodes) {
      const Interval& energy = e.joules_per_output_token;
      add("energy per output token", Cell::interval<JoulesPerToken>(energy).shown_as(in_unit(energy, "J")));
    }
  }
  return table;
}

/// Encoders keep nothing of a text.
bool nothing_cached(const InferenceAnswer& a) {
  return a.outcome.estimate.kv_capacity_tokens <= 0;
}

Table memory(const InferenceAnswer& a, double sold_bytes) {
  static constexpr std::string_view kLabels[kMemoryParts] = {"weights", "KV cache", "activations", "graphs and buffers",
                                                             "outside the engine's limit"};
  Table table = shares_table(memory_title(sold_bytes, a.facts.memory_bytes), "part", "bytes");
  for (std::size_t i = 0; i < kMemoryParts; ++i) {
    const double bytes = a.outcome.estimate.memory_bytes[i];
    const bool free = nothing_cached(a) && i + 1 == kMemoryParts;
    if (nothing_cached(a) && static_cast<MemoryPart>(i) == MemoryPart::kv_cache) continue;
    add_share(table, free ? std::string("left free") : std::string(kLabels[i]), Cell(Bytes(bytes)),
              bytes / a.facts.memory_bytes);
  }
  return table;
}

std::string cache_sentence(const InferenceAnswer& a) {
  const InferenceEstimate& e = a.outcome.estimate;
  if (nothing_cached(a)) {
    return fmt::format("Nothing is cached: {} run together on a replica.", format_number(e.running_batch, 3));
  }
  const double each = a.query.load.isl + (a.query.load.mode == LoadMode::prefill ? 0 : a.query.load.osl);
  return fmt::format(
      "The cache holds {} tokens a replica: {} sequences of {} at once in all. {} run together on a replica.",
      format_count(e.kv_capacity_tokens), format_number(e.max_batch, 6), format_number(each, 7),
      format_number(e.running_batch, 3));
}

Table terms(const InferenceAnswer& a, bool embeds) {
  const InferenceEstimate& e = a.outcome.estimate;
  const auto total = [](const std::array<double, kTerms>& t) {
    double sum = 0;
    for (const double seconds : t) sum += seconds;
    return sum;
  };
  const double decode = embeds ? 0 : total(e.decode_terms_s);  // a vector is there with the prompt
  const double prefill = total(e.prefill_terms_s);
  Table table;
  table.title = "Where the time goes";
  table.columns = {{.key = "term", .heading = "term"}};
  const auto columns = [&](const char* what) {
    table.columns.push_back({.key = what, .heading = what, .kind = ColumnKind::number});
    table.columns.push_back({.key = "share", .heading = "share", .kind = ColumnKind::number});
    table.columns.push_back({.key = "bar", .heading = ""});
  };
  const bool mixed = a.query.load.mode == LoadMode::closed_loop || a.query.load.mode == LoadMode::offline;
  if (decode > 0) columns("decode step");
  if (prefill > 0) columns(mixed ? "step with prefill" : "prefill");
  std::vector<std::size_t> order(kTerms);
  for (std::size_t i = 0; i < kTerms; ++i) order[i] = i;
  const auto& main = decode > 0 && e.prefill_share <= 0.5 ? e.decode_terms_s : e.prefill_terms_s;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return main[x] > main[y]; });
  for (const std::size_t i : order) {
    if ((decode <= 0 || e.decode_terms_s[i] <= 0) && e.prefill_terms_s[i] <= 0) continue;
    std::vector<Cell> row = {Cell(spoken(static_cast<Term>(i)))};
    const auto add = [&](double seconds, double whole) {
      row.push_back(seconds > 0 ? Cell(Seconds(seconds)) : Cell());
      row.push_back(seconds > 0 ? Cell(percent(seconds / whole)) : Cell());
      row.emplace_back(seconds > 0 ? bar(seconds / whole, 12) : "");
    };
    if (decode > 0) add(e.decode_terms_s[i], decode);
    if (prefill > 0) add(e.prefill_terms_s[i], prefill);
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Why a token takes longer than a decode step: prompts of others are read in between. Empty where that is not so.
std::string pace_sentence(const InferenceAnswer& a) {
  const InferenceEstimate& e = a.outcome.estimate;
  const bool mixed = a.query.load.mode == LoadMode::closed_loop || a.query.load.mode == LoadMode::offline;
  const double rest = e.tpot_s.mid - e.decode_step_s.mid;
  if (!mixed || a.query.load.draft_tokens > 0 || rest < 0.02 * e.tpot_s.mid) return "";
  return fmt::format(
      "A token takes {}: {} are the decode step, {} ({}) come from prompts of other requests, read in the same steps.",
      format(Seconds(e.tpot_s.mid)), format(Seconds(e.decode_step_s.mid)), format(Seconds(rest)),
      percent(rest / e.tpot_s.mid));
}

Table elasticities(const ResourceScale& e) {
  struct Line {
    const char* what;
    double value;
  };
  std::vector<Line> lines = {{"memory bandwidth", e.memory_bandwidth},
                             {"compute", e.compute},
                             {"clock", e.clock},
                             {"memory capacity", e.memory_capacity},
                             {"scale-up bandwidth", e.scale_up},
                             {"scale-out bandwidth", e.scale_out}};
  std::stable_sort(lines.begin(), lines.end(), [](const Line& x, const Line& y) { return x.value > y.value; });
  Table table = two_columns("What 1 % more of a resource brings in throughput");
  table.columns[1].kind = ColumnKind::number;
  table.columns.push_back({.key = "bar", .heading = "bar"});
  for (const Line& line : lines) {
    const double value = std::abs(line.value) < 0.005 ? 0 : line.value;
    table.rows.push_back({Cell(line.what), Cell(fmt::format("{:.2f} %", value)), Cell(bar(value))});
  }
  return table;
}

void add_operators(Document& page, const InferenceAnswer& a) {
  const Table all = operator_table(a);
  for (const std::string_view phase_name : {"decode", "prefill"}) {
    Table table;
    table.title = phase_name == "decode" ? "Operators of a decode step, on one device"
                                         : "Operators of the prefill of one prompt, on one device";
    table.columns.assign(all.columns.begin() + 1, all.columns.end());
    for (const std::vector<Cell>& row : all.rows) {
      if (row[0].plain() == phase_name) table.rows.emplace_back(row.begin() + 1, row.end());
    }
    if (!table.rows.empty()) page.blocks.emplace_back(std::move(table));
  }
}

std::string how_sure(const IntervalClass& c) {
  if (c.rows == 0) return "";
  return fmt::format(
      "Confidence: {} measurements resemble this ({}); cross-validated, such predictions are off by {:.0f} % (median), "
      "{:.0f} % (p90).",
      c.rows, c.resembles, 100 * c.median_error, 100 * c.p90_error);
}

Table next_commands(const InferenceAnswer& a, const InferenceReportOptions& options) {
  Table table;
  table.title = "Next";
  table.headings = false;
  table.columns = {{.key = "command", .heading = "command"}};
  InferenceQuery asked = a.query;
  if (options.asked) asked.load = *options.asked;
  const std::string media = options.media.empty() ? "" : marked(options.media) + " ";
  table.rows.push_back({Cell("ridge estimate infer " + command_flags(asked) + " " + media + "⟦explain⟧")});
  return table;
}

}  // namespace

Document inference_page(const InferenceAnswer& a, const InferenceReportOptions& options) {
  Document page;
  page.title = fmt::format("{} on {} · {}", a.query.model, deployment_text(a), load_text(a.query.load));
  page.blocks.emplace_back(Paragraph{headline(a, options), Emphasis::strong});
  page.blocks.emplace_back(predictions(a, options));
  page.blocks.emplace_back(memory(a, options.sold_bytes));
  page.blocks.emplace_back(Paragraph{cache_sentence(a)});
  page.blocks.emplace_back(terms(a, options.embeds));
  if (const std::string pace = options.embeds ? "" : pace_sentence(a); !pace.empty())
    page.blocks.emplace_back(Paragraph{pace});
  if (a.explanation) {
    if (options.operators) add_operators(page, a);
    page.blocks.emplace_back(elasticities(a.explanation->elasticity));
    if (!a.explanation->suggestions.empty()) {
      Table table = two_columns("What would help most, in output per GPU");
      for (const Suggestion& s : a.explanation->suggestions) {
        table.rows.push_back({Cell(fmt::format("+{:.0f} %", 100 * s.gain)), Cell(s.change)});
      }
      page.blocks.emplace_back(std::move(table));
    }
  }
  if (const std::string sure = how_sure(a.facts.resembles); !sure.empty()) page.blocks.emplace_back(Paragraph{sure});
  add_assumptions(page, a.assumptions);
  page.blocks.emplace_back(next_commands(a, options));
  return page;
}

}  // namespace ridge::report
