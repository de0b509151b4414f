// The bundled catalogue, alone or with a file of the test's own.
//
//   EXPECT_EQ(bundled().system("dgx-h100")->devices(), 8);
//   EXPECT_TRUE(contains(refusal_of("[[system]]\n..."), "did you mean"));
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "ridge/catalogue/catalogue.hpp"

namespace ridge::testing_support {

inline ::testing::AssertionResult contains(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << '"' << text << "\" does not contain \"" << part << '"';
}

inline ::testing::AssertionResult starts_with(std::string_view text, std::string_view start) {
  if (text.substr(0, start.size()) == start) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << '"' << text << "\" does not start with \"" << start << '"';
}

/// Loaded once; a broken catalogue ends the program with the reason.
inline const Catalogue& bundled() {
  static const Catalogue catalogue = [] {
    Result<Catalogue> loaded = Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
    if (!loaded) {
      ADD_FAILURE() << loaded.error().text();
      std::abort();
    }
    return *std::move(loaded);
  }();
  return catalogue;
}

/// A file of the running test; its path.
inline std::string write_test_file(const std::string& name, std::string_view text) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string path = ::testing::TempDir() + test->test_suite_name() + "." + test->name() + "." + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

inline Result<Catalogue> load_with_overlay(std::string_view toml) {
  return Catalogue::load(
      {.data_directory = RIDGE_DATA_DIR, .overlays = {write_test_file("mine.toml", toml)}, .price_lists = {}});
}

inline Result<Catalogue> load_with_price_list(const std::string& name, std::string_view csv) {
  return Catalogue::load(
      {.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {write_test_file(name, csv)}});
}

/// What the loader says against an overlay: "mine.toml:3:8: ...", or empty if it takes it.
inline std::string refusal_of(std::string_view toml) {
  const Result<Catalogue> loaded = load_with_overlay(toml);
  if (loaded) return "";
  const std::string text = loaded.error().text();
  const std::size_t file = text.find("mine.toml");
  return file == std::string::npos ? text : text.substr(file);
}

}  // namespace ridge::testing_support
