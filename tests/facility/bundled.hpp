// The bundled catalogue and facility data, loaded once for all tests of this program.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "ridge/facility.hpp"
#include "ridge/inference.hpp"

namespace ridge::testing_support {

struct Bundle {
  Catalogue catalogue;
  Engines engines;
  Calibration calibration;
  FacilityData facility;
};

inline const Bundle& bundle() {
  static const Bundle loaded = [] {
    const std::string data = RIDGE_DATA_DIR;
    auto catalogue = Catalogue::load({.data_directory = data, .overlays = {}, .price_lists = {}});
    auto engines = load_engines(data + "/engines");
    auto calibration = load_calibration(data + "/calibration");
    if (!catalogue) std::cerr << catalogue.error().text() << "\n";
    if (!catalogue || !engines || !calibration) std::abort();
    auto facility = load_facility(data + "/facility", *catalogue);
    if (!facility) {
      std::cerr << facility.error().text() << "\n";
      std::abort();
    }
    return Bundle{std::move(*catalogue), std::move(*engines), std::move(*calibration), std::move(*facility)};
  }();
  return loaded;
}

inline Knowledge knowledge() {
  return {bundle().catalogue, bundle().engines, bundle().calibration};
}

}  // namespace ridge::testing_support
