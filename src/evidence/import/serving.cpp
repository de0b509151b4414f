// Serving benchmarks in JSON: vLLM's own client, and what InferenceX makes of it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "catalogue/files/json_document.hpp"
#include "evidence/import/parts.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge::evidence {
namespace {

const std::vector<std::string_view> kColumns = {
    "id",    "source",      "date",         "engine",      "engine_version",   "model",   "device", "gpus",
    "tp",    "pp",          "ep",           "dp",          "weight_precision", "mode",    "isl",    "osl",
    "batch", "concurrency", "output_tok_s", "total_tok_s", "ttft_ms",          "tpot_ms", "e2e_ms", "quality",
    "notes"};

/// One object, a list of them, or one per line.
struct Entry {
  JsonNode node;
  std::string where;
};

Result<std::vector<Entry>> entries_of(std::string_view text, const std::string& file) {
  std::vector<Entry> out;
  Result<JsonNode> whole = parse_json(text, file);
  if (whole) {
    if (whole->kind == JsonNode::Kind::object) {
      out.push_back({*std::move(whole), file});
      return out;
    }
    if (whole->kind == JsonNode::Kind::array) {
      for (std::size_t i = 0; i < whole->items.size(); ++i) {
        if (whole->items[i].kind != JsonNode::Kind::object) {
          return Error{ErrorCode::bad_input, fmt::format("{}#/{}", file, i), "is no object: a list of results is"};
        }
        out.push_back({std::move(whole->items[i]), fmt::format("{}#/{}", file, i)});
      }
      if (!out.empty()) return out;
    }
    return Error{ErrorCode::bad_input, file + ":1:1", "holds no result: an object, a list of them, or one per line"};
  }
  const bool lines = text.find("}\n{") != std::string_view::npos || text.find("}\r\n{") != std::string_view::npos;
  if (!lines) return whole.error();
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = fmt::format("{}:{}", file, number);
    Result<JsonNode> one = parse_json(line, where);
    if (!one) return one.error();
    out.push_back({*std::move(one), where});
  }
  return out;
}

// Nothing that a benchmark of a server reports, whatever its unit, is beyond these.
constexpr double kLeastFigure = 1e-9;
constexpr double kMostFigure = 1e12;
constexpr double kMostDevices = 1e6;

/// A figure of a result; 0 if it is absent and may be.
class Figures {
 public:
  explicit Figures(const Entry& entry) : entry_(entry) {}

  double number(std::string_view key, bool required) {
    const JsonNode* node = entry_.node.find(key);
    if (node == nullptr) {
      if (required) refuse(key, "is missing");
      return 0;
    }
    const bool is_number = node->kind == JsonNode::Kind::number || node->kind == JsonNode::Kind::integer;
    if (is_number && node->number >= kLeastFigure && node->number <= kMostFigure) return node->number;
    refuse(key, is_number && node->number > 0 ? fmt::format("{} is no figure of a server", node->number)
                                              : "has to be a number above 0");
    return 0;
  }
  /// A number of devices.
  double whole(std::string_view key, bool required) {
    const double value = number(key, required);
    if (value != std::floor(value) || value > kMostDevices)
      refuse(key, fmt::format("{} is no number of devices", value));
    return value;
  }
  /// The first of two keys that is there.
  double either(std::string_view first, std::string_view second) {
    return entry_.node.find(first) != nullptr ? number(first, false) : number(second, false);
  }
  double either_whole(std::string_view first, std::string_view second) {
    return whole(entry_.node.find(first) != nullptr ? first : second, false);
  }
  /// Tokens of one request.
  double tokens(std::string_view key, double each) {
    if (each > limits::kRequestTokens.most) refuse(key, fmt::format("{} tokens of a request are none", each));
    return each;
  }
  std::string text(std::string_view key) {
    const JsonNode* node = entry_.node.find(key);
    return node != nullptr && node->kind == JsonNode::Kind::text ? node->text : std::string();
  }
  void refuse(std::string_view key, std::string message) {
    if (!error_) {
      const std::string joint = entry_.where.find('#') == std::string::npos ? "#/" : "/";
      error_ = Error{ErrorCode::bad_input, entry_.where + joint + std::string(key), std::move(message)};
    }
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const Entry& entry_;
  std::optional<Error> error_;
};

/// The format that a checkpoint's name tells, 16 bits if it says nothing.
std::string precision_of(std::string_view model) {
  const std::string name = lower(model);
  if (contains(name, "nvfp4") || contains(name, "-fp4")) return "nvfp4";
  if (contains(name, "mxfp4") || contains(name, "gpt-oss")) return "mxfp4";
  if (contains(name, "fp8") || contains(name, "deepseek-r1") || contains(name, "deepseek-v3")) return "fp8";
  return "bf16";
}

/// "20251107-093012" → "2025-11-07".
std::string date_of(std::string_view text) {
  const bool digits =
      text.size() >= 8 && std::all_of(text.begin(), text.begin() + 8, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return {};
  return fmt::format("{}-{}-{}", text.substr(0, 4), text.substr(4, 2), text.substr(6, 2));
}

std::string or_else(const std::string& first, const std::string& second) {
  return first.empty() ? second : first;
}

}  // namespace

Result<std::string> import_vllm(std::string_view text, const std::string& file, const ImportOptions& options,
                                const Catalogue& catalogue) {
  const Result<std::vector<Entry>> entries = entries_of(text, file);
  if (!entries) return entries.error();
  if (options.device.empty()) {
    return Error{ErrorCode::bad_input, "⟦device⟧", "the file of vLLM's benchmark does not say what it ran on: name it"};
  }
  const Result<std::string> device = device_named(options.device, catalogue, "⟦device⟧");
  if (!device) return device.error();
  Rows rows(kColumns);
  for (const Entry& entry : *entries) {
    Figures f(entry);
    const std::string checkpoint = f.text("model_id");
    const Result<std::string> model =
        model_like(or_else(options.model, checkpoint), catalogue, entry.where + "#/model_id");
    if (!model) return model.error();
    const double completed = f.number("completed", true);
    const auto mean = [&](std::string_view key, double said) {
      return said > 0 ? said : f.tokens(key, f.number(key, true) / std::max(completed, 1.0));
    };
    const double in = mean("total_input_tokens", options.isl);
    const double out = mean("total_output_tokens", options.osl);
    const double clients = f.number("max_concurrency", false);
    const bool all_at_once = clients == 0 && (f.text("request_rate") == "inf" || f.text("request_rate") == "Infinity");
    if (clients == 0 && !all_at_once) {
      f.refuse("max_concurrency",
               "is missing: runs at a request rate are no evidence here; cap them with --max-concurrency");
    }
    const double tp = options.tp > 0 ? options.tp : std::max(1.0, f.either_whole("tensor_parallel_size", "tp"));
    rows.begin();
    rows.set("id", fmt::format("{}{}", id_of_file(file), rows.size()));
    rows.set("source", or_else(options.source, "vllm-bench"));
    rows.set("date", or_else(options.date, date_of(f.text("date"))));
    rows.set("engine", or_else(options.engine, or_else(f.text("backend"), "vllm")));
    rows.set("engine_version", options.engine_version);
    rows.set("model", *model);
    rows.set("device", *device);
    rows.set("gpus", cell_number(tp));
    rows.set("tp", cell_number(tp));
    for (const std::string_view column : {"pp", "ep", "dp"}) rows.set(column, "1");
    rows.set("weight_precision", or_else(options.precision, precision_of(checkpoint)));
    rows.set("mode", all_at_once ? "offline" : "closed-loop");
    rows.set("isl", cell_number(in));
    rows.set("osl", cell_number(out));
    rows.set("concurrency", cell_number(clients));
    rows.set("output_tok_s", cell_number(f.number("output_throughput", true)));
    rows.set("total_tok_s", cell_number(f.number("total_token_throughput", false)));
    if (!all_at_once) {  // with all requests queued at once, the first token waits for the queue
      rows.set("ttft_ms", cell_number(f.either("median_ttft_ms", "mean_ttft_ms")));
      rows.set("tpot_ms", cell_number(f.either("median_tpot_ms", "mean_tpot_ms")));
      rows.set("e2e_ms", cell_number(f.either("median_e2el_ms", "mean_e2el_ms")));
    }
    rows.set("quality", "A");
    rows.set("notes", "checkpoint: " + checkpoint + "; latency: median");
    if (f.error()) return *f.error();
  }
  return rows.text();
}

Result<std::string> import_inferencex(std::string_view text, const std::string& file, const ImportOptions& options,
                                      const Catalogue& catalogue) {
  const Result<std::vector<Entry>> entries = entries_of(text, file);
  if (!entries) return entries.error();
  Rows rows(kColumns);
  for (const Entry& entry : *entries) {
    Figures f(entry);
    const std::string checkpoint = f.text("model");
    const Result<std::string> model =
        model_like(or_else(options.model, checkpoint), catalogue, entry.where + "#/model");
    if (!model) return model.error();
    const Result<std::string> device =
        device_named(or_else(options.device, f.text("hw")), catalogue, entry.where + "#/hw");
    if (!device) return device.error();
    const double in = options.isl > 0 ? options.isl : f.tokens("isl", f.number("isl", false));
    const double out = options.osl > 0 ? options.osl : f.tokens("osl", f.number("osl", false));
    if (in == 0) f.refuse("isl", "is missing: say how long inputs were by ⟦isl⟧");
    if (out == 0) f.refuse("osl", "is missing: say how long outputs were by ⟦osl⟧");
    const double tp = f.whole("tp", true);
    const std::string said = f.text("precision");
    const std::string precision = or_else(options.precision, said == "fp4" ? "nvfp4" : or_else(said, "bf16"));
    if (!parse_format(precision)) f.refuse("precision", quoted(precision) + " is no number format");
    const bool spread = lower(f.text("dp_attention")) == "true";
    rows.begin();
    rows.set("id", fmt::format("{}{}", id_of_file(file), rows.size()));
    rows.set("source", or_else(options.source, "inferencex"));
    rows.set("date", options.date);
    rows.set("engine", or_else(options.engine, f.text("framework")));
    rows.set("engine_version", options.engine_version);
    rows.set("model", *model);
    rows.set("device", *device);
    rows.set("gpus", cell_number(tp));
    rows.set("tp", cell_number(spread ? 1 : tp));
    rows.set("dp", cell_number(spread ? tp : 1));
    rows.set("pp", "1");
    rows.set("ep", cell_number(std::max(1.0, f.whole("ep", false))));
    rows.set("weight_precision", precision);
    rows.set("mode", "closed-loop");
    rows.set("isl", cell_number(in));
    rows.set("osl", cell_number(out));
    rows.set("concurrency", cell_number(f.number("conc", true)));
    rows.set("output_tok_s", cell_number(tp * f.number("output_tput_per_gpu", false)));
    rows.set("total_tok_s", cell_number(tp * f.number("tput_per_gpu", true)));
    rows.set("ttft_ms", cell_number(1e3 * f.either("median_ttft", "mean_ttft")));
    rows.set("tpot_ms", cell_number(1e3 * f.either("median_tpot", "mean_tpot")));
    rows.set("e2e_ms", cell_number(1e3 * f.either("median_e2el", "mean_e2el")));
    rows.set("quality", "A");
    rows.set("notes", "checkpoint: " + checkpoint + "; InferenceX, latency: median");
    if (f.error()) return *f.error();
  }
  return rows.text();
}

}  // namespace ridge::evidence
