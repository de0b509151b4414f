#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bundled.hpp"

namespace ridge {
namespace {

using testing_support::bundled;
using testing_support::contains;
using testing_support::load_with_price_list;

constexpr std::string_view kSkyPilot =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n";
constexpr std::string_view kPlain = "item,kind,provider,unit,price,currency,date,region,device,source\n";

/// The prices of the list alone, in its order.
std::vector<Price> added(const Catalogue& catalogue) {
  return {catalogue.prices().begin() + static_cast<std::ptrdiff_t>(bundled().prices().size()),
          catalogue.prices().end()};
}

double dollars_per_hour(const Price& price) {
  return price.per_gpu_hour ? price.per_gpu_hour->value() * 3600 : 0;
}

Result<Catalogue> load(std::string_view header, std::string_view rows) {
  return load_with_price_list("list.csv", std::string(header) + std::string(rows));
}

/// "list.csv:2:3: ...", or empty if it is taken.
std::string refusal_of(std::string_view header, std::string_view rows) {
  const auto loaded = load(header, rows);
  if (loaded) return "";
  const std::string text = loaded.error().text();
  return text.substr(std::min(text.find("list.csv"), text.size()));
}

TEST(SkyPilotList, InstancePriceIsSharedByItsAccelerators) {
  const auto loaded =
      load(kSkyPilot, "p5.48xlarge,H100,8.0,192.0,2048.0,55.04,us-east-1,\"{'Gpus': [1, 2]}\",15.808\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  const std::vector<Price> prices = added(*loaded);
  ASSERT_EQ(prices.size(), 2u);
  EXPECT_EQ(prices[0].kind, PriceKind::on_demand);
  EXPECT_EQ(prices[0].item, "H100 (p5.48xlarge)");
  EXPECT_EQ(prices[0].device, "h100-sxm");
  EXPECT_EQ(prices[0].region, "us-east-1");
  EXPECT_EQ(prices[0].unit, "instance-hour");
  EXPECT_EQ(prices[0].devices, 8);
  EXPECT_EQ(prices[0].place.line, 2u);
  EXPECT_NEAR(dollars_per_hour(prices[0]), 6.88, 1e-9);
  EXPECT_EQ(prices[1].kind, PriceKind::spot);
  EXPECT_NEAR(dollars_per_hour(prices[1]), 1.976, 1e-9);
  EXPECT_EQ(loaded->source(prices[0].source).kind, SourceKind::price_list);
  EXPECT_TRUE(loaded->remarks().empty());
}

TEST(SkyPilotList, WhatIsNotSoldIsLeftOutAndRemarkedUponNeverFree) {
  const auto loaded = load(kSkyPilot,
                           "a,H100,8,1,1,0,r1,,\n"
                           "b,H100,8,1,1,,r2,,\n"
                           "c,H100,8,1,1,NaN,r3,,\n"
                           "d,H100,8,1,1,0.0,r4,,8\n"
                           "e,H100,8,1,1,16,r5,,nan\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  const std::vector<Price> prices = added(*loaded);
  ASSERT_EQ(prices.size(), 2u);
  EXPECT_EQ(prices[0].kind, PriceKind::spot);
  EXPECT_NEAR(dollars_per_hour(prices[0]), 1, 1e-12);
  EXPECT_EQ(prices[1].kind, PriceKind::on_demand);
  EXPECT_NEAR(dollars_per_hour(prices[1]), 2, 1e-12);
  ASSERT_EQ(loaded->remarks().size(), 1u);
  EXPECT_TRUE(contains(loaded->remarks()[0], "5 prices of what is not sold left out (lines 2, 3, 4, 5, 6)"));
}

TEST(SkyPilotList, MachinesWithoutAcceleratorAreNoConcern) {
  const auto loaded = load(kSkyPilot, "m5.large,,,2,8,0.096,us-east-1,,0.03\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_TRUE(added(*loaded).empty());
  EXPECT_TRUE(loaded->remarks().empty());
}

TEST(SkyPilotList, ZonesOfARegionAreOneOfferAtTheCheapest) {
  const auto loaded = load(kSkyPilot,
                           "x,H200,8,1,1,80,us,,20\n"
                           "x,H200,8,1,1,80,us,,16\n"
                           "x,H200,8,1,1,80,eu,,24\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  const std::vector<Price> prices = added(*loaded);
  ASSERT_EQ(prices.size(), 4u);
  EXPECT_NEAR(dollars_per_hour(prices[1]), 2, 1e-12);
  EXPECT_EQ(prices[1].region, "us");
}

TEST(SkyPilotList, NamesAreReadThroughAliasesTheMostSpecificFirst) {
  const auto loaded = load(kSkyPilot,
                           "plain,A100-80GB,1,1,1,2,r,,\n"
                           "gpu_1x_h100_pcie,H100,1,1,1,2,r,,\n"
                           "a100-80gb.sxm.8x,A100,8,1,1,8,r,,\n"
                           "x,RTX-PRO-6000,1,1,1,2,r,,\n"
                           "x,rtxpro6000,1,1,1,2,r,,\n"
                           "x,MI355X,1,1,1,2,r,,\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  std::vector<std::string> devices;
  for (const Price& price : added(*loaded)) devices.push_back(price.device);
  EXPECT_EQ(devices, (std::vector<std::string>{"a100-sxm-80", "h100-pcie", "a100-sxm-80", "rtx-pro-6000-bw-se",
                                               "rtx-pro-6000-bw-se", "mi355x"}));
}

TEST(SkyPilotList, TheProviderIsTheFolderOfItsVmsFile) {
  const std::string folder = testing::TempDir() + "azure";
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/vms.csv";
  std::ofstream(path) << kSkyPilot << "Standard_NC40ads_H100_v5,H100,1,40,320,6.98,eastus,,\n"
                      << "Standard_ND96isr_H100_v5,H100,8,96,1900,98.32,eastus,,\n";
  const auto loaded = Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {path}});
  ASSERT_TRUE(loaded) << loaded.error().text();
  const std::vector<Price> prices = added(*loaded);
  ASSERT_EQ(prices.size(), 2u);
  EXPECT_EQ(prices[0].provider, "azure");
  EXPECT_EQ(prices[0].device, "h100-nvl");  // an alias for azure alone
  EXPECT_EQ(prices[1].device, "h100-sxm");
}

TEST(SkyPilotList, TpuNamesCountCoresOrChips) {
  // v4 and v5p count cores, two to a chip: tpu-v4-8 at $12.88 is four chips at $3.22.
  const auto loaded = load(kSkyPilot,
                           ",tpu-v4-8,1,,,12.88,us-central2,,3.686\n"
                           ",tpu-v5litepod-8,1,,,9.6,us-central1,,\n"
                           ",tpu-v6e-256,1,,,691.2,us-east1,,\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  const std::vector<Price> prices = added(*loaded);
  ASSERT_EQ(prices.size(), 4u);
  EXPECT_EQ(prices[0].device, "tpu-v4");
  EXPECT_EQ(prices[0].devices, 4);
  EXPECT_NEAR(dollars_per_hour(prices[0]), 3.22, 1e-9);
  EXPECT_EQ(prices[2].devices, 8);
  EXPECT_NEAR(dollars_per_hour(prices[2]), 1.2, 1e-9);
  EXPECT_EQ(prices[3].devices, 256);
  EXPECT_NEAR(dollars_per_hour(prices[3]), 2.7, 1e-9);
  EXPECT_TRUE(contains(prices[0].notes, "priced apart"));
}

TEST(SkyPilotList, UnknownNamesAndFractionsAreRemarkedUpon) {
  const auto loaded = load(kSkyPilot,
                           "x,K80,1,1,1,0.9,r,,\n"
                           "y,A10,0.5,1,1,0.9,r,,\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  const std::vector<Price> prices = added(*loaded);
  ASSERT_EQ(prices.size(), 1u);
  EXPECT_EQ(prices[0].device, "");
  EXPECT_FALSE(prices[0].per_gpu_hour);
  ASSERT_EQ(loaded->remarks().size(), 2u);
  EXPECT_TRUE(contains(loaded->remarks()[0], "1 price of fractions of a device left out (line 3)"));
  EXPECT_TRUE(contains(loaded->remarks()[1], "no device of the catalogue is called K80"));
}

TEST(SkyPilotList, WhatCannotBeReadIsRefusedAtItsCell) {
  EXPECT_EQ(refusal_of(kSkyPilot, "x,H100,eight,1,1,8,r,,\n"), "list.csv:2:8: 'eight' is no number of accelerators");
  EXPECT_TRUE(contains(refusal_of(kSkyPilot, "x,H100,8,1,1,16,r,,\nx,H100,8,1,1,cheap,r,,\n"),
                       "list.csv:3:14: 'cheap' is no price"));
  EXPECT_TRUE(contains(refusal_of(kSkyPilot, "x,H100,8,1,1,-1,r,,\n"), "list.csv:2:14: '-1' is no price"));
  EXPECT_TRUE(contains(refusal_of(kSkyPilot, "x,H100,0,1,1,1,r,,\n"), "'0' is no number of accelerators"));
  EXPECT_TRUE(contains(refusal_of(kSkyPilot, "x,H100,1,1,1,9000,r,,\n"), "check unit and devices"));
  EXPECT_TRUE(contains(refusal_of("InstanceType,AcceleratorName,AcceleratorCount\n", "x,H100,1\n"), "Price"));
}

TEST(PlainList, RowsAreReadWithTheirTerms) {
  const auto loaded = load("item,kind,provider,unit,devices,price,currency,date,region,device,source\n",
                           "8x H200,lease_month,Somebody,server-month,8,9200,USD,2026-08,Oslo,H200,\"offer, by mail\"\n"
                           "Power,electricity,Utility,kWh,,0.05 to 0.07,EUR,2026,,,\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  const std::vector<Price> prices = added(*loaded);
  ASSERT_EQ(prices.size(), 2u);
  EXPECT_EQ(prices[0].kind, PriceKind::lease_month);
  EXPECT_EQ(prices[0].device, "h200-sxm");
  EXPECT_EQ(prices[0].region, "Oslo");
  EXPECT_EQ(prices[0].date, "2026-08");
  EXPECT_EQ(prices[0].notes, "Source: offer, by mail");
  EXPECT_NEAR(dollars_per_hour(prices[0]), 9200.0 / 8 / 730, 1e-12);
  EXPECT_EQ(prices[1].kind, PriceKind::electricity);
  EXPECT_EQ(prices[1].currency, "EUR");
  EXPECT_NEAR(prices[1].amount, 0.06, 1e-12);
  EXPECT_EQ(prices[1].devices, 0);
}

TEST(PlainList, WhatCannotBeReadIsRefusedAtItsCell) {
  EXPECT_TRUE(
      contains(refusal_of(kPlain, "H100,rent,X,GPU-hour,2,USD,2026,,h100-sxm,\n"), "list.csv:2:6: 'rent' is no kind"));
  EXPECT_TRUE(contains(refusal_of(kPlain, "H100,spot,X,GPU-hour,0,USD,2026,,h100-sxm,\n"),
                       "list.csv:2:22: nothing is sold for nothing"));
  EXPECT_TRUE(contains(refusal_of(kPlain, "H100,spot,X,GPU-hour,,USD,2026,,h100-sxm,\n"), "list.csv:2:22: "));
  EXPECT_TRUE(contains(refusal_of(kPlain, "H100,spot,X,GPU-hour,2,dollar,2026,,h100-sxm,\n"), "names no currency"));
  EXPECT_TRUE(contains(refusal_of(kPlain, "H100,spot,X,GPU-hour,2,USD,last year,,h100-sxm,\n"),
                       "list.csv:2:28: 'last year' is no date"));
  EXPECT_TRUE(contains(refusal_of(kPlain, "H100,spot,X,GPU-hour,2,USD,2026,,h100-smx,\n"),
                       "list.csv:2:34: there is no device 'h100-smx'; did you mean 'h100-sxm'"));
  EXPECT_TRUE(contains(refusal_of(kPlain, "H100,spot,X,server-hour,2,USD,2026,,h100-sxm,\n"),
                       "a server-hour of how many devices?"));
  EXPECT_TRUE(contains(refusal_of(kPlain, ",spot,X,GPU-hour,2,USD,2026,,h100-sxm,\n"), "list.csv:2:1: what is priced"));
}

TEST(PlainList, ColumnsAreNamedExactly) {
  EXPECT_TRUE(contains(refusal_of("item,kind,unit,price,currency,date,regoin\n", "a,spot,GPU-hour,1,USD,2026,x\n"),
                       "unknown column 'regoin'; did you mean 'region'?"));
  EXPECT_TRUE(contains(refusal_of("item,kind,unit,price,currency\n", "a,spot,GPU-hour,1,USD\n"), "date"));
}

TEST(PriceList, OfNeitherFormIsRefused) {
  EXPECT_TRUE(contains(refusal_of("name,cost\n", "H100,2\n"), "list.csv:1: no price list"));
  EXPECT_TRUE(contains(refusal_of("", ""), "list.csv"));
}

}  // namespace
}  // namespace ridge
