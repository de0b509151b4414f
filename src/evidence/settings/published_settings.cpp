#include "evidence/settings/published_settings.hpp"

#include <algorithm>
#include <cmath>

#include "evidence/rows/case_row.hpp"
#include "ridge/base/file.hpp"

namespace ridge::evidence {

namespace {

constexpr std::size_t kSettingsLimit = 1U << 20;
constexpr double kMostTokens = 1e7;
constexpr double kTokenGrain = 64;  ///< what start scripts round the tokens of a step to
constexpr int kMostSteps = 100'000;

ServerSettings read_entry(CaseRow& row) {
  ServerSettings s;
  s.source = row.text("source");
  s.engine = row.text("engine");
  s.model = row.text("model");
  s.device = row.text("device");
  s.precision = row.text("precision");
  s.since = row.text("since");
  s.isl = row.number("isl", 1, kMostTokens).value_or(0);
  s.osl = row.number("osl", 1, kMostTokens).value_or(0);
  s.most_tp = row.integer("most_tp", 1, kMostSteps).value_or(0);
  s.least_concurrency = row.number("least_concurrency", 1, kMostTokens).value_or(0);
  s.max_batched_tokens = row.number("max_batched_tokens", 1, kMostTokens).value_or(0);
  s.tokens_beside_prompt = row.number("tokens_beside_prompt", 1, kMostTokens).value_or(0);
  s.max_sequences = row.number("max_sequences", 1, kMostTokens).value_or(0);
  s.memory_utilization = row.number("memory_utilization", 0, 1).value_or(0);
  s.requests = row.number("requests", 1, kMostTokens).value_or(0);
  s.poll_steps = row.integer("poll_steps", 1, kMostSteps).value_or(1);
  s.gathering.token_share = row.number("gather_share", 0, 1).value_or(0);
  s.gathering.every_rank = row.integer("gather_ranks", 0, 1).value_or(0) == 1;
  s.gathering.steps = row.integer("gather_steps", 1, kMostSteps).value_or(0);
  return s;
}

}  // namespace

Result<PublishedSettings> read_published_settings(std::string csv, const std::string& name) {
  static constexpr std::string_view kColumns[] = {"source",
                                                  "engine",
                                                  "model",
                                                  "device",
                                                  "precision",
                                                  "since",
                                                  "isl",
                                                  "osl",
                                                  "most_tp",
                                                  "least_concurrency",
                                                  "max_batched_tokens",
                                                  "tokens_beside_prompt",
                                                  "max_sequences",
                                                  "memory_utilization",
                                                  "requests",
                                                  "poll_steps",
                                                  "gather_share",
                                                  "gather_ranks",
                                                  "gather_steps",
                                                  "published",
                                                  "read"};
  const auto table = CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  for (const std::string_view column : kColumns) {
    if (const auto found = table->required_column(column); !found) return found.error();
  }
  PublishedSettings all;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    CaseRow row(*table, i);
    for (const char* column : {"source", "engine", "published", "read"}) row.require(column);
    all.push_back(read_entry(row));
    if (!row.refusal().empty()) return Error{ErrorCode::bad_input, {}, row.refusal()};
  }
  return all;
}

Result<PublishedSettings> load_published_settings(const std::string& data_directory) {
  const std::string path = data_directory + "/evidence/published_settings.csv";
  auto text = read_file(path, kSettingsLimit);
  if (!text) return text.error();
  return read_published_settings(std::move(*text), path);
}

const ServerSettings* find_settings(const PublishedSettings& settings, std::string_view source,
                                    const InferenceQuery& q) {
  const auto is = [](const std::string& wanted, std::string_view found) { return wanted.empty() || wanted == found; };
  const auto at = std::find_if(settings.begin(), settings.end(), [&](const ServerSettings& s) {
    return source.starts_with(s.source) && is(s.engine, q.engine) && is(s.model, q.model) &&
           q.device.starts_with(s.device) && is(s.precision, q.weights ? name(*q.weights) : std::string_view()) &&
           s.since <= q.date && (s.isl <= 0 || s.isl == q.load.isl) && (s.osl <= 0 || s.osl == q.load.osl) &&
           (s.most_tp <= 0 || q.tp <= s.most_tp) && q.load.concurrency >= s.least_concurrency;
  });
  return at != settings.end() ? &*at : nullptr;
}

void apply(const ServerSettings& s, InferenceQuery& q) {
  double& tokens = q.max_batched_tokens;
  tokens = s.max_batched_tokens;
  if (s.tokens_beside_prompt > 0) {
    const double prompt = q.load.isl + q.load.concurrency + s.tokens_beside_prompt;
    tokens = std::max(tokens, kTokenGrain * std::ceil(prompt / kTokenGrain));
  }
  if (s.max_sequences > 0) q.max_sequences = s.max_sequences;
  if (s.memory_utilization > 0) q.memory_utilization = s.memory_utilization;
  if (s.requests > 0) q.load.requests = s.requests;
  q.poll_steps = s.poll_steps;
}

void apply(const ServerSettings& s, SimulationQuery& q) {
  apply(s, q.deployment);
  q.policies.poll_steps = s.poll_steps;
  q.policies.gathering = s.gathering;
}

}  // namespace ridge::evidence
