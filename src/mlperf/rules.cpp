#include "mlperf/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "ridge/base/letters.hpp"

namespace ridge::mlperf {

namespace {

// loadgen/mlperf.conf: gptj.*.token_latency_scaling_factor = 69; every v4.1 Offline row has this ratio to its log.
constexpr double kGptjTokensPerSample = 69;
// Rates in summaries are rounded; logs have two decimals.
constexpr double kSameRate = 2e-3;

constexpr std::array<RuleText, kRules> kTexts = {{
    {"other-suite", "a row of the edge suite (or of datacenter, if edge was asked for) is left out"},
    {"repeated-power-row", "v3.0 and v3.1 list every power result twice: the second is dropped"},
    {"watts-row", "v4.0 puts the watts of a power result into a row of its own: merged into the result"},
    {"interactive-offline-rerun", "the Offline column of v5.0's interactive model repeats Offline: dropped"},
    {"no-accelerator", "an empty, '-' or 'N/A' accelerator is a system of processors only"},
    {"accelerator-alias", "an accelerator under another name than the usual one (accelerators.csv)"},
    {"unknown-accelerator", "a name that accelerators.csv lacks is kept as it is, without a catalogue device"},
    {"memory-from-platform", "GH200 without its size in the name: 144 GB if the platform says so, 96 GB otherwise"},
    {"sockets-are-not-nodes", "'1-node-2S' systems that count 2 nodes: sockets were counted, there is one node"},
    {"per-node-is-total", "v4.0 Juniper gives 16 accelerators per node for two nodes of 8: 16 is the total"},
    {"nodes-times-per-node", "several nodes: total accelerators = nodes x accelerators per node (NVL72 = 18 x 4)"},
    {"count-in-name", "'(x87)' or '(x32), ... (x16)' in the name is the count, not nodes x accelerators per node"},
    {"benchmark-alias", "a benchmark under another name (benchmarks.csv): 'resnet', 'llama3_1-405b'"},
    {"interactive-is-a-scenario", "v5.0's model 'llama2-70b-interactive' is the scenario Interactive of llama2-70b"},
    {"whisper-counts-tokens", "Whisper is labelled samples/s; the value is tokens/s in every row with a log"},
    {"llama2-offline-counts-tokens", "llama2-70b Offline of v4.0 is labelled samples/s; the value is tokens/s"},
    {"llama2-server-from-log", "llama2-70b Server of v4.0 counts queries/s: replaced by the log's completed tokens/s"},
    {"interactive-counts-tokens", "llama3.1-8b Interactive of v5.1 is labelled queries/s; the value is tokens/s"},
    {"label-against-log", "another label than tokens/s, but the value is the log's tokens/s"},
    {"gptj-samples-to-tokens",
     "GPT-J in samples/s or queries/s (v3.1, v4.0) times 69 tokens per sample, as v4.1 counts"},
    {"server-counts-scheduled",
     "Server rows without tokens count scheduled samples up to v4.0, completed ones later (1 to 3 % apart); value "
     "kept"},
    {"power-tuned", "MaxQ systems are tuned for efficiency: marked, and left out of figures of speed"},
    {"virtualised", "a virtual accelerator is its own group and knows the one below it"},
    {"availability-spelling", "'Available on-premise', 'onprem', 'cloud' are available; nothing said is unknown"},
    {"format-spelling", "'INT8', 'float8', 'bfloat16' and the like are written one way"},
    {"copied-99", "the 99 % row repeats the run of the 99.9 % row: marked, and counted once"},
}};

bool same_rate(double a, std::optional<double> b) {
  return b && std::abs(a - *b) <= kSameRate * std::max(std::abs(a), std::abs(*b)) + 0.011;
}

/// The sum of all "(xN)", 0 if there is none.
int count_in_name(std::string_view text) {
  int sum = 0;
  for (std::size_t at = text.find("(x"); at != std::string_view::npos; at = text.find("(x", at + 2)) {
    int n = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + at + 2, end, n);
    if (error == std::errc{} && stop != end && *stop == ')' && n > 0 && n < 1'000'000) sum += n;
  }
  return sum;
}

std::string format_of(std::string_view text) {
  const std::string low = lower(text);
  if (low == "unset") return "";
  if (low == "float8") return "fp8";
  if (low == "bfloat16") return "bf16";
  if (low == "uint4") return "int4";
  const std::size_t unet = low.find("unet");
  if (unet != std::string::npos) {  // the parts of a diffusion pipeline: the UNet does the work
    for (const std::string_view f : {"fp8", "fp4", "int8", "fp16", "bf16", "fp32"}) {
      if (const std::size_t at = low.find(f, unet); at != std::string::npos && at < unet + 12) return std::string(f);
    }
  }
  for (const char c : low) {
    if (c == ',' || c == '/' || c == '{') return "mixed";
  }
  return low;
}

std::string availability_of(std::string_view text) {
  const std::string low = lower(text);
  if (low.empty()) return "unknown";
  if (contains(low, "preview")) return "preview";
  if (contains(low, "rdi") || contains(low, "research")) return "rdi";
  if (contains(low, "avail") || contains(low, "onprem") || contains(low, "cloud")) return "available";
  return "unknown";
}

/// Applies the rules that look at one row alone.
class RowRepair {
 public:
  RowRepair(Row& row, const Names& names, std::vector<Repair>& repairs) : row_(row), names_(names), repairs_(repairs) {}

  void run() {
    name_accelerator();
    count_accelerators();
    name_benchmark();
    correct_unit();
    mark();
  }

 private:
  [[nodiscard]] const Published& published() const { return row_.published; }

  void note(Rule rule, std::string before, std::string after) {
    repairs_.push_back({static_cast<std::uint16_t>(rule), row_.id, std::move(before), std::move(after)});
  }

  void name_accelerator() {
    const std::string& text = published().accelerator;
    if (text.empty() || text == "N/A" || text == "-" || lower(text) == "n/a") {
      row_.accelerator = "cpu-only";
      note(Rule::no_accelerator, text, "cpu-only");
      return;
    }
    const auto known = names_.accelerators.find(text);
    if (known == names_.accelerators.end()) {
      row_.accelerator = lower(text);
      std::replace(row_.accelerator.begin(), row_.accelerator.end(), ' ', '-');
      note(Rule::unknown_accelerator, text, row_.accelerator);
      return;
    }
    const AcceleratorName& is = known->second;
    row_.accelerator = is.accelerator;
    row_.device = is.device;
    row_.bare_metal = is.bare_metal;
    if (!is.usual) note(Rule::accelerator_alias, text, is.accelerator);
    if (is.accelerator == "gh200-96gb" && !contains(text, "96") && !contains(text, "144")) {
      if (contains(published().platform, "144GB")) {
        row_.accelerator = "gh200-144gb";
        row_.device = "gh200-144";
      }
      note(Rule::memory_from_platform, text, row_.accelerator);
    }
    if (row_.virtualised()) note(Rule::virtualised, text, "below it: " + row_.bare_metal);
  }

  void count_accelerators() {
    row_.nodes = std::max(1, published().nodes);
    const int per_node = std::max(0, published().accelerators_per_node);
    if (row_.nodes > 1 && published().platform.starts_with("1-node-")) {
      note(Rule::sockets_are_not_nodes, fmt::format("{} nodes", row_.nodes), "1 node");
      row_.nodes = 1;
    }
    row_.accelerators = row_.nodes * per_node;
    if (row_.accelerator == "cpu-only") {
      row_.accelerators = 0;
      return;
    }
    if (published().round == "v4.0" && published().submitter == "JuniperNetworks" && row_.nodes == 2 &&
        per_node == 16) {
      row_.accelerators = 16;
      note(Rule::per_node_is_total, "2 x 16", "16");
      return;
    }
    if (const int named = count_in_name(published().accelerator); named > 0) {
      if (named != row_.accelerators) {
        note(Rule::count_in_name, fmt::format("{} x {} = {}", row_.nodes, per_node, row_.accelerators),
             fmt::format("{}", named));
      }
      row_.accelerators = named;
      return;
    }
    if (row_.nodes > 1) {
      note(Rule::nodes_times_per_node, fmt::format("{} per node", per_node),
           fmt::format("{} x {} = {}", row_.nodes, per_node, row_.accelerators));
    }
  }

  void name_benchmark() {
    const std::string& text = published().benchmark;
    const auto& table = row_.suite == Suite::inference ? names_.inference_benchmarks : names_.training_benchmarks;
    const auto known = table.find(text);
    row_.benchmark = known == table.end() ? text : known->second;
    row_.scenario = row_.suite == Suite::training ? "Training" : scenario_of(published().scenario);
    if (contains(text, "-interactive")) {
      note(Rule::interactive_is_a_scenario, text + ", " + published().scenario, row_.benchmark + ", Interactive");
      row_.scenario = "Interactive";
    } else if (row_.benchmark != text) {
      note(Rule::benchmark_alias, text, row_.benchmark);
    }
  }

  void set_unit(Rule rule, double value) {
    note(rule, fmt::format("{:.6g} {}", published().result, published().unit), fmt::format("{:.6g} tokens/s", value));
    row_.unit = "tokens/s";
    row_.value = value;
  }

  void correct_unit() {
    const Published& p = published();
    row_.value = p.result;
    if (row_.suite == Suite::training) {
      row_.unit = "minutes";
      return;
    }
    row_.unit = unit_of(p.unit);
    if (row_.unit == "tokens/s" || row_.unit == "ms" || row_.unit == "s") return;
    const bool from_log = same_rate(p.result, p.log_tokens_per_s);
    if (row_.benchmark == "whisper") return set_unit(Rule::whisper_counts_tokens, p.result);
    const bool llama2 = row_.benchmark.starts_with("llama2-70b");
    if (llama2 && p.round == "v4.0" && row_.scenario == "Offline") {
      return set_unit(Rule::llama2_offline_counts_tokens, p.result);
    }
    if (llama2 && row_.scenario == "Server" && !from_log && p.log_tokens_per_s) {
      return set_unit(Rule::llama2_server_from_log, *p.log_tokens_per_s);
    }
    if (row_.benchmark == "llama3.1-8b" && p.round == "v5.1" && row_.scenario == "Interactive") {
      return set_unit(Rule::interactive_counts_tokens, p.result);
    }
    if (from_log) return set_unit(Rule::label_against_log, p.result);
    if (row_.benchmark.starts_with("gptj")) {
      return set_unit(Rule::gptj_samples_to_tokens, kGptjTokensPerSample * p.result);
    }
    if (row_.scenario == "Server" && (p.round == "v3.0" || p.round == "v3.1" || p.round == "v4.0")) {
      note(Rule::server_counts_scheduled, "scheduled", "kept");
    }
  }

  void mark() {
    const Published& p = published();
    if (contains(lower(p.platform), "maxq") || contains(lower(p.system), "maxq")) {
      row_.power_tuned = true;
      note(Rule::power_tuned, p.platform, "power-tuned");
    }
    row_.availability = availability_of(p.availability);
    if (row_.availability != p.availability) note(Rule::availability_spelling, p.availability, row_.availability);
    row_.weights = format_of(p.weights);
    if (row_.weights != p.weights) note(Rule::format_spelling, p.weights, row_.weights);
  }

  Row& row_;
  const Names& names_;
  std::vector<Repair>& repairs_;
};

/// Marks the 99 % row of every pair with equal results.
void mark_copies(std::vector<Row>& rows, std::vector<Repair>& repairs) {
  const auto key = [](const Row& row, std::string_view benchmark) {
    const Published& p = row.published;
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", p.round, p.division, p.category, p.submitter, p.platform, benchmark,
                       p.model, row.scenario);
  };
  std::unordered_map<std::string, const Row*> strict;
  for (const Row& row : rows) {
    if (row.benchmark.ends_with("-99.9")) strict.emplace(key(row, row.benchmark), &row);
  }
  for (Row& row : rows) {
    if (!row.benchmark.ends_with("-99")) continue;
    const auto twin = strict.find(key(row, row.benchmark + ".9"));
    if (twin == strict.end() || twin->second->value != row.value) continue;
    row.copied = true;
    repairs.push_back({static_cast<std::uint16_t>(Rule::copied_99), row.id, row.benchmark, "as " + twin->second->id});
  }
}

}  // namespace

std::span<const RuleText> rules() {
  return kTexts;
}

std::string scenario_of(std::string_view text) {
  const std::string low = lower(text);
  for (const std::string_view known : {"Offline", "Server", "Interactive", "SingleStream", "MultiStream"}) {
    if (lower(known) == low) return std::string(known);
  }
  return "";
}

std::string unit_of(std::string_view text) {
  const std::string low = lower(text);
  for (const std::string_view known : {"tokens/s", "samples/s", "queries/s"}) {
    if (low == known) return std::string(known);
  }
  if (low == "latency (ms)") return "ms";
  if (low == "latency (s)") return "s";
  return "";
}

Results repair(std::vector<Row> rows, const Names& names, std::vector<Repair> earlier) {
  Results results{std::move(rows), std::move(earlier)};
  results.repairs.reserve(results.repairs.size() + results.rows.size());
  for (Row& row : results.rows) {
    row.device.clear();
    row.bare_metal.clear();
    row.power_tuned = row.copied = false;
    RowRepair(row, names, results.repairs).run();
  }
  mark_copies(results.rows, results.repairs);
  return results;
}

const Row* Results::find(std::string_view id) const {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.id == id; });
  return at == rows.end() ? nullptr : &*at;
}

std::string_view name(Suite suite) {
  return suite == Suite::inference ? "inference" : "training";
}

}  // namespace ridge::mlperf
