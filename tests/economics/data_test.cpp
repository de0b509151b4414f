#include <gtest/gtest.h>

#include <cmath>

#include "economics/economics_data.hpp"
#include "economics/price/rent_trend.hpp"
#include "ridge/economics/energy.hpp"

namespace ridge {
namespace {

const Catalogue& catalogue() {
  static const Catalogue c = *Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  return c;
}
const EconomicsData& data() {
  static const Result<EconomicsData> d = load_economics(std::string(RIDGE_DATA_DIR) + "/economics", catalogue());
  if (!d) ADD_FAILURE() << d.error().text();
  return *d;
}

TEST(EconomicsData, EveryNameOfTheCatalogueExists) {
  for (const ServerPrice& s : data().servers) {
    EXPECT_NE(catalogue().device(s.device), nullptr) << s.id;
    if (!s.system.empty()) {
      ASSERT_NE(catalogue().system(s.system), nullptr) << s.id;
      EXPECT_EQ(catalogue().system(s.system)->devices(), s.gpus) << s.id;
    }
  }
  for (const ApiOffer& o : data().offers) {
    if (!o.model.empty()) {
      EXPECT_NE(catalogue().model(o.model), nullptr) << o.id;
    }
  }
}

// Table 5 of the Llama 3 paper: 419 unexpected interruptions in 54 days of 16,384 GPUs, one in about three hours.
TEST(EconomicsData, LlamaRecordCounts419) {
  const FailureRecord& r = **data().record("llama3-405b");
  EXPECT_EQ(r.total(), 419);
  double per_hour = 0;
  for (const double rate : r.per_gpu_hour()) per_hour += rate * 16384;
  EXPECT_NEAR(1 / per_hour, 3.09, 0.01);
}

// 6.50 and 2.34 failures per 1,000 node-days.
TEST(EconomicsData, ClusterRecordsKeepTheirTotals) {
  const auto per_thousand_node_days = [](const FailureRecord& r) {
    return r.total() / (r.gpus / 8 * r.hours / 24) * 1000;
  };
  EXPECT_NEAR(per_thousand_node_days(**data().record("rsc-1")), 6.5, 1e-9);
  EXPECT_NEAR(per_thousand_node_days(**data().record("rsc-2")), 2.34, 1e-9);
}

TEST(EconomicsData, RegionsWithoutAPriceAreUnknown) {
  EXPECT_NEAR(*(*data().region("us-texas"))->electricity_usd_per_kwh, 0.0612, 1e-12);
  EXPECT_NEAR(*(*data().region("sweden"))->electricity_usd_per_kwh, 0.0682, 1e-9);
  EXPECT_FALSE((*data().region("us-idaho"))->co2_kg_per_kwh.has_value());
  EXPECT_NEAR(*(*data().region("sweden"))->co2_kg_per_kwh, 0.041, 1e-9);
}

TEST(EconomicsData, UnknownIdNamesTheNearest) {
  EXPECT_EQ(data().profile("hyperscalar").error().message,
            "there is no profile 'hyperscalar'; did you mean 'hyperscaler'?");
}

TEST(EconomicsData, CurrenciesAndHistoriesAreThere) {
  ASSERT_FALSE(data().exchange.empty());
  EXPECT_NEAR(data().exchange[0].usd, 0.14758, 1e-5);
  EXPECT_GE(data().histories.size(), 40U);
  for (const RentHistory& h : data().histories) EXPECT_GE(h.quotes.size(), 2U) << h.id;
}

// A rise and a fall by a fifth over twelve months, and a pair eleven months apart that is none.
TEST(RentTrend, ReadsPairsTwelveMonthsApart) {
  RentHistory rises;
  rises.quotes = {{24300, 2.0}, {24312, 2.4}};
  RentHistory falls;
  falls.quotes = {{24300, 5.0}, {24312, 4.0}};
  RentHistory none;
  none.quotes = {{24300, 1.0}, {24311, 9.0}};
  const RentTrend t = rent_trend({rises, falls, none}, "");
  EXPECT_EQ(t.pairs, 2);
  EXPECT_EQ(t.series, 2);
  EXPECT_NEAR(t.mid, 0, 1e-12);
  EXPECT_NEAR(t.low, -0.16, 1e-12);
  EXPECT_NEAR(t.high, 0.16, 1e-12);
  EXPECT_EQ(t.first, "2025-01");
  EXPECT_EQ(t.last, "2026-01");
  EXPECT_EQ(rent_trend({}, "").pairs, 0);
}

// RunPod asked 4.69 for an H100 SXM in January 2024 and 2.69 in 2025, Lambda 2.40 in June 2023 and 4.09 in August 2026.
TEST(RentTrend, RentsOf2026RoseAsOftenAsTheyFell) {
  const RentTrend all = rent_trend(data().histories, "");
  EXPECT_GE(all.pairs, 90);
  EXPECT_LT(all.low, -0.1);
  EXPECT_GT(all.high, 0.3);
  EXPECT_LE(rent_trend(data().histories, "2025-06").last, "2025-06");
}

}  // namespace
}  // namespace ridge
