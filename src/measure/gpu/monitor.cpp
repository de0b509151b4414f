#include "measure/gpu/monitor.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>

namespace ridge::measure {
namespace {

// Values of nvml.h, which machines without the management kit do not have.
constexpr unsigned kSmClock = 1, kMemoryClock = 2, kTemperatureGpu = 0;
constexpr int kUncorrected = 1, kVolatile = 0;
constexpr int kBufferTooSmall = 7;

struct Reason {
  std::uint64_t bit;
  const char* name;
  bool spoils;
};
constexpr std::array<Reason, 6> kReasons = {{{0x4, "power limit", false},
                                             {0x8, "hardware slowdown", true},
                                             {0x20, "thermal, by software", true},
                                             {0x40, "thermal, by hardware", true},
                                             {0x80, "power brake", true},
                                             {0x10, "clocks tied to another device", false}}};

struct Utilization {
  unsigned gpu = 0, memory = 0;
};
struct ProcessInfo {
  unsigned pid = 0;
  unsigned long long memory = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};

}  // namespace

std::vector<std::string> throttle_reasons(std::uint64_t bits) {
  std::vector<std::string> out;
  for (const Reason& reason : kReasons) {
    if ((bits & reason.bit) != 0) out.emplace_back(reason.name);
  }
  return out;
}

std::string spoiling_reason(std::uint64_t bits) {
  for (const Reason& reason : kReasons) {
    if ((bits & reason.bit) != 0 && reason.spoils) return std::string("clocks were slowed: ") + reason.name;
  }
  return {};
}

template <class... Args>
int Monitor::call(const char* function, Args... args) const {
  if (library_ == nullptr) return -1;
  void* symbol = dlsym(library_, function);
  if (symbol == nullptr) return -1;
  return reinterpret_cast<int (*)(Args...)>(symbol)(args...);
}

Monitor::Monitor(const std::string& pci_bus_id) {
  library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library_ == nullptr) return;
  if (call("nvmlInit_v2") != 0) return;
  void* device = nullptr;
  if (call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &device) == 0) device_ = device;
}

Monitor::~Monitor() {
  if (library_ == nullptr) return;
  (void)call("nvmlShutdown");
  dlclose(library_);
}

Reading Monitor::read() const {
  Reading r;
  if (!available()) return r;
  unsigned value = 0;
  unsigned long long wide = 0;
  if (call("nvmlDeviceGetPowerUsage", device_, &value) == 0) r.watts = value * 1e-3;
  if (call("nvmlDeviceGetClockInfo", device_, kSmClock, &value) == 0) r.clock_hz = value * 1e6;
  if (call("nvmlDeviceGetClockInfo", device_, kMemoryClock, &value) == 0) r.memory_clock_hz = value * 1e6;
  if (call("nvmlDeviceGetTemperature", device_, kTemperatureGpu, &value) == 0) r.celsius = value;
  if (call("nvmlDeviceGetTotalEnergyConsumption", device_, &wide) == 0) r.joules = static_cast<double>(wide) * 1e-3;
  if (call("nvmlDeviceGetCurrentClocksEventReasons", device_, &wide) == 0 ||
      call("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &wide) == 0) {
    r.throttle = wide;
  }
  return r;
}

std::string Monitor::driver() const {
  std::array<char, 96> text{};
  return call("nvmlSystemGetDriverVersion", text.data(), static_cast<unsigned>(text.size())) == 0 ? text.data() : "";
}

double Monitor::power_limit_w() const {
  unsigned value = 0;
  return available() && call("nvmlDeviceGetEnforcedPowerLimit", device_, &value) == 0 ? value * 1e-3 : 0;
}

double Monitor::most_clock_hz() const {
  unsigned value = 0;
  return available() && call("nvmlDeviceGetMaxClockInfo", device_, kSmClock, &value) == 0 ? value * 1e6 : 0;
}

double Monitor::most_memory_clock_hz() const {
  unsigned value = 0;
  return available() && call("nvmlDeviceGetMaxClockInfo", device_, kMemoryClock, &value) == 0 ? value * 1e6 : 0;
}

int Monitor::other_processes() const {
  if (!available()) return 0;
  std::array<ProcessInfo, 64> found{};
  auto count = static_cast<unsigned>(found.size());
  const int code = call("nvmlDeviceGetComputeRunningProcesses_v3", device_, &count, found.data());
  if (code == kBufferTooSmall) return static_cast<int>(count);
  if (code != 0) return 0;
  int others = 0;
  const auto own = static_cast<unsigned>(getpid());
  for (unsigned i = 0; i < count && i < found.size(); ++i) others += found[i].pid != own ? 1 : 0;
  return others;
}

double Monitor::busy_share() const {
  Utilization u;
  return available() && call("nvmlDeviceGetUtilizationRates", device_, &u) == 0 ? u.gpu * 0.01 : 0;
}

double Monitor::uncorrected_errors() const {
  unsigned long long count = 0;
  const bool read = available() && call("nvmlDeviceGetTotalEccErrors", device_, kUncorrected, kVolatile, &count) == 0;
  return read ? static_cast<double>(count) : 0;
}

int Monitor::pcie_generation() const {
  unsigned value = 0;
  return available() && call("nvmlDeviceGetMaxPcieLinkGeneration", device_, &value) == 0 ? static_cast<int>(value) : 0;
}

int Monitor::pcie_width() const {
  unsigned value = 0;
  return available() && call("nvmlDeviceGetMaxPcieLinkWidth", device_, &value) == 0 ? static_cast<int>(value) : 0;
}

}  // namespace ridge::measure
