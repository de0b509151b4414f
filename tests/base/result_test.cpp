#include "ridge/base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace ridge {
namespace {

TEST(Result, HoldsAValueOrTheReasonWhyNot) {
  const Result<int> value = 3;
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, 3);
  const Result<int> error = Error{ErrorCode::refused, "--tp", "17 does not divide 32 heads"};
  EXPECT_FALSE(error);
  EXPECT_EQ(error.error().code, ErrorCode::refused);
  EXPECT_EQ(error.error().text(), "--tp: 17 does not divide 32 heads");
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<std::string>> result = std::make_unique<std::string>("x");
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)->size(), 1u);
  const std::unique_ptr<std::string> owned = *std::move(result);
  EXPECT_EQ(*owned, "x");
}

TEST(Result, MayHoldAStringBesideItsError) {
  const Result<std::string> text = std::string("fine");
  EXPECT_EQ(text->size(), 4u);
}

TEST(Status, IsFineUntilItHasAnError) {
  EXPECT_TRUE(Status());
  const Status failed = Error{ErrorCode::not_found, "", "no such thing"};
  EXPECT_FALSE(failed);
  EXPECT_EQ(failed.error().text(), "no such thing");
}

}  // namespace
}  // namespace ridge
