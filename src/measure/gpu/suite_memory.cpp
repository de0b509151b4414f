// Points of memory, launches, small kernels and the host link.
#include <algorithm>

#include "measure/gpu/bytes.hpp"
#include "measure/gpu/layer_kernels.hpp"
#include "measure/gpu/suite.hpp"

namespace ridge::measure {
namespace {

constexpr std::size_t kMiB = 1u << 20;

/// A pair of buffers of random bytes, a quarter of the free memory at most.
struct Pair {
  explicit Pair(const Bench& bench) {
    const auto most = static_cast<std::size_t>(bench.profile.facts.free_bytes / 4) / kMiB * kMiB;
    const std::size_t bytes = std::min<std::size_t>(4096 * kMiB, most);
    in = GpuBuffer<std::uint16_t>(bytes / 2);
    out = GpuBuffer<std::uint16_t>(bytes / 2);
    fill_random_bf16(in.data(), in.count(), 1, 1, bench.stream);
    fill_random_bf16(out.data(), out.count(), 1, 2, bench.stream);
  }
  GpuBuffer<std::uint16_t> in, out;
};

TimingOptions options(bool full, std::size_t sets) {
  TimingOptions o;
  o.budget = full ? 0.4 : 0.05;
  o.agree = kAgree;
  o.rotation = static_cast<int>(sets);
  return o;
}

}  // namespace

void measure_memory(Bench& bench, bool full) {
  const Pair pair(bench);
  const gpuStream_t stream = bench.stream;
  GpuBuffer<std::uint32_t> sink(1);
  std::vector<std::size_t> sizes = {1, 4, 16, 64, 256, 1024, 4096};
  if (full) sizes = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  for (const std::size_t mib : sizes) {
    const std::size_t bytes = mib * kMiB;
    if (bytes > pair.in.bytes()) continue;
    const auto sets = bench.rotate(bytes / 2, 2, pair.in.count());
    const auto in = [&](int i) { return pair.in.data() + sets[static_cast<std::size_t>(i) % sets.size()]; };
    const auto out = [&](int i) { return pair.out.data() + sets[static_cast<std::size_t>(i) % sets.size()]; };
    Point p;
    p.bytes = 2.0 * static_cast<double>(bytes);  // read and written
    p.op = "copy";
    p.notes = "own kernel; bytes read and written";
    bench.point(p, [&] {
      return time_operation(
          stream, [&](int i) { copy_bytes(in(i), out(i), bytes, stream); }, options(full, sets.size()));
    });
    p.notes = "copy of the runtime; bytes read and written";
    bench.point(p, [&] {
      return time_operation(
          stream,
          [&](int i) { check(gpuMemcpyAsync(out(i), in(i), bytes, gpuMemcpyDeviceToDevice, stream), "copying"); },
          options(full, sets.size()));
    });
    p.bytes = static_cast<double>(bytes);
    p.op = "read";
    p.notes = "own kernel";
    bench.point(p, [&] {
      return time_operation(
          stream, [&](int i) { read_bytes(in(i), bytes, sink.data(), stream); }, options(full, sets.size()));
    });
    p.op = "write";
    bench.point(p, [&] {
      return time_operation(
          stream, [&](int i) { write_bytes(out(i), bytes, static_cast<std::uint32_t>(i), stream); },
          options(full, sets.size()));
    });
    if (bytes > 2 * bench.l2) continue;
    p.op = "read_cached";
    p.notes = "own kernel; the same bytes again and again, so that the L2 cache holds what it can";
    bench.point(p, [&] {
      return time_operation(
          stream, [&](int) { read_bytes(pair.in.data(), bytes, sink.data(), stream); }, options(full, 1));
    });
  }
}

void measure_launches(Bench& bench, bool full) {
  Point p;
  p.op = "launch";
  p.notes = "empty kernels one after the other inside a graph";
  bench.point(p, [&] {
    return time_operation(
        bench.stream, [&](int) { do_nothing(bench.stream); }, options(full, 1));
  });
  p.op = "launch_eager";
  p.notes = "empty kernels launched one by one by the host";
  bench.point(p, [&] {
    TimingOptions o = options(full, 200);
    o.graph = false;
    return time_operation(
        bench.stream, [&](int) { do_nothing(bench.stream); }, o);
  });
  p.op = "graph_replay";
  p.notes = "a graph of one empty kernel, replayed one after the other";
  bench.point(p, [&] {
    const Graph graph(bench.stream, [&] { do_nothing(bench.stream); });
    TimingOptions o = options(full, 200);
    o.graph = false;
    return time_operation(
        bench.stream, [&](int) { graph.replay(bench.stream); }, o);
  });
}

void measure_host(Bench& bench, bool full) {
  constexpr std::size_t kBytes = 256 * kMiB;
  GpuBuffer<std::uint8_t> device(kBytes);
  void* host = nullptr;
  check(cudaMallocHost(&host, kBytes), "allocating pinned host memory");
  fill_random_fp8(device.data(), kBytes, 1, 3, bench.stream);
  for (const bool to_device : {true, false}) {
    Point p;
    p.op = to_device ? "h2d" : "d2h";
    p.bytes = static_cast<double>(kBytes);
    p.notes = "pinned memory";
    bench.point(p, [&] {
      TimingOptions o = options(full, 1);
      o.least = 5;
      return time_operation(
          bench.stream,
          [&](int) {
            check(to_device ? gpuMemcpyAsync(device.data(), host, kBytes, gpuMemcpyHostToDevice, bench.stream)
                            : gpuMemcpyAsync(host, device.data(), kBytes, gpuMemcpyDeviceToHost, bench.stream),
                  "copying between host and device");
          },
          o);
    });
  }
  (void)cudaFreeHost(host);
}

void measure_layers(Bench& bench, bool full) {
  const Pair pair(bench);
  const gpuStream_t stream = bench.stream;
  GpuBuffer<std::uint16_t> weight(16384);
  fill_random_bf16(weight.data(), weight.count(), 1, 4, stream);
  std::vector<int> tokens = {1, 16, 64, 256, 2048, 16384};
  if (full) tokens = {1, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  for (const int hidden : {4096, 8192}) {
    for (const int t : tokens) {
      const std::size_t elements = static_cast<std::size_t>(t) * hidden;
      if (2 * elements > pair.in.count()) continue;
      // Residual and what is added lie in one buffer, the result in the other.
      const auto sets = bench.rotate(2 * elements, 2, pair.in.count());
      Point p;
      p.op = "norm";
      p.format = "bf16";
      p.m = t;
      p.n = hidden;
      p.bytes = 4.0 * 2.0 * static_cast<double>(elements);
      p.notes = "residual added, root-mean-square norm; two read, two written";
      bench.point(p, [&] {
        return time_operation(
            stream,
            [&](int i) {
              std::uint16_t* at = pair.in.data() + sets[static_cast<std::size_t>(i) % sets.size()];
              add_norm(at, at + elements, weight.data(),
                       pair.out.data() + sets[static_cast<std::size_t>(i) % sets.size()], Narrow::no, t, hidden,
                       stream);
            },
            options(full, sets.size()));
      });
    }
  }
  constexpr int kWidth = 14336;
  for (const int t : tokens) {
    const std::size_t elements = static_cast<std::size_t>(t) * kWidth;
    if (2 * elements > pair.in.count()) continue;
    const auto sets = bench.rotate(2 * elements, 2, pair.in.count());
    Point p;
    p.op = "activation";
    p.format = "bf16";
    p.m = t;
    p.n = kWidth;
    p.bytes = 3.0 * 2.0 * static_cast<double>(elements);
    p.notes = "gated: two read, one written";
    bench.point(p, [&] {
      return time_operation(
          stream,
          [&](int i) {
            const std::size_t at = sets[static_cast<std::size_t>(i) % sets.size()];
            activate(pair.in.data() + at, pair.out.data() + at, Narrow::no, true, t, kWidth, stream);
          },
          options(full, sets.size()));
    });
  }
}

}  // namespace ridge::measure
