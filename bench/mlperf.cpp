// Reading and repairing the MLPerf record, and what a table and a chart take. Targets: all rounds into SQLite in 2 s,
// any table or chart in 50 ms.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "report/record/mlperf_report.hpp"
#include "ridge/mlperf/mlperf_analysis.hpp"

namespace ridge {
namespace {

const mlperf::Names& names() {
  static const Result<mlperf::Names> loaded = mlperf::load_names(RIDGE_DATA_DIR);
  return *loaded;
}

void mlperf_load(benchmark::State& state) {
  for (auto _ : state) {
    auto results = mlperf::load_bundled(RIDGE_DATA_DIR, names());
    if (!results) state.SkipWithError(results.error().text().c_str());
    benchmark::DoNotOptimize(results);
  }
}
BENCHMARK(mlperf_load)->Unit(benchmark::kMillisecond);

void mlperf_into_sqlite(benchmark::State& state) {
  const auto results = mlperf::load_bundled(RIDGE_DATA_DIR, names());
  const std::string path = (std::filesystem::temp_directory_path() / "ridge_bench_mlperf.db").string();
  for (auto _ : state) {
    std::filesystem::remove(path);
    const Status written = mlperf::write_database(path, *results, {});
    if (!written) state.SkipWithError(written.error().text().c_str());
  }
  std::filesystem::remove(path);
}
BENCHMARK(mlperf_into_sqlite)->Unit(benchmark::kMillisecond);

void mlperf_chart(benchmark::State& state) {
  const auto results = mlperf::load_bundled(RIDGE_DATA_DIR, names());
  const mlperf::Summary summary;
  for (auto _ : state) {
    const auto rows = mlperf::select(*results, {.benchmarks = {"llama2-70b-99.9"}}, names());
    const auto groups = mlperf::summarise(*rows, summary);
    for (const report::Bars& bars : report::mlperf_bars(groups->groups, summary)) {
      benchmark::DoNotOptimize(report::bars_svg(bars));
    }
  }
}
BENCHMARK(mlperf_chart)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ridge
