// The bundled catalogue, engines and calibration, loaded once for all tests of one program.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "ridge/inference.hpp"

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
      ADD_FAILURE() << "the bundled data does not load";
      std::abort();
    }
    return Bundle{std::move(*catalogue), std::move(*engines), std::move(*calibration)};
  }();
  return loaded;
}

inline Knowledge knowledge() {
  return {bundle().catalogue, bundle().engines, bundle().calibration};
}

/// The answer to a query; a failed resolve() fails the test.
inline InferenceOutcome answer(const InferenceQuery& query) {
  const auto deployment = resolve(query, knowledge());
  EXPECT_TRUE(deployment) << deployment.error().text();
  return deployment ? evaluate(*deployment->resolved, query.load) : InferenceOutcome{};
}

}  // namespace ridge::testing_support
