// What sites are built of, beside the bundled catalogue: loaded once for all tests of this program.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ridge/facility/facility.hpp"
#include "support/bundle.hpp"

namespace ridge::testing_support {

inline const FacilityData& facility_data() {
  static const FacilityData loaded = [] {
    auto facility = load_facility(std::string(RIDGE_DATA_DIR) + "/facility", bundle().catalogue);
    if (!facility) {
      std::fputs((facility.error().text() + "\n").c_str(), stderr);
      std::abort();
    }
    return std::move(*facility);
  }();
  return loaded;
}

}  // namespace ridge::testing_support
