// ridge-measure: measures the GPU in front of it. See docs/measure.md.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <thread>

#include "measure/arguments.hpp"
#include "measure/gpu/model_run.hpp"
#include "measure/gpu/self_check.hpp"
#include "measure/gpu/suite.hpp"
#include "ridge/base/file.hpp"

namespace ridge::measure {
namespace {

constexpr int kFine = 0, kBadInput = 1, kRefused = 2, kCheckFailed = 3;
constexpr double kBusy = 0.05;  // utilisation from which a device counts as used by others

int fail(const std::string& text, int code) {
  std::fprintf(stderr, "ridge-measure: %s\n", text.c_str());
  return code;
}

std::string now() {
  std::array<char, 32> text{};
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

volatile std::sig_atomic_t stop_asked = 0;

void ask_to_stop(int) {
  stop_asked = 1;
}

/// A bar on a terminal; nothing elsewhere.
void show_progress(double share, const std::string& what) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (!terminal) return;
  std::fprintf(stderr, "\r\033[Kmeasuring %3.0f %%  %s", 100 * share, what.c_str());
  std::fflush(stderr);
}

void clear_progress() {
  if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K");
}

void print_summary(const Profile& profile) {
  std::fprintf(stderr, "%s: %zu points, %zu steps, %zu skipped, %.1f s\n", profile.facts.name.c_str(),
               profile.points.size(), profile.steps.size(), profile.skipped.size(), profile.took_seconds);
  for (const Sustained& s : profile.sustained) {
    std::fprintf(stderr, "  %-44s %8.1f %s  %6.1f W  %5.0f MHz  %s\n", s.work.c_str(), s.rate * 1e-12,
                 s.unit == "B/s" ? "TB/s   " : "TFLOP/s", s.watts, s.clock_hz * 1e-6, s.throttled.c_str());
  }
  double copy = 0;
  for (const Point& p : profile.points) {
    if (p.op == "copy" && p.bytes > 1e9) copy = std::max(copy, p.bytes / p.seconds);
  }
  if (copy > 0) std::fprintf(stderr, "  copy of a gigabyte and more: %.3f TB/s\n", copy * 1e-12);
  for (const Skipped& s : profile.skipped) std::fprintf(stderr, "  skipped %s: %s\n", s.what.c_str(), s.why.c_str());
}

int check_and_print(Bench& bench) {
  bool good = true;
  for (const CheckLine& line : check_kernels(bench)) {
    std::printf("%-60s relative error %.2e, allowed %.0e  %s\n", line.what.c_str(), line.error, line.allowed,
                line.good() ? "ok" : "WRONG");
    good = good && line.good();
  }
  return good ? kFine : kCheckFailed;
}

/// The driver's figure is an average: work that just ended is still in it for a moment.
double busy_share_of_others(const Monitor& monitor) {
  constexpr int kLooks = 10;
  double share = monitor.busy_share();
  for (int i = 0; i < kLooks && share > kBusy && monitor.other_processes() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    share = monitor.busy_share();
  }
  return share;
}

int run(const Arguments& arguments) {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code != cudaSuccess || devices == 0) {
    return fail(std::string("there is no GPU to measure") +
                    (code == cudaSuccess ? "" : std::string(": ") + cudaGetErrorString(code)),
                kBadInput);
  }
  if (arguments.device >= devices) {
    return fail("--device " + std::to_string(arguments.device) + ": there are " + std::to_string(devices) + ", from 0",
                kBadInput);
  }
  std::array<char, 64> bus{};
  check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), arguments.device), "finding the device");
  Monitor monitor(bus.data());
  Profile profile;
  profile.health.watched = monitor.available();
  profile.health.other_processes = monitor.other_processes();
  profile.health.busy_share = busy_share_of_others(monitor);
  const Reading idle = monitor.read();
  profile.health.idle_watts = idle.watts;
  profile.health.idle_clock_hz = idle.clock_hz;
  if ((profile.health.other_processes > 0 || profile.health.busy_share > kBusy) && !arguments.force) {
    return fail("the GPU is in use by others (" + std::to_string(profile.health.other_processes) +
                    " processes); wait, or measure it as it is with --force, which the profile will say",
                kRefused);
  }
  profile.facts = device_facts(arguments.device, monitor);
  profile.mode = arguments.task == Task::model ? "model" : arguments.full ? "full" : "quick";
  if (arguments.task == Task::model) profile.model = arguments.model.name;

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  Bench bench(arguments.device, monitor, profile, show_progress, [] { return stop_asked != 0; });
  if (arguments.task == Task::check) return check_and_print(bench);
  if (arguments.task == Task::products) {
    answer_products(bench, std::cin, std::cout);
    return kFine;
  }
  if (arguments.task == Task::model) {
    run_model(bench, arguments);
  } else {
    measure_all(bench, arguments);
  }
  clear_progress();
  if (stop_asked != 0) profile.skipped.push_back({"the rest", "interrupted"});
  profile.took_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  profile.date = now();
  const std::string text = to_toml(profile);
  if (arguments.out.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else if (const Status written = write_file_atomically(arguments.out, text); !written) {
    return fail(written.error().text(), kBadInput);
  }
  print_summary(profile);
  if (!bench.times.empty()) std::fprintf(stderr, "  %s\n", bench.times.c_str());
  const bool nothing = profile.points.empty() && profile.sustained.empty() && profile.steps.empty();
  return nothing ? fail("nothing was measured", kRefused) : kFine;
}

}  // namespace
}  // namespace ridge::measure

int main(int argc, char** argv) {
  using namespace ridge::measure;  // NOLINT(google-build-using-namespace): the program itself
  const ridge::Result<Arguments> arguments = parse_arguments({argv + 1, argv + argc});
  if (!arguments) return fail(arguments.error().text(), kBadInput);
  if (arguments->task == Task::help) {
    std::fputs(usage().c_str(), stdout);
    return kFine;
  }
  try {
    return run(*arguments);
  } catch (const GpuFailure& failure) {
    return fail(failure.text, failure.out_of_memory ? kRefused : kBadInput);
  }
}
