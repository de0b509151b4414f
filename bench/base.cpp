// Text, tables and random numbers.
#include <benchmark/benchmark.h>

#include <charconv>
#include <string>

#include "ridge/base/csv.hpp"
#include "ridge/base/random.hpp"
#include "ridge/base/text.hpp"

namespace ridge {
namespace {

constexpr std::string_view kBandwidths[] = {"4.8 TB/s", "450 GB/s", "400 Gb/s", "3350GB/s"};

// The yardstick for reading: the digits alone.
void read_number(benchmark::State& state) {
  std::size_t i = 0;
  for (auto _ : state) {
    const std::string_view text = kBandwidths[i++ % 4];
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(read_number);

void read_quantity(benchmark::State& state) {
  std::size_t i = 0;
  for (auto _ : state) {
    auto quantity = parse_quantity<BytesPerSecond>(kBandwidths[i++ % 4]);
    benchmark::DoNotOptimize(quantity);
  }
}
BENCHMARK(read_quantity);

void refuse_misspelt_quantity(benchmark::State& state) {
  for (auto _ : state) {
    auto quantity = parse_quantity<BytesPerSecond>("4.8 tb/s");
    benchmark::DoNotOptimize(quantity);
  }
}
BENCHMARK(refuse_misspelt_quantity);

void print_quantity(benchmark::State& state) {
  for (auto _ : state) {
    auto text = format(BytesPerSecond(4.8e12));
    benchmark::DoNotOptimize(text);
  }
}
BENCHMARK(print_quantity);

std::string price_list() {
  std::string text;
  CsvWriter writer(text);
  for (const char* name : {"item", "kind", "provider", "price", "notes"}) writer.cell(name);
  writer.end_row();
  for (int row = 0; row < 10'000; ++row) {
    writer.cell("h100-sxm-" + std::to_string(row)).cell("on_demand").cell("somewhere").cell("2.30");
    writer.cell("as published, \"list price\"").end_row();
  }
  return text;
}

// The yardstick for tables: looking at every byte once, one at a time.
void count_commas(benchmark::State& state) {
  const std::string text = price_list();
  for (auto _ : state) {
    std::size_t commas = 0;
    for (const char c : text) {
      commas += c == ',';
      benchmark::DoNotOptimize(commas);
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(count_commas)->Unit(benchmark::kMicrosecond);

void read_csv(benchmark::State& state) {
  const std::string text = price_list();
  for (auto _ : state) {
    auto table = CsvTable::parse(text, "bench.csv");
    benchmark::DoNotOptimize(table);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(read_csv)->Unit(benchmark::kMicrosecond);

// The yardstick for random numbers: one block of the generator, 16 bytes.
void philox_block(benchmark::State& state) {
  std::uint32_t index = 0;
  for (auto _ : state) {
    auto block = philox4x32({index++, 0, 0, 0}, {1, 2});
    benchmark::DoNotOptimize(block);
  }
  state.SetBytesProcessed(state.iterations() * 16);
}
BENCHMARK(philox_block);

template <double (Random::*draw)() noexcept>
void draw_one(benchmark::State& state) {
  Random draws(1);
  for (auto _ : state) {
    double value = (draws.*draw)();
    benchmark::DoNotOptimize(value);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(draw_one<&Random::uniform>)->Name("draw_uniform");
BENCHMARK(draw_one<&Random::exponential>)->Name("draw_exponential");
BENCHMARK(draw_one<&Random::normal>)->Name("draw_normal");

void draw_gamma(benchmark::State& state) {
  Random draws(1);
  for (auto _ : state) {
    double value = draws.gamma(2.5);
    benchmark::DoNotOptimize(value);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(draw_gamma);

}  // namespace
}  // namespace ridge
