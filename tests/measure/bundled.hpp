// The bundled catalogue, engines and calibration, loaded once.
#pragma once

#include <gtest/gtest.h>

#include "ridge/catalogue/calibration.hpp"
#include "ridge/catalogue/catalogue.hpp"
#include "ridge/catalogue/engine.hpp"

namespace ridge::evidence {

inline const Catalogue& bundled_catalogue() {
  static const Result<Catalogue> loaded =
      Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}, .texts = {}});
  return *loaded;
}
inline const Engines& bundled_engines() {
  static const Result<Engines> loaded = load_engines(RIDGE_DATA_DIR "/engines");
  return *loaded;
}
inline const Calibration& bundled_calibration() {
  static const Result<Calibration> loaded = load_calibration(RIDGE_DATA_DIR "/calibration");
  return *loaded;
}

}  // namespace ridge::evidence
