#include "app/cli/line/completion.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/cli/verbs.hpp"

namespace ridge::cli {
namespace {

std::vector<std::string> offers(std::vector<std::string> words) {
  Surroundings around;
  around.data_variable = RIDGE_DATA_DIR;
  return complete(words, verbs(), around);
}

bool offered(const std::vector<std::string>& all, std::string_view word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

TEST(Completion, OffersVerbsFirst) {
  EXPECT_TRUE(offered(offers({""}), "show"));
  EXPECT_EQ(offers({"sho"}), std::vector<std::string>{"show"});
  EXPECT_EQ(offers({"--json", "sho"}), std::vector<std::string>{"show"});
  EXPECT_EQ(offers({"help", "sho"}), std::vector<std::string>{"show"});
  EXPECT_TRUE(offers({"nonsense", ""}).empty());
}

TEST(Completion, OffersKindsAndIds) {
  EXPECT_TRUE(offered(offers({"show", ""}), "devices"));
  EXPECT_EQ(offers({"show", "dgx-h2"}), std::vector<std::string>{"dgx-h200"});
  EXPECT_TRUE(offered(offers({"show", "devices", "h"}), "h200-sxm"));
  EXPECT_FALSE(offered(offers({"show", "devices", "d"}), "dgx-h200"));
}

TEST(Completion, OffersOptionsOfTheVerbAndOfAll) {
  EXPECT_EQ(offers({"show", "--wh"}), std::vector<std::string>{"--where"});
  EXPECT_TRUE(offered(offers({"show", "--"}), "--json"));
  EXPECT_FALSE(offered(offers({"completion", "--"}), "--where"));
  EXPECT_FALSE(offered(offers({"show", "--"}), "--ids"));
}

TEST(Completion, OffersValuesWhereItKnowsThem) {
  EXPECT_EQ(offers({"show", "devices", "--vendor", "NV"}), std::vector<std::string>{"NVIDIA"});
  EXPECT_TRUE(offered(offers({"show", "prices", "--kind", ""}), "on_demand"));
  EXPECT_TRUE(offers({"show", "devices", "--limit", ""}).empty());
  EXPECT_EQ(offers({"--catalogue", ""}), std::vector<std::string>{"@files"});
  EXPECT_EQ(offers({"--data", "x"}), std::vector<std::string>{"@directories"});
}

TEST(Completion, GoesOnInsideAListOfKeysAndAfterTheSignOfAKey) {
  EXPECT_EQ(offers({"show", "devices", "--columns", "id,memory_b"}), std::vector<std::string>{"id,memory_bandwidth"});
  EXPECT_EQ(offers({"show", "devices", "--sort", "-memory_b"}), std::vector<std::string>{"-memory_bandwidth"});
}

TEST(Completion, ReadsTheDataThatTheLineNames) {
  EXPECT_TRUE(offers({"--data", "/nowhere", "show", "h200"}).empty());
}

}  // namespace
}  // namespace ridge::cli
