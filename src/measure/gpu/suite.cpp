#include "measure/gpu/suite.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace ridge::measure {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string describe(const Point& p) {
  std::string out = p.op;
  if (!p.format.empty()) out += " " + p.format;
  const auto add = [&](const char* key, double value) {
    if (value > 0) out += std::string(" ") + key + "=" + std::to_string(static_cast<long long>(value));
  };
  add("m", p.m), add("n", p.n), add("k", p.k), add("batch", p.batch), add("q_heads", p.q_heads);
  add("kv_heads", p.kv_heads), add("q_len", p.q_len), add("kv_len", p.kv_len), add("experts", p.experts);
  add("bytes", p.bytes);
  return out;
}

}  // namespace

Facts device_facts(int device, const Monitor& monitor) {
  Facts f;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "reading the device's properties");
  f.name = properties.name;
  f.vendor = "NVIDIA";
  f.compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
  f.multiprocessors = properties.multiProcessorCount;
  f.memory_bytes = static_cast<double>(properties.totalGlobalMem);
  f.l2_bytes = properties.l2CacheSize;
  int runtime = 0;
  check(cudaRuntimeGetVersion(&runtime), "reading the runtime's version");
  f.runtime = "CUDA " + version_text(runtime);
  const auto blas = static_cast<int>(Blas::version());
  f.libraries = "cuBLASLt " + std::to_string(blas / 10000) + "." + std::to_string(blas / 100 % 100) + "." +
                std::to_string(blas % 100);
  check(cudaGetDeviceCount(&f.devices), "counting devices");
  f.driver = monitor.driver();
  f.boost_clock_hz = monitor.most_clock_hz();
  f.memory_clock_hz = monitor.most_memory_clock_hz();
  f.power_limit_w = monitor.power_limit_w();
  f.pcie_generation = monitor.pcie_generation();
  f.pcie_width = monitor.pcie_width();
  return f;
}

Bench::Bench(int device, Monitor& watched, Profile& into, Report how_far, Interrupted stop)
    : monitor(watched), profile(into), report(std::move(how_far)), interrupted(std::move(stop)) {
  check(cudaSetDevice(device), "choosing the device");
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  std::size_t free = 0, total = 0;
  check(gpuMemGetInfo(&free, &total), "reading free memory");
  profile.facts.free_bytes = static_cast<double>(free);
  l2 = static_cast<std::size_t>(profile.facts.l2_bytes);
  multiprocessors = profile.facts.multiprocessors;
  others_ = monitor.other_processes();
  memory_errors_ = monitor.uncorrected_errors();
}

Bench::~Bench() {
  if (stream != nullptr) (void)cudaStreamDestroy(stream);
}

void Bench::skip(const std::string& what, const std::string& why) {
  profile.skipped.push_back({what, why});
}

std::string Bench::disturbance() {
  const Reading now = latest_ = monitor.read();
  Health& health = profile.health;
  health.hottest_celsius = std::max(health.hottest_celsius, now.celsius);
  for (const std::string& reason : throttle_reasons(now.throttle)) {
    if (std::find(health.throttled.begin(), health.throttled.end(), reason) == health.throttled.end()) {
      health.throttled.push_back(reason);
    }
  }
  const double errors = monitor.uncorrected_errors() - memory_errors_;
  memory_errors_ += errors;
  health.uncorrected_errors += errors;
  const int newcomers = std::max(0, monitor.other_processes() - others_);
  health.newcomers = std::max(health.newcomers, newcomers);
  if (errors > 0) return "the device's memory had an error that could not be corrected";
  if (newcomers > 0) return "another process came to the device";
  return spoiling_reason(now.throttle);
}

std::string Bench::undisturbed(const std::function<void()>& measure) {
  std::string why;
  for (int attempt = 0; attempt < 2; ++attempt) {
    measure();
    why = disturbance();
    if (why.empty()) break;
  }
  return why;
}

void Bench::point(Point shape, const std::function<Timing()>& measure) {
  if (interrupted()) return;
  report(std::min(done / planned, 1.0), shape.op);
  done += 1;
  try {
    Timing timing;
    const std::string disturbed = undisturbed([&] { timing = measure(); });
    if (!disturbed.empty()) {
      skip(describe(shape), disturbed);
      return;
    }
    shape.seconds = timing.seconds;
    shape.low = timing.low;
    shape.high = timing.high;
    shape.samples = timing.samples;
    shape.clock_hz = latest_.clock_hz;
    profile.points.push_back(shape);
  } catch (const GpuFailure& failure) {
    skip(describe(shape), failure.text);
    (void)gpuGetLastError();
  }
}

void Bench::sustain(const std::string& work, double amount, const std::string& unit, double seconds,
                    const Launch& launch, int rotation) {
  if (interrupted()) return;
  report(std::min(done / planned, 1.0), "steady " + work);
  done += 8;
  try {
    for (int i = 0; i < 2; ++i) launch(i);
    check(gpuStreamSynchronize(stream), "running the operation");
    const double once = std::max(quick_time(stream, launch, 3), 1e-6);
    const int inner = std::max(rotation, static_cast<int>(5e-3 / once) + 1);
    const Graph graph(stream, [&] {
      for (int i = 0; i < inner; ++i) launch(i);
    });
    using Clock = std::chrono::steady_clock;
    const auto since = [](Clock::time_point start) {
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    // The first third lets clock and power settle. Two replays are queued ahead, so that the device never waits.
    const Events events(3);
    Sustained s;
    s.work = work;
    s.unit = unit;
    std::uint64_t reasons = 0;
    double readings = 0, joules = 0, watts = 0;
    long replays = 0;
    bool settled = false;
    auto start = Clock::now();
    auto counted = start;
    graph.replay(stream);
    events.record(0, stream);
    for (std::size_t turn = 1; since(start) < seconds; ++turn) {
      graph.replay(stream);
      events.record(turn % 3, stream);
      (void)events.between((turn + 2) % 3, (turn + 2) % 3);
      if (!settled && since(start) > seconds / 3) {
        settled = true;
        counted = Clock::now();
        joules = monitor.read().joules;
      } else if (settled) {
        ++replays;
        const Reading now = monitor.read();
        s.clock_hz += now.clock_hz;
        watts += now.watts;
        s.celsius = std::max(s.celsius, now.celsius);
        reasons |= now.throttle;
        readings += 1;
      }
    }
    const double elapsed = since(counted);
    joules = monitor.read().joules - joules;
    check(gpuStreamSynchronize(stream), "running the operation");
    if (replays == 0 || readings == 0) return;
    std::string disturbed = spoiling_reason(reasons);
    if (disturbed.empty()) disturbed = disturbance();
    if (!disturbed.empty()) {
      skip("steady " + work, disturbed);
      return;
    }
    s.seconds = elapsed / (static_cast<double>(replays) * inner);
    s.rate = amount / s.seconds;
    s.clock_hz /= readings;
    s.watts = joules > 0 ? joules / elapsed : watts / readings;
    for (const std::string& reason : throttle_reasons(reasons))
      s.throttled += (s.throttled.empty() ? "" : ", ") + reason;
    profile.sustained.push_back(s);
  } catch (const GpuFailure& failure) {
    skip("steady " + work, failure.text);
    (void)gpuGetLastError();
  }
}

std::vector<std::size_t> Bench::rotate(std::size_t elements, std::size_t bytes_each, std::size_t arena) const {
  constexpr std::size_t kAlign = 256, kMost = 64;
  const std::size_t step = (elements + kAlign - 1) / kAlign * kAlign;
  const std::size_t wanted =
      std::clamp<std::size_t>(4 * l2 / std::max<std::size_t>(step * bytes_each, 1) + 2, 2, kMost);
  const std::size_t fits = arena / std::max<std::size_t>(step, 1);
  if (fits == 0) throw GpuFailure{"does not fit the memory set aside for it", true};
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < std::min(wanted, fits); ++i) offsets.push_back(i * step);
  return offsets;
}

void measure_all(Bench& bench, const Arguments& arguments) {
  struct Part {
    const char* name;
    void (*run)(Bench&, bool);
    double points;
  };
  static constexpr std::array<Part, 10> kParts = {{{"memory", measure_memory, 24},
                                                   {"launch", measure_launches, 4},
                                                   {"host", measure_host, 4},
                                                   {"layers", measure_layers, 20},
                                                   {"gemm", measure_products, 230},
                                                   {"experts", measure_experts, 12},
                                                   {"attention", measure_attention, 60},
                                                   {"sustained", measure_sustained, 40},
                                                   {"steps", measure_steps, 32},
                                                   {"collectives", measure_collectives, 1}}};
  const auto wanted = [&](const char* part) {
    return arguments.only.empty() ||
           std::find(arguments.only.begin(), arguments.only.end(), part) != arguments.only.end();
  };
  bench.planned = 0;
  for (const Part& part : kParts) bench.planned += wanted(part.name) ? part.points * (arguments.full ? 2 : 1) : 0;
  for (const Part& part : kParts) {
    if (!wanted(part.name)) continue;
    try {
      part.run(bench, arguments.full);
    } catch (const GpuFailure& failure) {
      bench.skip(part.name, failure.text);
      (void)gpuGetLastError();
    }
  }
}

}  // namespace ridge::measure
