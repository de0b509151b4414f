#include "evidence/cases/inference_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ridge::evidence {
namespace {

constexpr int kMostGpus = 1'000'000;
constexpr double kLongest = 1e8;

struct ModeName {
  std::string_view text;
  LoadMode mode;
};
constexpr std::array<ModeName, kLoadModes> kModes{{{"fixed-batch", LoadMode::fixed_batch},
                                                   {"closed-loop", LoadMode::closed_loop},
                                                   {"offline", LoadMode::offline},
                                                   {"prefill", LoadMode::prefill},
                                                   {"decode", LoadMode::decode},
                                                   {"open-loop", LoadMode::open_loop}}};

/// What others call them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kModeSpellings{{{"closedloop", "closed-loop"},
                                                                                        {"closed", "closed-loop"},
                                                                                        {"concurrency", "closed-loop"},
                                                                                        {"fixedbatch", "fixed-batch"},
                                                                                        {"fixed", "fixed-batch"},
                                                                                        {"static", "fixed-batch"},
                                                                                        {"static-batch", "fixed-batch"},
                                                                                        {"batch", "fixed-batch"},
                                                                                        {"throughput", "offline"},
                                                                                        {"prefill-only", "prefill"},
                                                                                        {"context", "prefill"}}};

constexpr double kMostCached = 0.97;  ///< the last block, 16 of some 500 tokens, is computed again

double times_sent(const AssumedWorkload& w, double clients) {
  double times = 1;
  for (const auto& r : w.repeats) {
    times = r.times;
    if (clients <= r.clients) break;
  }
  return times;
}

/// A list of prompts sent several times, measured between the moment when every client has begun and the one when the
/// first has nothing left to send: what begins in between comes from the end of the list, and is new only in its first
/// round.
double cached_share(const AssumedWorkload& w, double clients) {
  const double times = times_sent(w, clients);
  const double begun = w.prompts * times - clients;
  if (w.prompts <= 0 || begun <= 0) return 0;
  const double fresh = std::max(0.0, w.prompts - clients);
  return std::clamp(1 - fresh / begun, 0.0, kMostCached);
}

/// "512:1 1024:2"; what cannot be read is refused.
std::vector<AssumedWorkload::Repeat> read_repeats(CaseRow& row) {
  std::vector<AssumedWorkload::Repeat> repeats;
  std::string_view rest = row.text("repeats");
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const std::size_t colon = word.find(':');
    const auto clients = parse_plain_number(word.substr(0, colon));
    const auto times = parse_plain_number(word.substr(std::min(colon, word.size() - 1) + 1));
    const bool rises = clients && (repeats.empty() || *clients > repeats.back().clients);
    if (!rises || *clients < 1 || !times || *times < 1 || *times > 1e6) {
      row.refuse("repeats", fmt::format("'{}': write clients and how often their list is sent, '512:1 1024:2'", word));
      return {};
    }
    repeats.push_back({*clients, *times});
  }
  return repeats;
}

/// Sequences that keep a prefill pool busy: some 16,384 tokens a device, which is what such pools are run at.
double prefill_pool_batch(const InferenceLoad& load, double devices) {
  constexpr double kTokensEach = 16384;
  return std::max(1.0, devices * kTokensEach / std::max(load.isl, 1.0));
}

void read_load(CaseRow& row, const AssumedWorkloads& workloads, InferenceLoad& load) {
  const std::string mode = mode_name(row);
  const auto* const known =
      std::find_if(kModes.begin(), kModes.end(), [&](const ModeName& m) { return m.text == mode; });
  if (known == kModes.end()) {
    row.refuse(
        "mode",
        fmt::format("'{}' is no mode: write fixed-batch, closed-loop, open-loop, offline, prefill or decode", mode));
    return;
  }
  load.mode = known->mode;

  const AssumedWorkload* const assumed = find_workload(workloads, row.text("id"));
  if (assumed != nullptr) {
    load.natural_text = assumed->natural_text;
    load.greedy = assumed->greedy;
    load.queued = assumed->queued;
  }
  if (const auto isl = row.number("isl", 0, kLongest)) {
    load.isl = *isl;
  } else if (row.text("isl").empty() && assumed != nullptr) {
    load.isl = assumed->isl;
  } else {
    row.refuse("isl", "the input length is not published, and none is assumed for this data set");
  }
  if (load.mode == LoadMode::prefill) {
    load.osl = row.number("osl", 0, kLongest).value_or(1);
  } else if (row.text("osl").empty() && assumed != nullptr && assumed->osl > 0) {
    load.osl = assumed->osl;
  } else if (load.mode == LoadMode::decode && row.text("osl").empty()) {
    load.osl = 1;  // steps at the length that the row has
  } else if (row.require("osl")) {
    load.osl = row.number("osl", 1, kLongest).value_or(1);
  }
  load.length_low = row.number("length_range", 0, 1).value_or(1);
  load.exact = load.length_low == 1 && !row.text("length_range").empty();
  load.draft_tokens = row.number("draft_tokens", 0, 64).value_or(0);
  load.acceptance = row.number("acceptance", 0, 1).value_or(0);

  if (load.mode == LoadMode::open_loop) {
    if (row.require("rate")) load.rate = row.number("rate", 1e-6, 1e7).value_or(1);
    load.requests = row.number("requests", 1, 1e9).value_or(0);
    if (assumed != nullptr && times_sent(*assumed, load.rate) > 1) {  // the server has seen the whole list before
      load.prefix_hit = kMostCached;
      load.distinct = assumed->prompts;
    }
    return;
  }
  if (load.mode == LoadMode::prefill && row.text("batch").empty() && row.text("concurrency").empty()) {
    load.batch = prefill_pool_batch(load, row.number("gpus", 1, kMostGpus).value_or(1));  // a pool at its steady rate
    return;
  }
  if (load.mode == LoadMode::fixed_batch || load.mode == LoadMode::prefill || load.mode == LoadMode::decode) {
    if (load.mode == LoadMode::decode && row.text("batch").empty() && assumed != nullptr && assumed->batch > 0) {
      load.batch = assumed->batch * row.number("gpus", 1, kMostGpus).value_or(1);
      return;
    }
    // Of a fixed batch, the clients are what runs together.
    const std::string_view column =
        row.text("batch").empty() && !row.text("concurrency").empty() ? "concurrency" : "batch";
    if (row.require(column)) load.batch = row.number(column, 1, 1e7).value_or(1);
  } else {
    if (load.mode == LoadMode::closed_loop && !row.require("concurrency")) return;
    load.concurrency = row.number("concurrency", 1, 1e7).value_or(0);
    if (load.mode == LoadMode::closed_loop) load.requests = row.number("requests", 1, 1e9).value_or(0);
    if (assumed != nullptr && load.mode == LoadMode::closed_loop) {
      load.prefix_hit = cached_share(*assumed, load.concurrency);
      load.distinct = assumed->prompts;
    }
  }
}

}  // namespace

const AssumedWorkload* find_workload(const AssumedWorkloads& workloads, std::string_view id) {
  for (const AssumedWorkload& w : workloads) {
    if (id.find(w.id_contains) != std::string_view::npos) return &w;
  }
  return nullptr;
}

Result<AssumedWorkloads> read_assumed_workloads(std::string csv, const std::string& name) {
  static constexpr std::string_view kColumns[] = {"id_contains", "isl",     "natural_text", "queued",
                                                  "median_gap",  "prompts", "repeats",      "source"};
  static constexpr std::string_view kLoad[] = {"isl", "natural_text", "queued", "median_gap"};
  const auto table = CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  for (const std::string_view column : kColumns) {
    if (const auto found = table->required_column(column); !found) return found.error();
  }
  AssumedWorkloads workloads;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    CaseRow row(*table, i);
    row.require("id_contains");
    row.require("source");
    const bool own = !row.text("isl").empty();
    if (own) {
      for (const std::string_view column : kLoad) row.require(column);
    }
    AssumedWorkload entry{
        std::string(row.text("id_contains")),           row.number("isl", 1, kLongest).value_or(0),
        row.number("osl", 1, kLongest).value_or(0),     row.number("batch", 1, kLongest).value_or(0),
        row.number("natural_text", 0, 1).value_or(0),   row.integer("greedy", 0, 1).value_or(0) == 1,
        row.integer("queued", 0, 1).value_or(0) == 1,   row.integer("median_gap", 0, 1).value_or(0) == 1,
        row.number("prompts", 1, kLongest).value_or(0), read_repeats(row)};
    if (!row.refusal().empty()) return Error{ErrorCode::bad_input, {}, row.refusal()};
    workloads.push_back(std::move(entry));
  }
  for (auto entry = workloads.rbegin(); entry != workloads.rend(); ++entry) {  // the general ones stand last
    if (entry->isl > 0) continue;
    const auto general = std::find_if(entry.base(), workloads.end(), [&](const AssumedWorkload& w) {
      return entry->id_contains.find(w.id_contains) != std::string::npos;
    });
    if (general == workloads.end()) {
      return Error{ErrorCode::bad_input, name,
                   fmt::format("'{}' has no isl, and no entry below it fits it", entry->id_contains)};
    }
    entry->isl = general->isl;
    entry->osl = general->osl;
    entry->batch = general->batch;
    entry->natural_text = general->natural_text;
    entry->greedy = general->greedy;
    entry->queued = general->queued;
    entry->median_gap = general->median_gap;
    if (entry->prompts <= 0) entry->prompts = general->prompts;
  }
  return workloads;
}

std::string mode_name(const CaseRow& row) {
  std::string mode = row.word("mode");
  if (mode.empty()) {
    return !row.text("concurrency").empty() ? "closed-loop" : !row.text("batch").empty() ? "fixed-batch" : "offline";
  }
  for (const auto& [spelling, name] : kModeSpellings) {
    if (mode == spelling) return std::string(name);
  }
  return mode;
}

InferenceQuery read_inference_query(CaseRow& row, const AssumedWorkloads& workloads) {
  InferenceQuery query;
  row.require("model");
  row.require("device");
  query.model = row.text("model");
  query.device = row.text("device");
  if (!row.text("engine").empty()) query.engine = row.text("engine");
  query.as_tuned = row.text("source").starts_with("mlcommons/");
  query.engine_version = row.text("engine_version");
  query.date = leading_date(row.text("date"));
  query.tp = row.integer("tp", 1, kMostGpus).value_or(0);
  query.pp = row.integer("pp", 1, kMostGpus).value_or(1);
  query.ep = row.integer("ep", 1, kMostGpus).value_or(1);
  query.dp = row.integer("dp", 1, kMostGpus).value_or(1);
  query.gpus = row.integer("gpus", 1, kMostGpus).value_or(0);
  query.weights = row.format("weight_precision");
  query.activations = row.format("activation_precision");
  query.kv = row.format("kv_precision");
  read_load(row, workloads, query.load);
  return query;
}

}  // namespace ridge::evidence
