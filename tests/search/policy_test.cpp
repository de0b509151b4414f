// A misspelt word of a rule must never let more through.
#include "search/buyer/policy.hpp"

#include <gtest/gtest.h>

#include "search/buyer/buyer.hpp"
#include "support/bundle.hpp"

namespace ridge::search {
namespace {

const Policy& policy() {
  static const Result<Policy> kPolicy = load_policy(RIDGE_DATA_DIR "/policy");
  EXPECT_TRUE(kPolicy) << kPolicy.error().text();
  return *kPolicy;
}

TEST(Policy, ACountryIsKnownByItsCodesAndNamesInAnyCase) {
  for (const char* word : {"CN", "cn", "CHN", "chn", "China", "CHINA"}) {
    const auto to = policy().destination(word);
    ASSERT_TRUE(to) << word;
    EXPECT_EQ(to->code, "CN");
    EXPECT_TRUE(to->export_licence);
  }
  EXPECT_FALSE(policy().destination("Germany")->export_licence);
  EXPECT_FALSE(policy().destination("us")->export_licence);
}

TEST(Policy, ADestinationThatIsNotKnownIsRefusedAndNotTakenForOneWithoutRules) {
  for (const char* word : {"CHM", "Chian", "xx", "", "zz", "Atlantis", "cn "}) {
    const auto to = policy().destination(word);
    ASSERT_FALSE(to) << word;
    EXPECT_EQ(to.error().where, "⟦destination⟧");
  }
  EXPECT_NE(policy().destination("Chian").error().message.find("China"), std::string::npos);
}

// Chips that only their maker's cloud has are used where its regions are.
TEST(Policy, WhatIsRentedAloneIsNotUsedWhereItsMakerHasNone) {
  const auto elsewhere = [](const char* country) { return policy().rented_elsewhere(*policy().destination(country)); };
  EXPECT_EQ(elsewhere("CN"), (std::vector<std::string>{"Google", "AWS"}));
  EXPECT_EQ(elsewhere("NL"), (std::vector<std::string>{"AWS"}));
  EXPECT_TRUE(elsewhere("US").empty());
}

TEST(Policy, AnOriginThatNoVendorIsFromIsRefusedEvenBesideOneThatIs) {
  EXPECT_TRUE(policy().vendors_from({"US"}));
  EXPECT_TRUE(policy().vendors_from({"us", "CN"}));
  EXPECT_FALSE(policy().vendors_from({"US", "CM"}));
}

TEST(Policy, VendorsThatDoNotExistAreRefusedWithTheNearest) {
  const auto& b = testing_support::bundle();
  const Knowledge knowledge{b.catalogue, b.engines, b.calibration};
  for (const bool avoided : {false, true}) {
    Buyer buyer;
    (avoided ? buyer.avoid_vendors : buyer.vendors) = {"NVIDA"};
    const auto found = candidates(buyer, Objective::cost, knowledge);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().where, avoided ? "⟦avoid_vendors⟧" : "⟦vendors⟧");
    EXPECT_NE(found.error().message.find("NVIDIA"), std::string::npos) << found.error().message;
  }
  Buyer buyer;
  buyer.avoid_vendors = {"nvidia"};
  const auto found = candidates(buyer, Objective::cost, knowledge);
  ASSERT_TRUE(found);
  for (const Device& device : found->devices) EXPECT_NE(device.vendor, "NVIDIA");
}

}  // namespace
}  // namespace ridge::search
