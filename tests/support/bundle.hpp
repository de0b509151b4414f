// The bundled catalogue, engines and calibration, loaded once for all tests or benchmarks of one program.
//
//   const Result<InferenceDeployment> d = resolve(query, testing_support::knowledge());
//
// Ends the program if they do not load. Any thread.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ridge/perf/inference.hpp"

namespace ridge::testing_support {

struct Bundle {
  Catalogue catalogue;
  Engines engines;
  Calibration calibration;
};

inline const Bundle& bundle() {
  static const Bundle loaded = [] {
    const std::string data = RIDGE_DATA_DIR;
    auto catalogue = Catalogue::load({.data_directory = data, .overlays = {}, .price_lists = {}});
    auto engines = load_engines(data + "/engines");
    auto calibration = load_calibration(data + "/calibration");
    if (!catalogue || !engines || !calibration) {
      std::fputs("the bundled data does not load\n", stderr);
      std::abort();
    }
    return Bundle{std::move(*catalogue), std::move(*engines), std::move(*calibration)};
  }();
  return loaded;
}

inline Knowledge knowledge() {
  return {bundle().catalogue, bundle().engines, bundle().calibration};
}

}  // namespace ridge::testing_support
