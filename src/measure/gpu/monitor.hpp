// Clocks, power, throttling and errors of a device through NVIDIA's management library, loaded at run time.
//
//   Monitor monitor("0000:1b:00.0");
//   Reading now = monitor.read();          // zeros and an empty text where the library or a figure is missing
//   monitor.driver();
//
// Reads only, never sets anything. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ridge::measure {

struct Reading {
  double watts = 0;
  double clock_hz = 0;
  double memory_clock_hz = 0;
  double celsius = 0;
  double joules = 0;           ///< since the driver was loaded
  std::uint64_t throttle = 0;  ///< bits of the reasons why clocks are below the highest
};

/// The reasons by name. The power limit is among them; it is what large products run into on most boards.
[[nodiscard]] std::vector<std::string> throttle_reasons(std::uint64_t bits);
/// The reason that makes a figure worthless: heat or a fault of power, not the power limit itself. Empty: none does.
[[nodiscard]] std::string spoiling_reason(std::uint64_t bits);

class Monitor {
 public:
  explicit Monitor(const std::string& pci_bus_id);
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor();

  [[nodiscard]] bool available() const { return device_ != nullptr; }
  [[nodiscard]] Reading read() const;
  [[nodiscard]] std::string driver() const;
  [[nodiscard]] double power_limit_w() const;
  [[nodiscard]] double most_clock_hz() const;
  [[nodiscard]] double most_memory_clock_hz() const;
  [[nodiscard]] int other_processes() const;
  [[nodiscard]] double busy_share() const;
  [[nodiscard]] double uncorrected_errors() const;
  [[nodiscard]] int pcie_generation() const;
  [[nodiscard]] int pcie_width() const;

 private:
  template <class... Args>
  int call(const char* function, Args... args) const;

  void* library_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace ridge::measure
