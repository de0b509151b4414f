// Devices, rates and random shapes for the tests of operator times.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "perf/operators/kernels.hpp"
#include "ridge/base/random.hpp"
#include "support/knowledge.hpp"

namespace ridge::testing_support {

/// Rates of a bundled device; a device that is refused fails the test.
inline perf::DeviceRates rates_of(const std::string& id) {
  const auto device = bundle().catalogue.find_device(id);
  EXPECT_TRUE(device) << id;
  const auto rates = perf::device_rates(*device, bundle().catalogue, bundle().calibration);
  EXPECT_TRUE(rates) << rates.error().text();
  return *rates;
}

/// Every device of the catalogue whose figures are public.
inline std::vector<perf::DeviceRates> all_rates() {
  std::vector<perf::DeviceRates> out;
  for (const Device& device : bundle().catalogue.devices()) {
    const auto rates = perf::device_rates(device, bundle().catalogue, bundle().calibration);
    if (rates) out.push_back(*rates);
  }
  EXPECT_GT(out.size(), 40u);
  return out;
}

/// Spread evenly over the magnitudes between low and high, whole.
inline double size_between(Random& draws, double low, double high) {
  return std::floor(low * std::exp(draws.uniform() * std::log(high / low)));
}

inline const Calibration& calibration() {
  return bundle().calibration;
}

}  // namespace ridge::testing_support
