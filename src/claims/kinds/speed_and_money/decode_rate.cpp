// Tokens per second against the roofline, and requests per second from tokens per second.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/known/figures.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/memory_parts.hpp"

namespace ridge::claims {

namespace {

PeakFormat compute_format(const Device& device, Format format) {
  const double bytes = nominal_bytes(format);
  // Weights of four bits are widened unless the part computes in four.
  if (bytes == 0.5 && format != Format::int4 && device.peak(PeakFormat::fp4)) return PeakFormat::fp4;
  if (bytes == 1 && device.peak(PeakFormat::fp8)) return PeakFormat::fp8;
  return device.peak(PeakFormat::bf16) ? PeakFormat::bf16 : PeakFormat::fp16;
}

/// Decoding cannot be faster than reading, once a step, the weights that some sequence needs and every sequence's keys
/// and values, nor than the multiplications at peak.
Result<Recomputed> recompute_decode_rate(Inputs& inputs) {
  const auto model = inputs.model();
  if (!model) return model.error();
  const auto device = inputs.device();
  if (!device) return device.error();
  const auto format = inputs.format("format", Format::bf16);
  if (!format) return format.error();
  const auto gpus = inputs.count("gpus", 1.0);
  if (!gpus) return gpus.error();
  const auto batch = inputs.count("batch", 1.0);
  if (!batch) return batch.error();
  const auto context = inputs.count("context", *batch == 1 ? 1.0 : 1024.0, true);
  if (!context) return context.error();
  const auto bandwidth = look_up(inputs.context(), (*device)->id + ":bandwidth");
  if (!bandwidth) return bandwidth.error();
  inputs.note("bandwidth", bandwidth->shown, bandwidth->source);
  const Figure<FlopsPerSecond>& peak = (*device)->peak(compute_format(**device, *format));
  const Parameters parameters = count_parameters(**model);
  // Of the routed experts those that at least one of the batch's tokens chose.
  double experts_read = parameters.routed_experts;
  for (const LayerGroup& group : (*model)->groups) {
    if (group.ffn.kind != FfnKind::moe || group.ffn.experts == 0) continue;
    const double missed = std::pow(1 - static_cast<double>(group.ffn.top_k) / group.ffn.experts, *batch);
    experts_read = parameters.routed_experts * (1 - missed);
    break;
  }
  const double weights = (parameters.total - parameters.routed_experts + experts_read) * nominal_bytes(*format);
  const double kv = kv_bytes_per_sequence(**model, 2, static_cast<int>(std::min(*context, 1e8))).value() * *batch;
  // One sequence at the start of its context: weights alone bound it.
  const double bytes = weights + (*batch == 1 && !inputs.has("context") ? 0 : kv);
  const double memory_time = bytes / (bandwidth->measure.value * *gpus);
  const double compute_time = peak ? 2 * parameters.active * *batch / (peak->value.value() * *gpus) : 0;
  const double bound = *batch / std::max(memory_time, compute_time);
  Recomputed result;
  result.right = measure_of(TokensPerSecond(bound));
  result.compare = Compare::at_most;
  result.formula = fmt::format("at most {:g} / max({} / ({:g} x {}), 2 x active parameters x batch / peak)", *batch,
                               measure_of(Bytes(bytes)).text, *gpus, bandwidth->measure.text);
  const double share = inputs.claim().claimed.value / bound;
  result.because = share > 1 ? fmt::format("{:.1f} times what the memory can deliver", share)
                             : fmt::format("possible: {:.0f} % of the bound", share * 100);
  const double capacity = (*device)->memory_capacity ? (*device)->memory_capacity->value.value() * *gpus : 0;
  if (capacity > 0 && parameters.total * nominal_bytes(*format) > capacity) {
    result.compare = Compare::holds;
    result.holds = false;
    result.because = "the weights do not fit";
  }
  return result;
}

Result<Recomputed> recompute_requests(Inputs& inputs) {
  const auto rate = inputs.measure("rate");
  if (!rate) return rate.error();
  const auto output = inputs.count("output");
  if (!output) return output.error();
  Recomputed result;
  result.right = measure_of(rate->measure.value / *output);
  result.right->text += " requests/s";
  result.formula = fmt::format("{} / {:g} tokens", rate->shown, *output);
  if (inputs.has("batch")) {
    const auto batch = inputs.count("batch");
    if (!batch) return batch.error();
    result.readings.push_back({measure_of(rate->measure.value / *batch), Verdict::wrong,
                               "that is the rate divided by the batch, not by the length of an answer", 0.04});
  }
  return result;
}

struct DecodeRow {
  const Token *model = nullptr, *device = nullptr, *rate = nullptr, *requests = nullptr;
  Measure rate_measure;
  std::string format;
  double gpus = 1, batch = 0, output = 0;
};

DecodeRow read_decode_row(const Passage& passage) {
  DecodeRow row;
  for (const TableCell& cell : passage.cells) {
    if (row.model == nullptr) row.model = first_name(cell.tokens, NameKind::model);
    if (const Token* device = first_name(cell.tokens, NameKind::device); device != nullptr && row.device == nullptr) {
      row.device = device;
      const Token* count = first_number(cell.tokens);
      if (count != nullptr && count < device && count->measure.form == Measure::Form::factor)
        row.gpus = count->measure.value;
    }
    if (header_has(cell, {"precision", "format", "dtype"})) {
      const Token* format = first_name(cell.tokens, NameKind::format);
      if (format != nullptr) row.format = format->name->id;
    }
    const Token* number = first_number(cell.tokens);
    if (number == nullptr) continue;
    if (header_has(cell, {"batch"})) row.batch = number->measure.value;
    if (header_has(cell, {"qps"})) {
      row.requests = number;
      for (const Token& t : cell.header->tokens) {
        if (t.is_number()) row.output = t.measure.value;
      }
    }
    const auto m = cell_measure(cell);
    if (m && is_a<TokensPerSecond>(*m)) {
      row.rate = number;
      row.rate_measure = *m;
    }
  }
  return row;
}

/// "Values for Llama 3 70B (INT8, batch=1)" below a table: what its rates are about.
void recognise_footnote(const Passage& passage, Collector& out) {
  constexpr std::size_t kBelow = 40;  // bytes between the table and its footnote
  const Token* model = first_name(passage.tokens, NameKind::model);
  const double batch = batch_in(passage.tokens);
  if (model == nullptr || batch <= 0 || out.memory.rates.empty()) return;
  const std::size_t table_end = out.memory.rates.back().end;
  if (passage.offset < table_end || passage.offset > table_end + kBelow) return;
  for (const RateRow& row : out.memory.rates) {
    std::vector<Found> inputs = {
        {"model", model->name->id}, {"device", row.device}, {"batch", fmt::format("{}", batch)}};
    if (const Token* format = first_name(passage.tokens, NameKind::format))
      inputs.push_back({"format", format->name->id});
    Measure claimed = row.rate;
    claimed.text = faithful(claimed);
    out.add(decode_rate_kind(), row.token, claimed,
            fmt::format("{} on {}, batch {:g}: {}", model->text, row.device, batch, claimed.text), std::move(inputs));
  }
}

/// What a text leaves open is granted: four bits a weight, and no context yet. Faster is impossible all the same.
void grant(std::vector<Found>& inputs, const std::string& format) {
  inputs.push_back({"format", format.empty() ? "int4" : format});
  inputs.push_back({"context", "1"});
}

void recognise_decode_rate(const Passage& passage, Collector& out) {
  if (passage.is_row()) {
    const DecodeRow row = read_decode_row(passage);
    if (row.model == nullptr || row.device == nullptr || row.rate == nullptr || row.batch <= 0) return;
    std::vector<Found> inputs = {{"model", row.model->name->id},
                                 {"device", row.device->name->id},
                                 {"gpus", fmt::format("{}", row.gpus)},
                                 {"batch", fmt::format("{}", row.batch)}};
    grant(inputs, row.format);
    Measure claimed = row.rate_measure;
    claimed.text = row.rate->text + " tok/s";
    out.add(decode_rate_kind(), *row.rate, claimed,
            fmt::format("{} on {:g} x {}, batch {:g}: {}", row.model->text, row.gpus, row.device->text, row.batch,
                        claimed.text),
            std::move(inputs));
    return;
  }
  recognise_footnote(passage, out);
  // "Llama 3 8B decodes 800 tok/s at batch 1 on one H100"
  const Tokens& tokens = passage.tokens;
  const Token* model = first_name(tokens, NameKind::model);
  const Token* device = first_name(tokens, NameKind::device);
  if (model == nullptr || device == nullptr) return;
  double batch = 0, gpus = 1;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_number()) continue;
    const bool said = i > 0 && (tokens[i - 1].is("batch") || (i > 1 && tokens[i - 2].is("batch")));
    if (said) batch = tokens[i].measure.value;
    const bool times =
        tokens[i].measure.form == Measure::Form::factor || tokens[i].measure.form == Measure::Form::plain;
    if (times && !tokens[i].measure.has_unit() && i + 1 < tokens.size() && &tokens[i + 1] == device)
      gpus = tokens[i].measure.value;
  }
  if (batch <= 0) return;
  for (const Token& t : tokens) {
    if (!t.is_number() || !is_a<TokensPerSecond>(t.measure) || out.used(t)) continue;
    std::vector<Found> inputs = {{"model", model->name->id},
                                 {"device", device->name->id},
                                 {"gpus", fmt::format("{}", gpus)},
                                 {"batch", fmt::format("{}", batch)}};
    grant(inputs, format_in(tokens));
    out.add(decode_rate_kind(), t,
            fmt::format("{} on {:g} x {}, batch {:g}: {}", model->text, gpus, device->text, batch, t.text),
            std::move(inputs));
  }
}

void recognise_requests(const Passage& passage, Collector& out) {
  if (!passage.is_row()) return;
  const DecodeRow row = read_decode_row(passage);
  if (row.rate == nullptr || row.requests == nullptr || row.output <= 0 || row.rate->measure.is_range()) return;
  std::vector<Found> inputs = {found("rate", row.rate_measure), {"output", fmt::format("{}", row.output)}};
  if (row.batch > 1) inputs.push_back({"batch", fmt::format("{}", row.batch)});
  out.add(request_rate_kind(), *row.requests,
          fmt::format("{} tok/s are {} requests/s of {:g} tokens", row.rate->text, row.requests->text, row.output),
          std::move(inputs));
}

}  // namespace

const Kind& decode_rate_kind() {
  static const Kind kind{"decode-rate",
                         "tokens per second against the roofline",
                         "batch / max(bytes read per step / bandwidth, 2 x active parameters x batch / peak)",
                         "model device format? gpus? batch? context?",
                         true,
                         recompute_decode_rate,
                         recognise_decode_rate};
  return kind;
}

const Kind& request_rate_kind() {
  static const Kind kind{"request-rate",
                         "requests per second from tokens per second",
                         "token rate / output tokens",
                         "rate output batch?",
                         true,
                         recompute_requests,
                         recognise_requests};
  return kind;
}

}  // namespace ridge::claims
