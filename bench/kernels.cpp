// Times of single operators: what an estimate spends its time on.
#include "perf/operators/kernels.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <string>

#include "ridge/base/file.hpp"
#include "ridge/base/random.hpp"

namespace ridge::perf {
namespace {

const std::string kData = RIDGE_DATA_DIR;

struct Loaded {
  Catalogue catalogue = *Catalogue::load({.data_directory = kData, .overlays = {}, .price_lists = {}});
  Calibration calibration = *load_calibration(kData + "/calibration");
  DeviceRates device = *device_rates(*catalogue.device("h200-sxm"), catalogue, calibration);
};
const Loaded& loaded() {
  static const Loaded l;
  return l;
}

/// Sizes in scrambled order, so that no branch is learnt by heart.
template <class Shape, class Make>
std::array<Shape, 1024> scrambled(const Make& make) {
  Random draws(1);
  std::array<Shape, 1024> shapes;
  for (Shape& s : shapes) s = make(draws);
  return shapes;
}
double power_of_two(Random& draws, int low, int high) {
  return static_cast<double>(1ull << (low + draws.below(static_cast<std::uint64_t>(high - low + 1))));
}

struct Product {
  double m, n, k;
};

// The yardstick: one division and one square root.
void roofline(benchmark::State& state) {
  const auto shapes = scrambled<Product>([](Random& d) { return Product{power_of_two(d, 0, 13), 8192, 8192}; });
  std::size_t i = 0;
  double sum = 0;
  for (auto _ : state) {
    const Product& s = shapes[i++ & 1023];
    sum += std::sqrt(s.m * s.n * s.k / 9.9e14);
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(roofline);

void gemm(benchmark::State& state) {
  const GemmRates rates = gemm_rates(loaded().device, loaded().calibration, Format::fp8, Format::fp8);
  const auto shapes = scrambled<Product>([](Random& d) {
    return Product{power_of_two(d, 0, 13), power_of_two(d, 8, 16), power_of_two(d, 8, 14)};
  });
  std::size_t i = 0;
  double sum = 0;
  for (auto _ : state) {
    const Product& s = shapes[i++ & 1023];
    sum += gemm_time(rates, s.m, s.n, s.k).seconds;
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(gemm);

void experts(benchmark::State& state) {
  const MoeRates rates = moe_rates(loaded().device, loaded().calibration, Format::fp8, Format::fp8);
  const auto shapes = scrambled<MoeShape>([](Random& d) {
    return MoeShape{.tokens = power_of_two(d, 0, 13),
                    .hidden = 7168,
                    .width = 2048,
                    .experts = 256,
                    .local_experts = power_of_two(d, 3, 8),
                    .top_k = 8};
  });
  std::size_t i = 0;
  double sum = 0;
  for (auto _ : state) sum += moe_time(rates, shapes[i++ & 1023]).seconds;
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(experts);

AttentionShape attention_shape(Random& d) {
  AttentionShape s;
  s.batch = power_of_two(d, 0, 8);
  s.kv_len = power_of_two(d, 6, 16);
  s.q_heads = 32;
  s.kv_heads = power_of_two(d, 0, 5);
  return s;
}

void attention_decode(benchmark::State& state) {
  const AttentionRates rates = attention_rates(loaded().device, loaded().calibration, Format::bf16, Format::fp8);
  const auto shapes = scrambled<AttentionShape>(attention_shape);
  std::size_t i = 0;
  double sum = 0;
  for (auto _ : state) sum += attention_decode_time(rates, shapes[i++ & 1023]).seconds;
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(attention_decode);

void attention_prefill(benchmark::State& state) {
  const AttentionRates rates = attention_rates(loaded().device, loaded().calibration, Format::bf16, Format::bf16);
  auto shapes = scrambled<AttentionShape>(attention_shape);
  for (AttentionShape& s : shapes) s.q_len = s.kv_len;
  std::size_t i = 0;
  double sum = 0;
  for (auto _ : state) sum += attention_prefill_time(rates, shapes[i++ & 1023]).seconds;
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(attention_prefill);

void latent_decode(benchmark::State& state) {
  const AttentionRates rates = attention_rates(loaded().device, loaded().calibration, Format::bf16, Format::bf16);
  const auto shapes = scrambled<MlaShape>([](Random& d) {
    MlaShape s;
    s.batch = power_of_two(d, 0, 8);
    s.kv_len = power_of_two(d, 6, 16);
    return s;
  });
  std::size_t i = 0;
  double sum = 0;
  for (auto _ : state) sum += mla_decode_time(rates, shapes[i++ & 1023]).seconds;
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(latent_decode);

void all_reduce(benchmark::State& state) {
  const LinkRates link =
      scale_up_link(*loaded().catalogue.device("h200-sxm"), loaded().calibration, CollectiveLibrary::one_shot);
  const auto bytes = scrambled<double>([](Random& d) { return power_of_two(d, 10, 28); });
  std::size_t i = 0;
  double sum = 0;
  for (auto _ : state) sum += collective_time(link, Collective::all_reduce, 8, bytes[i++ & 1023]);
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(all_reduce);

void rates_of_a_pair_of_formats(benchmark::State& state) {
  for (auto _ : state) {
    auto rates = gemm_rates(loaded().device, loaded().calibration, Format::fp8, Format::fp8);
    benchmark::DoNotOptimize(rates);
  }
}
BENCHMARK(rates_of_a_pair_of_formats);

}  // namespace
}  // namespace ridge::perf
