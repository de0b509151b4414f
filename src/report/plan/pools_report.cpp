#include "report/plan/pools_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/plan/parts.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

Interval users(const PoolsOutcome& o) {
  return {1 / o.tpot_s.high, 1 / o.tpot_s.mid, 1 / o.tpot_s.low};
}

std::string memory_text(const InferenceEstimate& e) {
  const auto part = [&](MemoryPart p) { return e.memory_bytes[static_cast<std::size_t>(p)]; };
  return fmt::format("weights {}, cache {}", format(Bytes(part(MemoryPart::weights))),
                     format(Bytes(part(MemoryPart::kv_cache))));
}

std::string assumed(const PoolsAnswer& a) {
  std::string text = "Assumed: ";
  bool first = true;
  for (const std::string& sentence : a.assumptions) {
    if (!first) text += "; ";
    first = false;
    text += sentence;
  }
  return text + ".";
}

Json pool_json(const InferenceAnswer& a, const InferenceEstimate& e) {
  const DeploymentFacts& f = a.facts;
  Json json = Json::object();
  json.set("device", f.device).set("gpus", f.gpus).set("tp", f.tp).set("pp", f.pp).set("ep", f.ep).set("dp", f.dp);
  json.set("redundant_experts", f.redundant_experts);
  json.set("dispatch", f.exchange ? Json(name(*f.exchange)) : Json());
  json.set("weight_precision", name(f.weights)).set("kv_precision", name(f.kv)).set("engine", f.engine);
  Json memory = Json::object();
  for (std::size_t i = 0; i < kMemoryParts; ++i) memory.set(name(static_cast<MemoryPart>(i)), e.memory_bytes[i]);
  json.set("memory_bytes", std::move(memory));
  return json;
}

}  // namespace

std::pair<int, int> balanced_engines(double ratio) {
  constexpr int kMost = 16;
  std::pair<int, int> best{1, 1};
  double nearest = std::numeric_limits<double>::infinity();
  for (int decode = 1; decode <= kMost; ++decode) {
    const int prefill = std::clamp(static_cast<int>(std::lround(ratio * decode)), 1, kMost);
    const double off = std::abs(std::log(prefill / (ratio * decode)));
    if (off < nearest - 0.02) {  // fewer engines unless more are clearly nearer
      nearest = off;
      best = {prefill, decode};
    }
  }
  return best;
}

std::pair<int, int> engines_of(const PoolsAnswer& a) {
  return a.engines.value_or(balanced_engines(a.outcome.prefill_engines));
}

Document pools_page(const PoolsAnswer& a) {
  const PoolsOutcome& o = a.outcome;
  const auto [prefill, decode] = engines_of(a);
  Document page;
  page.title = fmt::format("{}: prefill on {}; decode on {} · {}", a.decode.query.model, deployment_text(a.prefill),
                           deployment_text(a.decode), load_text(a.decode.query.load));
  page.blocks.emplace_back(paragraph(fmt::format(
      "Output: {} tok/s per GPU over both pools. Per user: {} tok/s after a TTFT of {}. {} prefill engines keep one "
      "decode engine busy{}",
      format_number(o.per_device.mid), format_number(users(o).mid), format(Seconds(o.ttft_s.mid)),
      format_number(o.prefill_engines), a.engines ? "." : fmt::format(": {}P{}D.", prefill, decode))));
  if (a.engines) {
    page.blocks.emplace_back(paragraph(
        fmt::format("{}P{}D, as asked for: {} GPUs make {} tok/s.", prefill, decode,
                    format_number(1.0 * prefill * a.prefill.facts.gpus + 1.0 * decode * a.decode.facts.gpus, 9),
                    format_number(busy_engines(o, prefill, decode) * o.output_tokens_per_s.mid))));
  }
  Table table = two_columns("Predicted, with 80 % intervals");
  const auto add = [&](const char* what, const Cell& cell) { table.rows.push_back({Cell(what), cell}); };
  add("output, one decode engine", Cell(in_unit(o.output_tokens_per_s, "tok/s")));
  add("output, per GPU of both pools", Cell(in_unit(o.per_device, "tok/s")));
  add("output, per GPU that decodes", Cell(format_number(o.output_tokens_per_s.mid / a.decode.facts.gpus) + " tok/s"));
  const double input = a.prefill.facts.gpus > 0 ? o.prompts_at_once * a.decode.query.load.isl /
                                                      o.prefill.prefill_s.mid / a.prefill.facts.gpus
                                                : 0;
  add("input, per GPU that prefills", Cell(format_number(input) + " tok/s"));
  add("output, per user", Cell(in_unit(users(o), "tok/s")));
  add("time to first token", time_cell(o.ttft_s));
  add("time per output token", time_cell(o.tpot_s));
  add("prefill, no queue", time_cell(o.prefill.prefill_s));
  add("decode step", time_cell(o.decode.decode_step_s));
  add("cache of a request",
      Cell(fmt::format("{}, {} on the link", format(Bytes(o.kv_bytes)), format(Seconds(o.transfer_s)))));
  add("memory, prefill", Cell(memory_text(o.prefill)));
  add("memory, decode", Cell(memory_text(o.decode)));
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(paragraph(assumed(a), Emphasis::faint));
  return page;
}

Table pools_table(const PoolsAnswer& a) {
  const PoolsOutcome& o = a.outcome;
  Table table = quantities_table();
  const auto add = [&](const char* what, const char* unit, const Interval& i) { add_quantity(table, what, unit, i); };
  add("output_tokens_per_s", "tokens/s", o.output_tokens_per_s);
  add("tokens_per_s_per_gpu", "tokens/s", o.per_device);
  add("ttft", "s", o.ttft_s);
  add("tpot", "s", o.tpot_s);
  add("prefill", "s", o.prefill.prefill_s);
  add("decode_step", "s", o.decode.decode_step_s);
  add("prefill_engines_per_decode_engine", "1", {o.prefill_engines, o.prefill_engines, o.prefill_engines});
  return table;
}

Json pools_json(const PoolsAnswer& a) {
  const PoolsOutcome& o = a.outcome;
  const InferenceLoad& load = a.decode.query.load;
  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "pools").set("model", a.decode.query.model);
  json.set("isl_tokens", load.isl).set("osl_tokens", load.osl);
  json.set("concurrency", load.concurrency);
  json.set("prefill", pool_json(a.prefill, o.prefill)).set("decode", pool_json(a.decode, o.decode));
  json.set("prefill_engines_per_decode_engine", o.prefill_engines);
  const auto [prefill, decode] = engines_of(a);
  json.set("prefill_engines", prefill).set("decode_engines", decode);
  json.set("output_tokens_per_s", interval_json(o.output_tokens_per_s));
  json.set("tokens_per_s_per_gpu", interval_json(o.per_device));
  json.set("ttft_s", interval_json(o.ttft_s)).set("tpot_s", interval_json(o.tpot_s));
  json.set("prefill_s", interval_json(o.prefill.prefill_s));
  json.set("decode_step_s", interval_json(o.decode.decode_step_s));
  json.set("kv_bytes_per_request", o.kv_bytes).set("kv_transfer_s", o.transfer_s);
  json.set("kv_link_bytes_per_s", a.setting.link_bytes_per_s);
  Json texts = Json::array();
  for (const std::string& sentence : a.assumptions) texts.push(sentence);
  json.set("assumptions", std::move(texts));
  return json;
}

}  // namespace ridge::report
