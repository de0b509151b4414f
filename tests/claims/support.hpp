// One catalogue and one checker for all tests of claims.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ridge/claims/claims.hpp"

namespace ridge::test {

inline const Catalogue& catalogue() {
  static const Catalogue loaded = [] {
    auto result = Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
    EXPECT_TRUE(result) << (result ? "" : result.error().text());
    return std::move(*result);
  }();
  return loaded;
}

inline const Checker& checker() {
  static const Checker loaded = [] {
    auto result = Checker::load(catalogue(), RIDGE_DATA_DIR);
    EXPECT_TRUE(result) << (result ? "" : result.error().text());
    return std::move(*result);
  }();
  return loaded;
}

/// The findings of a text.
inline Audit audit(std::string_view text) {
  auto result = checker().check_text(text, "text");
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result ? *result : Audit{};
}

/// The finding of one [[claim]].
inline Finding judged(std::string_view body) {
  auto claims = checker().read_toml("[[claim]]\n" + std::string(body), "claim.toml");
  EXPECT_TRUE(claims) << (claims ? "" : claims.error().text());
  if (!claims || claims->size() != 1) return {};
  return checker().check(*claims, "claim.toml").findings[0];
}

inline void expect_verdict(const Finding& f, Verdict verdict, double right = -1, double tolerance = 0.005) {
  EXPECT_EQ(name(f.verdict), name(verdict)) << f.claim.says << " | " << f.formula << " | " << f.because;
  if (right < 0) return;
  ASSERT_TRUE(f.right) << f.because;
  EXPECT_NEAR(f.right->value, right, tolerance * right) << f.formula;
}

}  // namespace ridge::test
