#include "measure/arguments.hpp"

#include <gtest/gtest.h>

namespace ridge::measure {
namespace {

TEST(MeasureArguments, QuickIsTheDefault) {
  const auto a = parse_arguments({"--out", "p.toml"});
  ASSERT_TRUE(a) << a.error().text();
  EXPECT_EQ(a->task, Task::measure);
  EXPECT_FALSE(a->full);
  EXPECT_EQ(a->out, "p.toml");
}

TEST(MeasureArguments, ListsAreTakenApart) {
  const auto a = parse_arguments({"model", "--batch", "1,8", "--context", "2048", "--precision", "fp8"});
  ASSERT_TRUE(a) << a.error().text();
  EXPECT_EQ(a->task, Task::model);
  EXPECT_EQ(a->batches, (std::vector<int>{1, 8}));
  EXPECT_EQ(a->contexts, std::vector<int>{2048});
  EXPECT_EQ(a->precisions, std::vector<std::string>{"fp8"});
}

TEST(MeasureArguments, WhatIsNotUnderstoodIsNamed) {
  const auto misspelt = parse_arguments({"--contxt", "1"});
  ASSERT_FALSE(misspelt);
  EXPECT_NE(misspelt.error().text().find("--contxt"), std::string::npos);
  const auto part = parse_arguments({"--only", "gems"});
  ASSERT_FALSE(part);
  EXPECT_NE(part.error().text().find("gems"), std::string::npos);
  EXPECT_FALSE(parse_arguments({"model", "--heads", "30", "--kv-heads", "8"}));
  EXPECT_FALSE(parse_arguments({"model", "--batch", "0"}));
  EXPECT_FALSE(parse_arguments({"--out"}));
}

TEST(MeasureArguments, ProductsMayBeAskedForOneByOne) {
  const auto a = parse_arguments({"products", "--force"});
  ASSERT_TRUE(a) << a.error().text();
  EXPECT_EQ(a->task, Task::products);
  EXPECT_FALSE(parse_arguments({"product"}));
}

TEST(MeasureArguments, EveryPartMayBeAskedFor) {
  for (const std::string& part : parts()) EXPECT_TRUE(parse_arguments({"--only", part})) << part;
}

}  // namespace
}  // namespace ridge::measure
