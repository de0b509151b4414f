#include "evidence/predict/trace_replay.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "ridge/base/csv.hpp"
#include "ridge/base/file.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge::evidence {

namespace {

constexpr std::size_t kMostBytes = 64U << 20;

struct Latencies {
  std::array<std::vector<double>, 3> of;  // TTFT, TPOT, end to end

  void add(double arrival, double first, double last, double output) {
    of[0].push_back(first - arrival);
    if (output > 1) of[1].push_back((last - first) / (output - 1));
    of[2].push_back(last - arrival);
  }
};
constexpr std::array<const char*, 3> kMeasures = {"TTFT", "TPOT", "end to end"};

class Keeper final : public SimulationObserver {
 public:
  void request(const RequestRecord& r) override {
    if (r.end != RequestRecord::End::finished) return;
    const auto seconds = [](std::int64_t ticks) { return static_cast<double>(ticks) / kTicksPerSecond; };
    sample.add(seconds(r.arrival), seconds(r.first_token), seconds(r.last_token), r.output);
  }
  Latencies sample;
};

double median(const std::vector<double>& sorted) {
  return sorted.empty() ? std::nan("") : 0.5 * (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]);
}

double greatest_gap(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (const auto* sample : {&a, &b}) {
    for (const double x : *sample) {
      const auto share = [&](const std::vector<double>& of) {
        return static_cast<double>(std::upper_bound(of.begin(), of.end(), x) - of.begin()) /
               static_cast<double>(of.size());
      };
      most = std::max(most, std::abs(share(a) - share(b)));
    }
  }
  return most;
}

Result<CsvTable> read_table(const std::string& path) {
  Result<std::string> text = read_file(path, kMostBytes);
  if (!text) return text.error();
  return CsvTable::parse(*std::move(text), path);
}

/// Numbers of the named columns, row by row.
Result<double> number(const CsvTable& t, std::size_t row, std::string_view column, double otherwise) {
  const Result<std::size_t> at = t.required_column(column);
  if (!at) return at.error();
  const std::string_view text = t.cell(row, *at);
  if (text.empty()) return otherwise;
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return t.error(row, *at, "this is no number");
  return value;
}

Result<Latencies> measured_sample(const std::string& path) {
  const Result<CsvTable> log = read_table(path);
  if (!log) return log.error();
  Latencies sample;
  for (std::size_t row = 0; row < log->rows(); ++row) {
    std::array<double, 4> v{};
    constexpr std::array<const char*, 4> kColumns = {"arrival_s", "first_token_s", "last_token_s", "osl"};
    for (std::size_t i = 0; i < v.size(); ++i) {
      const Result<double> value = number(*log, row, kColumns[i], std::nan(""));
      if (!value) return value.error();
      v[i] = *value;
    }
    sample.add(v[0], v[1], v[2], v[3]);
  }
  return sample;
}

Result<InferenceQuery> deployment_of(const CsvTable& index, std::size_t row) {
  InferenceQuery q;
  const auto text = [&](const char* column) {
    const auto at = index.column(column);
    return at ? std::string(index.cell(row, *at)) : std::string();
  };
  q.model = text("model");
  q.device = text("device");
  q.engine = text("engine");
  q.engine_version = text("engine_version");
  const std::pair<const char*, int*> whole[] = {
      {"gpus", &q.gpus}, {"tp", &q.tp}, {"pp", &q.pp}, {"ep", &q.ep}, {"dp", &q.dp}};
  for (const auto& [column, into] : whole) {
    const Result<double> value = number(index, row, column, *into);
    if (!value) return value.error();
    *into = static_cast<int>(*value);
  }
  const std::pair<const char*, double*> counts[] = {{"max_num_seqs", &q.max_sequences},
                                                    {"max_num_batched_tokens", &q.max_batched_tokens}};
  for (const auto& [column, into] : counts) {
    const Result<double> value = number(index, row, column, 0);
    if (!value) return value.error();
    *into = *value;
  }
  if (const std::string format = text("precision"); !format.empty()) {
    const Result<Format> known = parse_format(format);
    if (!known) return known.error();
    q.weights = *known;
  }
  q.load.natural_text = 1;
  return q;
}

}  // namespace

Result<std::vector<TraceComparison>> replay_traces(const std::string& folder, const Knowledge& given) {
  // Four factors were set on these logs: what other publishers make of the same software says nothing about them.
  const Calibration neutral = given.calibration.with_effects({});
  const Knowledge knowledge{given.catalogue, given.engines, neutral};
  const Result<CsvTable> index = read_table(folder + "/index.csv");
  if (!index) return index.error();
  const Result<std::size_t> files = index->required_column("file");
  if (!files) return files.error();
  std::vector<TraceComparison> out;
  for (std::size_t row = 0; row < index->rows(); ++row) {
    const std::string file(index->cell(row, *files));
    SimulationQuery q;
    Result<InferenceQuery> deployment = deployment_of(*index, row);
    if (!deployment) return deployment.error();
    q.deployment = *std::move(deployment);
    q.server_overhead = false;  // the log is the scheduler's own
    q.load.kind = OfferedKind::trace;
    q.requests = 0;
    Result<Workload> workload = read_trace(folder + "/" + file);
    if (!workload) return workload.error();
    q.workload = *std::move(workload);
    Result<Latencies> measured = measured_sample(folder + "/" + file);
    if (!measured) return measured.error();
    Keeper keeper;
    const Result<SimulationResult> result = simulate(q, knowledge, &keeper);
    if (!result) return result.error();
    for (std::size_t i = 0; i < kMeasures.size(); ++i) {
      std::vector<double>& m = measured->of[i];
      std::vector<double>& s = keeper.sample.of[i];
      std::sort(m.begin(), m.end());
      std::sort(s.begin(), s.end());
      out.push_back({file, kMeasures[i], static_cast<double>(m.size()), median(m), median(s), greatest_gap(m, s)});
    }
  }
  return out;
}

}  // namespace ridge::evidence
