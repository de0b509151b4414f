// Collectives among the GPUs of one machine through NCCL, loaded at run time where there are several.
#include <dlfcn.h>

#include <array>

#include "measure/gpu/bytes.hpp"
#include "measure/gpu/suite.hpp"

namespace ridge::measure {
namespace {

// Values of nccl.h; the library may be there without its header.
constexpr int kFloat16 = 6, kSum = 0;

struct Nccl {
  using Communicator = void*;
  int (*init_all)(Communicator*, int, const int*) = nullptr;
  int (*destroy)(Communicator) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Communicator, cudaStream_t) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, Communicator, cudaStream_t) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, Communicator, cudaStream_t) = nullptr;
  const char* (*error)(int) = nullptr;
  void* library = nullptr;

  Nccl() {
    library = dlopen("libnccl.so.2", RTLD_NOW);
    if (library == nullptr) throw GpuFailure{"NCCL is not installed (libnccl.so.2)"};
    const auto load = [this](auto& into, const char* name) {
      into = reinterpret_cast<std::decay_t<decltype(into)>>(dlsym(library, name));
      if (into == nullptr) throw GpuFailure{std::string("NCCL lacks ") + name};
    };
    load(init_all, "ncclCommInitAll");
    load(destroy, "ncclCommDestroy");
    load(group_start, "ncclGroupStart");
    load(group_end, "ncclGroupEnd");
    load(all_reduce, "ncclAllReduce");
    load(all_gather, "ncclAllGather");
    load(reduce_scatter, "ncclReduceScatter");
    load(error, "ncclGetErrorString");
  }
  void check(int code, const char* what) const {
    if (code != 0) throw GpuFailure{std::string(what) + ": " + error(code)};
  }
};

struct Rank {
  Nccl::Communicator communicator = nullptr;
  cudaStream_t stream = nullptr;
  GpuBuffer<std::uint16_t> in, out;
};

}  // namespace

void measure_collectives(Bench& bench, bool full) {
  const int devices = bench.profile.facts.devices;
  if (devices < 2) return;
  const Nccl nccl;
  constexpr std::size_t kMost = 256u << 20;  // bytes of the full buffer
  int own = 0;
  check(cudaGetDevice(&own), "asking for the device");
  std::vector<Nccl::Communicator> communicators(static_cast<std::size_t>(devices));
  nccl.check(nccl.init_all(communicators.data(), devices, nullptr), "starting NCCL");
  std::vector<Rank> ranks(static_cast<std::size_t>(devices));
  for (int i = 0; i < devices; ++i) {
    Rank& rank = ranks[static_cast<std::size_t>(i)];
    check(cudaSetDevice(i), "choosing a device");
    check(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking), "creating a stream");
    rank.communicator = communicators[static_cast<std::size_t>(i)];
    rank.in = GpuBuffer<std::uint16_t>(kMost / 2);
    rank.out = GpuBuffer<std::uint16_t>(kMost / 2);
    fill_random_bf16(rank.in.data(), rank.in.count(), 1, static_cast<std::uint32_t>(50 + i), rank.stream);
    check(gpuStreamSynchronize(rank.stream), "filling a buffer");
  }
  static constexpr std::array<const char*, 3> kNames = {"allreduce", "allgather", "reducescatter"};
  for (std::size_t op = 0; op < kNames.size(); ++op) {
    for (std::size_t bytes = 4096; bytes <= kMost; bytes *= full ? 4 : 16) {
      const std::size_t whole = bytes / 2, part = whole / static_cast<std::size_t>(devices);
      Point p;
      p.op = kNames[op];
      p.format = "fp16";
      p.group = devices;
      p.bytes = static_cast<double>(bytes);
      p.notes = "NCCL, one node; full buffer (nccl-tests convention)";
      bench.point(p, [&] {
        const auto once = [&] {
          nccl.check(nccl.group_start(), "a collective");
          for (Rank& r : ranks) {
            const int code =
                op == 0 ? nccl.all_reduce(r.in.data(), r.out.data(), whole, kFloat16, kSum, r.communicator, r.stream)
                : op == 1
                    ? nccl.all_gather(r.in.data(), r.out.data(), part, kFloat16, r.communicator, r.stream)
                    : nccl.reduce_scatter(r.in.data(), r.out.data(), part, kFloat16, kSum, r.communicator, r.stream);
            nccl.check(code, "a collective");
          }
          nccl.check(nccl.group_end(), "a collective");
        };
        const auto wait = [&] {
          for (Rank& r : ranks) check(gpuStreamSynchronize(r.stream), "waiting for a collective");
        };
        constexpr int kInner = 20, kSamples = 15;
        check(cudaSetDevice(0), "choosing a device");
        const Events events(2);
        for (int i = 0; i < 5; ++i) once();
        wait();
        std::vector<double> times;
        for (int s = 0; s < kSamples; ++s) {
          check(cudaSetDevice(0), "choosing a device");
          events.record(0, ranks[0].stream);
          for (int i = 0; i < kInner; ++i) once();
          check(cudaSetDevice(0), "choosing a device");
          events.record(1, ranks[0].stream);
          times.push_back(events.between(0, 1) / kInner);
          wait();
        }
        return summarise(std::move(times));
      });
    }
  }
  for (Rank& r : ranks) {
    (void)nccl.destroy(r.communicator);
    (void)cudaStreamDestroy(r.stream);
  }
  check(cudaSetDevice(own), "choosing the device");
}

}  // namespace ridge::measure
