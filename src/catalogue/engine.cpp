#include "ridge/catalogue/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "catalogue/files/parse_files.hpp"
#include "catalogue/files/table_reader.hpp"

namespace ridge {
namespace {

TrainingTraits read_traits(TableReader t, TrainingTraits traits) {
  traits.attention = t.optional_choice<AttentionKernel>("attention", traits.attention,
                                                        {{"unfused", AttentionKernel::unfused},
                                                         {"portable", AttentionKernel::portable},
                                                         {"native", AttentionKernel::native}});
  if (t.has("portable_attention_on")) traits.portable_attention_on = t.texts("portable_attention_on");
  traits.dispatch = t.optional_choice<ExpertDispatch>(
      "dispatch", traits.dispatch,
      {{"all-to-all", ExpertDispatch::all_to_all}, {"deduplicated", ExpertDispatch::deduplicated}});
  traits.sharding = t.optional_choice<Sharding>("sharding", traits.sharding,
                                                {{"none", Sharding::none},
                                                 {"zero1", Sharding::zero1},
                                                 {"zero2", Sharding::zero2},
                                                 {"zero3", Sharding::zero3},
                                                 {"hsdp", Sharding::hsdp}});
  traits.sequence_parallel = t.flag("sequence_parallel", traits.sequence_parallel);
  traits.overlap_tensor_parallel = t.flag("overlap_tensor_parallel", traits.overlap_tensor_parallel);
  traits.overlap_data_parallel = t.flag("overlap_data_parallel", traits.overlap_data_parallel);
  traits.fills_stages = t.flag("fills_stages", traits.fills_stages);
  traits.interleave = t.flag("interleave", traits.interleave);
  traits.compiled = t.flag("compiled", traits.compiled);
  traits.dual_pipe = t.flag("dual_pipe", traits.dual_pipe);
  traits.leading = t.flag("leading", traits.leading);
  traits.offload = t.flag("offload", traits.offload);
  traits.eager_modules = t.flag("eager_modules", traits.eager_modules);
  traits.transient_gradients = t.flag("transient_gradients", traits.transient_gradients);
  traits.logit_bytes = t.optional_number("logit_bytes", 0, 64).value_or(traits.logit_bytes);
  traits.blocking = t.flag("blocking", traits.blocking);
  if (t.has("network")) {
    traits.network = t.quantity<BytesPerSecond>("network", BytesPerSecond(1e8), BytesPerSecond(1e13)).value();
  }
  traits.gradient_bytes = t.optional_number("gradient_bytes", 0, 8).value_or(traits.gradient_bytes);
  traits.optimizer_bytes = t.optional_number("optimizer_bytes", 0, 16).value_or(traits.optimizer_bytes);
  return traits;
}

ServingTraits read_serving(TableReader& t, ServingTraits traits) {
  traits.quantised_kv_by_default = t.flag("quantised_kv_by_default", traits.quantised_kv_by_default);
  traits.chooses_kv = t.flag("chooses_kv", traits.chooses_kv);
  if (t.has("narrow_sparse_kv_on")) traits.narrow_sparse_kv_on = t.texts("narrow_sparse_kv_on");
  traits.untuned_experts = t.flag("untuned_experts", traits.untuned_experts);
  traits.overlapped_host = t.flag("overlapped_host", traits.overlapped_host);
  traits.graph_tokens = t.optional_number("graph_tokens", 0, 1e7).value_or(traits.graph_tokens);
  traits.portable_kernels = t.flag("portable_kernels", traits.portable_kernels);
  traits.grouped_decode = t.flag("grouped_decode", traits.grouped_decode);
  traits.ranks_pad_prefill = t.flag("ranks_pad_prefill", traits.ranks_pad_prefill);
  traits.dispatch_ranks = t.optional_number("dispatch_ranks", 0, 1e6).value_or(traits.dispatch_ranks);
  traits.two_batches = t.flag("two_batches", traits.two_batches);
  traits.rebalances_experts = t.flag("rebalances_experts", traits.rebalances_experts);
  if (t.has("fuses_shared_on")) traits.fuses_shared_on = t.texts("fuses_shared_on");
  traits.pads_heads = t.flag("pads_heads", traits.pads_heads);
  traits.static_shapes = t.flag("static_shapes", traits.static_shapes);
  traits.decode_block = t.optional_number("decode_block", 1, 1024).value_or(traits.decode_block);
  traits.product_rows = t.optional_number("product_rows", 1, 256).value_or(traits.product_rows);
  return traits;
}

Engine read_engine(TableReader t) {
  Engine engine;
  engine.id = t.id();
  engine.name = t.text("name");
  engine.work =
      t.choice<EngineWork>("work", {{"inference", EngineWork::inference}, {"training", EngineWork::training}});
  engine.family = t.optional_text("family");
  if (engine.family.empty()) engine.family = engine.id;
  engine.aliases = t.texts("aliases");
  engine.median = t.flag("median");
  engine.source = t.text("source");
  engine.notes = t.optional_text("notes");
  engine.batching = t.optional_choice<Batching>(
      "batching", engine.batching,
      {{"mixed", Batching::mixed}, {"separate", Batching::separate}, {"fixed", Batching::fixed}});
  engine.admission = t.optional_choice<Admission>(
      "admission", engine.admission, {{"reserve-all", Admission::reserve_all}, {"as-needed", Admission::as_needed}});
  engine.max_batched_tokens = t.optional_number("max_batched_tokens", 1, 1e7).value_or(engine.max_batched_tokens);
  engine.max_sequences = t.optional_number("max_sequences", 1, 1e6).value_or(engine.max_sequences);
  engine.memory_utilization = t.optional_number("memory_utilization", 0.05, 1).value_or(engine.memory_utilization);
  engine.graphs = t.flag("graphs", engine.graphs);
  engine.runtime = t.optional_text("runtime");
  if (engine.runtime.empty()) engine.runtime = engine.graphs ? "captured" : "eager";
  if (engine.runtime != "captured" && engine.runtime != "eager" && engine.runtime != "compiled") {
    t.refuse("runtime", "write captured, eager or compiled");
  }
  engine.fused_quantisation = t.flag("fused_quantisation", engine.fused_quantisation);
  engine.ideal = t.flag("ideal", engine.ideal);
  engine.own_attention = t.flag("own_attention", engine.own_attention);
  engine.ranks_prefill_together = t.flag("ranks_prefill_together", engine.ranks_prefill_together);
  engine.serving = read_serving(t, engine.serving);
  engine.training = read_traits(t.table("training"), engine.training);
  for (TableReader era_table : t.tables("era")) {
    EngineEra era;
    era.id = era_table.id();
    era.scope = era_table.optional_text("parameters_of");
    const bool named = std::any_of(engine.eras.begin(), engine.eras.end(),
                                   [&](const EngineEra& before) { return before.id == era.scope; });
    if (!era.scope.empty() && !named) era_table.refuse("parameters_of", "no era above has this id");
    if (era.scope.empty()) era.scope = era.id;
    if (era_table.has("since")) era.since = era_table.date("since");
    era.version = era_table.optional_text("version");
    era.notes = era_table.optional_text("notes");
    era.eager_on = era_table.texts("eager_on");
    era.heads_read_alone_on = era_table.texts("heads_read_alone_on");
    era.serving = read_serving(era_table, engine.serving);
    era.training = read_traits(era_table.table("training"), engine.training);
    if (!engine.eras.empty() && year_of(era.since) <= year_of(engine.eras.back().since)) {
      era_table.refuse("since", "eras go from the oldest to the newest, and each but the first says since when");
    }
    engine.eras.push_back(std::move(era));
  }
  return engine;
}

// "v26.02.01" → {26, 2, 1}; empty if the text has no digits in front.
std::vector<int> version_numbers(std::string_view text) {
  if (!text.empty() && (text.front() == 'v' || text.front() == 'V')) text.remove_prefix(1);
  std::vector<int> numbers;
  while (!text.empty()) {
    int number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{}) break;
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (text.empty() || text.front() != '.') break;
    text.remove_prefix(1);
  }
  return numbers;
}

const EngineEra* find_era(const std::vector<EngineEra>& eras, std::string_view version, std::string_view date) {
  if (eras.empty()) return nullptr;
  const std::vector<int> wanted = version_numbers(version);
  const bool by_version = !wanted.empty() && std::any_of(eras.begin(), eras.end(),
                                                         [](const EngineEra& era) { return !era.version.empty(); });
  const double year = year_of(date);
  if (!by_version && year == 0) return &eras.back();
  const EngineEra* chosen = &eras.front();
  for (const EngineEra& era : eras) {
    const bool reached = by_version ? version_numbers(era.version) <= wanted : year_of(era.since) <= year;
    if (reached) chosen = &era;
  }
  return chosen;
}

// Lower case, '-' for '_' and blanks: "NeMo_Framework" is "nemo-framework".
std::string normalised(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == ' ') c = '-';
  }
  return result;
}

}  // namespace

EngineMatch Engines::find(std::string_view name, EngineWork work, std::string_view version,
                          std::string_view date) const {
  const std::string wanted = normalised(name);
  EngineMatch match;
  match.exact = false;
  std::size_t longest = 0;
  for (const Engine& engine : engines_) {
    if (engine.work != work) continue;
    if (longest == 0 && (match.engine == nullptr || engine.median)) match.engine = &engine;
    const auto consider = [&](const std::string& known) {
      const bool same = wanted == known;
      const bool begins =
          wanted.size() > known.size() && wanted.compare(0, known.size(), known) == 0 && wanted[known.size()] == '-';
      // An equal name is longer than any name the wanted one only starts with.
      const std::size_t length = same ? known.size() + 1 : begins ? known.size() : 0;
      if (length > longest) {
        longest = length;
        match.engine = &engine;
        match.exact = same && (engine.family == engine.id || !engine.eras.empty());
      }
    };
    consider(engine.id);
    if (longest > wanted.size()) break;  // the very name: none is longer
    for (const std::string& alias : engine.aliases) consider(normalised(alias));
  }
  match.named = longest > 0;
  if (match.engine == nullptr) return match;
  match.era = find_era(match.engine->eras, version, date);
  if (match.era == nullptr && match.engine->family != match.engine->id) {
    const auto family = std::find_if(engines_.begin(), engines_.end(), [&](const Engine& engine) {
      return engine.work == work && engine.id == match.engine->family;
    });
    // Versions of one engine say nothing about those of another.
    if (family != engines_.end()) match.era = find_era(family->eras, {}, date);
  }
  return match;
}

double year_of(std::string_view date) {
  const auto digits = [&](std::size_t at, std::size_t count) -> std::optional<int> {
    int value = 0;
    if (date.size() < at + count) return std::nullopt;
    const auto read = std::from_chars(date.data() + at, date.data() + at + count, value);
    if (read.ec != std::errc{} || read.ptr != date.data() + at + count) return std::nullopt;
    return value;
  };
  const auto year = digits(0, 4);
  if (!year || *year < 1990 || *year > 2200) return 0;
  if (date.size() == 4) return *year + 0.5;
  if (date[4] != '-') return 0;
  if (date.size() == 9) {  // "2023-2024"
    const auto last = digits(5, 4);
    return last ? (*year + *last + 1) / 2.0 : 0;
  }
  const auto month = digits(5, 2);
  if (!month || *month < 1 || *month > 12) return 0;
  if (date.size() == 7) return *year + (*month - 0.5) / 12;
  const auto day = date.size() == 10 && date[7] == '-' ? digits(8, 2) : std::nullopt;
  return day ? *year + (*month - 1 + *day / 31.0) / 12 : 0;
}

Result<Engines> load_engines(const std::string& directory) {
  std::vector<Engine> engines;
  const Status read = each_table(directory, "engine", [&](const TomlNode& table, const std::string& file) -> Status {
    // The source of an engine's habits is said in words, so every such text counts as known.
    SourceIndex sources;
    if (const TomlMember* source = table.find("source")) sources.add(source->value.text, {});
    const EntryLayer layer{&table, file};
    EntryReader entry("engine", {&layer, 1}, sources);
    Engine engine = read_engine(entry.root());
    if (const Status status = entry.finish(); !status) return status;
    const auto same = [&](const Engine& other) { return other.id == engine.id && other.work == engine.work; };
    if (std::any_of(engines.begin(), engines.end(), same)) {
      return Error{ErrorCode::bad_input, place_text(file, table.line, table.column),
                   fmt::format("there is already an engine '{}' for that work", engine.id)};
    }
    engines.push_back(std::move(engine));
    return {};
  });
  if (!read) return read.error();
  return Engines(std::move(engines));
}

}  // namespace ridge
