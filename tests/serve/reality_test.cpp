// Requests as a real engine served them, from its own log, against the simulator.
#include <algorithm>
#include <cmath>

#include "ridge/csv.hpp"
#include "ridge/file.hpp"
#include "support.hpp"

namespace ridge {
namespace {

using namespace testing_support;

/// The greatest distance between the distributions of two samples (Kolmogorov and Smirnov).
double distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
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

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return 0.5 * (v[(v.size() - 1) / 2] + v[v.size() / 2]);
}

struct Sample {
  std::vector<double> ttft, tpot, e2e;
  void add(double arrival, double first, double last, double output) {
    ttft.push_back(first - arrival);
    e2e.push_back(last - arrival);
    if (output > 1) tpot.push_back((last - first) / (output - 1));
  }
};

TEST(RecordedTraces, MediansWithinFifteenPercentAndDistributionsWithinAFifth) {
  const std::string folder = std::string(RIDGE_DATA_DIR) + "/evidence/traces/";
  const auto text = read_file(folder + "index.csv", 1 << 20);
  ASSERT_TRUE(text);
  const auto index = CsvTable::parse(*text, "index.csv");
  ASSERT_TRUE(index);
  for (std::size_t row = 0; row < index->rows(); ++row) {
    const auto cell = [&](const char* column) {
      return std::string(index->cell(row, *index->required_column(column)));
    };
    const auto number = [&](const char* column) { return std::atoi(cell(column).c_str()); };
    SimulationQuery q;
    q.deployment.model = cell("model");
    q.deployment.device = cell("device");
    q.deployment.engine = cell("engine");
    q.deployment.engine_version = cell("engine_version");
    q.deployment.gpus = number("gpus");
    q.deployment.tp = number("tp");
    q.deployment.max_sequences = number("max_num_seqs");
    q.deployment.max_batched_tokens = number("max_num_batched_tokens");
    q.deployment.load.natural_text = 1;
    q.server_overhead = false;  // the log is the scheduler's own
    auto workload = read_trace(folder + cell("file"));
    ASSERT_TRUE(workload) << workload.error().text();
    q.workload = *workload;
    q.load.kind = OfferedKind::trace;
    q.requests = 0;
    Recorder recorder;
    const auto r = simulate(q, knowledge(), &recorder);
    ASSERT_TRUE(r) << r.error().text();

    const auto log = CsvTable::parse(*read_file(folder + cell("file"), 1 << 24), cell("file"));
    ASSERT_TRUE(log);
    Sample measured;
    Sample predicted;
    for (std::size_t i = 0; i < log->rows(); ++i) {
      const auto at = [&](const char* column) {
        return std::atof(std::string(log->cell(i, *log->required_column(column))).c_str());
      };
      measured.add(at("arrival_s"), at("first_token_s"), at("last_token_s"), at("osl"));
      const RequestRecord& one = recorder.requests[i];
      predicted.add(static_cast<double>(one.arrival) / kTicksPerSecond,
                    static_cast<double>(one.first_token) / kTicksPerSecond,
                    static_cast<double>(one.last_token) / kTicksPerSecond, one.output);
    }
    const auto compare = [&](const char* what, const std::vector<double>& m, const std::vector<double>& p) {
      const double error = median(p) / median(m) - 1;
      const double apart = distance(m, p);
      EXPECT_LE(std::abs(error), 0.15) << cell("file") << ", " << what;
      EXPECT_LE(apart, 0.2) << cell("file") << ", " << what;
    };
    compare("TTFT", measured.ttft, predicted.ttft);
    compare("TPOT", measured.tpot, predicted.tpot);
    compare("end to end", measured.e2e, predicted.e2e);
  }
}

}  // namespace
}  // namespace ridge
