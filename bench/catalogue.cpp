// Loading the whole catalogue, and what of it is plain TOML. The target is 15 ms for `load_catalogue`.
#include "ridge/catalogue/catalogue.hpp"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"

namespace ridge {
namespace {

std::vector<std::string> catalogue_texts() {
  std::vector<std::string> texts;
  for (const char* folder : {"", "sources", "devices", "fabrics", "systems", "models", "prices"}) {
    const std::filesystem::path path = std::filesystem::path(RIDGE_DATA_DIR) / folder;
    if (!std::filesystem::is_directory(path)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() == ".toml") texts.push_back(*read_file(entry.path().string(), kTomlSizeLimit));
    }
  }
  return texts;
}

void load_catalogue(benchmark::State& state) {
  for (auto _ : state) {
    auto loaded = Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
    if (!loaded) state.SkipWithError(loaded.error().text().c_str());
    benchmark::DoNotOptimize(loaded);
  }
}
BENCHMARK(load_catalogue)->Unit(benchmark::kMillisecond);

void parse_catalogue_toml(benchmark::State& state) {
  const std::vector<std::string> texts = catalogue_texts();
  std::size_t bytes = 0;
  for (auto _ : state) {
    for (const std::string& text : texts) {
      auto root = parse_toml(text, "bench.toml");
      benchmark::DoNotOptimize(root);
      bytes += text.size();
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(parse_catalogue_toml)->Unit(benchmark::kMillisecond);

void find_partition(benchmark::State& state) {
  const auto loaded = Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  for (auto _ : state) {
    auto device = loaded->find_device("h100-sxm/mig-3g.40gb");
    benchmark::DoNotOptimize(device);
  }
}
BENCHMARK(find_partition);

}  // namespace
}  // namespace ridge
