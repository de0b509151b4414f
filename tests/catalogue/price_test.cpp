#include <gtest/gtest.h>

#include <map>

#include "bundled.hpp"

namespace ridge {
namespace {

using testing_support::bundled;
using testing_support::contains;
using testing_support::load_with_overlay;
using testing_support::refusal_of;
using testing_support::starts_with;

double dollars_per_hour(GpuRent rent) {
  return rent.value() * 3600;
}

const Price& price_of(const Catalogue& catalogue, std::string_view id) {
  for (const Price& price : catalogue.prices()) {
    if (price.id == id) return price;
  }
  ADD_FAILURE() << "no price " << id;
  static const Price none;
  return none;
}

TEST(Price, MonthlyLeaseOfAServerIsSpreadOver730HoursAndItsDevices) {
  // $9200 a month for eight H200: 9200 / (8 x 730) = $1.575 for one and an hour.
  const std::map<std::string_view, double> published = {
      {"ascend-910b", 0.342}, {"rtx4090d", 0.137},    {"rtx4090", 0.154},  {"a100-pcie-80", 0.548},
      {"a100-sxm-80", 0.651}, {"a800-sxm-80", 0.651}, {"h20-96", 0.685},   {"l20", 0.223},
      {"l40", 0.274},         {"l40s", 0.377},        {"h100-sxm", 1.370}, {"h200-sxm", 1.575},
      {"b200-sxm-180", 2.226}};
  std::map<std::string_view, double> computed;
  for (const Price& price : bundled().prices()) {
    if (price.kind == PriceKind::lease_month && price.currency == "USD" && price.devices == 8) {
      EXPECT_EQ(price.unit, "server-month");
      computed[price.device] = dollars_per_hour(*price.per_gpu_hour);
    }
  }
  for (const auto& [device, rent] : published) EXPECT_NEAR(computed[device], rent, 0.0006) << device;
  EXPECT_NEAR(computed["a100-pcie-40"], 0.240, 0.0006);
  EXPECT_EQ(computed.size(), published.size() + 1);
}

TEST(Price, SingleCardForAMonthIsSpreadOver730Hours) {
  const Price& card = price_of(bundled(), "omniyq-a100-pcie-40gb-single-card-lease-month");
  EXPECT_EQ(card.devices, 1);
  EXPECT_NEAR(dollars_per_hour(*card.per_gpu_hour), 200.0 / 730, 1e-12);
}

TEST(Price, EachHasDateCurrencyAmountAndASourceWithADate) {
  EXPECT_GE(bundled().prices().size(), 280u);
  for (const Price& price : bundled().prices()) {
    EXPECT_GE(price.date.size(), 4u) << price.id;
    EXPECT_EQ(price.currency.size(), 3u) << price.id;
    EXPECT_GT(price.amount, 0) << price.id;
    EXPECT_LE(price.low, price.amount) << price.id;
    EXPECT_GE(price.high, price.amount) << price.id;
    EXPECT_GT(price.source.index, 0u) << price.id;
    EXPECT_FALSE(bundled().source(price.source).date.empty()) << price.id;
    EXPECT_GT(price.place.line, 0u) << price.id;
  }
}

TEST(Price, RentOfOneDeviceIsWhatPeopleAsk) {
  // Anything below five cents or above 20 dollars would be a slip of unit or devices; auction floors are no prices.
  for (const Price& price : bundled().prices()) {
    if (!price.per_gpu_hour || price.kind == PriceKind::other) continue;
    EXPECT_GE(dollars_per_hour(*price.per_gpu_hour), 0.05) << price.id;
    EXPECT_LE(dollars_per_hour(*price.per_gpu_hour), 20) << price.id;
  }
}

TEST(Price, BoughtThingsHaveNoRent) {
  int bought = 0;
  for (const Price& price : bundled().prices()) {
    if (price.kind != PriceKind::capex) continue;
    EXPECT_FALSE(price.per_gpu_hour) << price.id;
    ++bought;
  }
  EXPECT_GE(bought, 25);
}

TEST(Price, OfAWholeRackIsToldWithItsDevices) {
  // $3.9 million for 72 GPUs: $54,167 for each.
  const Price& rack = price_of(bundled(), "semianalysis-gb200-nvl72-rack-all-in-capex");
  EXPECT_EQ(rack.device, "gb200-nvl72");
  EXPECT_NEAR(rack.amount / rack.devices, 54'167, 1);
}

TEST(Price, RangeCountsAsItsMiddle) {
  const Price& h100 = price_of(bundled(), "guide-2026-06-h100-sxm-capex");
  EXPECT_DOUBLE_EQ(h100.low, 27'000);
  EXPECT_DOUBLE_EQ(h100.high, 40'000);
  EXPECT_DOUBLE_EQ(h100.amount, 33'500);
}

TEST(Price, InstancePriceAgreesWithItsShareOfOneDevice) {
  // p5.48xlarge is $55.04 an hour for eight.
  EXPECT_NEAR(dollars_per_hour(*price_of(bundled(), "skypilot-aws-h100-on-demand").per_gpu_hour), 55.04 / 8, 1e-9);
}

TEST(Price, OtherCurrenciesKeepTheirAmountAndGetNoDollarRent) {
  int yuan = 0;
  for (const Price& price : bundled().prices()) {
    if (price.currency != "CNY") continue;
    EXPECT_FALSE(price.per_gpu_hour) << price.id;
    ++yuan;
  }
  EXPECT_EQ(yuan, 4);
}

TEST(Price, AuctionFloorsAndOwnersCostsAreNoOffers) {
  for (const Price& price : bundled().prices()) {
    if (price.provider == "Mithril") {
      EXPECT_EQ(price.kind, PriceKind::other) << price.id;
    }
  }
  EXPECT_EQ(price_of(bundled(), "semianalysis-h100-cost-of-ownership-other").kind, PriceKind::other);
}

TEST(Price, KindIsPrintedAsItIsWritten) {
  EXPECT_EQ(name(PriceKind::on_demand), "on_demand");
  EXPECT_EQ(name(PriceKind::lease_month), "lease_month");
  EXPECT_EQ(name(PriceKind::other), "other");
}

std::string price_with(std::string_view terms) {
  return "[[price]]\nid = \"mine\"\nitem = \"H100\"\nkind = \"on_demand\"\ndevice = \"h100-sxm\"\ndate = \"2026-08\"\n"
         "source = \"omniyq-2025\"\n" +
         std::string(terms);
}

TEST(Price, IsWrittenWithItsCurrency) {
  const auto rent = [](std::string_view terms) {
    const auto loaded = load_with_overlay(price_with(terms));
    EXPECT_TRUE(loaded) << loaded.error().text();
    return loaded ? dollars_per_hour(*price_of(*loaded, "mine").per_gpu_hour) : 0;
  };
  EXPECT_NEAR(rent("unit = \"GPU-hour\"\namount = \"$2.30\"\n"), 2.30, 1e-12);
  EXPECT_NEAR(rent("unit = \"GPU-hour\"\namount = \"2.30 USD\"\n"), 2.30, 1e-12);
  EXPECT_NEAR(rent("unit = \"GPU-hour\"\namount = \"2 to 3 USD\"\n"), 2.5, 1e-12);
  EXPECT_NEAR(rent("unit = \"GPU-year\"\namount = \"8760 USD\"\n"), 1, 1e-12);
  EXPECT_NEAR(rent("unit = \"rack-year\"\ndevices = 72\namount = \"1261440 USD\"\n"), 2, 1e-12);
}

TEST(Price, AmountThatIsNoneIsRefused) {
  const auto refusal = [](std::string_view amount) {
    return refusal_of(price_with("unit = \"GPU-hour\"\namount = \"" + std::string(amount) + "\"\n"));
  };
  EXPECT_TRUE(starts_with(refusal("2.30"), "mine.toml:9:10: '2.30' names no currency"));
  EXPECT_TRUE(contains(refusal("0 USD"), "nothing is sold for nothing"));
  EXPECT_TRUE(contains(refusal("-2 USD"), "nothing is sold for nothing"));
  EXPECT_TRUE(contains(refusal("nan USD"), "is no amount"));
  EXPECT_TRUE(contains(refusal("inf USD"), "is no amount"));
  EXPECT_TRUE(contains(refusal("two USD"), "is no amount"));
  EXPECT_TRUE(contains(refusal("3 to 2 USD"), "runs backwards"));
  EXPECT_TRUE(contains(refusal("2.30 usd"), "names no currency"));
  EXPECT_TRUE(contains(refusal(""), "empty"));
}

TEST(Price, UnitThatIsNoneIsRefusedWithTheNearest) {
  EXPECT_TRUE(starts_with(refusal_of(price_with("unit = \"GPU-hours\"\namount = \"2 USD\"\n")),
                          "mine.toml:8:8: 'GPU-hours' is no unit; did you mean 'GPU-hour'"));
}

TEST(Price, DevicesHaveToFitTheUnit) {
  EXPECT_TRUE(starts_with(refusal_of(price_with("unit = \"server-month\"\namount = \"9200 USD\"\n")),
                          "mine.toml:8:8: a server-month of how many devices?"));
  EXPECT_TRUE(starts_with(refusal_of(price_with("unit = \"GPU-hour\"\ndevices = 8\namount = \"2 USD\"\n")),
                          "mine.toml:9:11: a GPU-hour is one device"));
  EXPECT_TRUE(contains(refusal_of(price_with("unit = \"1M tokens\"\ndevices = 8\namount = \"2 USD\"\n")),
                       "has no number of devices"));
}

TEST(Price, RentNobodyAsksIsRefused) {
  // A month's price with an hour's unit.
  EXPECT_TRUE(contains(refusal_of(price_with("unit = \"server-hour\"\ndevices = 8\namount = \"9200 USD\"\n")),
                       "would be $1,150 for one device and hour: check unit and devices"));
}

TEST(Price, WithoutDateOrOfAnUnknownDeviceIsRefused) {
  std::string text = price_with("unit = \"GPU-hour\"\namount = \"2 USD\"\n");
  std::string undated = text;
  undated.erase(undated.find("date = "), 17);
  EXPECT_TRUE(contains(refusal_of(undated), "'date' is missing in [price]"));
  text.replace(text.find("h100-sxm"), 8, "h100-sx");
  EXPECT_TRUE(starts_with(refusal_of(text), "mine.toml:5:10: there is no device 'h100-sx'; did you mean 'h100-sxm'"));
}

}  // namespace
}  // namespace ridge
