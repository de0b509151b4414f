// A management library that says what a test wants to hear: found before the real one, it makes faults that no one can
// or may cause on a real board.
//
//   RIDGE_FAKE_NVML=heat RIDGE_FAKE_FROM=2 RIDGE_FAKE_UNTIL=4 LD_LIBRARY_PATH=folder ridge-measure ...
//
// heat: clocks slowed by heat; memory: errors that could not be corrected, more and more; process: somebody else
// computes. From and until in seconds after its start; anything else, and outside them: a healthy board. All calls
// succeed.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

double started = 0;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double number(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atof(text) : otherwise;
}

/// Seconds that the fault has lasted; 0 where it is not on.
double lasted(std::string_view fault) {
  const char* wanted = std::getenv("RIDGE_FAKE_NVML");
  const double now = seconds() - started, from = number("RIDGE_FAKE_FROM", 0);
  if (wanted == nullptr || wanted != fault || now < from) return 0;
  return now - from + 1e-9;
}

bool is_on(std::string_view fault) {
  return lasted(fault) > 0 && seconds() - started < number("RIDGE_FAKE_UNTIL", 1e9);
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  started = seconds();
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* /*bus*/, void** device) {
  *device = &started;
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::strncpy(text, "fake", size);
  return 0;
}
int nvmlDeviceGetPowerUsage(void* /*device*/, unsigned* milliwatts) {
  *milliwatts = 300000;
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void* /*device*/, unsigned* milliwatts) {
  *milliwatts = 700000;
  return 0;
}
int nvmlDeviceGetClockInfo(void* /*device*/, unsigned which, unsigned* megahertz) {
  *megahertz = which == 2 ? 3201 : 1500;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void* /*device*/, unsigned which, unsigned* megahertz) {
  *megahertz = which == 2 ? 3201 : 1980;
  return 0;
}
int nvmlDeviceGetTemperature(void* /*device*/, unsigned /*which*/, unsigned* celsius) {
  *celsius = is_on("heat") ? 92 : 50;
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* /*device*/, unsigned long long* millijoules) {
  *millijoules = static_cast<unsigned long long>(300000 * (seconds() - started));
  return 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void* /*device*/, unsigned long long* bits) {
  *bits = is_on("heat") ? 0x20 : 0;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* /*device*/, unsigned* gpu_and_memory) {
  gpu_and_memory[0] = gpu_and_memory[1] = 0;
  return 0;
}
// 1 + the number of milliseconds that the fault has been on.
int nvmlDeviceGetTotalEccErrors(void* /*device*/, int /*kind*/, int /*counter*/, unsigned long long* count) {
  const double most = number("RIDGE_FAKE_UNTIL", 1e9) - number("RIDGE_FAKE_FROM", 0);
  const double on = std::min(lasted("memory"), most);
  *count = on > 0 ? 1 + static_cast<unsigned long long>(1000 * on) : 0;
  return 0;
}
// Each entry: pid, memory, two instances; 24 bytes. Process 1 is never this one.
int nvmlDeviceGetComputeRunningProcesses_v3(void* /*device*/, unsigned* count, void* entries) {
  *count = is_on("process") ? 1 : 0;
  if (*count == 1) {
    const unsigned first = 1;
    std::memset(entries, 0, 24);
    std::memcpy(entries, &first, sizeof(first));
  }
  return 0;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void* /*device*/, unsigned* value) {
  *value = 5;
  return 0;
}
int nvmlDeviceGetMaxPcieLinkWidth(void* /*device*/, unsigned* value) {
  *value = 16;
  return 0;
}

}  // extern "C"
