// What ridge-measure writes: a measurement of one device as TOML, with everything needed to judge it later.
//
//   Profile profile;
//   profile.facts.name = "NVIDIA H200";
//   profile.points.push_back({.op = "gemm", .format = "bf16", .m = 64, .n = 4096, .k = 4096, .seconds = 9.1e-6});
//   std::string text = to_toml(profile);          // kind = "measurement"; read back by evidence/measurement.hpp
//
// Figures are in base units (bytes, seconds, hertz, watts). A figure of zero was not measured and is left out. Pure.
#pragma once

#include <string>
#include <vector>

namespace ridge::measure {

/// The device as its driver describes it.
struct Facts {
  std::string name = {};    ///< "NVIDIA H200"
  std::string vendor = {};  ///< "NVIDIA"
  std::string driver = {};
  std::string runtime = {};    ///< "CUDA 13.0"
  std::string libraries = {};  ///< "cuBLASLt 13.1.0"
  std::string compute_capability = {};
  int multiprocessors = 0;
  int devices = 1;  ///< in the machine
  double memory_bytes = 0;
  double free_bytes = 0;
  double l2_bytes = 0;
  double boost_clock_hz = 0;
  double memory_clock_hz = 0;
  double power_limit_w = 0;
  int pcie_generation = 0;
  int pcie_width = 0;
};

/// What could spoil a measurement, as seen before, between and after the points.
struct Health {
  bool watched = false;     ///< false: no management library; nothing is known
  int other_processes = 0;  ///< on the device when the measurement began
  double busy_share = 0;    ///< utilisation when it began
  int newcomers = 0;        ///< processes that came while measuring, at most at a time
  double idle_watts = 0;
  double idle_clock_hz = 0;
  double hottest_celsius = 0;
  double uncorrected_errors = 0;            ///< of memory, that came up while measuring
  std::vector<std::string> throttled = {};  ///< reasons seen, "power limit" among them where large products reach it
};

/// One operator: the columns of data/evidence/kernels.csv, with the spread of its samples.
struct Point {
  std::string op = {};  ///< gemm, attn_prefill, attn_decode, moe_ffn, copy, read, write, h2d, d2h, launch, norm, ...
  std::string format = {};  ///< bf16, fp16, fp8; empty where nothing is computed
  double m = 0, n = 0, k = 0;
  double batch = 0, q_heads = 0, kv_heads = 0, head_dim = 0, q_len = 0, kv_len = 0;
  double experts = 0, top_k = 0, group = 0;
  double bytes = 0;
  double seconds = 0, low = 0, high = 0;  ///< median, 10th and 90th percentile
  int samples = 0;
  double clock_hz = 0;  ///< right after the samples
  std::string notes = {};
};

/// Steady work of one kind for a second or more.
struct Sustained {
  std::string work = {};
  double seconds = 0;     ///< per operation
  double rate = 0;        ///< per second, of what `unit` names
  std::string unit = {};  ///< "FLOP/s" or "B/s"
  double watts = 0;
  double clock_hz = 0;
  double celsius = 0;
  std::string throttled = {};
};

struct Skipped {
  std::string what = {};
  std::string why = {};
};

/// A step of a whole model, and its operators measured apart.
struct ModelStep {
  std::string model = {};      ///< its id or spec, where it is not the profile's
  std::string phase = {};      ///< prefill or decode
  std::string precision = {};  ///< of weights and activations
  double batch = 0, context = 0;
  int passes = 1;  ///< one after the other, each of batch / passes sequences; decode: 1
  double seconds = 0, low = 0, high = 0;
  int samples = 0;
  double watts = 0;
  double clock_hz = 0;
  struct Operator {
    std::string what = {};  ///< as `ridge estimate` names them
    double seconds = 0;     ///< all layers together
  };
  std::vector<Operator> operators = {};
};

struct Profile {
  std::string mode = {};  ///< quick, full, model
  std::string date = {};  ///< of its end, "2026-11-15T07:40:00Z"
  double took_seconds = 0;
  std::string model = {};   ///< mode model: its id
  std::string like = {};    ///< id of the catalogue's device, where the name does not say it
  std::string source = {};  ///< where it was measured, for profiles that are passed on
  Facts facts;
  Health health;
  std::vector<Point> points = {};
  std::vector<Sustained> sustained = {};
  std::vector<ModelStep> steps = {};
  std::vector<Skipped> skipped = {};
};

[[nodiscard]] std::string to_toml(const Profile& profile);

}  // namespace ridge::measure
